/* Choosing the next token. */
#include "sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* splitmix64 (Steele et al. 2014), to [0, 1) */
static double uniform(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

int eco_engine_sampler_init(struct eco_sampler *s, const struct eco_sampling *how, int vocab,
                            struct eco_err *err)
{
    memset(s, 0, sizeof(*s));
    if (!how || !(how->temperature > 0.0)) {
        return 0;
    }
    if (!(how->top_p > 0.0) || how->top_p > 1.0 || how->top_k < 0) {
        return eco_err_set(err, ECO_E_RANGE, "top_p", "top_p is above 0 to 1, top_k 0 or more");
    }
    s->how = *how;
    s->heap = malloc((size_t)vocab * sizeof(*s->heap));
    for (int i = 0; i < ECO_ENGINE_MAX_BATCH; i++) {
        s->state[i] = how->seed + (uint64_t)i * 0xD1B54A32D192ED03u;
    }
    return s->heap ? 0 : eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
}

void eco_engine_sampler_done(struct eco_sampler *s)
{
    free(s->heap);
    s->heap = NULL;
}

static int argmax(const float *x, int n)
{
    int best = 0;
    for (int i = 1; i < n; i++) {
        best = x[i] > x[best] ? i : best;
    }
    return best;
}

static bool better(const struct eco_candidate *a, const struct eco_candidate *b)
{
    return a->p > b->p || (a->p == b->p && a->id < b->id);
}

static void sift(struct eco_candidate *heap, int n, int i)
{
    struct eco_candidate x = heap[i];
    for (int child = 2 * i + 1; child < n; child = 2 * i + 1) {
        child += child + 1 < n && better(&heap[child + 1], &heap[child]) ? 1 : 0;
        if (!better(&heap[child], &x)) {
            break;
        }
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = x;
}

/* Moves the best ones, in order, to the end of the heap; returns how many are kept. */
static int keep(const struct eco_sampling *how, struct eco_candidate *heap, int n, double total)
{
    int most = how->top_k > 0 && how->top_k < n ? how->top_k : n, kept = 0;
    double sum = 0.0;
    while (kept < most && sum < how->top_p * total) {
        struct eco_candidate top = heap[0];
        int last = n - 1 - kept++;
        heap[0] = heap[last];
        heap[last] = top;
        sift(heap, last, 0);
        sum += (double)top.p;
    }
    return kept;
}

/* The sum of the top_k best; the heap holds all n. */
static double sum_of_best(const struct eco_sampling *how, struct eco_candidate *heap, int n)
{
    double sum = 0.0;
    if (how->top_k == 0 || how->top_k >= n) {
        for (int i = 0; i < n; i++) {
            sum += (double)heap[i].p;
        }
        return sum;
    }
    struct eco_sampling all = *how;
    all.top_p = INFINITY;
    int kept = keep(&all, heap, n, 1.0);
    for (int i = n - kept; i < n; i++) {
        sum += (double)heap[i].p;
    }
    for (int i = n - kept; i < n; i++) { /* and back into the heap */
        int at = i;
        struct eco_candidate x = heap[i];
        for (; at > 0 && better(&x, &heap[(at - 1) / 2]); at = (at - 1) / 2) {
            heap[at] = heap[(at - 1) / 2];
        }
        heap[at] = x;
    }
    return sum;
}

int eco_engine_sampler_pick(struct eco_sampler *s, int seq, const float *logits, int vocab)
{
    int best = argmax(logits, vocab);
    if (!s->heap) {
        return best;
    }
    struct eco_candidate *heap = s->heap;
    for (int i = 0; i < vocab; i++) {
        double x = ((double)logits[i] - (double)logits[best]) / s->how.temperature;
        heap[i] = (struct eco_candidate){(float)exp(x), i};
    }
    for (int i = vocab / 2 - 1; i >= 0; i--) {
        sift(heap, vocab, i);
    }
    double total = sum_of_best(&s->how, heap, vocab), sum = 0.0;
    int kept = keep(&s->how, heap, vocab, total);
    for (int i = vocab - kept; i < vocab; i++) {
        sum += (double)heap[i].p;
    }
    double at = uniform(&s->state[seq]) * sum;
    for (int i = vocab - 1; i > vocab - kept; i--) {
        at -= (double)heap[i].p;
        if (at < 0.0) {
            return heap[i].id;
        }
    }
    return kept > 0 ? heap[vocab - kept].id : best;
}
