/*
 * How text falls into words before merging. Each family's rule is published as a regular
 * expression; here each is a function that takes the first alternative which matches, like the
 * expression does. (?!\S) in "\s+(?!\S)" leaves the last space of a run to the word behind it.
 */
#include "tok_inside.h"
#include "tok_unicode.h"

#include <string.h>

struct text {
    const char *s;
    size_t len;
};

/* Class bits at `at`; 0 at the end. */
static unsigned peek(const struct text *t, size_t at, uint32_t *c, size_t *n)
{
    if (at >= t->len) {
        *c = 0;
        *n = 0;
        return 0;
    }
    *n = eco_unicode_next(t->s + at, t->len - at, c);
    return eco_unicode_class(*c);
}

/* The end of the run of characters that have one of `bits` (or none of them). */
static size_t run(const struct text *t, size_t at, unsigned bits, bool wanted)
{
    uint32_t c;
    size_t n;
    while (at < t->len && ((peek(t, at, &c, &n) & bits) != 0) == wanted) {
        at += n;
    }
    return at;
}

/* 's 't 're 've 'm 'll 'd: the bytes of one behind an apostrophe, or 0. */
static size_t contraction(const struct text *t, size_t at, bool any_case)
{
    static const char *const ends[] = {"s", "t", "re", "ve", "m", "ll", "d"};
    if (t->s[at] != '\'') {
        return 0;
    }
    for (size_t i = 0; i < 7; i++) {
        size_t n = strlen(ends[i]);
        bool same = at + 1 + n <= t->len;
        for (size_t k = 0; same && k < n; k++) {
            char c = t->s[at + 1 + k];
            same = c == ends[i][k] || (any_case && c == ends[i][k] - 'a' + 'A');
        }
        if (same) {
            return n + 1;
        }
    }
    return 0;
}

/* \s+(?!\S)|\s+ from a white character on */
static size_t spaces(const struct text *t, size_t at)
{
    size_t end = run(t, at, ECO_UNICODE_SPACE, true), last = at;
    if (end == t->len) {
        return end;
    }
    uint32_t c;
    for (size_t i = at, n = 0; i < end; i += n) {
        last = i;
        peek(t, i, &c, &n);
    }
    return last > at ? last : end;
}

/* 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+ */
static size_t gpt2(const struct text *t, size_t at)
{
    uint32_t c;
    size_t n, first = contraction(t, at, false);
    if (first) {
        return at + first;
    }
    first = t->s[at] == ' ' && at + 1 < t->len ? at + 1 : at;
    unsigned kind = peek(t, first, &c, &n);
    if (kind & (ECO_UNICODE_LETTER | ECO_UNICODE_NUMBER)) {
        return run(t, first, kind & (ECO_UNICODE_LETTER | ECO_UNICODE_NUMBER), true);
    }
    if (!(kind & ECO_UNICODE_SPACE)) {
        return run(t, first, ECO_UNICODE_SPACE | ECO_UNICODE_LETTER | ECO_UNICODE_NUMBER, false);
    }
    return spaces(t, at);
}

/*
 * Falcon's: [\p{P}$+<=>^~|`]+ first, then GPT-2's rule in what is between, then three digits at a
 * time out of what that gave.
 */
static bool falcon_sign(const struct text *t, size_t at, size_t *n)
{
    uint32_t c;
    unsigned kind = peek(t, at, &c, n);
    return (kind & ECO_UNICODE_PUNCTUATION) || (c && c < 128 && strchr("$+<=>^~|`", (int)c));
}

static bool three_digits(const struct text *t, size_t at)
{
    bool digits = at + 3 <= t->len;
    for (size_t i = 0; digits && i < 3; i++) {
        digits = t->s[at + i] >= '0' && t->s[at + i] <= '9';
    }
    return digits;
}

/*
 * Where the text ends for GPT-2's rule: at the next sign. It is sought no further than the run
 * that the rule may take, and that run no further than three digits, where the word ends anyway:
 * else each of many short words in one long run would read the run to its end.
 */
static size_t falcon_end(const struct text *t, size_t at)
{
    uint32_t c;
    size_t n, first = run(t, at, ECO_UNICODE_SPACE, true), end = first;
    unsigned kind = peek(t, first, &c, &n) & (ECO_UNICODE_LETTER | ECO_UNICODE_NUMBER);
    bool wanted = kind != 0;
    kind = wanted ? kind : ECO_UNICODE_SPACE | ECO_UNICODE_LETTER | ECO_UNICODE_NUMBER;
    for (; end < t->len && ((peek(t, end, &c, &n) & kind) != 0) == wanted; end += n) {
        if (falcon_sign(t, end, &n)) {
            return end;
        }
        if (three_digits(t, end)) {
            return end > first ? end : t->len;
        }
    }
    return t->len;
}

static size_t falcon(const struct text *t, size_t at)
{
    size_t n, end = at;
    if (falcon_sign(t, at, &n)) {
        while (end < t->len && falcon_sign(t, end, &n)) {
            end += n;
        }
        return end;
    }
    if (three_digits(t, at)) {
        return at + 3;
    }
    struct text piece = {t->s, falcon_end(t, at)};
    end = gpt2(&piece, at);
    for (size_t i = at; i < end; i++) {
        if (three_digits(&piece, i)) {
            return i;
        }
    }
    return end;
}

/* \s*[\r\n]+: the end behind the last line break of the white run at `at`, or 0 */
static size_t line_breaks(const struct text *t, size_t at)
{
    size_t end = run(t, at, ECO_UNICODE_SPACE, true);
    while (end > at && t->s[end - 1] != '\n' && t->s[end - 1] != '\r') {
        end--;
    }
    return end > at ? end : 0;
}

/* \p{N}{1,digits}| ?[^\s\p{L}\p{N}]+[breaks]*|\s*[\r\n]+|\s+(?!\S)|\s+ ; `word` is \p{L} or more */
static size_t no_word(const struct text *t, size_t at, int digits, unsigned word,
                      const char *breaks)
{
    uint32_t c;
    size_t n;
    if (peek(t, at, &c, &n) & ECO_UNICODE_NUMBER) {
        size_t end = at;
        for (; digits > 0 && (peek(t, end, &c, &n) & ECO_UNICODE_NUMBER); digits--) {
            end += n;
        }
        return end;
    }
    size_t first = c == ' ' && at + 1 < t->len ? at + 1 : at;
    unsigned others = ECO_UNICODE_SPACE | ECO_UNICODE_NUMBER | word;
    if (!(peek(t, first, &c, &n) & others)) {
        size_t end = run(t, first, others, false);
        while (end < t->len && t->s[end] && strchr(breaks, t->s[end])) {
            end++;
        }
        return end;
    }
    size_t end = line_breaks(t, at);
    return end ? end : spaces(t, at);
}

/* Where letters begin that [^\r\n\p{L}\p{N}]? may lead, or the text's end. */
static size_t letters(const struct text *t, size_t at, unsigned word)
{
    uint32_t c, c2;
    size_t n, n2;
    unsigned kind = peek(t, at, &c, &n), next = peek(t, at + n, &c2, &n2);
    bool may_lead = c != '\r' && c != '\n' && !(kind & (ECO_UNICODE_LETTER | ECO_UNICODE_NUMBER));
    return (kind & word) ? at : may_lead && (next & word) ? at + n : t->len;
}

/* (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+| and no_word's */
static size_t llama3(const struct text *t, size_t at, int digits, unsigned word)
{
    size_t first = contraction(t, at, true);
    if (first) {
        return at + first;
    }
    first = letters(t, at, word);
    return first < t->len ? run(t, first, word, true) : no_word(t, at, digits, word, "\r\n");
}

/* The end of the run of letters at `at` other than ASCII ones from lo to hi; *other is the end of
 * the last that is not ASCII, or stays. */
static size_t letters_but(const struct text *t, size_t at, char lo, char hi, size_t *other)
{
    uint32_t c;
    size_t n;
    while ((peek(t, at, &c, &n) & ECO_UNICODE_LETTER) &&
           !(c >= (unsigned char)lo && c <= (unsigned char)hi)) {
        at += n;
        *other = c < 128 ? *other : at;
    }
    return at;
}

/*
 * Mistral's Tekken as llama.cpp has it. With U a letter but a-z and L a letter but A-Z:
 * [^\r\n\p{L}\p{N}]?U*L+|[^\r\n\p{L}\p{N}]?U+L*| and no_word's, '/' being a break too. Where no a-z
 * follows the U's, the last of them that is an L too ends the word; else all of them are one.
 */
static size_t tekken(const struct text *t, size_t at)
{
    size_t first = letters(t, at, ECO_UNICODE_LETTER), both = 0, ignored = 0;
    if (first == t->len) {
        return no_word(t, at, 1, ECO_UNICODE_LETTER, "\r\n/");
    }
    uint32_t c;
    size_t n, end = letters_but(t, first, 'a', 'z', &both);
    if (peek(t, end, &c, &n) & ECO_UNICODE_LETTER) {
        return letters_but(t, end, 'A', 'Z', &ignored);
    }
    return both ? both : end;
}

static bool mark(const struct text *t, size_t at)
{
    return t->len - at >= 3 && memcmp(t->s + at, ECO_TOK_SPACE, 3) == 0;
}

/* Up to the next U+2581, or (runs) to one that stands behind something else. */
static size_t marked(const struct text *t, size_t at, bool runs)
{
    bool before = mark(t, at);
    for (at += before ? 3 : 1; at < t->len; at++) {
        if (mark(t, at)) {
            if (!before || !runs) {
                return at;
            }
            at += 2;
        } else {
            before = false;
        }
    }
    return t->len;
}

size_t eco_tok_word_end(enum eco_tok_words words, const char *text, size_t at, size_t len)
{
    struct text t = {text, len};
    switch (words) {
    case ECO_TOK_WORDS_GPT2:
        return gpt2(&t, at);
    case ECO_TOK_WORDS_LLAMA3:
        return llama3(&t, at, 3, ECO_UNICODE_LETTER);
    case ECO_TOK_WORDS_QWEN2:
        return llama3(&t, at, 1, ECO_UNICODE_LETTER);
    case ECO_TOK_WORDS_QWEN35:
        return llama3(&t, at, 1, ECO_UNICODE_LETTER | ECO_UNICODE_MARK);
    case ECO_TOK_WORDS_TEKKEN:
        return tekken(&t, at);
    case ECO_TOK_WORDS_FALCON:
        return falcon(&t, at);
    case ECO_TOK_WORDS_DEEPSEEK_LLM:
    case ECO_TOK_WORDS_DEEPSEEK_CODER:
        return eco_tok_word_end_split(words, text, at, len);
    case ECO_TOK_WORDS_SPACES:
    case ECO_TOK_WORDS_RUNS:
        return marked(&t, at, words == ECO_TOK_WORDS_RUNS);
    case ECO_TOK_WORDS_NONE:
        break;
    }
    return len;
}
