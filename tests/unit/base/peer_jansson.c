/*
 * The JSON reader against jansson, another author's: over every file of the seed corpus and over
 * random changes of them, both refuse, or both read the same values. peer_jansson CORPUS [ROUNDS].
 */
#include "base/json.h"
#include "eco_err.h"

#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long compared, accepted;
static uint64_t state = 88172645463325252u;

static uint64_t rnd(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static bool same(const struct eco_json *a, const json_t *b)
{
    size_t i = 0;

    switch (a->type) {
    case ECO_JSON_NULL:
        return json_is_null(b);
    case ECO_JSON_FALSE:
        return json_is_false(b);
    case ECO_JSON_TRUE:
        return json_is_true(b);
    case ECO_JSON_NUMBER:
        return json_is_real(b) && a->num == json_real_value(b);
    case ECO_JSON_STRING:
        return json_is_string(b) && a->len == json_string_length(b) &&
               memcmp(a->str, json_string_value(b), a->len) == 0;
    case ECO_JSON_ARRAY:
        if (!json_is_array(b) || a->count != json_array_size(b)) {
            return false;
        }
        for (const struct eco_json *m = a->child; m != NULL; m = m->next) {
            if (!same(m, json_array_get(b, i++))) {
                return false;
            }
        }
        return true;
    case ECO_JSON_OBJECT:
        if (!json_is_object(b) || a->count != json_object_size(b)) {
            return false;
        }
        for (const struct eco_json *m = a->child; m != NULL; m = m->next) {
            const json_t *value = json_object_get(b, m->key);
            if (value == NULL || !same(m, value)) {
                return false;
            }
        }
        return true;
    default:
        return false;
    }
}

/* Where the two may differ: our depth is 64, and jansson has no NUL inside a name. */
static bool may_differ(int ours, const json_error_t *theirs)
{
    return ours == ECO_E_TOO_LARGE || json_error_code(theirs) == json_error_null_byte_in_key ||
           json_error_code(theirs) == json_error_stack_overflow;
}

static bool compare(const char *text, size_t len)
{
    static struct eco_json_doc doc;

    if (memchr(text, '\0', len) != NULL) {
        return true; /* jansson takes a NUL after a value for the end; RFC 8259 does not */
    }
    struct eco_err e = {0};
    json_error_t theirs = {0};
    int code = eco_json_reparse(&doc, text, len, &e);
    json_t *v = json_loadb(text, len,
                           JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL |
                               JSON_ALLOW_NUL,
                           &theirs);
    bool ok = (code == 0) == (v != NULL) && (v == NULL || same(doc.root, v));

    compared++;
    accepted += v != NULL;
    if (!ok && (v != NULL) != (code == 0) && may_differ(code, &theirs)) {
        ok = true;
    }
    if (!ok) {
        fprintf(stderr, "differ on %zu bytes: %.*s\nours: %d %s\njansson: %s\n", len, (int)len,
                text, code, e.message, v != NULL ? "accepted" : theirs.text);
    }
    json_decref(v);
    return ok;
}

/* Changes a few bytes, mostly to ones that mean something. */
static size_t change(char *text, size_t len, size_t cap)
{
    static const char marks[] = "{}[],:\"\\0123456789.eE+-ntfu \n\x01\x7F\x80\xC3\xA9\xED";

    for (uint64_t n = 1 + rnd() % 3; n > 0; n--) {
        size_t at = len > 0 ? (size_t)(rnd() % len) : 0;
        char c = marks[rnd() % (sizeof marks - 1)];
        if (rnd() % 3 == 0 && len < cap) {
            memmove(text + at + 1, text + at, len - at);
            text[at] = c;
            len++;
        } else if (rnd() % 2 == 0 && len > 0) {
            memmove(text + at, text + at + 1, len - at - 1);
            len--;
        } else if (len > 0) {
            text[at] = c;
        }
    }
    return len;
}

static bool compare_file(const char *path, unsigned long rounds)
{
    static char text[65536], changed[65536 + 8];
    FILE *f = fopen(path, "rb");
    bool ok = true;

    if (f == NULL) {
        fprintf(stderr, "peer_jansson: cannot read '%s'\n", path);
        return false;
    }
    size_t len = fread(text, 1, sizeof text, f);
    fclose(f);
    ok = compare(text, len);
    for (unsigned long i = 0; i < rounds && ok; i++) {
        memcpy(changed, text, len);
        ok = compare(changed, change(changed, len, sizeof changed - 8));
    }
    return ok;
}

int main(int argc, char **argv)
{
    unsigned long rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 10000;
    DIR *d = argc > 1 ? opendir(argv[1]) : NULL;
    bool ok = true;
    char path[4096];

    if (d == NULL) {
        fprintf(stderr, "usage: peer_jansson CORPUS [ROUNDS]\n");
        return 2;
    }
    for (const struct dirent *e = readdir(d); e != NULL; e = readdir(d)) {
        if (e->d_name[0] != '.') {
            snprintf(path, sizeof path, "%s/%s", argv[1], e->d_name);
            ok = compare_file(path, rounds) && ok;
        }
    }
    closedir(d);
    printf("%lu texts compared with jansson %s, %lu of them accepted\n", compared, JANSSON_VERSION,
           accepted);
    return ok && compared > 0 && accepted > 0 ? 0 : 1;
}
