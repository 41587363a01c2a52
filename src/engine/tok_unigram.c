/*
 * SentencePiece's unigram model (Kudo 2018): of all ways to cover the text with pieces the one with
 * the best sum of scores, found from left to right. An unknown character costs 10 below the worst
 * piece; a user's own piece always wins. And SentencePiece's character map.
 */
#include "tok_inside.h"
#include "tok_unicode.h"

#include <stdlib.h>
#include <string.h>

#define UNKNOWN_PENALTY 10.0f

struct eco_tok_node {
    float score;   /* best sum up to here */
    uint32_t from; /* where its last piece begins */
    int id;        /* its last piece; -1: unknown */
    bool reached;
};

static void offer(struct eco_tok_node *to, float score, size_t from, int id)
{
    if (!to->reached || score > to->score) {
        *to = (struct eco_tok_node){score, (uint32_t)from, id, true};
    }
}

static float score_of(const struct eco_tokenizer *t, int id, size_t len)
{
    const struct eco_piece *p = &t->pieces[id];
    return p->type == ECO_TOK_USER ? (float)len * t->max_score - 0.1f : p->score;
}

static void forward(const struct eco_tokenizer *t, struct eco_tok_node *nodes, const char *text,
                    size_t len)
{
    float unknown = t->min_score - UNKNOWN_PENALTY;
    for (size_t at = 0, step; at < len; at += step) {
        uint32_t c;
        bool single = false;
        step = eco_unicode_next(text + at, len - at, &c);
        for (size_t n = step; n <= len - at && n <= t->max_piece;) {
            int id = eco_tokenizer_find(t, text + at, n);
            uint8_t type = id >= 0 ? t->pieces[id].type : ECO_TOK_UNUSED;
            if (type == ECO_TOK_NORMAL || type == ECO_TOK_USER) {
                offer(&nodes[at + n], nodes[at].score + score_of(t, id, n), at, id);
                single = single || n == step;
            }
            n += at + n < len ? eco_unicode_next(text + at + n, len - at - n, &c) : 1;
        }
        if (!single) {
            offer(&nodes[at + step], nodes[at].score + unknown, at, -1);
        }
    }
}

int eco_tok_unigram(const struct eco_tokenizer *t, struct eco_tok_work *w, const char *text,
                    size_t len, struct eco_ids *out, struct eco_err *err)
{
    if (w->nodes_cap < len + 1) {
        free(w->nodes);
        w->nodes_cap = len + 1;
        w->nodes = malloc(w->nodes_cap * sizeof(*w->nodes));
        if (!w->nodes) {
            w->nodes_cap = 0;
            return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
        }
    }
    memset(w->nodes, 0, (len + 1) * sizeof(*w->nodes));
    forward(t, w->nodes, text, len);
    /* turn the path round: `from` of a node on it becomes the end of the piece behind */
    uint32_t behind = (uint32_t)len;
    for (size_t at = len; at > 0;) {
        uint32_t from = w->nodes[at].from;
        w->nodes[at].from = behind;
        behind = (uint32_t)at;
        at = from;
    }
    int rc = 0;
    bool fused = false;
    size_t begin = 0;
    for (size_t end = behind; begin < len && rc == 0; end = w->nodes[end].from) {
        int id = w->nodes[end].id;
        if (id >= 0) {
            fused = false;
            rc = eco_ids_add(out, id, err);
        } else {
            rc = eco_tok_unknown(t, text + begin, end - begin, &fused, out, err);
        }
        begin = end;
    }
    return rc;
}

/* ---- the character map ----------------------------------------------------------------------- */

static uint32_t unit(const struct eco_tokenizer *t, size_t i)
{
    uint32_t u = 0;
    if (i < t->charsmap_units) {
        memcpy(&u, t->charsmap + 4 + 4 * i, 4);
    }
    return u;
}

bool eco_tok_charsmap_ok(const unsigned char *map, size_t bytes, size_t *units)
{
    uint32_t trie = 0;
    if (bytes < 8) {
        return false;
    }
    memcpy(&trie, map, 4);
    *units = trie / 4;
    return trie % 4 == 0 && trie >= 4 && trie < bytes - 4 && map[bytes - 1] == '\0';
}

/* The longest text at s that the trie (a double array as of darts-clone) maps, or 0. */
static size_t mapped(const struct eco_tokenizer *t, const char *s, size_t len, uint32_t *to)
{
    size_t found = 0;
    uint32_t u = unit(t, 0), at = 0;
    for (size_t i = 0; i < len; i++) {
        at ^= (u >> 10) << ((u & (1u << 9)) >> 6);
        at ^= (unsigned char)s[i];
        u = unit(t, at);
        if ((u & (0x80000000u | 0xFFu)) != (unsigned char)s[i]) {
            break;
        }
        if ((u >> 8) & 1u) {
            *to = unit(t, at ^ ((u >> 10) << ((u & (1u << 9)) >> 6))) & 0x7FFFFFFFu;
            found = i + 1;
        }
    }
    return found;
}

int eco_tok_charsmap(const struct eco_tokenizer *t, const char *s, size_t len, struct eco_buf *out,
                     struct eco_err *err)
{
    const char *texts = (const char *)t->charsmap + 4 + 4 * t->charsmap_units;
    size_t size = t->charsmap_bytes - 4 - 4 * t->charsmap_units;
    for (size_t at = 0; at < len;) {
        uint32_t to = 0, c;
        /* no mapped text is longer than a few characters: a bound keeps hostile maps linear */
        size_t n = mapped(t, s + at, len - at < 64 ? len - at : 64, &to);
        if (n > 0 && to < size) {
            eco_buf_puts(out, texts + to);
        } else {
            n = eco_unicode_next(s + at, len - at, &c);
            if (c == 0xFFFD && n == 1) {
                eco_buf_puts(out, "\xEF\xBF\xBD");
            } else {
                eco_buf_put(out, s + at, n);
            }
        }
        at += n;
    }
    return eco_buf_ok(out) ? 0 : eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
}
