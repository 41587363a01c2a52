/*
 * A tokenizer as keys of a GGUF file. The file is then read back and compared over a text of all
 * pieces: rules that the format has no key for (character maps, trimmed spaces) must not get lost
 * silently.
 */
#include "quantize_inside.h"

#include "half.h"
#include "tok_inside.h"

#include <stdlib.h>
#include <string.h>

/* GPT-2's letters for raw bytes. */
static void letters(const char *raw, size_t len, struct eco_buf *out)
{
    for (size_t i = 0; i < len; i++) {
        unsigned c = (unsigned char)raw[i];
        unsigned k = c <= 32 ? c : c >= 127 && c <= 160 ? c - 94 : c == 173 ? 67 : 256;
        c = k < 256 ? 256 + k : c;
        if (c < 0x80) {
            eco_buf_putc(out, (char)c);
        } else {
            eco_buf_putc(out, (char)(0xC0 | c >> 6));
            eco_buf_putc(out, (char)(0x80 | (c & 0x3F)));
        }
    }
}

static void put_piece(struct eco_gguf_writer *w, const struct eco_tokenizer *t, int id,
                      struct eco_buf *b)
{
    const struct eco_piece *p = &t->pieces[id];
    eco_buf_clear(b);
    if (t->byte_level && p->type == ECO_TOK_NORMAL) {
        letters(p->text, p->len, b);
    } else {
        eco_buf_put(b, p->text, p->len);
    }
    eco_gguf_item_text(w, eco_buf_str(b), b->len);
}

/* Of a vocabulary with merges: the rank of the first that makes each piece, negative. */
static void scores_of(const struct eco_tokenizer *t, float *score)
{
    for (int i = 0; i < t->n; i++) {
        score[i] = t->model == ECO_TOK_MERGES ? -1e9f : t->pieces[i].score;
    }
    for (size_t i = 0; t->model == ECO_TOK_MERGES && i <= t->merge_mask; i++) {
        const struct eco_merge *m = &t->merges[i];
        if (m->left >= 0 && -(float)m->rank > score[m->to]) {
            score[m->to] = -(float)m->rank;
        }
    }
}

static int put_pieces(struct eco_gguf_writer *w, const struct eco_tokenizer *t, int vocab,
                      struct eco_err *err)
{
    struct eco_buf b = ECO_BUF_INIT;
    float *score = malloc((size_t)t->n * sizeof(*score));
    if (!score) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    eco_gguf_put_array(w, "tokenizer.ggml.tokens", ECO_GGUF_STRING, (uint64_t)vocab);
    for (int i = 0; i < vocab; i++) {
        if (i < t->n && t->pieces[i].len > 0) {
            put_piece(w, t, i, &b);
        } else { /* rows of the table that the tokenizer never uses */
            eco_buf_clear(&b);
            eco_buf_printf(&b, "[PAD%d]", i);
            eco_gguf_item_text(w, eco_buf_str(&b), b.len);
        }
    }
    eco_gguf_put_array(w, "tokenizer.ggml.token_type", ECO_GGUF_I32, (uint64_t)vocab);
    for (int i = 0; i < vocab; i++) {
        bool real = i < t->n && t->pieces[i].len > 0;
        eco_gguf_item_bits(w, real ? t->pieces[i].type : (uint32_t)ECO_TOK_UNUSED);
    }
    if (!t->byte_level) {
        scores_of(t, score);
        eco_gguf_put_array(w, "tokenizer.ggml.scores", ECO_GGUF_F32, (uint64_t)vocab);
        for (int i = 0; i < vocab; i++) {
            eco_gguf_item_bits(w, eco_float_bits(i < t->n ? score[i] : -1e9f));
        }
    }
    free(score);
    eco_buf_done(&b);
    return 0;
}

static int by_rank(const void *a, const void *b)
{
    const struct eco_merge *x = a, *y = b;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static int put_merges(struct eco_gguf_writer *w, const struct eco_tokenizer *t, struct eco_err *err)
{
    struct eco_buf b = ECO_BUF_INIT;
    struct eco_merge *list = malloc((t->merge_mask + 1) * sizeof(*list));
    size_t n = 0;
    if (!list) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    for (size_t i = 0; i <= t->merge_mask; i++) {
        if (t->merges[i].left >= 0) {
            list[n++] = t->merges[i];
        }
    }
    qsort(list, n, sizeof(*list), by_rank);
    eco_gguf_put_array(w, "tokenizer.ggml.merges", ECO_GGUF_STRING, n);
    for (size_t i = 0; i < n; i++) {
        const struct eco_piece *l = &t->pieces[list[i].left], *r = &t->pieces[list[i].right];
        eco_buf_clear(&b);
        letters(l->text, l->len, &b);
        eco_buf_putc(&b, ' ');
        letters(r->text, r->len, &b);
        eco_gguf_item_text(w, eco_buf_str(&b), b.len);
    }
    free(list);
    eco_buf_done(&b);
    return 0;
}

static const char *pre_name(const struct eco_tokenizer *t)
{
    switch (t->words) {
    case ECO_TOK_WORDS_GPT2:
        return t->one_digit ? "smollm" : "gpt-2";
    case ECO_TOK_WORDS_LLAMA3:
        return t->ignore_merges ? "llama-bpe" : "smaug-bpe";
    case ECO_TOK_WORDS_QWEN35:
        return "qwen35";
    case ECO_TOK_WORDS_TEKKEN:
        return "tekken";
    case ECO_TOK_WORDS_FALCON:
        return "falcon";
    case ECO_TOK_WORDS_DEEPSEEK_LLM:
        return "deepseek-llm";
    case ECO_TOK_WORDS_DEEPSEEK_CODER:
        return "deepseek-coder";
    default:
        return "qwen2";
    }
}

static int put_keys(struct eco_gguf_writer *w, const struct eco_tokenizer *t, int vocab,
                    struct eco_err *err)
{
    const char *model = t->byte_level ? "gpt2" : "llama", *pre = pre_name(t);
    eco_gguf_put_text(w, "tokenizer.ggml.model", model, strlen(model));
    if (t->byte_level) {
        eco_gguf_put_text(w, "tokenizer.ggml.pre", pre, strlen(pre));
    } else {
        eco_gguf_put_bool(w, "tokenizer.ggml.add_space_prefix", t->prefix != ECO_TOK_PREFIX_NEVER);
    }
    int rc = put_pieces(w, t, vocab, err);
    if (rc == 0 && t->byte_level) {
        rc = put_merges(w, t, err);
    }
    eco_gguf_put_bool(w, "tokenizer.ggml.add_bos_token", t->n_first > 0);
    eco_gguf_put_bool(w, "tokenizer.ggml.add_eos_token", t->n_last > 0);
    if (t->n_first > 0) {
        eco_gguf_put_u32(w, "tokenizer.ggml.bos_token_id", (uint32_t)t->first[0]);
    }
    if (t->n_last > 0 || t->n_stops > 0) {
        eco_gguf_put_u32(w, "tokenizer.ggml.eos_token_id",
                         (uint32_t)(t->n_last > 0 ? t->last[0] : t->stops[0]));
    }
    if (t->unknown >= 0) {
        eco_gguf_put_u32(w, "tokenizer.ggml.unknown_token_id", (uint32_t)t->unknown);
    }
    return rc;
}

/* ---- reading it back ------------------------------------------------------------------------- */

static void sample_text(const struct eco_tokenizer *t, struct eco_buf *out)
{
    eco_buf_puts(out,
                 "It's  a test, isn't it?\n\n  123 4.5 \xC3\xA9\xE4\xB8\xAD \xF0\x9F\x98\x80\t");
    for (int i = 0; i < t->n; i++) {
        if (t->pieces[i].type == ECO_TOK_NORMAL) {
            eco_tokenizer_piece(t, i, out);
            eco_buf_puts(out, i % 3 == 0 ? " " : "");
        }
    }
}

static bool same_ids(const struct eco_tokenizer *a, const struct eco_tokenizer *b)
{
    struct eco_buf text = ECO_BUF_INIT;
    struct eco_ids x = {0}, y = {0};
    sample_text(a, &text);
    const char *s = eco_buf_str(&text);
    bool same = eco_tokenizer_encode(a, s, text.len, ECO_TOK_WITH_ENDS, &x, NULL) == 0 &&
                eco_tokenizer_encode(b, s, text.len, ECO_TOK_WITH_ENDS, &y, NULL) == 0 &&
                x.n == y.n && memcmp(x.v, y.v, x.n * sizeof(*x.v)) == 0;
    eco_ids_done(&x);
    eco_ids_done(&y);
    eco_buf_done(&text);
    return same;
}

static int read_back(const struct eco_gguf_writer *w, const struct eco_tokenizer *t, bool *same,
                     struct eco_err *err)
{
    struct eco_buf head = ECO_BUF_INIT;
    struct eco_tokenizer *again = NULL;
    int rc = eco_gguf_head(w, &head, err);
    if (rc == 0 && eco_tokenizer_from_gguf("", eco_buf_str(&head), head.len, &again, NULL) == 0) {
        again->nfc = t->nfc; /* no key says it; what people type is composed already */
        *same = same_ids(t, again);
    }
    eco_tokenizer_free(again);
    eco_buf_done(&head);
    return rc;
}

int eco_quantize_tokenizer(struct eco_gguf_writer *w, const struct eco_tokenizer *t, int vocab,
                           bool *exact, struct eco_err *err)
{
    size_t len = w->keys.len;
    uint64_t n = w->n_keys;
    bool can = t->n <= vocab && t->model != ECO_TOK_UNIGRAM && t->n_first <= 1 && t->n_last <= 1;
    int rc = can ? put_keys(w, t, vocab, err) : 0;
    *exact = false;
    rc = rc || !can ? rc : read_back(w, t, exact, err);
    if (rc == 0 && !*exact && eco_buf_ok(&w->keys)) { /* take them back */
        w->keys.len = len;
        w->n_keys = n;
    }
    return rc;
}
