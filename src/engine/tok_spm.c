/*
 * SentencePiece's tokenizer.model: a protocol buffer (sentencepiece_model.proto). Read are the
 * pieces (field 1), of trainer_spec (2) the kind of model and the ids, of normalizer_spec (3) the
 * character map and the rules for spaces. Unknown fields are passed over, as the format wants.
 */
#include "tok_inside.h"

#include <string.h>

#define MAX_FIELD 536870911u

struct wire {
    const unsigned char *p, *end;
    bool bad;
};

struct field {
    uint32_t number;
    uint64_t value;            /* VARINT, and the bits of FIXED32 */
    const unsigned char *text; /* LEN */
    size_t len;
};

enum { SPM_UNIGRAM = 1, SPM_BPE = 2 };

struct spec {
    int kind, unknown, bos, eos;
    bool byte_fallback, suffix;
    bool dummy_prefix, trim, escape;
    const unsigned char *charsmap;
    size_t charsmap_bytes;
};

static uint64_t varint(struct wire *w)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (w->p == w->end) {
            break;
        }
        unsigned char b = *w->p++;
        v |= (uint64_t)(b & 0x7Fu) << shift;
        if (!(b & 0x80u)) {
            return v;
        }
    }
    w->bad = true;
    return 0;
}

static bool skip(struct wire *w, uint64_t n)
{
    if (n > (uint64_t)(w->end - w->p)) {
        w->bad = true;
        return false;
    }
    w->p += n;
    return true;
}

/* The next field; false at the end, or when the bytes are no protocol buffer (bad). */
static bool next(struct wire *w, struct field *f)
{
    if (w->bad || w->p == w->end) {
        return false;
    }
    uint64_t key = varint(w);
    *f = (struct field){.number = (uint32_t)(key >> 3)};
    if (w->bad || key >> 3 == 0 || key >> 3 > MAX_FIELD) {
        w->bad = true;
        return false;
    }
    switch (key & 7u) {
    case 0:
        f->value = varint(w);
        return !w->bad;
    case 1:
        return skip(w, 8);
    case 2:
        f->len = (size_t)varint(w);
        f->text = w->p;
        return !w->bad && skip(w, f->len);
    case 5:
        f->text = w->p;
        if (skip(w, 4)) {
            for (int i = 3; i >= 0; i--) {
                f->value = f->value << 8 | f->text[i];
            }
        }
        f->text = NULL;
        return !w->bad;
    default:
        w->bad = true;
        return false;
    }
}

static struct wire inside(const struct field *f)
{
    static const unsigned char none[1];
    const unsigned char *p = f->text ? f->text : none; /* a number where a message should be */
    return (struct wire){p, p + f->len, f->text == NULL};
}

static bool read_trainer(struct wire w, struct spec *s)
{
    for (struct field f; next(&w, &f);) {
        bool on = f.value != 0;
        int v = (int)(int64_t)f.value; /* ids are int32: -1 is ten bytes of ones */
        switch (f.number) {
        case 3:
            s->kind = v;
            break;
        case 24:
            s->suffix = on;
            break;
        case 35:
            s->byte_fallback = on;
            break;
        case 40:
            s->unknown = v;
            break;
        case 41:
            s->bos = v;
            break;
        case 42:
            s->eos = v;
            break;
        default:
            break;
        }
    }
    return !w.bad;
}

static bool read_normalizer(struct wire w, struct spec *s)
{
    for (struct field f; next(&w, &f);) {
        switch (f.number) {
        case 2:
            s->charsmap = f.text;
            s->charsmap_bytes = f.len;
            break;
        case 3:
            s->dummy_prefix = f.value != 0;
            break;
        case 4:
            s->trim = f.value != 0;
            break;
        case 5:
            s->escape = f.value != 0;
            break;
        default:
            break;
        }
    }
    return !w.bad;
}

static bool survey(struct wire w, struct spec *s, int *pieces)
{
    *s = (struct spec){.kind = SPM_UNIGRAM,
                       .bos = 1,
                       .eos = 2,
                       .dummy_prefix = true,
                       .trim = true,
                       .escape = true};
    bool ok = true;
    int n = 0;
    for (struct field f; ok && next(&w, &f);) {
        n += f.number == 1 && n <= ECO_TOK_MAX_PIECES ? 1 : 0;
        ok = f.number == 2   ? read_trainer(inside(&f), s)
             : f.number == 3 ? read_normalizer(inside(&f), s)
                             : true;
    }
    *pieces = n;
    return ok && !w.bad;
}

static int read_piece(struct eco_tokenizer *t, const char *file, int id, struct wire w,
                      struct eco_err *err)
{
    struct eco_buf text = ECO_BUF_INIT;
    enum eco_tok_type type = ECO_TOK_NORMAL;
    const char *s = "";
    size_t len = 0;
    float score = 0.0f;
    for (struct field f; next(&w, &f);) {
        if (f.number == 1 && f.text) {
            s = (const char *)f.text;
            len = f.len;
        } else if (f.number == 2) {
            uint32_t bits = (uint32_t)f.value;
            memcpy(&score, &bits, sizeof(score));
        } else if (f.number == 3) {
            type = f.value >= 1 && f.value <= 6 ? (enum eco_tok_type)f.value : ECO_TOK_UNUSED;
        }
    }
    if (w.bad || !(score - score == 0.0f)) {
        return eco_err_set(err, ECO_E_CONTENT, file, "piece %d of the vocabulary is damaged", id);
    }
    if (type == ECO_TOK_USER) { /* is looked for in the text, which has spaces */
        for (size_t at = 0; at < len;) {
            bool space = len - at >= 3 && memcmp(s + at, ECO_TOK_SPACE, 3) == 0;
            eco_buf_putc(&text, space ? ' ' : s[at]);
            at += space ? 3 : 1;
        }
        s = eco_buf_str(&text);
        len = text.len;
    }
    int rc = eco_tok_set(t, id, s, len, type, score, err);
    eco_buf_done(&text);
    return rc;
}

static int check(const char *file, const struct spec *s, int n, struct eco_err *err)
{
    if (s->kind != SPM_UNIGRAM && s->kind != SPM_BPE) {
        return eco_err_set(err, ECO_E_UNSUPPORTED, file,
                           "a SentencePiece model of kind %d: unigram (1) and BPE (2) are built in",
                           s->kind);
    }
    if (s->suffix || !s->escape) {
        return eco_err_set(err, ECO_E_UNSUPPORTED, file, "%s is not built in",
                           s->suffix ? "treat_whitespace_as_suffix" : "escape_whitespaces = false");
    }
    if (s->unknown < 0 || s->unknown >= n || s->bos >= n || s->eos >= n) {
        return eco_err_set(err, ECO_E_CONTENT, file, "ids of special tokens are outside 0 to %d",
                           n - 1);
    }
    return 0;
}

static int set_up(struct eco_tokenizer *t, const char *file, const struct spec *s,
                  struct eco_err *err)
{
    t->model = s->kind == SPM_BPE ? ECO_TOK_SCORES : ECO_TOK_UNIGRAM;
    t->escape_spaces = true;
    t->fuse_unknown = true;
    t->trim_spaces = s->trim;
    t->prefix = s->dummy_prefix ? ECO_TOK_PREFIX_FIRST : ECO_TOK_PREFIX_NEVER;
    t->unknown = s->unknown;
    if (s->charsmap_bytes > 0) {
        size_t units = 0;
        char *copy = eco_arena_strdup(&t->arena, (const char *)s->charsmap, s->charsmap_bytes);
        if (!copy || !eco_tok_charsmap_ok(s->charsmap, s->charsmap_bytes, &units)) {
            return eco_err_set(err, ECO_E_CONTENT, file, "the character map is damaged");
        }
        t->charsmap = (const unsigned char *)copy;
        t->charsmap_bytes = s->charsmap_bytes;
        t->charsmap_units = units;
    }
    int rc = eco_tok_index(t, err);
    rc = rc ? rc : eco_tok_finish(t, err);
    t->byte_fallback = t->byte_fallback && s->byte_fallback;
    if (rc == 0 && s->bos >= 0) {
        t->first[t->n_first++] = s->bos;
    }
    eco_tokenizer_add_stop(t, s->eos);
    return rc;
}

int eco_tokenizer_from_spm(const char *file, const void *bytes, size_t len,
                           struct eco_tokenizer **out, struct eco_err *err)
{
    const struct wire whole = {bytes, (const unsigned char *)bytes + len, false};
    struct eco_tokenizer *t = NULL;
    struct spec s;
    int n = 0, id = 0;
    if (!survey(whole, &s, &n) || n == 0) {
        return eco_err_set(err, ECO_E_CONTENT, file, "'%.160s' is no SentencePiece model", file);
    }
    int rc = check(file, &s, n, err);
    rc = rc ? rc : eco_tok_new(n, &t, err);
    struct wire w = whole;
    for (struct field f; rc == 0 && next(&w, &f);) {
        if (f.number == 1) {
            rc = read_piece(t, file, id++, inside(&f), err);
        }
    }
    rc = rc ? rc : set_up(t, file, &s, err);
    if (rc) {
        eco_tokenizer_free(t);
        return rc;
    }
    *out = t;
    return 0;
}
