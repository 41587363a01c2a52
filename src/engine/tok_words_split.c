/*
 * Rules for words that are several expressions, one after the other, each cutting what the ones
 * before left whole: DeepSeek's. All are runs of a class, so that a place in the text is a cut by
 * the two characters at it and the one behind, but for white space at a piece's end.
 */
#include "tok_inside.h"
#include "tok_unicode.h"

struct range {
    uint32_t lo, hi;
};

/* Letters of DeepSeek LLM's second expression: those with two cases, as its authors list them. */
static const struct range cased[] = {
    {0x41, 0x5a},       {0x61, 0x7a},       {0xb5, 0xb5},       {0xc0, 0xd6},
    {0xd8, 0xf6},       {0xf8, 0x1ba},      {0x1bc, 0x1bf},     {0x1c4, 0x293},
    {0x295, 0x2af},     {0x370, 0x373},     {0x376, 0x377},     {0x37b, 0x37d},
    {0x37f, 0x37f},     {0x386, 0x386},     {0x388, 0x38a},     {0x38c, 0x38c},
    {0x38e, 0x3a1},     {0x3a3, 0x3f5},     {0x3f7, 0x481},     {0x48a, 0x52f},
    {0x531, 0x556},     {0x10a0, 0x10c5},   {0x13a0, 0x13f5},   {0x13f8, 0x13fd},
    {0x1c90, 0x1cba},   {0x1cbd, 0x1cbf},   {0x1d00, 0x1d2b},   {0x1d6b, 0x1d77},
    {0x1d79, 0x1d9a},   {0x1e00, 0x1f15},   {0x1f18, 0x1f1d},   {0x1f20, 0x1f45},
    {0x1f48, 0x1f4d},   {0x1f50, 0x1f57},   {0x1f59, 0x1f59},   {0x1f5b, 0x1f5b},
    {0x1f5d, 0x1f5d},   {0x1f5f, 0x1f7d},   {0x1f80, 0x1fb4},   {0x1fb6, 0x1fbc},
    {0x1fbe, 0x1fbe},   {0x1fc2, 0x1fc4},   {0x1fc6, 0x1fcc},   {0x1fd0, 0x1fd3},
    {0x1fd6, 0x1fdb},   {0x1fe0, 0x1fec},   {0x1ff2, 0x1ff4},   {0x1ff6, 0x1ffc},
    {0x2102, 0x2102},   {0x2107, 0x2107},   {0x210a, 0x2113},   {0x2115, 0x2115},
    {0x2119, 0x211d},   {0x2124, 0x2124},   {0x2126, 0x2126},   {0x2128, 0x2128},
    {0x212a, 0x212d},   {0x212f, 0x2134},   {0x2139, 0x2139},   {0x213c, 0x213f},
    {0x2145, 0x2149},   {0x214e, 0x214e},   {0x2183, 0x2184},   {0x2c00, 0x2c7b},
    {0x2c7e, 0x2ce4},   {0x2ceb, 0x2cee},   {0x2cf2, 0x2cf3},   {0xa640, 0xa66d},
    {0xa680, 0xa69b},   {0xa722, 0xa76f},   {0xa771, 0xa787},   {0xa78b, 0xa78e},
    {0xab70, 0xabbf},   {0xfb00, 0xfb06},   {0xfb13, 0xfb17},   {0xff21, 0xff3a},
    {0xff41, 0xff5a},   {0x10400, 0x1044f}, {0x104b0, 0x104d3}, {0x104d8, 0x104fb},
    {0x10c80, 0x10cb2}, {0x10cc0, 0x10cf2}, {0x118a0, 0x118df}, {0x1e900, 0x1e943},
};
/* [!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002], which has ASCII's letters too */
static const struct range signs[] = {{0x21, 0x2f},     {0x3a, 0x7e},     {0x2018, 0x201f},
                                     {0x3000, 0x3002}, {0xff01, 0xff0f}, {0xff1a, 0xff5e}};
/* [\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff] */
static const struct range han[] = {{0x800, 0x9fa5}, {0xac00, 0xd7ff}};

enum kind {
    RUN,      /* [class]+ */
    ONE,      /* [class] */
    SPACE_RUN /* \s?[class]+ */
};

struct stage {
    enum kind kind;
    unsigned bits;            /* of ECO_UNICODE_*, or */
    const struct range *list; /* ascending; NULL and no bits: \r and \n */
    size_t count;
};

#define BEFORE_WHITE 3 /* stages of llm that go before \s+$ */
#define LIST(a) 0, a, sizeof(a) / sizeof((a)[0])
static const struct stage llm[] = {
    {ONE, 0, NULL, 0},
    {SPACE_RUN, LIST(cased)},
    {SPACE_RUN, LIST(signs)},
    {RUN, LIST(han)}, /* before it \s+$ : ends_white */
    {RUN, ECO_UNICODE_NUMBER, NULL, 0},
};
static const struct stage coder[] = {
    {ONE, 0, NULL, 0},
    {SPACE_RUN, ECO_UNICODE_LETTER, NULL, 0},
    {SPACE_RUN, ECO_UNICODE_PUNCTUATION, NULL, 0},
    {RUN, LIST(han)},
    {ONE, ECO_UNICODE_NUMBER, NULL, 0},
};

struct letter {
    uint32_t c; /* 0 behind the end */
    unsigned bits;
    size_t n; /* bytes */
};

static struct letter letter_at(const char *text, size_t at, size_t len)
{
    struct letter l = {0};
    if (at < len) {
        l.n = eco_unicode_next(text + at, len - at, &l.c);
        l.bits = eco_unicode_class(l.c);
    }
    return l;
}

static bool in(const struct stage *s, const struct letter *l)
{
    size_t lo = 0, hi = s->count;
    if (s->bits) {
        return (l->bits & s->bits) != 0;
    }
    if (!s->list) {
        return l->c == '\r' || l->c == '\n';
    }
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (l->c > s->list[mid].hi) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return l->n > 0 && lo < s->count && l->c >= s->list[lo].lo;
}

static bool white(const struct letter *l)
{
    return (l->bits & ECO_UNICODE_SPACE) != 0;
}

/* Whether one of `count` stages cuts between a and b, c being what follows b. */
static bool cut(const struct stage *s, size_t count, const struct letter *a, const struct letter *b,
                const struct letter *c)
{
    for (size_t i = 0; i < count; i++, s++) {
        bool before = in(s, a), now = in(s, b);
        if (s->kind == RUN && before != now) {
            return true;
        }
        if (s->kind == ONE && (before || now)) {
            return true;
        }
        if (s->kind == SPACE_RUN &&
            ((before && !now) || (!before && now && !white(a)) || (!now && white(b) && in(s, c)))) {
            return true;
        }
    }
    return false;
}

/* \s+$ : whether the white run at `at` reaches the end of what `count` stages leave whole. */
static bool ends_white(const struct stage *s, size_t count, const char *text, size_t at, size_t len)
{
    struct letter a = letter_at(text, at, len), b = letter_at(text, at + a.n, len);
    for (at += a.n; at < len; at += a.n) {
        struct letter c = letter_at(text, at + b.n, len);
        if (cut(s, count, &a, &b, &c)) {
            return true;
        }
        if (!white(&b)) {
            return false;
        }
        a = b;
        b = c;
    }
    return true;
}

size_t eco_tok_word_end_split(enum eco_tok_words words, const char *text, size_t at, size_t len)
{
    bool is_llm = words == ECO_TOK_WORDS_DEEPSEEK_LLM;
    static const struct {
        const struct stage *stage;
        size_t n;
    } sets[] = {{coder, sizeof(coder) / sizeof(coder[0])}, {llm, sizeof(llm) / sizeof(llm[0])}};
    const struct stage *s = sets[is_llm].stage;
    size_t count = sets[is_llm].n;
    struct letter a = letter_at(text, at, len), b = letter_at(text, at + a.n, len);
    for (at += a.n; at < len; at += a.n) {
        struct letter c = letter_at(text, at + b.n, len);
        if (cut(s, count, &a, &b, &c) ||
            (is_llm && white(&b) && !white(&a) && ends_white(s, BEFORE_WHITE, text, at, len))) {
            return at;
        }
        a = b;
        b = c;
    }
    return len;
}
