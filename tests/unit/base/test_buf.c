#include "base/buf.h"
#include "eco_test.h"

static void test_growth(void **unused)
{
    struct eco_buf b = ECO_BUF_INIT;

    (void)unused;
    assert_string_equal(eco_buf_str(&b), "");
    eco_buf_put(&b, NULL, 0);
    for (int i = 0; i < 10000; i++) {
        eco_buf_putc(&b, (char)('a' + i % 26));
        assert_int_equal(b.data[b.len], 0);
    }
    eco_buf_puts(&b, "end");
    eco_buf_printf(&b, "%s%d", ":", 42);
    eco_buf_put_num(&b, 0.25);
    assert_true(eco_buf_ok(&b));
    assert_int_equal(b.len, 10000 + 3 + 3 + 4);
    assert_string_equal(b.data + 9998, "opend:420.25");
    char *memory = b.data;
    eco_buf_clear(&b);
    assert_int_equal(b.len, 0);
    assert_ptr_equal(b.data, memory);
    eco_buf_done(&b);
    eco_buf_done(&b);
    eco_buf_done(NULL);
    assert_null(b.data);
}

/* A long text is printed whole, whatever was free before. */
static void test_printf_lengths(void **unused)
{
    static char text[5000];

    (void)unused;
    for (size_t len = 0; len < 1200; len++) {
        struct eco_buf b = ECO_BUF_INIT;
        memset(text, 'x', len);
        text[len] = '\0';
        eco_buf_puts(&b, "0123456789");
        eco_buf_printf(&b, "%s", text);
        assert_int_equal(b.len, 10 + len);
        assert_string_equal(b.data + 10, text);
        eco_buf_done(&b);
    }
}

static void test_limit(void **unused)
{
    struct eco_buf b = {.limit = 5};

    (void)unused;
    eco_buf_puts(&b, "12345");
    assert_true(eco_buf_ok(&b));
    eco_buf_putc(&b, '6');
    assert_false(eco_buf_ok(&b));
    assert_string_equal(b.data, "12345");
    eco_buf_clear(&b);
    eco_buf_printf(&b, "%s", "123456");
    assert_false(eco_buf_ok(&b));
    assert_string_equal(b.data, "");
    eco_buf_puts(&b, "x"); /* nothing is written after a failure */
    assert_int_equal(b.len, 0);
    eco_buf_clear(&b);
    assert_false(eco_buf_reserve(&b, SIZE_MAX - 3));
    assert_false(eco_buf_ok(&b));
    eco_buf_done(&b);
}

static void test_case(void **unused)
{
    (void)unused;
    assert_true(eco_str_same_secret("", ""));
    assert_true(eco_str_same_secret("a b", "a b"));
    static const char *const others[] = {"", "a", "a ", "a B", "A b", "a b ", "xa b"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        assert_false(eco_str_same_secret("a b", others[i]));
        assert_false(eco_str_same_secret(others[i], "a b"));
    }
    assert_int_equal(eco_str_casecmp("RTX 4090", "rtx 4090"), 0);
    assert_true(eco_str_casecmp("a", "B") < 0);
    assert_true(eco_str_casecmp("abc", "ab") > 0);
    assert_true(eco_str_casecmp("\xC3\x89", "a") > 0); /* bytes above 0x7F are not folded */
    assert_int_not_equal(eco_str_casecmp("\xC3\x89", "\xC3\xA9"), 0);
    assert_int_not_equal(eco_str_casecmp("[", "{"), 0);
    assert_int_equal(eco_str_ncasecmp("ABx", "aby", 2), 0);
    assert_int_equal(eco_str_ncasecmp("ab", "AB", 10), 0);
    assert_true(eco_str_ieq("NF4!", 3, "nf4"));
    assert_false(eco_str_ieq("nf4", 3, "nf4a"));
    assert_false(eco_str_ieq("nf4a", 4, "nf4"));
    assert_false(eco_str_ieq("a\0b", 3, "a"));
    assert_true(eco_str_ieq("", 0, ""));
}

static int dist(const char *a, const char *b, int max)
{
    return eco_str_distance(a, strlen(a), b, strlen(b), max);
}

/* The definition, by recursion: slow, and independent of the rows. */
static int slow(const char *a, size_t n, const char *b, size_t m)
{
    if (n == 0 || m == 0) {
        return (int)(n + m);
    }
    int best = slow(a, n - 1, b, m) + 1;
    int d = slow(a, n, b, m - 1) + 1;
    best = d < best ? d : best;
    d = slow(a, n - 1, b, m - 1) + (a[n - 1] != b[m - 1]);
    best = d < best ? d : best;
    if (n > 1 && m > 1 && a[n - 1] == b[m - 2] && a[n - 2] == b[m - 1]) {
        d = slow(a, n - 2, b, m - 2) + 1;
        best = d < best ? d : best;
    }
    return best;
}

static void test_distance(void **unused)
{
    static char many[101];

    (void)unused;
    assert_int_equal(dist("rtx4009", "RTX4090", 3), 1);
    assert_int_equal(dist("", "", 0), 0);
    assert_int_equal(dist("", "abc", 5), 3);
    assert_int_equal(dist("abc", "xyz", 2), 3);
    assert_int_equal(dist("ca", "abc", 5), 3); /* optimal string alignment, not Damerau */
    assert_int_equal(dist("same", "SAME", 0), 0);
    assert_int_equal(dist("a", "b", -1), 0);
    memset(many, 'a', 100);
    assert_int_equal(dist(many, many, 2), 3); /* too long to be a typing mistake */
    for (unsigned i = 0; i < 3 * 3 * 3 * 3 * 3 * 3 * 3 * 3 * 3; i++) {
        char a[6] = "", b[6] = "";
        unsigned rest = i;
        for (size_t k = 0; k < 5; k++, rest /= 3) {
            a[k] = (char)('a' + rest % 3);
        }
        for (size_t k = 0; k < 4; k++, rest /= 3) {
            b[k] = (char)('a' + rest % 3);
        }
        int wanted = slow(a, 5, b, 4);
        for (int max = 0; max < 6; max++) {
            assert_int_equal(dist(a, b, max), wanted > max ? max + 1 : wanted);
        }
    }
}

static void test_utf8(void **unused)
{
    static const char *const good[] = {"",
                                       "a",
                                       "\x7F",
                                       "\xC2\x80",
                                       "\xDF\xBF",
                                       "\xE0\xA0\x80",
                                       "\xED\x9F\xBF",
                                       "\xEE\x80\x80",
                                       "\xEF\xBF\xBF",
                                       "\xF0\x90\x80\x80",
                                       "\xF4\x8F\xBF\xBF"};
    static const char *const bad[] = {"\x80",
                                      "\xC0\x80",
                                      "\xC1\xBF",
                                      "\xC2",
                                      ("\xC2"
                                       "a"),
                                      "\xE0\x9F\xBF",
                                      "\xED\xA0\x80",
                                      "\xED\xBF\xBF",
                                      "\xE2\x82",
                                      "\xF0\x8F\xBF\xBF",
                                      "\xF4\x90\x80\x80",
                                      "\xF5\x80\x80\x80",
                                      "\xFF",
                                      "\xFE",
                                      "\xF0\x9F\x98"};

    (void)unused;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(eco_str_is_utf8(good[i], strlen(good[i])));
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(eco_str_is_utf8(bad[i], strlen(bad[i])));
    }
    assert_true(eco_str_is_utf8("\0", 1));
}

static void test_width(void **unused)
{
    static const struct {
        const char *text;
        size_t width;
    } cases[] = {
        {"", 0},
        {"RTX 4090", 8},
        {"\xC3\xA9", 1},                 /* e acute */
        {"e\xCC\x81", 1},                /* e and a combining acute */
        {"\xE6\x97\xA5\xE6\x9C\xAC", 4}, /* two Han characters */
        {"\xEF\xBC\xA1", 2},             /* full-width A */
        {"\xF0\x9F\x98\x80", 2},         /* an emoji */
        {"\xE2\x80\xA6\xE2\x96\x88", 2}, /* ellipsis, full block */
        {"\xE2\x80\x8B", 0},             /* zero width space */
        {"\xED\x95\x9C", 2},             /* a Hangul syllable */
        {"\xE1\x84\x92\xE1\x85\xA1", 2}, /* the same as jamo */
        {"\xFF\xFE", 2},                 /* not UTF-8: a replacement character each */
        {"a\tb\x1B", 2},                 /* controls take none */
        {"\xCD\xB8", 1},                 /* U+0378, unassigned */
        {"\xF0\xA0\x80\x80", 2},         /* Han, plane 2 */
    };

    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(eco_str_width(cases[i].text, strlen(cases[i].text)), cases[i].width);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_growth),   cmocka_unit_test(test_printf_lengths),
        cmocka_unit_test(test_limit),    cmocka_unit_test(test_case),
        cmocka_unit_test(test_distance), cmocka_unit_test(test_utf8),
        cmocka_unit_test(test_width),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
