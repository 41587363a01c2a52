#include "base/format.h"
#include "eco_test.h"

#include <limits.h>
#include <stdbool.h>

/* Ours and the library's; ours may refuse, never differ. Returns whether it was said. */
__attribute__((format(printf, 1, 2))) static bool agrees(const char *fmt, ...)
{
    char ours[200], theirs[200];
    va_list ap, again;

    va_start(ap, fmt);
    va_copy(again, ap);
    int n = eco_format(ours, sizeof ours, fmt, ap);
    va_end(ap);
    int want = vsnprintf(theirs, sizeof theirs, fmt, again);
    va_end(again);
    if (n < 0)
        return false;
    assert_string_equal(ours, theirs);
    assert_int_equal(n, want);
    return true;
}

static uint64_t state = 88172645463325252u;

static uint64_t rnd(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static void test_words(void **unused)
{
    (void)unused;
    assert_true(agrees("%s", ""));
    assert_true(agrees("a %s, %s: %d %%", "b", "−", -7));
    assert_true(agrees("%zu %lld %d", SIZE_MAX, LLONG_MIN, INT_MIN));
    assert_true(agrees("%lld", LLONG_MAX));
    assert_true(agrees("nothing"));
    assert_true(agrees("%.*f%%", 1, -12.34));
}

static void test_refuses(void **unused)
{
    (void)unused;
    assert_false(agrees("%5d", 3));
    assert_false(agrees("%.12s", "twelve"));
    assert_false(agrees("%.*s", 2, "abc"));
    assert_false(agrees("%x", 3U));
    assert_false(agrees("%.1f", (double)NAN));
    assert_false(agrees("%g", (double)INFINITY));
    assert_false(agrees("%g", -0.0));
    assert_false(agrees("%g", 1e6)); /* an exponent */
    assert_false(agrees("%g", 0.05));
    assert_false(agrees("%.0f", 2.5)); /* the library rounds a tie to even */
    assert_false(agrees("%.1f", 0.25));
    assert_false(agrees("%.2f", 1e9));
}

static int short_of(char *out, size_t cap, ...)
{
    va_list ap;

    va_start(ap, cap);
    int n = eco_format(out, cap, "%s", ap);
    va_end(ap);
    return n;
}

static void test_no_room(void **unused)
{
    char out[8];

    (void)unused;
    assert_int_equal(short_of(out, sizeof out, "1234567"), 7);
    assert_string_equal(out, "1234567");
    assert_int_equal(short_of(out, sizeof out, "12345678"), -1);
    assert_int_equal(short_of(out, sizeof out, (const char *)NULL), -1);
    assert_int_equal(short_of(out, 1, ""), 0);
    assert_int_equal(short_of(out, 0, ""), -1);
}

static void test_numbers(void **unused)
{
    static const double edge[] = {0,      0.1,      1,       9.5,      99.95,     999.5, 99999.5,
                                  999999, 999999.4, 0.99999, 0.999999, 0.9999995, -0.04, 123.456};
    int said = 0;

    (void)unused;
    for (size_t i = 0; i < sizeof edge / sizeof *edge; i++) {
        for (int p = 0; p < 10; p++) {
            agrees("%.*f", p, edge[i]);
            agrees("%.*g", p, edge[i]);
        }
    }
    for (int i = 0; i < 40000; i++) {
        double v = (double)(int64_t)(rnd() % 2000001 - 1000000) / (i % 2 ? 1000.0 : 17.0);
        if (i % 3 == 0)
            v = (floor(fabs(v)) + 0.5) / (i % 5 ? 10.0 : 100.0); /* near a tie */
        said += agrees("%g|%.3g|%.2g|%.4g", v, v, v, v);
        said += agrees("%.0f|%.1f|%.2f|%.*f", v, v, v, i % 8, v);
    }
    assert_true(said > 20000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
