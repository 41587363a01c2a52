/* One streamed completion: pieces, times, usage, and the judgement at its end. */
#include "workload/openai_stream.h"

#include "eco_test.h"

#define MS INT64_C(1000000)
#define PIECE "data: {\"choices\":[{\"index\":0,\"text\":\" w\",\"finish_reason\":null}]}\n\n"
#define EMPTY "data: {\"choices\":[{\"index\":0,\"text\":\"\",\"finish_reason\":null}]}\n\n"
#define LAST "data: {\"choices\":[{\"index\":0,\"text\":\"\",\"finish_reason\":\"length\"}]}\n\n"
#define USAGE(n)                                                                                   \
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":" #n "}}\n\n"
#define DONE "data: [DONE]\n\n"

static struct eco_openai_stream s;

static int feed(const char *text, int64_t t_ns, struct eco_err *err)
{
    return eco_openai_stream_feed(&s, text, strlen(text), t_ns, err);
}

/* A stream of n pieces and an end; the result of its judgement. */
static int whole(int asked, bool bundled, int n, const char *ending, struct eco_err *err)
{
    assert_int_equal(eco_openai_stream_start(&s, asked, bundled, 0, err), 0);
    for (int i = 0; i < n; i++) {
        assert_int_equal(feed(PIECE, (10 + 5 * i) * MS, err), 0);
    }
    int rc = feed(ending, 1000 * MS, err);
    return rc ? rc : eco_openai_stream_check(&s, err);
}

static void test_times(void **state)
{
    struct eco_err err;
    (void)state;
    assert_int_equal(whole(4, false, 4, LAST USAGE(4) DONE, &err), 0);
    assert_int_equal(s.pieces, 4);
    assert_int_equal(s.usage_tokens, 4);
    assert_int_equal(s.prompt_tokens, 9);
    assert_near(eco_openai_stream_ttft_s(&s), 0.010, 1e-12);
    assert_int_equal(s.interval_count, 3);
    for (int i = 0; i < 3; i++) {
        assert_near(s.intervals_s[i], 0.005, 1e-12);
    }
    assert_string_equal(s.finish, "length");
    /* the next stream starts from nothing */
    assert_int_equal(eco_openai_stream_start(&s, 2, false, 50 * MS, &err), 0);
    assert_true(isnan(eco_openai_stream_ttft_s(&s)));
    assert_int_equal(feed(EMPTY PIECE, 70 * MS, &err), 0);
    assert_int_equal(s.empty, 1);
    assert_near(eco_openai_stream_ttft_s(&s), 0.020, 1e-12);
}

static void test_chat_and_thinking(void **state)
{
    struct eco_err err;
    (void)state;
    assert_int_equal(eco_openai_stream_start(&s, 8, false, 0, &err), 0);
    assert_int_equal(
        feed("data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n"
             "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"hm\"}}]}\n\n"
             "data: {\"choices\":[{\"delta\":{\"content\":\"yes\"}}],\"system_fingerprint\":\"f\","
             "\"usage\":null}\n\n"
             "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n" USAGE(3),
             MS, &err),
        0);
    assert_int_equal(eco_openai_stream_check(&s, &err), 0); /* usage came: [DONE] may be missing */
    assert_int_equal(s.pieces, 2);
    assert_int_equal(s.empty, 0);
    assert_string_equal(s.fingerprint, "f");
    assert_string_equal(s.finish, "stop");
}

static void test_counts_that_cannot_be(void **state)
{
    static const struct {
        int asked, pieces;
        bool bundled;
        const char *ending;
        int code;
        const char *says;
    } want[] = {
        {16, 16, false, LAST DONE, ECO_E_CONTENT, "no 'usage'"},
        {16, 7, false, "", ECO_E_DEVICE, "broke off after 7 of 16"},
        {16, 7, false, LAST, ECO_E_DEVICE, "broke off after 7 of 16"},
        {16, 16, false, LAST USAGE(17) DONE, ECO_E_CONTENT, "17 tokens, more than asked for"},
        {16, 16, false, LAST USAGE(15) DONE, ECO_E_CONTENT, "15 tokens, fewer than it sent"},
        {64, 32, false, LAST USAGE(64) DONE, ECO_E_CONTENT, "64 tokens, more than it sent"},
        {64, 32, true, LAST USAGE(64) DONE, 0, ""},
        {64, 32, false, LAST USAGE(38) DONE, 0, ""}, /* an end token, characters of two tokens */
        {16, 0, false, LAST USAGE(0) DONE, ECO_E_CONTENT, "generated nothing"},
        {1, 0, false, LAST USAGE(1) DONE, 0, ""}, /* one token without text */
        {4, 2, false, USAGE(-1), ECO_E_CONTENT, "no whole number 'completion_tokens'"},
        {4, 2, false, USAGE(1.5), ECO_E_CONTENT, "no whole number 'completion_tokens'"},
        {4, 2, false, "data: {\"usage\":{\"completion_tokens\":2}}\n\n", ECO_E_CONTENT,
         "no whole number 'prompt_tokens'"},
        {4, 2, false, "data: {\"object\":\"x\"}\n\n", ECO_E_CONTENT, "without 'choices'"},
        {4, 2, false, "data: [1]\n\n", ECO_E_CONTENT, "without 'choices'"},
        {4, 2, false, "data: {\"choices\":\n\n", ECO_E_CONTENT, "no JSON"},
        {4, 2, false, "data: {\"error\":{\"message\":\"full\"}}\n\n", ECO_E_DEVICE, "says: full"},
        {4, 2, false, "data: {\"error\":\"text\"}\n\n", ECO_E_DEVICE, "says: text"},
        {4, 2, false, "data: {\"error\":7}\n\n", ECO_E_DEVICE, "says: error"},
        {2, 2, false, PIECE PIECE PIECE PIECE PIECE, ECO_E_CONTENT, "streams on"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        struct eco_err err = {0};
        int rc = whole(want[i].asked, want[i].bundled, want[i].pieces, want[i].ending, &err);
        if (rc != want[i].code || !strstr(err.message, want[i].says)) {
            fail_msg("case %zu: %d '%s', wanted %d '%s'", i, rc, err.message, want[i].code,
                     want[i].says);
        }
    }
}

static int begin(void **state)
{
    (void)state;
    eco_openai_stream_init(&s);
    return 0;
}

static int end(void **state)
{
    (void)state;
    eco_openai_stream_done(&s);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_chat_and_thinking),
        cmocka_unit_test(test_counts_that_cannot_be),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
