/* Decoding, logits and perplexity on top of the forward pass. */
#include "decoder.h"

#include "base/clock.h"
#include "sample.h"

#include <math.h>
#include <string.h>

static int check_ids(const struct eco_decoder *e, const int *ids, int64_t n, struct eco_err *err)
{
    for (int64_t i = 0; i < n; i++) {
        if (ids[i] < 0 || ids[i] >= e->f.shape.vocab) {
            return eco_err_set(err, ECO_E_RANGE, "prompt", "token id %d is outside 0 to %d", ids[i],
                               e->f.shape.vocab - 1);
        }
    }
    return 0;
}

/* One pass over ids[0..n) of sequence seq from position pos on. */
static void pass(struct eco_decoder *e, const int *ids, int n, int seq, int pos)
{
    int *seqs = e->step + e->f.scratch.tokens, *positions = seqs + e->f.scratch.tokens;
    for (int i = 0; i < n; i++) {
        seqs[i] = seq;
        positions[i] = pos + i;
    }
    eco_engine_forward(&e->f, &(struct eco_tokens){n, ids, seqs, positions});
}

/* The first token of every sequence; their prompts fill the caches. */
static void prefill(struct eco_decoder *e, struct eco_sampler *s, const int *prompt, int n_prompt,
                    int *next)
{
    for (int b = 0; b < e->batch; b++) {
        const int *ids = prompt + (size_t)b * (size_t)n_prompt;
        int n = 0;
        for (int at = 0; at < n_prompt; at += n) {
            n = n_prompt - at < e->f.scratch.tokens ? n_prompt - at : e->f.scratch.tokens;
            pass(e, ids + at, n, b, at);
        }
        eco_engine_project(&e->f, n - 1, 1);
        next[b] = eco_engine_sampler_pick(s, b, e->f.scratch.logits, e->f.shape.vocab);
    }
}

/* One decode step of all sequences at once; next[] becomes the new tokens. */
static void step(struct eco_decoder *e, struct eco_sampler *s, int pos, int *next)
{
    int *seqs = e->step + e->f.scratch.tokens, *positions = seqs + e->f.scratch.tokens;
    for (int b = 0; b < e->batch; b++) {
        seqs[b] = b;
        positions[b] = pos;
    }
    eco_engine_forward(&e->f, &(struct eco_tokens){e->batch, next, seqs, positions});
    eco_engine_project(&e->f, 0, e->batch);
    for (int b = 0; b < e->batch; b++) {
        const float *logits = e->f.scratch.logits + (size_t)b * (size_t)e->f.shape.vocab;
        next[b] = eco_engine_sampler_pick(s, b, logits, e->f.shape.vocab);
    }
}

/* NaN or infinite weights, or scales in a file that lies, show in the last step's output. */
static bool finite_output(const struct eco_decoder *e)
{
    float sum = 0.0f;
    for (int i = 0; i < e->f.shape.vocab; i++) {
        sum += e->f.scratch.logits[i] * 0.0f; /* 0, or NaN */
    }
    return sum == 0.0f;
}

static int not_sound(struct eco_err *err)
{
    return eco_err_set(err, ECO_E_CONTENT, "model",
                       "the model's outputs are not finite numbers: its weights are not sound");
}

static int emit(struct eco_decoder *e, const int *next, int index, int n_gen, int *ids,
                const struct eco_engine_sink *sink)
{
    for (int b = 0; ids && b < e->batch; b++) {
        ids[(size_t)b * (size_t)n_gen + (size_t)index] = next[b];
    }
    return sink && sink->step ? sink->step(sink->ctx, next, e->batch, index) : 0;
}

static double seconds(int64_t from, int64_t to)
{
    return (double)(to - from) * 1e-9;
}

static void report(const struct eco_decoder *e, int n_prompt, int made, double ttft_s,
                   double decode_s, struct eco_engine_timing *out)
{
    int64_t prompt_tokens = (int64_t)e->batch * n_prompt;
    *out = (struct eco_engine_timing){.ttft_s = ttft_s,
                                      .total_s = ttft_s + decode_s,
                                      .prompt_tokens = prompt_tokens,
                                      .gen_tokens = (int64_t)e->batch * made};
    out->prefill_tokens_per_s = ttft_s > 0.0 ? (double)prompt_tokens / ttft_s : 0.0;
    if (made > 1 && decode_s > 0.0) {
        out->tpot_s = decode_s / (made - 1);
        out->decode_tokens_per_s = (double)e->batch * (made - 1) / decode_s;
    }
}

int eco_engine_sample(struct eco_decoder *e, const struct eco_sampling *how, const int *prompt,
                      int n_prompt, int n_gen, int *ids, const struct eco_engine_sink *sink,
                      struct eco_engine_timing *out, struct eco_err *err)
{
    if (n_prompt < 1 || n_gen < 1 || n_prompt > e->context || n_gen > e->context - n_prompt) {
        return eco_err_set(err, ECO_E_RANGE, "prompt",
                           "%d prompt and %d generated tokens do not fit a context of %d", n_prompt,
                           n_gen, e->context);
    }
    struct eco_sampler s;
    int rc = check_ids(e, prompt, (int64_t)e->batch * n_prompt, err);
    rc = rc ? rc : eco_engine_sampler_init(&s, how, e->f.shape.vocab, err);
    if (rc) {
        return rc;
    }
    int *next = e->step, made = 1;
    int64_t start = eco_clock_mono_ns();
    prefill(e, &s, prompt, n_prompt, next);
    int64_t first = eco_clock_mono_ns(), last = first;
    bool stop = emit(e, next, 0, n_gen, ids, sink) != 0;
    for (; made < n_gen && !stop; made++) {
        step(e, &s, n_prompt + made - 1, next);
        stop = emit(e, next, made, n_gen, ids, sink) != 0;
        last = eco_clock_mono_ns();
    }
    eco_engine_sampler_done(&s);
    if (!finite_output(e)) {
        return not_sound(err);
    }
    if (out) {
        report(e, n_prompt, made, seconds(start, first), seconds(first, last), out);
    }
    return 0;
}

int eco_engine_generate(struct eco_decoder *e, const int *prompt, int n_prompt, int n_gen, int *ids,
                        const struct eco_engine_sink *sink, struct eco_engine_timing *out,
                        struct eco_err *err)
{
    return eco_engine_sample(e, NULL, prompt, n_prompt, n_gen, ids, sink, out, err);
}

void eco_engine_prompt(const struct eco_decoder *e, uint64_t seed, int n_prompt, int *prompt)
{
    uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
    for (int64_t i = 0; i < (int64_t)e->batch * n_prompt; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX */
        prompt[i] = (int)((state >> 33) % (uint64_t)e->f.shape.vocab);
    }
}

/* Calls `use` with the logits after each token of a run that starts from an empty cache. */
static void each_logits(struct eco_decoder *e, const int *tokens, int n,
                        void (*use)(void *ctx, int index, const float *logits), void *ctx)
{
    int room = e->f.scratch.tokens, rows = e->f.scratch.logit_rows;
    for (int at = 0; at < n; at += room) {
        int part = n - at < room ? n - at : room;
        pass(e, tokens + at, part, 0, at);
        for (int i = 0; i < part; i += rows) {
            int k = part - i < rows ? part - i : rows;
            eco_engine_project(&e->f, i, k);
            for (int j = 0; j < k; j++) {
                use(ctx, at + i + j, e->f.scratch.logits + (size_t)j * (size_t)e->f.shape.vocab);
            }
        }
    }
}

struct copying {
    float *out;
    size_t vocab;
};

static void copy_logits(void *ctx, int index, const float *logits)
{
    struct copying *c = ctx;
    memcpy(c->out + (size_t)index * c->vocab, logits, c->vocab * sizeof(float));
}

int eco_engine_logits(struct eco_decoder *e, const int *tokens, int n, float *logits,
                      struct eco_err *err)
{
    if (n < 1 || n > e->context) {
        return eco_err_set(err, ECO_E_RANGE, "prompt", "%d tokens do not fit a context of %d", n,
                           e->context);
    }
    int rc = check_ids(e, tokens, n, err);
    if (rc == 0) {
        each_logits(e, tokens, n, copy_logits, &(struct copying){logits, (size_t)e->f.shape.vocab});
    }
    return rc;
}

struct scoring {
    const int *tokens;
    int n, vocab;
    double nll;
};

/* -log softmax(logits)[next], in double */
static void score(void *ctx, int index, const float *logits)
{
    struct scoring *s = ctx;
    if (index + 1 >= s->n) {
        return;
    }
    double max = (double)logits[0];
    for (int i = 1; i < s->vocab; i++) {
        max = (double)logits[i] > max ? (double)logits[i] : max;
    }
    double sum = exp((double)logits[0] - max);
    for (int i = 1; i < s->vocab; i++) {
        sum += exp((double)logits[i] - max);
    }
    s->nll += max + log(sum) - (double)logits[s->tokens[index + 1]];
}

int eco_engine_perplexity(struct eco_decoder *e, const int *tokens, int64_t n, int window,
                          double *ppl, int64_t *counted, struct eco_err *err)
{
    if (n < 2) {
        return eco_err_set(err, ECO_E_RANGE, "corpus",
                           "a text of %lld token%s: the first is never scored, so perplexity needs "
                           "two or more",
                           (long long)n, n == 1 ? "" : "s");
    }
    if (window < 2 || window > e->context) {
        return eco_err_set(err, ECO_E_RANGE, "window",
                           "a window of %d tokens: it must be 2 to %d, the context", window,
                           e->context);
    }
    int rc = check_ids(e, tokens, n, err);
    struct scoring s = {.vocab = e->f.shape.vocab};
    int64_t count = 0;
    for (int64_t at = 0; rc == 0 && n - at >= 2; at += window) {
        s.tokens = tokens + at;
        s.n = n - at < window ? (int)(n - at) : window;
        each_logits(e, s.tokens, s.n, score, &s);
        count += s.n - 1;
    }
    double value = rc ? 0.0 : exp(s.nll / (double)count);
    if (!isfinite(value)) {
        return not_sound(err);
    }
    if (rc == 0) {
        *ppl = value;
        if (counted) {
            *counted = count;
        }
    }
    return rc;
}
