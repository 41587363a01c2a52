/* Server-sent events: the format, cut anywhere, and what is none. */
#include "workload/sse.h"

#include "eco_test.h"

static char seen[4096];

static int keep(void *ctx, const char *data, size_t len, struct eco_err *err)
{
    int *left = ctx;
    assert_int_equal(strlen(data), len);
    snprintf(seen + strlen(seen), sizeof(seen) - strlen(seen), "<%s>", data);
    return --*left == 0 ? eco_err_set(err, ECO_E_INTERRUPTED, NULL, "enough") : 0;
}

/* Feeds `text` in steps of `step` bytes. */
static int feed(const char *text, size_t len, size_t step, int left, struct eco_err *err)
{
    struct eco_sse s;
    struct eco_sse_sink sink = {keep, &left};
    int rc = 0;
    seen[0] = '\0';
    eco_sse_init(&s);
    for (size_t at = 0; at < len && rc == 0; at += step) {
        rc = eco_sse_feed(&s, text + at, len - at < step ? len - at : step, &sink, err);
    }
    eco_sse_done(&s);
    return rc;
}

static void test_events_however_cut(void **state)
{
    static const char text[] = "\xEF\xBB\xBF"
                               ": a comment\n"
                               "data: one\n\n"
                               "event: x\r\nid: 7\r\nretry: 10\r\ndata:two\r\ndata: lines\r\n\r\n"
                               "\n\n"
                               "data\rdata:  kept blank\r\r"
                               "id: alone\n\n"
                               "data: [DONE]\n\n"
                               "data: not ended\n";
    (void)state;
    for (size_t step = 1; step <= sizeof(text); step++) {
        assert_int_equal(feed(text, sizeof(text) - 1, step, 100, NULL), 0);
        assert_string_equal(seen, "<one><two\nlines><\n kept blank><[DONE]>");
    }
}

static void test_what_is_none(void **state)
{
    static const struct {
        const char *text;
        int code;
        const char *says;
    } want[] = {
        {"<html>\n", ECO_E_CONTENT, "no event stream: '<html>'"},
        {"{\"a\":1}\n", ECO_E_CONTENT, "no event stream"},
        {"data: a\n\ndatabase: b\n", ECO_E_CONTENT, "'database: b'"},
        {"\x01\xff!\n", ECO_E_CONTENT, "?!'"},
        {"error: out of slots\n", ECO_E_DEVICE, "the server says: out of slots"},
    };
    struct eco_err err;
    (void)state;
    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        assert_int_equal(feed(want[i].text, strlen(want[i].text), 3, 100, &err), want[i].code);
        if (!strstr(err.message, want[i].says)) {
            fail_msg("'%s' does not say '%s'", err.message, want[i].says);
        }
    }
    assert_int_equal(feed("data: a\n\ndata: b\n\n", 18, 1, 1, &err), ECO_E_INTERRUPTED);
    assert_string_equal(seen, "<a>");
}

static void test_sizes(void **state)
{
    char *long_line = malloc(ECO_SSE_MAX_BYTES + 64);
    struct eco_err err;
    (void)state;
    memset(long_line, 'x', ECO_SSE_MAX_BYTES + 64);
    assert_int_equal(feed(long_line, ECO_SSE_MAX_BYTES + 64, 16384, 9, &err), ECO_E_TOO_LARGE);
    assert_int_equal(feed(long_line, ECO_SSE_MAX_BYTES + 64, ECO_SSE_MAX_BYTES + 64, 9, &err),
                     ECO_E_TOO_LARGE);
    /* many lines of one event */
    for (size_t i = 0; i + 8 <= ECO_SSE_MAX_BYTES + 64; i += 8) {
        memcpy(long_line + i, "data: x\n", 8);
    }
    struct eco_sse s;
    int left = 9, rc = 0;
    struct eco_sse_sink sink = {keep, &left};
    eco_sse_init(&s);
    for (int i = 0; i < 8 && rc == 0; i++) { /* each line adds two bytes: "x" and a newline */
        rc = eco_sse_feed(&s, long_line, ECO_SSE_MAX_BYTES, &sink, &err);
    }
    assert_int_equal(rc, ECO_E_TOO_LARGE);
    eco_sse_reset(&s);
    assert_false(eco_sse_midway(&s));
    seen[0] = '\0';
    assert_int_equal(eco_sse_feed(&s, "data: y\n", 8, &sink, &err), 0);
    assert_true(eco_sse_midway(&s));
    assert_int_equal(eco_sse_feed(&s, "\n", 1, &sink, &err), 0);
    assert_string_equal(seen, "<y>");
    eco_sse_done(&s);
    free(long_line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_events_however_cut),
        cmocka_unit_test(test_what_is_none),
        cmocka_unit_test(test_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
