/*
 * Slips of the pen in the words that numbers hang on: two letters swapped, one left out, one
 * doubled ("btach", "contxt", "parametters"). Another letter in a place is another word ("match",
 * "content") and stays.
 */
#include "query.h"

#include <string.h>

#define LONGEST 16

static const char *const targets[] = {
    "batch",    "context",  "sequence", "parameters", "precision",   "quantized",  "quantization",
    "billion",  "million",  "thousand", "requests",   "tokens",      "compare",    "recommend",
    "optimize", "diagnose", "cost",     "length",     "concurrency", "concurrent", "parallel"};

/* One slip turns `target` into the n letters at s (folded)? The first letter stands. */
static bool slipped(const char *s, size_t n, const char *target)
{
    size_t m = strlen(target), i = 0;

    if (m < 5 || n + 1 < m || n > m + 1 || s[0] != target[0])
        return false;
    while (i < n && i < m && s[i] == target[i])
        i++;
    if (n == m)
        return i + 1 < m && s[i] == target[i + 1] && s[i + 1] == target[i] &&
               memcmp(s + i + 2, target + i + 2, m - i - 2) == 0;
    if (n < m)
        return memcmp(s + i, target + i + 1, n - i) == 0;
    return i + 1 < n && s[i] == s[i - 1] && memcmp(s + i + 1, target + i, m - i) == 0;
}

/* A word of the lexicon, or the first of a phrase there: no slip. */
static bool in_lexicon(const char *s, size_t n)
{
    const struct query_word *words;
    size_t count = 0;

    for (size_t part = 0; (words = eco_query_lexicon(part, &count)) != NULL; part++) {
        for (size_t i = 0; i < count; i++) {
            const char *t = words[i].text;
            if (t[0] == s[0] && strncmp(t, s, n) == 0 && t[n] == '\0')
                return true;
        }
    }
    return false;
}

static const char *meant(const char *s, size_t n)
{
    for (size_t k = 0; k < sizeof targets / sizeof targets[0]; k++) {
        if (slipped(s, n, targets[k]))
            return in_lexicon(s, n) && strcmp(targets[k], "context") != 0 ? NULL : targets[k];
    }
    return NULL;
}

void eco_query_mend(struct query *q)
{
    for (size_t i = 0, end; i < q->len; i = end) {
        char low[LONGEST];
        const char *to;
        size_t n;

        end = i + 1;
        if (!eco_query_letter(q->text[i]))
            continue;
        while (eco_query_letter(q->text[end]))
            end++;
        n = end - i;
        if (n >= LONGEST)
            continue;
        for (size_t k = 0; k < n; k++)
            low[k] = eco_query_fold(q->text[i + k]);
        to = meant(low, n);
        if (to == NULL || q->len - n + strlen(to) > ECO_QUERY_MAX_BYTES)
            continue;
        memmove(q->text + i + strlen(to), q->text + end, q->len - end + 1);
        memcpy(q->text + i, to, strlen(to));
        q->len = q->len - n + strlen(to);
        end = i + strlen(to);
    }
}
