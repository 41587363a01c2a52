#include "base/num.h"
#include "base/num_pow10.h"
#include "eco_err.h"
#include "eco_test.h"

#define BUF (ECO_NUM_MAX + 320)

static uint64_t bits_of(double v)
{
    uint64_t u;

    memcpy(&u, &v, sizeof u);
    return u;
}

static double of_bits(uint64_t u)
{
    double v;

    memcpy(&v, &u, sizeof v);
    return v;
}

static uint64_t state = 88172645463325252u;

static uint64_t rnd(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static double unit(void)
{
    return (double)(rnd() >> 11) / 9007199254740992.0;
}

/* Doubles of every kind: any bits, plain figures, ties of few places, large ones, fractions. */
static double any_double(uint64_t i)
{
    double v = of_bits(rnd());

    switch (i % 5) {
    case 0:
        v = unit() * pow(10, (double)(i / 5 % 25) - 8);
        break;
    case 1:
        v = -floor(unit() * 1e6) / pow(10, (double)(i / 5 % 9));
        break;
    case 2:
        v = floor(unit() * ldexp(1, (int)(i / 5 % 54))) / ldexp(1, (int)(i % 14));
        break;
    case 3:
        v = (floor(unit() * 1e5) + 0.5) / pow(10, (double)(i / 5 % 8));
        break;
    default:
        break;
    }
    return isfinite(v) ? v : 0.5;
}

static void check_format_line(const char *const *word)
{
    static const int places[] = {0, 1, 2, 3, 6, 12};
    double v = of_bits(strtoull(word[1], NULL, 16));
    char text[BUF];

    assert_int_equal(eco_num_format(v, text), strlen(word[2]));
    assert_string_equal(text, word[2]);
    for (size_t k = 0; k < 6; k++) {
        assert_int_equal(eco_num_fixed(v, places[k], text), strlen(word[3 + k]));
        assert_string_equal(text, word[3 + k]);
        assert_int_equal(bits_of(eco_num_round(v, places[k])), bits_of(strtod(text, NULL)));
    }
}

static void check_parse_line(const char *const *word)
{
    double v = -7;

    if (eco_num_parse(word[1], strlen(word[1]), &v) != 0 ||
        bits_of(v) != strtoull(word[2], NULL, 16)) {
        fail_msg("%s reads as %.17g, not %s", word[1], v, word[2]);
    }
}

/* num_js.txt: what node prints and reads; see make_num_js.mjs. */
static void test_against_javascript(void **unused)
{
    static char line[2048];
    FILE *f = fopen(ECO_TEST_DIR "/unit/base/num_js.txt", "r");
    int formats = 0, parses = 0;

    (void)unused;
    assert_non_null(f);
    while (fgets(line, sizeof line, f) != NULL) {
        const char *word[10] = {NULL};
        size_t n = 0;
        for (char *p = strtok(line, " \n"); p != NULL && n < 10; p = strtok(NULL, " \n")) {
            word[n++] = p;
        }
        if (n == 9 && strcmp(word[0], "f") == 0) {
            check_format_line(word);
            formats++;
        } else {
            assert_int_equal(n, 3);
            check_parse_line(word);
            parses++;
        }
    }
    fclose(f);
    assert_true(formats > 500 && parses > 100);
}

static int significant_digits(const char *s)
{
    int n = 0, zeros = 0;

    for (; *s != '\0' && *s != 'e'; s++) {
        if (*s >= '0' && *s <= '9' && (n > 0 || *s != '0')) {
            n++;
            zeros = *s == '0' ? zeros + 1 : 0;
        }
    }
    return n - zeros;
}

static void test_format_is_shortest(void **unused)
{
    char text[ECO_NUM_MAX], shorter[64];

    (void)unused;
    for (uint64_t i = 0; i < 300000; i++) {
        double v = any_double(i);
        size_t len = eco_num_format(v, text);
        int digits = significant_digits(text);

        assert_true(len < ECO_NUM_MAX && text[len] == '\0');
        if (strtod(text, NULL) != v) {
            fail_msg("%s does not read back as %.17g", text, v);
        }
        if (digits > 1) {
            snprintf(shorter, sizeof shorter, "%.*e", digits - 2, v);
            if (strtod(shorter, NULL) == v) {
                fail_msg("%s is shorter than %s", shorter, text);
            }
        }
        /* the nearest of its length, unless that one does not read back (powers of two) */
        snprintf(shorter, sizeof shorter, "%.*e", digits > 0 ? digits - 1 : 0, v);
        if (strtod(shorter, NULL) == v && strtold(shorter, NULL) != strtold(text, NULL)) {
            long double a = fabsl(strtold(shorter, NULL) - (long double)v);
            long double b = fabsl(strtold(text, NULL) - (long double)v);
            assert_true(a >= b); /* only a tie may differ */
        }
    }
}

static void test_format_edges(void **unused)
{
    char text[ECO_NUM_MAX];

    (void)unused;
    eco_num_format(-0.0, text);
    assert_string_equal(text, "0");
    eco_num_format(-2.2250738585072014e-308, text);
    assert_string_equal(text, "-2.2250738585072014e-308");
    eco_num_format(9007199254740993.0, text);
    assert_string_equal(text, "9007199254740992");
    eco_num_format((double)NAN, text); /* not allowed, but never a crash or bad JSON */
    assert_string_equal(text, "null");
    for (uint64_t m = 1; m < 3000; m++) { /* the smallest have the shortest texts */
        char shorter[64];
        double v = of_bits(m);
        eco_num_format(v, text);
        assert_true(strtod(text, NULL) == v);
        int digits = significant_digits(text);
        snprintf(shorter, sizeof shorter, "%.*e", digits > 1 ? digits - 2 : 0, v);
        assert_true(digits == 1 || strtod(shorter, NULL) != v);
    }
    for (int e = -1074; e < 1024; e++) { /* powers of two have a lopsided interval */
        eco_num_format(ldexp(1, e), text);
        assert_true(strtod(text, NULL) == ldexp(1, e));
    }
}

/* The exact decimal expansion, rounded by hand: half away from zero. */
static void fixed_by_hand(double v, int places, char *out)
{
    static char exact[2000];
    int len = snprintf(exact, sizeof exact, "%.1100f", fabs(v));
    char *cut = strchr(exact, '.') + 1 + places;
    int carry = *cut >= '5';

    assert_true(len > 0);
    *cut = '\0';
    for (char *p = cut; carry && p-- > exact;) {
        if (*p != '.') {
            carry = *p == '9';
            *p = (char)(carry ? '0' : *p + 1);
        }
    }
    if (places == 0) {
        cut[-1] = '\0';
    }
    sprintf(out, "%s%s%s", v < 0 ? "-" : "", carry ? "1" : "", exact);
}

static void test_fixed_is_exact(void **unused)
{
    static char text[BUF], wanted[2048];

    (void)unused;
    for (uint64_t i = 0; i < 40000; i++) {
        double v = any_double(i);
        int places = (int)(rnd() % (i % 50 == 0 ? 101 : 13));
        if (fabs(v) >= 1e21) {
            continue;
        }
        size_t len = eco_num_fixed(v, places, text);
        fixed_by_hand(v, places, wanted);
        assert_string_equal(text, wanted);
        assert_int_equal(len, strlen(wanted));
        double rounded = eco_num_round(v, places);
        if (bits_of(rounded) != bits_of(strtod(wanted, NULL))) {
            fail_msg("round(%.17g, %d) = %.17g, not %s", v, places, rounded, wanted);
        }
    }
}

static void test_fixed_edges(void **unused)
{
    static char text[BUF];

    (void)unused;
    eco_num_fixed(-0.5, 0, text);
    assert_string_equal(text, "-1");
    eco_num_fixed(2.5, -3, text);
    assert_string_equal(text, "3");
    eco_num_fixed(1e21, 2, text);
    assert_string_equal(text, "1e+21");
    assert_int_equal(eco_num_fixed(999999999999999868928.0, 1000, text), 21 + 1 + 100);
    assert_true(eco_num_round(1.7976931348623157e308, 3) == 1.7976931348623157e308);
    assert_near(eco_num_round(1.005, 2), 1.0, 0); /* the double is below 1.005 */
    assert_near(eco_num_round(2.345, 2), 2.35, 0);
    assert_near(eco_num_round(5e-324, 100), 0, 0);
}

static void test_parse_grammar(void **unused)
{
    static const char *const bad[] = {"",    " 1",  "1 ",   "01",  "-",     "+1",  ".5",   "5.",
                                      "1e",  "1e+", "0x10", "inf", "nan",   "--1", "1.e5", "1,5",
                                      "1_0", "-01", "1..2", "e5",  "1e5.5", "٣",   "- 1",  "1f"};
    static const char *const lenient[] = {"+1", ".5", "5.", "-.5", "5.e1"};
    static const char *const never[] = {".", "+", "+.", "-.e5", ".e1", "01", "", " 1", "+-1"};
    double v = 42;

    (void)unused;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(eco_num_parse(bad[i], strlen(bad[i]), &v), ECO_E_INVALID);
    }
    for (size_t i = 0; i < sizeof lenient / sizeof lenient[0]; i++) {
        const char *s = lenient[i];
        assert_int_equal(eco_num_parse(s, strlen(s), &v), ECO_E_INVALID);
        assert_near(v, 42, 0); /* untouched */
        assert_int_equal(eco_num_parse_lenient(s, strlen(s), &v), 0);
        assert_near(v, strtod(s, NULL), 0);
        v = 42;
    }
    for (size_t i = 0; i < sizeof never / sizeof never[0]; i++) {
        assert_int_equal(eco_num_parse_lenient(never[i], strlen(never[i]), &v), ECO_E_INVALID);
    }
    assert_int_equal(eco_num_parse("1\0", 2, &v), ECO_E_INVALID);
    assert_int_equal(eco_num_parse("12345", 3, &v), 0);
    assert_near(v, 123, 0);
    assert_int_equal(eco_num_parse("1e309", 5, &v), ECO_E_RANGE);
    assert_int_equal(eco_num_parse("-1e99999999999999999999", 23, &v), ECO_E_RANGE);
    assert_near(v, 123, 0);
    assert_int_equal(eco_num_parse("1e-99999999999999999999", 23, &v), 0);
    assert_near(v, 0, 0);
}

static void test_parse_is_nearest(void **unused)
{
    char text[64];
    double v;

    (void)unused;
    for (uint64_t i = 0; i < 200000; i++) {
        double wanted = any_double(i);
        int len = snprintf(text, sizeof text, "%.*e", (int)(rnd() % 24), wanted);
        wanted = strtod(text, NULL);
        if (isinf(wanted)) {
            continue;
        }
        if (eco_num_parse(text, (size_t)len, &v) != 0 || bits_of(v) != bits_of(wanted)) {
            fail_msg("%s reads as %.17g", text, v);
        }
    }
}

/* One digit a thousand places after a tie must still decide it. */
static void test_parse_long(void **unused)
{
    static char text[2000010];
    double v;

    (void)unused;
    int len = sprintf(text, "9007199254740993.%01500d1", 0);
    assert_int_equal(eco_num_parse(text, (size_t)len, &v), 0);
    assert_near(v, 9007199254740994.0, 0);
    len = sprintf(text, "9007199254740993.%01500d", 0);
    assert_int_equal(eco_num_parse(text, (size_t)len, &v), 0);
    assert_near(v, 9007199254740992.0, 0);

    memset(text, '0', 2000000);
    text[1] = '.';
    memcpy(text + 1000000, "15e999999", 9);
    assert_int_equal(eco_num_parse(text, 1000009, &v), 0);
    assert_near(v, 1.5, 0);
    memset(text, '7', 2000000);
    assert_int_equal(eco_num_parse(text, 2000000, &v), ECO_E_RANGE);
    memcpy(text + 1000000, "e-999999", 8);
    assert_int_equal(eco_num_parse(text, 1000008, &v), 0);
    assert_near(v, 7.777777777777778, 0);
}

static void test_parse_i64(void **unused)
{
    int64_t v = 5;

    (void)unused;
    assert_int_equal(eco_num_parse_i64("9223372036854775807", 19, &v), 0);
    assert_true(v == INT64_MAX);
    assert_int_equal(eco_num_parse_i64("-9223372036854775808", 20, &v), 0);
    assert_true(v == INT64_MIN);
    assert_int_equal(eco_num_parse_i64("9223372036854775808", 19, &v), ECO_E_RANGE);
    assert_int_equal(eco_num_parse_i64("-9223372036854775809", 20, &v), ECO_E_RANGE);
    assert_int_equal(eco_num_parse_i64("10000000000000000000000", 23, &v), ECO_E_RANGE);
    assert_int_equal(eco_num_parse_i64("1.0", 3, &v), ECO_E_INVALID);
    assert_int_equal(eco_num_parse_i64("1e2", 3, &v), ECO_E_INVALID);
    assert_int_equal(eco_num_parse_i64("", 0, &v), ECO_E_INVALID);
    assert_true(v == INT64_MIN);
    assert_int_equal(eco_num_parse_i64("-0", 2, &v), 0);
    assert_true(v == 0);
}

/* Long arithmetic on little-endian 32-bit limbs, for the table of powers only. */
#define LIMBS 80

static void times_ten(uint32_t *a)
{
    uint64_t carry = 0;

    for (int i = 0; i < LIMBS; i++) {
        carry += (uint64_t)a[i] * 10;
        a[i] = (uint32_t)carry;
        carry >>= 32;
    }
    assert_true(carry == 0);
}

static void over_ten(uint32_t *a)
{
    uint64_t rest = 0;

    for (int i = LIMBS - 1; i >= 0; i--) {
        rest = rest << 32 | a[i];
        a[i] = (uint32_t)(rest / 10);
        rest %= 10;
    }
}

/* Every entry is the top 128 bits of its power, plus one. */
static void test_table_of_powers(void **unused)
{
    (void)unused;
    for (int k = ECO_POW10_MIN; k <= ECO_POW10_MAX; k++) {
        uint32_t a[LIMBS] = {0};
        const struct eco_pow10 *t = &eco_pow10_table[k - ECO_POW10_MIN];
        int top = LIMBS - 1;

        a[k < 0 ? LIMBS - 1 : 8] = 1; /* 2^2528 for fractions, 2^256 for the others */
        for (int i = 0; i < abs(k); i++) {
            (k < 0 ? over_ten : times_ten)(a);
        }
        while (a[top] == 0) {
            top--;
        }
        int shift = 0;
        while ((a[top] << shift & 0x80000000u) == 0) {
            shift++;
        }
        uint32_t w[4];
        for (int i = 0; i < 4; i++) {
            uint64_t two = (uint64_t)a[top - i] << 32 | a[top - i - 1];
            w[i] = (uint32_t)(two << shift >> 32);
        }
        uint64_t high = (uint64_t)w[0] << 32 | w[1], low = (uint64_t)w[2] << 32 | w[3];
        low++;
        high += low == 0;
        assert_true(t->high == high && t->low == low);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_javascript), cmocka_unit_test(test_format_is_shortest),
        cmocka_unit_test(test_format_edges),       cmocka_unit_test(test_fixed_is_exact),
        cmocka_unit_test(test_fixed_edges),        cmocka_unit_test(test_parse_grammar),
        cmocka_unit_test(test_parse_is_nearest),   cmocka_unit_test(test_parse_long),
        cmocka_unit_test(test_parse_i64),          cmocka_unit_test(test_table_of_powers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
