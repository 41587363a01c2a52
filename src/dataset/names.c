/* Comparing names as people write them; see names.h. */
#include "dataset/names.h"
#include "base/buf.h"

#include <string.h>

static char fold(char c, bool dots)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (dots && c == '.'))
        return c;
    return '\0';
}

size_t eco_name_key(const char *s, size_t len, bool dots, char out[ECO_NAME_MAX])
{
    size_t n = 0;

    for (size_t i = 0; i < len && n + 1 < ECO_NAME_MAX; i++) {
        char c = fold(s[i], dots);
        if (c != '\0')
            out[n++] = c;
    }
    out[n] = '\0';
    return n;
}

bool eco_name_is(const char *key, size_t len, bool dots, const char *text)
{
    size_t n = 0;

    for (; *text != '\0'; text++) {
        char c = fold(*text, dots);
        if (c == '\0')
            continue;
        if (n == len || key[n] != c)
            return false;
        n++;
    }
    return n == len && len > 0;
}

bool eco_name_in(const char *key, size_t len, const char *words)
{
    while (*words != '\0') {
        size_t n = 0;

        while (n < len && words[n] == key[n] && words[n] != ' ')
            n++;
        if (n == len && len > 0 && (words[n] == ' ' || words[n] == '\0'))
            return true;
        for (words += n; *words != '\0' && *words != ' ';)
            words++;
        if (*words == ' ')
            words++;
    }
    return false;
}

/* A third of the name may be wrong, three letters at most; only the nearest names are kept. */
void eco_nearest_try(struct eco_nearest *n, const char *text, const char *show)
{
    char key[ECO_NAME_MAX];
    size_t len = eco_name_key(text, strlen(text), true, key);
    int limit = n->len < 3 ? 0 : n->len < 9 ? (int)(n->len / 3) : 3;
    int d;

    if (*text == '\0')
        return;
    d = eco_str_distance(n->key, n->len, key, len, limit);
    if (d > limit || (n->count > 0 && d > n->distance))
        return;
    if (n->count > 0 && d < n->distance)
        n->count = 0;
    n->distance = d;
    for (size_t i = 0; i < n->count; i++) {
        if (strcmp(n->name[i], show) == 0)
            return;
    }
    if (n->count < 3)
        n->name[n->count++] = show;
}

void eco_name_add(char *out, size_t size, const char *text, size_t len)
{
    size_t used = strlen(out);

    if (len > size - 1 - used)
        len = size - 1 - used;
    memcpy(out + used, text, len);
    out[used + len] = '\0';
}

void eco_name_adds(char *out, size_t size, const char *text)
{
    eco_name_add(out, size, text, strlen(text));
}

void eco_nearest_text(const struct eco_nearest *n, char *out, size_t size)
{
    out[0] = '\0';
    for (size_t i = 0; i < n->count; i++) {
        const char *joint = i == 0 ? ": did you mean '" : i + 1 == n->count ? "' or '" : "', '";

        eco_name_adds(out, size, joint);
        eco_name_adds(out, size, n->name[i]);
    }
    if (n->count > 0)
        eco_name_adds(out, size, "'?");
}
