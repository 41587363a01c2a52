#include "base/clock.h"
#include "eco_test.h"

#include <time.h>

static void test_monotonic(void **unused)
{
    struct timespec pause = {0, 20000000};
    int64_t last = eco_clock_mono_ns();

    (void)unused;
    for (int i = 0; i < 10000; i++) {
        int64_t now = eco_clock_mono_ns();
        assert_true(now >= last);
        last = now;
    }
    nanosleep(&pause, NULL);
    int64_t slept_ns = eco_clock_mono_ns() - last;
    assert_true(slept_ns >=
                20000000); /* a sleep is never shorter; a loaded machine makes it long */
}

static void test_wall(void **unused)
{
    int64_t before_ms = (int64_t)time(NULL) * 1000;
    int64_t now_ms = eco_clock_unix_ms();

    (void)unused;
    assert_true(now_ms >= before_ms - 1000 && now_ms < before_ms + 60000);
}

static void test_iso8601(void **unused)
{
    static const struct {
        int64_t ms;
        const char *text;
    } cases[] = {
        {0, "1970-01-01T00:00:00.000Z"},
        {-1, "1969-12-31T23:59:59.999Z"},
        {951827696789, "2000-02-29T12:34:56.789Z"},
        {1796029951123, "2026-11-30T09:12:31.123Z"},
        {4102444800000, "2100-01-01T00:00:00.000Z"},
        {253402300799999, "9999-12-31T23:59:59.999Z"},
        {INT64_MAX, "9999-12-31T23:59:59.999Z"}, /* held inside four digits of a year */
        {INT64_MIN, "0000-01-01T00:00:00.000Z"},
    };
    char out[32];

    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        eco_clock_iso8601(cases[i].ms, out);
        assert_string_equal(out, cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_monotonic),
        cmocka_unit_test(test_wall),
        cmocka_unit_test(test_iso8601),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
