/* The small tokenizers of tok_make.h as files: tokenizer.json of each family, tokenizer.model. */
#ifndef ECO_TEST_TOK_MAKE_FILES_H
#define ECO_TEST_TOK_MAKE_FILES_H

#include "tok_make.h"

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
