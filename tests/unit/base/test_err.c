#include "eco_err.h"
#include "eco_test.h"

static void test_table(void **unused)
{
    (void)unused;
    assert_string_equal(eco_err_text(0), "ok");
    assert_int_equal(eco_err_exit_status(0), 0);
    assert_int_equal(eco_err_http_status(0), 200);
    assert_int_equal(eco_err_jsonrpc(0), 0);
    assert_string_equal(eco_err_text(ECO_E_RANGE), "out_of_range");
    assert_int_equal(eco_err_exit_status(ECO_E_CONTENT), 3);
    assert_int_equal(eco_err_http_status(ECO_E_CONTENT), 422);
    assert_int_equal(eco_err_jsonrpc(ECO_E_DEVICE), -32000);
    assert_int_equal(eco_err_exit_status(-9999), 70);
    assert_int_equal(eco_err_http_status(12), 500);
    assert_non_null(eco_err_text(-9999));
}

/* No two codes share a value or a text: both are what a client goes by. */
static void test_codes_differ(void **unused)
{
    static const struct {
        int code;
        const char *text;
    } rows[] = {
#define X(name, value, text, exit_status, http_status, jsonrpc) {value, text},
        ECO_CODES(X)
#undef X
    };
    size_t n = sizeof rows / sizeof rows[0];

    (void)unused;
    for (size_t i = 0; i < n; i++) {
        assert_true(rows[i].code < 0);
        assert_string_equal(eco_err_text(rows[i].code), rows[i].text);
        for (size_t k = 0; k < i; k++) {
            assert_int_not_equal(rows[i].code, rows[k].code);
            assert_string_not_equal(rows[i].text, rows[k].text);
        }
    }
}

static void test_set(void **unused)
{
    struct eco_err e = {0};

    (void)unused;
    assert_int_equal(eco_err_set(NULL, ECO_E_IO, "x", "%d", 1), ECO_E_IO);
    assert_int_equal(eco_err_set_at(NULL, ECO_E_IO, NULL, 1, 2, "%d", 1), ECO_E_IO);
    assert_int_equal(eco_err_set_at(&e, ECO_E_CONTENT, "a.csv", 7, 9, "bad '%s'", "x"),
                     ECO_E_CONTENT);
    assert_int_equal(e.code, ECO_E_CONTENT);
    assert_string_equal(e.message, "bad 'x'");
    assert_string_equal(e.arg, "a.csv");
    assert_int_equal(e.line, 7);
    assert_int_equal(e.column, 9);
    /* the second error leaves nothing of the first, though it quotes it */
    assert_int_equal(eco_err_set(&e, ECO_E_USAGE, NULL, "while reading: %s", e.message),
                     ECO_E_USAGE);
    assert_string_equal(e.message, "while reading: bad 'x'");
    assert_string_equal(e.arg, "");
    assert_int_equal(e.line, 0);
    assert_int_equal(e.column, 0);
    eco_err_set(&e, ECO_E_USAGE, "gpu", "x");
    eco_err_set(&e, ECO_E_USAGE, e.arg, "y %s", e.arg);
    assert_string_equal(e.arg, "gpu");
    assert_string_equal(e.message, "y gpu");
}

/* A cut message ends between two characters. */
static void test_truncation(void **unused)
{
    static const char *const letters[] = {"x", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"};
    char text[600];
    struct eco_err e;

    (void)unused;
    for (size_t k = 0; k < 4; k++) {
        size_t width = strlen(letters[k]);
        for (size_t shift = 0; shift < 4; shift++) {
            size_t len = shift;
            memset(text, '.', shift);
            while (len + width < sizeof text) {
                memcpy(text + len, letters[k], width);
                len += width;
            }
            text[len] = '\0';
            eco_err_set(&e, ECO_E_IO, text, "%s", text);
            assert_int_equal(strlen(e.message), shift + (255 - shift) / width * width);
            assert_int_equal(strlen(e.arg), shift + (63 - shift) / width * width);
            assert_memory_equal(e.message, text, strlen(e.message));
            assert_memory_equal(e.arg, text, strlen(e.arg));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_codes_differ),
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_truncation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
