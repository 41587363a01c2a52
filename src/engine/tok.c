/* Text through a tokenizer, and back. */
#include "tok_inside.h"
#include "tok_unicode.h"

#include <stdlib.h>
#include <string.h>

void eco_ids_done(struct eco_ids *ids)
{
    free(ids->v);
    *ids = (struct eco_ids){0};
}

int eco_ids_add(struct eco_ids *ids, int id, struct eco_err *err)
{
    if (ids->n == ids->cap) {
        size_t cap = ids->cap ? 2 * ids->cap : 256;
        int *grown = realloc(ids->v, cap * sizeof(*grown));
        if (!grown) {
            return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
        }
        ids->v = grown;
        ids->cap = cap;
    }
    ids->v[ids->n++] = id;
    return 0;
}

int eco_tokenizer_size(const struct eco_tokenizer *t)
{
    return t->n;
}

const char *eco_tokenizer_kind(const struct eco_tokenizer *t)
{
    static const char *const names[] = {
#define X(name, text) [ECO_TOK_WORDS_##name] = text,
        ECO_TOK_WORDS(X)
#undef X
    };
    return t->model == ECO_TOK_UNIGRAM ? "unigram" : names[t->words];
}

/* ---- encoding -------------------------------------------------------------------------------- */

struct encoding {
    const struct eco_tokenizer *t;
    struct eco_tok_work work;
    struct eco_buf mapped, normal; /* a fragment on its way */
    struct eco_ids *out;
};

/* Runs of spaces become one; none at either end (SentencePiece's remove_extra_whitespaces). */
static void trim(const char *s, size_t len, struct eco_buf *out)
{
    for (size_t i = 0; i < len; i++) {
        bool at_edge = out->len == 0 || out->data[out->len - 1] == ' ';
        if (s[i] != ' ' || !at_edge) {
            eco_buf_putc(out, s[i]);
        }
    }
    if (out->len > 0 && out->data[out->len - 1] == ' ') {
        out->data[--out->len] = '\0';
    }
}

static void escape(const char *s, size_t len, struct eco_buf *out)
{
    for (size_t at = 0; at < len;) {
        const char *space = memchr(s + at, ' ', len - at);
        size_t n = space ? (size_t)(space - s) - at : len - at;
        eco_buf_put(out, s + at, n);
        if (space) {
            eco_buf_puts(out, ECO_TOK_SPACE);
        }
        at += n + (space ? 1 : 0);
    }
}

/* The form of text[0..len) that words are cut from, in e->normal. */
static int normalize(struct encoding *e, const char *text, size_t len, bool first,
                     struct eco_err *err)
{
    const struct eco_tokenizer *t = e->t;
    int rc = 0;
    eco_buf_clear(&e->mapped);
    eco_buf_clear(&e->normal);
    if (t->charsmap) {
        rc = eco_tok_charsmap(t, text, len, &e->mapped, err);
    } else if (t->nfc) {
        eco_unicode_nfc(text, len, &e->mapped);
    } else {
        eco_buf_put(&e->mapped, text, len);
    }
    if (t->trim_spaces && rc == 0) {
        trim(eco_buf_str(&e->mapped), e->mapped.len, &e->normal);
        struct eco_buf swap = e->mapped;
        e->mapped = e->normal;
        e->normal = swap;
        eco_buf_clear(&e->normal);
    }
    const char *s = eco_buf_str(&e->mapped);
    bool here = t->prefix == ECO_TOK_PREFIX_ALWAYS || (t->prefix == ECO_TOK_PREFIX_FIRST && first);
    bool has = s[0] == ' ' || strncmp(s, ECO_TOK_SPACE, 3) == 0;
    if (e->mapped.len > 0 && here && !(t->prefix_once && has)) {
        eco_buf_puts(&e->normal, ECO_TOK_SPACE);
    } else if (e->mapped.len > 0 && t->add_space && s[0] != ' ') {
        eco_buf_putc(&e->normal, ' ');
    }
    if (t->escape_spaces) {
        escape(s, e->mapped.len, &e->normal);
    } else {
        eco_buf_put(&e->normal, s, e->mapped.len);
    }
    bool ok = eco_buf_ok(&e->mapped) && eco_buf_ok(&e->normal);
    return rc ? rc : ok ? 0 : eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
}

static int encode_words(struct encoding *e, const char *text, size_t len, struct eco_err *err)
{
    const struct eco_tokenizer *t = e->t;
    enum eco_tok_words words =
        t->words == ECO_TOK_WORDS_NONE && t->cuts ? ECO_TOK_WORDS_RUNS : t->words;
    int rc = 0;
    for (size_t at = 0, end; at < len && rc == 0; at = end) {
        end = eco_tok_word_end(words, text, at, len);
        rc = t->model == ECO_TOK_UNIGRAM
                 ? eco_tok_unigram(t, &e->work, text + at, end - at, e->out, err)
                 : eco_tok_bpe(t, &e->work, text + at, end - at, e->out, err);
    }
    return rc;
}

/* Text between special tokens; numbers are cut into digits first where the model wants that. */
static int encode_text(struct encoding *e, const char *text, size_t len, bool first,
                       struct eco_err *err)
{
    int rc = len > 0 ? normalize(e, text, len, first, err) : 0;
    if (rc || len == 0) {
        return rc;
    }
    const char *s = eco_buf_str(&e->normal);
    size_t begin = 0, n = e->normal.len;
    for (size_t at = 0, step; e->t->one_digit && at < n && rc == 0; at += step) {
        uint32_t c;
        step = eco_unicode_next(s + at, n - at, &c);
        if (eco_unicode_class(c) & ECO_UNICODE_NUMBER) {
            rc = encode_words(e, s + begin, at - begin, err);
            rc = rc ? rc : encode_words(e, s + at, step, err);
            begin = at + step;
        }
    }
    return rc ? rc : encode_words(e, s + begin, n - begin, err);
}

static size_t white(const char *s, size_t at, size_t len)
{
    uint32_t c;
    size_t n = at < len ? eco_unicode_next(s + at, len - at, &c) : 0;
    return n > 0 && eco_unicode_class(c) & ECO_UNICODE_SPACE ? n : 0;
}

static size_t without_white_end(const char *s, size_t begin, size_t end)
{
    while (end > begin) {
        size_t at = end - 1;
        while (at > begin && ((unsigned char)s[at] & 0xC0) == 0x80) {
            at--;
        }
        if (white(s, at, end) != end - at) {
            break;
        }
        end = at;
    }
    return end;
}

static int encode_all(struct encoding *e, const char *text, size_t len, bool special,
                      struct eco_err *err)
{
    const struct eco_tokenizer *t = e->t;
    size_t begin = 0;
    int rc = 0;
    for (size_t at = 0; at < len && rc == 0;) {
        int id = eco_tok_special_at(t, text + at, len - at, special);
        if (id < 0) {
            at++;
            continue;
        }
        const struct eco_piece *p = &t->pieces[id];
        size_t end = p->lstrip ? without_white_end(text, begin, at) : at;
        rc = encode_text(e, text + begin, end - begin, begin == 0, err);
        rc = rc ? rc : eco_ids_add(e->out, id, err);
        at += p->len;
        for (size_t n = 1; p->rstrip && n > 0; at += n) {
            n = white(text, at, len);
        }
        begin = at;
    }
    return rc ? rc : encode_text(e, text + begin, len - begin, begin == 0, err);
}

int eco_tokenizer_encode(const struct eco_tokenizer *t, const char *text, size_t len,
                         unsigned flags, struct eco_ids *out, struct eco_err *err)
{
    struct encoding e = {.t = t, .out = out};
    bool ends = (flags & ECO_TOK_WITH_ENDS) != 0;
    int rc = 0;
    if (len > ECO_TOK_MAX_TEXT) {
        return eco_err_set(err, ECO_E_TOO_LARGE, "text", "%zu bytes of text; %u can be", len,
                           ECO_TOK_MAX_TEXT);
    }
    for (int i = 0; ends && i < t->n_first && rc == 0; i++) {
        rc = eco_ids_add(out, t->first[i], err);
    }
    rc = rc ? rc : encode_all(&e, text, len, (flags & ECO_TOK_WITH_SPECIAL) != 0, err);
    for (int i = 0; ends && i < t->n_last && rc == 0; i++) {
        rc = eco_ids_add(out, t->last[i], err);
    }
    eco_buf_done(&e.mapped);
    eco_buf_done(&e.normal);
    eco_tok_work_done(&e.work);
    return rc;
}

/* ---- decoding -------------------------------------------------------------------------------- */

void eco_tokenizer_piece(const struct eco_tokenizer *t, int id, struct eco_buf *out)
{
    const struct eco_piece *p = id >= 0 && id < t->n ? &t->pieces[id] : NULL;
    if (!p || p->type == ECO_TOK_CONTROL || p->type == ECO_TOK_UNKNOWN ||
        p->type == ECO_TOK_UNUSED) {
        return;
    }
    if (p->type == ECO_TOK_BYTE) {
        for (int b = 0; b < 256; b++) {
            if (t->byte_id[b] == id) {
                eco_buf_putc(out, (char)b);
            }
        }
        return;
    }
    for (uint32_t at = 0; at < p->len;) {
        bool space =
            t->escape_spaces && p->len - at >= 3 && memcmp(p->text + at, ECO_TOK_SPACE, 3) == 0;
        eco_buf_putc(out, space ? ' ' : p->text[at]);
        at += space ? 3 : 1;
    }
}

void eco_tok_stream_start(const struct eco_tokenizer *t, struct eco_tok_stream *s)
{
    *s = (struct eco_tok_stream){.drop_space = t->prefix != ECO_TOK_PREFIX_NEVER};
}

/* Whether byte b may stand at place n of a sequence (Unicode, table 3-7). */
static bool goes_on(const struct eco_tok_stream *s, unsigned char b)
{
    unsigned char lead = s->wait[0];
    unsigned lo = s->n == 1 && lead == 0xE0 ? 0xA0 : s->n == 1 && lead == 0xF0 ? 0x90 : 0x80;
    unsigned hi = s->n == 1 && lead == 0xED ? 0x9F : s->n == 1 && lead == 0xF4 ? 0x8F : 0xBF;
    return b >= lo && b <= hi;
}

static void put_byte(struct eco_tok_stream *s, unsigned char b, struct eco_buf *out)
{
    if (s->n > 0 && !goes_on(s, b)) {
        eco_tok_stream_end(s, out);
    }
    if (s->n == 0 && (b < 0xC2 || b > 0xF4)) { /* a letter of ASCII, or no beginning */
        if (b < 0x80) {
            eco_buf_putc(out, (char)b);
        } else {
            eco_buf_puts(out, "\xEF\xBF\xBD");
        }
        return;
    }
    s->wait[s->n++] = b;
    unsigned want = s->wait[0] < 0xE0 ? 2 : s->wait[0] < 0xF0 ? 3 : 4;
    if (s->n == want) {
        eco_buf_put(out, s->wait, s->n);
        s->n = 0;
    }
}

void eco_tok_stream_put(const struct eco_tokenizer *t, struct eco_tok_stream *s, int id,
                        struct eco_buf *out)
{
    struct eco_buf piece = ECO_BUF_INIT;
    eco_tokenizer_piece(t, id, &piece);
    const char *bytes = eco_buf_str(&piece);
    size_t at = s->drop_space && piece.len > 0 && bytes[0] == ' ' ? 1 : 0;
    s->drop_space = s->drop_space && piece.len == 0;
    for (; at < piece.len; at++) {
        put_byte(s, (unsigned char)bytes[at], out);
    }
    eco_buf_done(&piece);
}

void eco_tok_stream_end(struct eco_tok_stream *s, struct eco_buf *out)
{
    if (s->n > 0) {
        eco_buf_puts(out, "\xEF\xBF\xBD");
        s->n = 0;
    }
}

void eco_tokenizer_decode(const struct eco_tokenizer *t, const int *ids, size_t n,
                          struct eco_buf *out)
{
    struct eco_tok_stream s;
    eco_tok_stream_start(t, &s);
    for (size_t i = 0; i < n; i++) {
        eco_tok_stream_put(t, &s, ids[i], out);
    }
    eco_tok_stream_end(&s, out);
}
