/*
 * "cat <<EOF" shows a text, "cat > notes.md <<EOF" keeps one: what stands there is no command. A
 * text that goes to another program, or into a file of any other name, may well be run.
 */
#include "text_here.h"

#include "base/buf.h"

#include <string.h>

static bool name_char(char c)
{
    return c != '\0' && !strchr(" \t;&|<>()'\"", c);
}

/* Where "<<" stands that is not "<<<"; NULL: nowhere. */
static const char *opening(const char *line, const char *end)
{
    for (const char *p = line; end - p > 2; p++) {
        if (p[0] == '<' && p[1] == '<') {
            return p[2] == '<' ? NULL : p + 2;
        }
    }
    return NULL;
}

static bool prose_name(const char *p, size_t n)
{
    static const char *const ends[] = {".txt", ".md", ".rst", ".log"};
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        size_t m = strlen(ends[i]);
        if (n > m && eco_str_ieq(p + n - m, m, ends[i])) {
            return true;
        }
    }
    return false;
}

/* "cat" without a pipe, and into no file or into one of prose. */
static bool only_shown(const char *line, const char *end)
{
    const char *p = line;
    while (p < end && (*p == ' ' || *p == '\t')) {
        p++;
    }
    if (end - p < 4 || memcmp(p, "cat", 3) != 0 || name_char(p[3]) ||
        memchr(p, '|', (size_t)(end - p))) {
        return false;
    }
    const char *to = memchr(p, '>', (size_t)(end - p));
    if (!to) {
        return true;
    }
    while (to < end && strchr("> \t'\"", *to)) {
        to++;
    }
    const char *from = to;
    while (to < end && name_char(*to)) {
        to++;
    }
    return prose_name(from, (size_t)(to - from)) || (from < end && *from == '&');
}

bool eco_here_line(struct eco_here *h, const char *line, size_t len)
{
    const char *end = line + len, *p = line;
    if (h->n) {
        while (p < end && *p == '\t') {
            p++;
        }
        if ((size_t)(end - p) == h->n && memcmp(p, h->word, h->n) == 0) {
            h->n = 0;
        }
        return true;
    }
    p = opening(line, end);
    if (!p || !only_shown(line, end)) {
        return false;
    }
    while (p < end && strchr("- \t'\"\\", *p)) {
        p++;
    }
    while (p < end && name_char(*p) && h->n + 1 < sizeof(h->word)) {
        h->word[h->n++] = *p++;
    }
    return false; /* the line itself is a command */
}
