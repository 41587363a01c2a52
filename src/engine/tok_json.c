/*
 * A Hugging Face tokenizer.json with a BPE model: normalizer, pre-tokenizer, merges, added tokens
 * and the template of the post-processor. What the engine has no rule for is refused by name:
 * half a tokenizer would measure another model.
 */
#include "base/json.h"
#include "tok_inside.h"

#include <string.h>

struct loading {
    const char *file;
    const struct eco_json *root, *model;
    struct eco_tokenizer *t;
    struct eco_buf raw;
    bool replaces_space; /* the normalizer makes U+2581 of spaces */
};

static int unsupported(const struct loading *l, const char *part, const struct eco_json *v,
                       struct eco_err *err)
{
    const struct eco_json *type = eco_json_get(v, "type");
    return eco_err_set(err, ECO_E_UNSUPPORTED, l->file,
                       "tokenizer.json: %s '%.60s' is not built in", part,
                       type && type->type == ECO_JSON_STRING ? type->str : "of this kind");
}

static int bad(const struct loading *l, const char *what, struct eco_err *err)
{
    return eco_err_set(err, ECO_E_CONTENT, l->file, "tokenizer.json: %s", what);
}

static bool is(const struct eco_json *v, const char *text)
{
    return v && v->type == ECO_JSON_STRING && strcmp(v->str, text) == 0;
}

static bool get_bool(const struct eco_json *o, const char *key, bool otherwise)
{
    const struct eco_json *v = eco_json_get(o, key);
    return v && v->type == ECO_JSON_TRUE    ? true
           : v && v->type == ECO_JSON_FALSE ? false
                                            : otherwise;
}

static bool whole(const struct eco_json *v, int below, int *out)
{
    if (!v || v->type != ECO_JSON_NUMBER || !v->is_integer || v->i64 < 0 || v->i64 >= below) {
        return false;
    }
    *out = (int)v->i64;
    return true;
}

/* Every member of a "Sequence", with the reader of one. */
static int each(struct loading *l, const struct eco_json *list,
                int (*one)(struct loading *, const struct eco_json *, struct eco_err *),
                struct eco_err *err)
{
    int rc = 0;
    for (const struct eco_json *x = list ? list->child : NULL; x && rc == 0; x = x->next) {
        rc = one(l, x, err);
    }
    return rc;
}

/* ---- normalizer ------------------------------------------------------------------------------ */

static int normalizer(struct loading *l, const struct eco_json *v, struct eco_err *err)
{
    struct eco_tokenizer *t = l->t;
    const struct eco_json *type = eco_json_get(v, "type");
    if (!v || v->type == ECO_JSON_NULL) {
        return 0;
    }
    if (is(type, "Sequence")) {
        return each(l, eco_json_get(v, "normalizers"), normalizer, err);
    }
    if (is(type, "NFC")) {
        t->nfc = true;
        return 0;
    }
    if (is(type, "Prepend") && is(eco_json_get(v, "prepend"), ECO_TOK_SPACE)) {
        t->prefix = ECO_TOK_PREFIX_ALWAYS;
        return 0;
    }
    if (is(type, "Replace") && is(eco_json_at(v, "/pattern/String"), " ") &&
        is(eco_json_get(v, "content"), ECO_TOK_SPACE)) {
        t->escape_spaces = true;
        return 0;
    }
    return unsupported(l, "normalizer", v, err);
}

/* ---- pre-tokenizer --------------------------------------------------------------------------- */

#define GPT2 "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"
#define LLAMA3_HEAD "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}"
#define LLAMA3_TAIL "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

static bool set_words(struct eco_tokenizer *t, enum eco_tok_words words)
{
    bool free = t->words == ECO_TOK_WORDS_NONE;
    t->words = words;
    return free;
}

static int split(struct loading *l, const struct eco_json *v, struct eco_err *err)
{
    static const struct {
        const char *regex;
        enum eco_tok_words words;
    } known[] = {
        {GPT2, ECO_TOK_WORDS_GPT2},
        {LLAMA3_HEAD "{1,3}" LLAMA3_TAIL, ECO_TOK_WORDS_LLAMA3},
        {LLAMA3_HEAD LLAMA3_TAIL, ECO_TOK_WORDS_QWEN2},
        {"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}"
         "| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
         ECO_TOK_WORDS_QWEN35},
    };
    const struct eco_json *regex = eco_json_at(v, "/pattern/Regex");
    /* Gemma's: spaces are U+2581 by then, and the pattern finds nothing */
    if (is(eco_json_at(v, "/pattern/String"), " ") && l->t->escape_spaces) {
        return 0;
    }
    bool plain = is(eco_json_get(v, "behavior"), "Isolated") ||
                 (is(eco_json_get(v, "behavior"), "Removed") && get_bool(v, "invert", false));
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]) && plain; i++) {
        if (is(regex, known[i].regex) && set_words(l->t, known[i].words)) {
            return 0;
        }
    }
    return eco_err_set(err, ECO_E_UNSUPPORTED, l->file,
                       "tokenizer.json: splitting words by '%.120s' is not built in",
                       regex && regex->type == ECO_JSON_STRING ? regex->str : "a pattern");
}

static int metaspace(struct loading *l, const struct eco_json *v, struct eco_err *err)
{
    struct eco_tokenizer *t = l->t;
    const struct eco_json *scheme = eco_json_get(v, "prepend_scheme");
    bool adds = get_bool(v, "add_prefix_space", true);
    if (!is(eco_json_get(v, "replacement"), ECO_TOK_SPACE)) {
        return unsupported(l, "pre-tokenizer", v, err);
    }
    t->escape_spaces = t->prefix_once = true;
    t->prefix = is(scheme, "never")   ? ECO_TOK_PREFIX_NEVER
                : is(scheme, "first") ? ECO_TOK_PREFIX_FIRST
                : scheme || adds      ? ECO_TOK_PREFIX_ALWAYS
                                      : ECO_TOK_PREFIX_NEVER;
    if (get_bool(v, "split", true) && !set_words(t, ECO_TOK_WORDS_SPACES)) {
        return unsupported(l, "pre-tokenizer", v, err);
    }
    return 0;
}

static int pre_tokenizer(struct loading *l, const struct eco_json *v, struct eco_err *err)
{
    struct eco_tokenizer *t = l->t;
    const struct eco_json *type = eco_json_get(v, "type");
    if (!v || v->type == ECO_JSON_NULL) {
        return 0;
    }
    if (is(type, "Sequence")) {
        return each(l, eco_json_get(v, "pretokenizers"), pre_tokenizer, err);
    }
    if (is(type, "Split")) {
        return split(l, v, err);
    }
    if (is(type, "Digits") && get_bool(v, "individual_digits", false) &&
        t->words == ECO_TOK_WORDS_NONE) {
        t->one_digit = true;
        return 0;
    }
    if (is(type, "Metaspace")) {
        return metaspace(l, v, err);
    }
    if (is(type, "ByteLevel")) {
        t->byte_level = true;
        t->add_space = get_bool(v, "add_prefix_space", true);
        bool ok = !get_bool(v, "use_regex", true) || set_words(t, ECO_TOK_WORDS_GPT2);
        return ok ? 0 : unsupported(l, "pre-tokenizer behind another", v, err);
    }
    return unsupported(l, "pre-tokenizer", v, err);
}

/* ---- pieces and merges ----------------------------------------------------------------------- */

static const char *raw_text(struct loading *l, const char *s, size_t len, size_t *out)
{
    eco_buf_clear(&l->raw);
    if (l->t->byte_level && eco_tok_unbyte(s, len, &l->raw)) {
        *out = l->raw.len;
        return eco_buf_str(&l->raw);
    }
    *out = len;
    return s;
}

static int add_pieces(struct loading *l, const struct eco_json *vocab, struct eco_err *err)
{
    int rc = 0;
    for (const struct eco_json *v = vocab->child; v && rc == 0; v = v->next) {
        int id = 0;
        size_t len = 0;
        if (!whole(v, l->t->n, &id)) {
            return bad(l, "an id of the vocabulary is out of range", err);
        }
        bool is_byte = !l->t->byte_level && eco_tok_byte(v->key, v->key_len) >= 0 &&
                       get_bool(l->model, "byte_fallback", false);
        const char *s = raw_text(l, v->key, v->key_len, &len);
        rc = eco_tok_set(l->t, id, s, len, is_byte ? ECO_TOK_BYTE : ECO_TOK_NORMAL, 0.0f, err);
    }
    return rc;
}

static int add_special(struct loading *l, struct eco_err *err)
{
    const struct eco_json *list = eco_json_get(l->root, "added_tokens");
    int rc = 0;
    for (const struct eco_json *v = list ? list->child : NULL; v && rc == 0; v = v->next) {
        const struct eco_json *text = eco_json_get(v, "content");
        int id = 0;
        if (!whole(eco_json_get(v, "id"), l->t->n, &id) || !text || text->type != ECO_JSON_STRING ||
            text->len == 0) {
            return bad(l, "an added token has no content or id", err);
        }
        bool control = get_bool(v, "special", false);
        rc = eco_tok_set(l->t, id, text->str, text->len, control ? ECO_TOK_CONTROL : ECO_TOK_USER,
                         0.0f, err);
        l->t->pieces[id].lstrip = get_bool(v, "lstrip", false);
        l->t->pieces[id].rstrip = get_bool(v, "rstrip", false);
    }
    return rc;
}

/* "left right" or ["left", "right"] */
static int add_merge(struct loading *l, const struct eco_json *v, int rank, struct eco_err *err)
{
    const char *left = v->str, *right = NULL;
    size_t left_len = 0, right_len = 0, raw_left = 0, raw_right = 0;
    if (v->type == ECO_JSON_STRING && v->len > 2) {
        const char *space = memchr(v->str + 1, ' ', v->len - 1);
        right = space ? space + 1 : NULL;
        left_len = space ? (size_t)(space - v->str) : 0;
        right_len = space ? v->len - left_len - 1 : 0;
    } else if (v->type == ECO_JSON_ARRAY && v->count == 2 && v->child->type == ECO_JSON_STRING &&
               v->child->next->type == ECO_JSON_STRING) {
        left = v->child->str;
        left_len = v->child->len;
        right = v->child->next->str;
        right_len = v->child->next->len;
    }
    if (!right) {
        return bad(l, "a merge is not of two parts", err);
    }
    const char *s = raw_text(l, left, left_len, &raw_left);
    char *kept = eco_arena_strdup(&l->t->arena, s, raw_left);
    const char *r = raw_text(l, right, right_len, &raw_right);
    return kept ? eco_tok_add_merge(l->t, kept, raw_left, r, raw_right, rank, err)
                : eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
}

static int add_merges(struct loading *l, struct eco_err *err)
{
    const struct eco_json *list = eco_json_get(l->model, "merges");
    if (!list || list->type != ECO_JSON_ARRAY) {
        return bad(l, "there is no list of merges", err);
    }
    int rank = 0, rc = eco_tok_reserve_merges(l->t, list->count, err);
    for (const struct eco_json *v = list->child; v && rc == 0; v = v->next) {
        rc = add_merge(l, v, rank++, err);
    }
    return rc;
}

/* ---- beginnings and ends --------------------------------------------------------------------- */

static int add_end(struct loading *l, const struct eco_json *name, bool before, struct eco_err *err)
{
    struct eco_tokenizer *t = l->t;
    int id =
        name && name->type == ECO_JSON_STRING ? eco_tokenizer_find(t, name->str, name->len) : -1;
    int *n = before ? &t->n_first : &t->n_last;
    if (id < 0 || *n == ECO_TOK_MAX_ENDS) {
        return bad(l, "the template names a token that is not there", err);
    }
    (before ? t->first : t->last)[(*n)++] = id;
    return 0;
}

static int post_processor(struct loading *l, const struct eco_json *v, struct eco_err *err)
{
    const struct eco_json *type = eco_json_get(v, "type");
    int rc = 0;
    if (!v || v->type == ECO_JSON_NULL || is(type, "ByteLevel")) {
        return 0;
    }
    if (is(type, "Sequence")) {
        return each(l, eco_json_get(v, "processors"), post_processor, err);
    }
    if (!is(type, "TemplateProcessing")) {
        return unsupported(l, "post-processor", v, err);
    }
    const struct eco_json *single = eco_json_get(v, "single");
    bool before = true;
    for (const struct eco_json *x = single ? single->child : NULL; x && rc == 0; x = x->next) {
        const struct eco_json *name = eco_json_at(x, "/SpecialToken/id");
        before = before && !eco_json_get(x, "Sequence");
        rc = name ? add_end(l, name, before, err) : 0;
    }
    return rc;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* One more than the largest id; 0 when most ids up to it are not there. */
static int count_pieces(const struct loading *l, const struct eco_json *vocab)
{
    const struct eco_json *added = eco_json_get(l->root, "added_tokens");
    int n = 0, id = 0;
    for (const struct eco_json *v = vocab->child; v; v = v->next) {
        n = whole(v, ECO_TOK_MAX_PIECES, &id) && id >= n ? id + 1 : n;
    }
    for (const struct eco_json *v = added ? added->child : NULL; v; v = v->next) {
        n = whole(eco_json_get(v, "id"), ECO_TOK_MAX_PIECES, &id) && id >= n ? id + 1 : n;
    }
    uint64_t there = (uint64_t)vocab->count + (added ? added->count : 0);
    return (uint64_t)n <= 2 * there + 1024 ? n : 0;
}

static int load(struct loading *l, struct eco_err *err)
{
    l->model = eco_json_get(l->root, "model");
    const struct eco_json *vocab = eco_json_get(l->model, "vocab");
    const struct eco_json *type = eco_json_get(l->model, "type");
    const struct eco_json *unknown = eco_json_get(l->model, "unk_token");
    if (!vocab || vocab->type != ECO_JSON_OBJECT || (type && !is(type, "BPE"))) {
        return type ? unsupported(l, "model", l->model, err)
                    : bad(l, "there is no vocabulary", err);
    }
    int rc = eco_tok_new(count_pieces(l, vocab), &l->t, err);
    struct eco_tokenizer *t = l->t;
    if (rc == 0) {
        t->model = ECO_TOK_MERGES;
        t->ignore_merges = get_bool(l->model, "ignore_merges", false);
        t->fuse_unknown = get_bool(l->model, "fuse_unk", false);
    }
    rc = rc ? rc : normalizer(l, eco_json_get(l->root, "normalizer"), err);
    rc = rc ? rc : pre_tokenizer(l, eco_json_get(l->root, "pre_tokenizer"), err);
    rc = rc ? rc : add_pieces(l, vocab, err);
    rc = rc ? rc : eco_tok_index(t, err);
    rc = rc ? rc : add_merges(l, err);
    rc = rc ? rc : add_special(l, err);
    rc = rc ? rc : eco_tok_index(t, err); /* again: with the added ones */
    rc = rc ? rc : post_processor(l, eco_json_get(l->root, "post_processor"), err);
    rc = rc ? rc : eco_tok_finish(t, err);
    if (rc == 0) {
        t->byte_fallback = t->byte_fallback && get_bool(l->model, "byte_fallback", false);
        if (unknown && unknown->type == ECO_JSON_STRING) {
            t->unknown = eco_tokenizer_find(t, unknown->str, unknown->len);
        }
    }
    return rc;
}

int eco_tokenizer_from_json(const char *file, const char *text, size_t len,
                            struct eco_tokenizer **out, struct eco_err *err)
{
    struct eco_json_doc doc;
    struct loading l = {.file = file};
    int rc = eco_json_parse(&doc, text, len, err);
    if (rc) {
        return rc;
    }
    l.root = doc.root;
    rc = load(&l, err);
    eco_buf_done(&l.raw);
    eco_json_done(&doc);
    if (rc) {
        eco_tokenizer_free(l.t);
        return rc;
    }
    *out = l.t;
    return 0;
}
