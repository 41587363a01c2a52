/*
 * Small tokenizers for tests, made at run time: BPE learned from a text the slow way (count all
 * pairs, join the most frequent), and a second, quadratic encoder. Shares no code with src/engine.
 * tok_make_files.h writes them.
 */
#ifndef ECO_TEST_TOK_MAKE_H
#define ECO_TEST_TOK_MAKE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAKE_MAX 1024
#define MAKE_MERGES 8192
#define MAKE_LONGEST 24

static const char make_text[] =
    "Quantization can lower the energy of a token, or raise it: it depends on the card, the model "
    "and the batch. We measured 1234 runs in 2025, at 3.14 joules each; it's what we'd say they've "
    "said. I'LL come, WE'RE here!\n\nif (x == 10) {\n\treturn y->next;  // next\n}\n   Sehr "
    "geehrte Damen und Herren, für Größe, naïve café, Ærøskøbing. Привет, мир! Это проверка слов и "
    "слов. 你好，世界。日本語のテキスト。 مرحبا بالعالم\n energy energy tokens tokens tokens batch "
    "batch and and the the the of of in in measured measured measure\n";

struct make_piece {
    char text[MAKE_LONGEST + 1];
    int len;
};

struct make_vocab {
    struct make_piece p[MAKE_MAX];
    int n, base; /* pieces; of them not joined */
    int left[MAKE_MERGES], right[MAKE_MERGES], to[MAKE_MERGES], merges;
};

/* Symbols as ids over a text; -1 marks a place that no pair may cross. */
static inline int make_best(const int *s, int n, const struct make_vocab *v, int *l, int *r)
{
    static int count[MAKE_MAX][MAKE_MAX];
    int best = 1;
    memset(count, 0, sizeof(count));
    for (int i = 0; i + 1 < n; i++) {
        if (s[i] >= 0 && s[i + 1] >= 0 && v->p[s[i]].len + v->p[s[i + 1]].len <= MAKE_LONGEST &&
            ++count[s[i]][s[i + 1]] > best) {
            best = count[s[i]][s[i + 1]];
            *l = s[i];
            *r = s[i + 1];
        }
    }
    return best;
}

static inline int make_join(int *s, int n, int l, int r, int id)
{
    int k = 0;
    for (int i = 0; i < n; i++) {
        bool both = i + 1 < n && s[i] == l && s[i + 1] == r;
        s[k++] = both ? id : s[i];
        i += both ? 1 : 0;
    }
    return k;
}

static inline int make_find(const struct make_vocab *v, const char *text, int len)
{
    for (int i = 0; i < v->n; i++) {
        if (v->p[i].len == len && memcmp(v->p[i].text, text, (size_t)len) == 0) {
            return i;
        }
    }
    return -1;
}

static inline int make_add(struct make_vocab *v, const char *text, int len)
{
    v->p[v->n].len = len;
    memcpy(v->p[v->n].text, text, (size_t)len);
    v->p[v->n].text[len] = '\0';
    return v->n++;
}

static inline void make_merge(struct make_vocab *v, int l, int r, int to)
{
    v->left[v->merges] = l;
    v->right[v->merges] = r;
    v->to[v->merges++] = to;
}

static inline void make_learn(struct make_vocab *v, int *s, int n, int want)
{
    v->base = v->n;
    while (v->n < want) {
        int l = 0, r = 0;
        char both[2 * MAKE_LONGEST];
        if (make_best(s, n, v, &l, &r) < 2) {
            break;
        }
        memcpy(both, v->p[l].text, (size_t)v->p[l].len);
        memcpy(both + v->p[l].len, v->p[r].text, (size_t)v->p[r].len);
        int len = v->p[l].len + v->p[r].len, old = make_find(v, both, len);
        int id = old >= 0 ? old : make_add(v, both, len);
        make_merge(v, l, r, id);
        n = make_join(s, n, l, r, id);
    }
}

/* All ways to make each piece, as a SentencePiece vocabulary means it. */
static inline void make_all_merges(struct make_vocab *v)
{
    v->merges = 0;
    for (int i = v->base; i < v->n; i++) {
        for (int cut = 1; cut < v->p[i].len && v->merges < MAKE_MERGES; cut++) {
            int l = make_find(v, v->p[i].text, cut);
            int r = make_find(v, v->p[i].text + cut, v->p[i].len - cut);
            if (l >= 0 && r >= 0) {
                make_merge(v, l, r, i);
            }
        }
    }
}

static inline int make_char_len(const char *s)
{
    unsigned char c = (unsigned char)*s;
    return c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
}

/* Bytes, and pieces over words: pairs do not cross the space before a word. */
static inline void make_bytes(struct make_vocab *v, int want)
{
    static int s[2 * sizeof(make_text)];
    int n = 0;
    memset(v, 0, sizeof(*v));
    for (int i = 0; i < 256; i++) {
        make_add(v, (char[]){(char)i}, 1);
    }
    for (size_t i = 0; i + 1 < sizeof(make_text); i++) {
        if (make_text[i] == ' ' || make_text[i] == '\n' ||
            (make_text[i] >= '0' && make_text[i] <= '9')) {
            s[n++] = -1;
        }
        s[n++] = (unsigned char)make_text[i];
    }
    make_learn(v, s, n, want);
}

/* <unk> <s> </s>, 256 bytes, characters with U+2581 for the space, and pieces of words. */
static inline void make_characters(struct make_vocab *v, int want)
{
    static int s[2 * sizeof(make_text)];
    static const char space[] = "\xe2\x96\x81";
    char name[8];
    int n = 0;
    memset(v, 0, sizeof(*v));
    make_add(v, "<unk>", 5);
    make_add(v, "<s>", 3);
    make_add(v, "</s>", 4);
    for (int i = 0; i < 256; i++) {
        snprintf(name, sizeof(name), "<0x%02X>", (unsigned)i);
        make_add(v, name, 6);
    }
    for (size_t i = 0; i + 1 < sizeof(make_text);) {
        const char *c = make_text[i] == ' ' ? space : make_text + i;
        int len = make_char_len(c);
        if (c == space) {
            s[n++] = -1;
        }
        if (*c != '\n' && *c != '\t') { /* SentencePiece takes lines */
            int id = make_find(v, c, len);
            s[n++] = id >= 0 ? id : make_add(v, c, len);
        } else {
            s[n++] = -1;
        }
        i += c == space ? 1 : (size_t)len;
    }
    make_learn(v, s, n, want);
    make_all_merges(v);
}

/* ---- a second encoder: the first-learned pair, leftmost, until there is none ---------------- */

static inline int make_encode(const struct make_vocab *v, int *s, int n)
{
    for (;;) {
        int rank = v->merges;
        for (int i = 0; i + 1 < n; i++) {
            for (int m = 0; m < rank; m++) {
                if (v->left[m] == s[i] && v->right[m] == s[i + 1]) {
                    rank = m;
                }
            }
        }
        if (rank == v->merges) {
            return n;
        }
        for (int i = 0; i + 1 < n; i++) {
            if (s[i] == v->left[rank] && s[i + 1] == v->right[rank]) {
                s[i] = v->to[rank];
                memmove(s + i + 1, s + i + 2, (size_t)(n - i - 2) * sizeof(*s));
                n--;
                break; /* the leftmost only: what it makes may join again first */
            }
        }
    }
}

#endif
