/*
 * Merging by pairs (Sennrich et al. 2016): symbols in a list, candidate merges in a heap, so that
 * a word of n bytes takes n log n steps. A merge's rank orders the published lists; SentencePiece
 * orders by the score of the piece that comes out. Of equals the leftmost goes first.
 */
#include "tok_inside.h"
#include "tok_unicode.h"

#include <stdlib.h>
#include <string.h>

struct eco_tok_symbol {
    uint32_t at, len; /* of the word; len 0: merged away */
    int prev, next;   /* -1: none */
    int id;           /* -1: no piece */
};

struct eco_tok_pair {
    double order;
    int left, right, to;
    uint32_t len; /* of both when it was put in; a difference means it is out of date */
};

void eco_tok_work_done(struct eco_tok_work *w)
{
    free(w->symbols);
    free(w->heap);
    free(w->nodes);
    memset(w, 0, sizeof(*w));
}

static int no_memory(struct eco_err *err)
{
    return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
}

static bool before(const struct eco_tok_pair *a, const struct eco_tok_pair *b)
{
    return a->order < b->order || (a->order == b->order && a->left < b->left);
}

static int heap_push(struct eco_tok_work *w, struct eco_tok_pair p)
{
    if (w->heap_n == w->heap_cap) {
        size_t cap = w->heap_cap ? 2 * w->heap_cap : 64;
        struct eco_tok_pair *grown = realloc(w->heap, cap * sizeof(*grown));
        if (!grown) {
            return ECO_E_NO_MEMORY;
        }
        w->heap = grown;
        w->heap_cap = cap;
    }
    size_t i = w->heap_n++;
    for (; i > 0 && before(&p, &w->heap[(i - 1) / 2]); i = (i - 1) / 2) {
        w->heap[i] = w->heap[(i - 1) / 2];
    }
    w->heap[i] = p;
    return 0;
}

static struct eco_tok_pair heap_pop(struct eco_tok_work *w)
{
    struct eco_tok_pair top = w->heap[0], last = w->heap[--w->heap_n];
    size_t i = 0;
    for (size_t child = 1; child < w->heap_n; child = 2 * i + 1) {
        child += child + 1 < w->heap_n && before(&w->heap[child + 1], &w->heap[child]) ? 1 : 0;
        if (!before(&w->heap[child], &last)) {
            break;
        }
        w->heap[i] = w->heap[child];
        i = child;
    }
    w->heap[i] = last;
    return top;
}

/* Puts the pair into the heap when it may merge. */
static int consider(const struct eco_tokenizer *t, struct eco_tok_work *w, const char *word,
                    int left, int right)
{
    if (left < 0 || right < 0) {
        return 0;
    }
    const struct eco_tok_symbol *a = &w->symbols[left], *b = &w->symbols[right];
    struct eco_tok_pair p = {.left = left, .right = right, .len = a->len + b->len};
    if (t->model == ECO_TOK_MERGES) {
        const struct eco_merge *m = eco_tok_merge(t, a->id, b->id);
        if (!m) {
            return 0;
        }
        p.order = m->rank;
        p.to = m->to;
    } else {
        p.to = eco_tokenizer_find(t, word + a->at, p.len);
        if (p.to < 0 || t->pieces[p.to].type == ECO_TOK_UNUSED) {
            return 0;
        }
        p.order = -(double)t->pieces[p.to].score;
    }
    return heap_push(w, p);
}

/* One symbol a byte (byte-level) or a character. */
static int split(const struct eco_tokenizer *t, struct eco_tok_work *w, const char *word,
                 size_t len, int *count)
{
    if (w->symbols_cap < len) {
        free(w->symbols);
        w->symbols_cap = len < 64 ? 64 : len;
        w->symbols = malloc(w->symbols_cap * sizeof(*w->symbols));
        if (!w->symbols) {
            w->symbols_cap = 0;
            return ECO_E_NO_MEMORY;
        }
    }
    int n = 0;
    for (size_t at = 0; at < len; n++) {
        uint32_t c;
        size_t step = t->byte_level ? 1 : eco_unicode_next(word + at, len - at, &c);
        w->symbols[n] = (struct eco_tok_symbol){.at = (uint32_t)at,
                                                .len = (uint32_t)step,
                                                .prev = n - 1,
                                                .next = at + step < len ? n + 1 : -1,
                                                .id = eco_tokenizer_find(t, word + at, step)};
        at += step;
    }
    *count = n;
    return 0;
}

static int merge(const struct eco_tokenizer *t, struct eco_tok_work *w, const char *word, int n)
{
    int rc = 0;
    w->heap_n = 0;
    for (int i = 0; i + 1 < n && rc == 0; i++) {
        rc = consider(t, w, word, i, i + 1);
    }
    while (rc == 0 && w->heap_n > 0) {
        struct eco_tok_pair p = heap_pop(w);
        struct eco_tok_symbol *a = &w->symbols[p.left], *b = &w->symbols[p.right];
        if (a->len == 0 || b->len == 0 || a->len + b->len != p.len) {
            continue;
        }
        a->len += b->len;
        a->id = p.to;
        a->next = b->next;
        b->len = 0;
        if (a->next >= 0) {
            w->symbols[a->next].prev = p.left;
        }
        rc = consider(t, w, word, a->prev, p.left);
        rc = rc ? rc : consider(t, w, word, p.left, a->next);
    }
    return rc;
}

int eco_tok_unknown(const struct eco_tokenizer *t, const char *text, size_t len, bool *fused,
                    struct eco_ids *out, struct eco_err *err)
{
    if (t->byte_fallback) {
        int rc = 0;
        for (size_t i = 0; i < len && rc == 0; i++) {
            rc = eco_ids_add(out, t->byte_id[(unsigned char)text[i]], err);
        }
        return rc;
    }
    bool skip = t->unknown < 0 || (*fused && t->fuse_unknown);
    *fused = true;
    return skip ? 0 : eco_ids_add(out, t->unknown, err);
}

int eco_tok_bpe(const struct eco_tokenizer *t, struct eco_tok_work *w, const char *word, size_t len,
                struct eco_ids *out, struct eco_err *err)
{
    int n = 0, whole = t->ignore_merges || len == 1 ? eco_tokenizer_find(t, word, len) : -1;
    if (whole >= 0) {
        return eco_ids_add(out, whole, err);
    }
    int rc = split(t, w, word, len, &n);
    rc = rc ? rc : merge(t, w, word, n);
    if (rc) {
        return no_memory(err);
    }
    bool fused = false;
    for (int i = n > 0 ? 0 : -1; i >= 0 && rc == 0; i = w->symbols[i].next) {
        const struct eco_tok_symbol *s = &w->symbols[i];
        if (s->id >= 0) {
            fused = false;
            rc = eco_ids_add(out, s->id, err);
        } else {
            rc = eco_tok_unknown(t, word + s->at, s->len, &fused, out, err);
        }
    }
    return rc;
}
