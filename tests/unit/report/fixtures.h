/* Reads tests/conformance/NAME and hands out its lines as JSON; fails the test when it cannot. */
#ifndef FIXTURES_H
#define FIXTURES_H

#include "eco_test.h"

#include "base/buf.h"
#include "base/json.h"

static inline void read_whole(const char *path, struct eco_buf *out)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        fail_msg("cannot open %s", path);
    char chunk[65536];
    for (size_t n; (n = fread(chunk, 1, sizeof(chunk), f)) > 0;)
        eco_buf_put(out, chunk, n);
    fclose(f);
    assert_true(eco_buf_ok(out));
}

/* Calls `each` for every line; returns how many there were. */
static inline size_t each_case(const char *name, void (*each)(const struct eco_json *, void *),
                               void *arg)
{
    char path[512];
    struct eco_buf text = ECO_BUF_INIT;
    size_t lines = 0;
    snprintf(path, sizeof(path), "%s/conformance/%s", ECO_TEST_DIR, name);
    read_whole(path, &text);
    for (const char *at = text.data, *end = at + text.len; at < end; lines++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t len = stop ? (size_t)(stop - at) : (size_t)(end - at);
        struct eco_json_doc doc = {0};
        struct eco_err err = {0};
        if (eco_json_parse(&doc, at, len, &err) != 0)
            fail_msg("%s line %zu: %s", name, lines + 1, err.message);
        each(doc.root, arg);
        eco_json_done(&doc);
        at += len + (stop != NULL);
    }
    eco_buf_done(&text);
    return lines;
}

static inline const char *text_of(const struct eco_json *object, const char *key)
{
    const struct eco_json *v = eco_json_get(object, key);
    return v && v->type == ECO_JSON_STRING ? v->str : NULL;
}

static inline bool true_at(const struct eco_json *object, const char *key)
{
    const struct eco_json *v = eco_json_get(object, key);
    return v && v->type == ECO_JSON_TRUE;
}

#endif
