/*
 * Small tokenizers for tests, made at run time: BPE learned from a text the slow way (count all
 * pairs, join the most frequent), written as tokenizer.json of each family, as SentencePiece's
 * tokenizer.model, and encoded by a second, quadratic implementation. Shares no code with
 * src/engine.
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

/* ---- a second encoder: joins the first-learned pair, leftmost, until there is none ------------ */

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

/* ---- files ----------------------------------------------------------------------------------- */

/* JSON text of a piece; `letters`: by GPT-2's letters for bytes. */
static inline void make_put(FILE *f, const char *text, int len, bool letters)
{
    for (int i = 0; i < len; i++) {
        unsigned c = (unsigned char)text[i];
        if (letters) {
            bool printable = (c >= 33 && c <= 126) || (c >= 161 && c <= 172) || c >= 174;
            unsigned k = 0;
            for (unsigned b = 0; b < c; b++) {
                k += (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174 ? 0u : 1u;
            }
            c = printable ? c : 256 + k;
            fprintf(f, "\\u%04x", c);
        } else if (c == '"' || c == '\\' || c < 0x20) {
            fprintf(f, "\\u%04x", c);
        } else {
            fputc((int)c, f);
        }
    }
}

/* What differs between the families' files. */
struct make_family {
    const char *name, *normalizer, *pre_tokenizer, *post, *added, *model;
    bool bytes;
    int specials; /* ids behind the vocabulary that `added` names */
};

static inline int make_json(const struct make_vocab *v, const struct make_family *f,
                            const char *path)
{
    FILE *out = fopen(path, "w");
    if (!out) {
        return -1;
    }
    fprintf(out, "{\"version\": \"1.0\", \"truncation\": null, \"padding\": null, ");
    fprintf(out, "\"added_tokens\": [%s], \"normalizer\": %s, \"pre_tokenizer\": %s, ", f->added,
            f->normalizer, f->pre_tokenizer);
    fprintf(out, "\"post_processor\": %s, \"decoder\": %s, \"model\": {\"type\": \"BPE\", %s",
            f->post, f->bytes ? "{\"type\": \"ByteLevel\"}" : "null", f->model);
    fprintf(out, ", \"vocab\": {");
    for (int i = 0; i < v->n; i++) {
        fprintf(out, i ? ", \"" : "\"");
        make_put(out, v->p[i].text, v->p[i].len, f->bytes);
        fprintf(out, "\": %d", i);
    }
    fprintf(out, "}, \"merges\": [");
    for (int i = 0; i < v->merges; i++) {
        fprintf(out, i > 0 ? ", [\"" : "[\"");
        make_put(out, v->p[v->left[i]].text, v->p[v->left[i]].len, f->bytes);
        fprintf(out, "\", \"");
        make_put(out, v->p[v->right[i]].text, v->p[v->right[i]].len, f->bytes);
        fprintf(out, "\"]");
    }
    fprintf(out, "]}}\n");
    return fclose(out);
}

#define MAKE_BYTE_LEVEL(regex)                                                                     \
    "{\"type\": \"ByteLevel\", \"add_prefix_space\": false, \"trim_offsets\": true, "              \
    "\"use_regex\": " regex "}"
#define MAKE_SPLIT(digits)                                                                         \
    "{\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": \"Split\", \"pattern\": {\"Regex\": " \
    "\"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|\\\\p{N}" digits       \
    "| ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*|\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+\"}, "    \
    "\"behavior\": \"Isolated\", \"invert\": false}, " MAKE_BYTE_LEVEL("false") "]}"
#define MAKE_TOKEN(id, text)                                                                       \
    "{\"id\": " id ", \"content\": \"" text "\", \"single_word\": false, \"lstrip\": false, "      \
    "\"rstrip\": false, \"normalized\": false, \"special\": true}"
#define MAKE_BOS(name, id)                                                                         \
    "{\"type\": \"TemplateProcessing\", \"single\": [{\"SpecialToken\": {\"id\": \"" name          \
    "\", \"type_id\": 0}}, {\"Sequence\": {\"id\": \"A\", \"type_id\": 0}}], \"pair\": [], "       \
    "\"special_tokens\": {\"" name "\": {\"id\": \"" name "\", \"ids\": [" id                      \
    "], \"tokens\": [\"" name "\"]}}}"
#define MAKE_PLAIN_MODEL                                                                           \
    "\"dropout\": null, \"unk_token\": null, \"continuing_subword_prefix\": null, "                \
    "\"end_of_word_suffix\": null, \"fuse_unk\": false, \"byte_fallback\": false"
#define MAKE_SPM_MODEL                                                                             \
    "\"dropout\": null, \"unk_token\": \"<unk>\", \"continuing_subword_prefix\": null, "           \
    "\"end_of_word_suffix\": null, \"fuse_unk\": true, \"byte_fallback\": true, "                  \
    "\"ignore_merges\": false"
#define MAKE_SPM_ADDED                                                                             \
    MAKE_TOKEN("0", "<unk>") ", " MAKE_TOKEN("1", "<s>") ", " MAKE_TOKEN("2", "</s>")
#define MAKE_ESCAPE                                                                                \
    "{\"type\": \"Replace\", \"pattern\": {\"String\": \" \"}, \"content\": \"\xe2\x96\x81\"}"

static const struct make_family make_families[] = {
    {"gpt2", "null", MAKE_BYTE_LEVEL("true"), "null", MAKE_TOKEN("600", "<|endoftext|>"),
     MAKE_PLAIN_MODEL, true, 1},
    {"qwen2", "{\"type\": \"NFC\"}", MAKE_SPLIT(""), MAKE_BYTE_LEVEL("false"),
     MAKE_TOKEN("600", "<|endoftext|>") ", " MAKE_TOKEN("601", "<|im_start|>") ", " MAKE_TOKEN(
         "602", "<|im_end|>"),
     MAKE_PLAIN_MODEL, true, 3},
    {"llama3", "null", MAKE_SPLIT("{1,3}"), MAKE_BOS("<|begin_of_text|>", "600"),
     MAKE_TOKEN("600", "<|begin_of_text|>") ", " MAKE_TOKEN("601", "<|eot_id|>"),
     MAKE_PLAIN_MODEL ", \"ignore_merges\": true", true, 2},
    {"smollm", "null",
     "{\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": \"Digits\", \"individual_digits\": "
     "true}, " MAKE_BYTE_LEVEL("true") "]}",
     "null", MAKE_TOKEN("600", "<|endoftext|>"), MAKE_PLAIN_MODEL, true, 1},
    {"llama2",
     "{\"type\": \"Sequence\", \"normalizers\": [{\"type\": \"Prepend\", \"prepend\": "
     "\"\xe2\x96\x81\"}, " MAKE_ESCAPE "]}",
     "null", MAKE_BOS("<s>", "1"), MAKE_SPM_ADDED, MAKE_SPM_MODEL, false, 0},
    {"gemma", MAKE_ESCAPE,
     "{\"type\": \"Split\", \"pattern\": {\"String\": \" \"}, \"behavior\": "
     "\"MergedWithPrevious\", \"invert\": false}",
     MAKE_BOS("<s>", "1"), MAKE_SPM_ADDED, MAKE_SPM_MODEL, false, 0},
    {"metaspace", "null",
     "{\"type\": \"Metaspace\", \"replacement\": \"\xe2\x96\x81\", \"prepend_scheme\": \"first\", "
     "\"split\": false}",
     MAKE_BOS("<s>", "1"), MAKE_SPM_ADDED, MAKE_SPM_MODEL, false, 0},
};
#define MAKE_FAMILIES (sizeof(make_families) / sizeof(make_families[0]))
#define MAKE_PIECES 600

static inline int make_family_file(const struct make_family *f, const char *path)
{
    static struct make_vocab v;
    if (f->bytes) {
        make_bytes(&v, MAKE_PIECES);
    } else {
        make_characters(&v, MAKE_PIECES);
    }
    return make_json(&v, f, path);
}

/* tokenizer.model of kind 1 (unigram) or 2 (BPE): pieces in learned order, scores falling. */
static inline void make_varint(FILE *f, uint64_t v)
{
    for (; v > 127; v >>= 7) {
        fputc((int)(v & 127) | 128, f);
    }
    fputc((int)v, f);
}

static inline int make_spm(const struct make_vocab *v, int kind, const char *path)
{
    FILE *f = fopen(path, "wb");
    static const unsigned char normal[] = {0x1A, 4, 0x18, 1, 0x20, 0}; /* dummy prefix, no trim */
    unsigned char train[] = {0x12, 5, 0x18, (unsigned char)kind, 0x98, 0x02, 1};
    if (!f) {
        return -1;
    }
    for (int i = 0; i < v->n; i++) {
        int type = i == 0 ? 2 : i < 3 ? 3 : i < 259 ? 6 : 1;
        float score = i < 259 ? 0.0f : kind == 2 ? -(float)(i - 258) : -2.0f - 0.01f * (float)i;
        score = kind == 2 && i >= 259 && i < v->base ? -(float)(MAKE_MAX + i) : score;
        fputc(0x0A, f);
        make_varint(f, (uint64_t)v->p[i].len + 2 + 5 + 2);
        fputc(0x0A, f);
        make_varint(f, (uint64_t)v->p[i].len);
        fwrite(v->p[i].text, 1, (size_t)v->p[i].len, f);
        fputc(0x15, f);
        fwrite(&score, 4, 1, f);
        fputc(0x18, f);
        fputc(type, f);
    }
    fwrite(train, 1, sizeof(train), f);
    fwrite(normal, 1, sizeof(normal), f);
    return fclose(f);
}

#endif
