#include "base/buf.h"
#include "base/csv.h"
#include "eco_err.h"
#include "eco_test.h"

/* Reads all of `text`, cells joined as "a|b;c|d"; the code of the end. */
static int read_all(const char *text, size_t len, struct eco_buf *out, struct eco_err *err)
{
    static struct eco_csv c;
    char *copy = malloc(len + (len == 0)); /* exactly as long, so that a sanitizer sees a slip */
    int code;

    assert_non_null(copy);
    memcpy(copy, text, len);
    eco_buf_clear(out);
    code = eco_csv_open(&c, "t.csv", copy, len, err);
    if (code == 0) {
        while ((code = eco_csv_next(&c, err)) == 1) {
            for (size_t i = 0; i < c.columns; i++) {
                assert_int_equal(c.cell[i].s[c.cell[i].len], 0);
                eco_buf_putc(out, i > 0 ? '|' : ';');
                eco_buf_put(out, c.cell[i].s, c.cell[i].len);
            }
        }
        eco_csv_done(&c);
    }
    free(copy);
    return code;
}

static void test_reads(void **unused)
{
    static const char *const cases[][2] = {
        {"a,b\n1,2\n3,4\n", ";1|2;3|4"},
        {"a,b\r\n1,2\r\n3,4", ";1|2;3|4"},
        {"\xEF\xBB\xBF"
         "a,b\n1,2\n",
         ";1|2"},
        {"\n\r\na\n\n1\n\r\n\n2\n\n", ";1;2"},
        {"a\n", ""},
        {"a", ""},
        {"a,b\n,\n", ";|"},
        {"a,b\n\"\",\"x\"\n", ";|x"},
        {"a,b\n\"1,5\",\"say \"\"hi\"\"\"\n", ";1,5|say \"hi\""},
        {"a,b\n\"two\nlines\r\nmore\",x\ny,z", ";two\nlines\r\nmore|x;y|z"},
        {"\"a\",\"b\"\"c\"\n1,2", ";1|2"},
        {"a,b\n\xC3\xA9, spaces stay \n", ";\xC3\xA9| spaces stay "},
        {"a,b\n1,\"\"\"\"", ";1|\""},
    };
    struct eco_buf b = ECO_BUF_INIT;
    struct eco_err e = {0};

    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (read_all(cases[i][0], strlen(cases[i][0]), &b, &e) != 0) {
            fail_msg("%s: %s", cases[i][0], e.message);
        }
        assert_string_equal(eco_buf_str(&b), cases[i][1]);
    }
    eco_buf_done(&b);
    static struct eco_csv c; /* a byte order mark is no part of the first name */
    assert_int_equal(eco_csv_open(&c, "x", "\xEF\xBB\xBFgpu,n\n", 9, &e), 0);
    assert_int_equal(eco_csv_column(&c, "gpu"), 0);
    eco_csv_done(&c);
}

static const struct {
    const char *text;
    size_t len; /* 0: up to the NUL */
    long line, column;
    const char *message;
} wrong[] = {
    {"", 0, 1, 1, "no header"},
    {"\n\n", 0, 3, 1, "no header"},
    {"a,,c\n", 0, 1, 2, "without a name"},
    {"a,b,a\n", 0, 1, 3, "'a' is there twice"},
    {"a,b\n1\n", 0, 2, 1, "1 cells, the header has 2"},
    {"a,b\n1,2\n\n1,2,3\n", 0, 4, 3, "3 cells, the header has 2"},
    {"a,b\n1,\"2\n3,4\n5,6\n", 0, 2, 2, "never closed"},
    {"a,b\n\"x\ny\",\"z", 0, 3, 2, "never closed"},
    {"a,b\n1,x\"y\n", 0, 2, 2, "a quote inside"},
    {"a,b\n\"x\"y,1\n", 0, 2, 1, "after a closing quote"},
    {"a,b\n\"x\" ,1\n", 0, 2, 1, "after a closing quote"},
    {"a,b\n1\r2,3\n", 0, 2, 1, "carriage return"},
    {"a,b\n1,2\r", 0, 2, 2, "carriage return"},
    {"a,b\n1,\xFF\n", 0, 2, 2, "UTF-8"},
    {"a,b\n1,x\0y\n", 10, 2, 2, "NUL"},
    {"a,b\n1,\"\0\"\n", 10, 2, 2, "NUL"},
};

static void test_errors(void **unused)
{
    struct eco_buf b = ECO_BUF_INIT;

    (void)unused;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct eco_err e = {0};
        size_t len = wrong[i].len != 0 ? wrong[i].len : strlen(wrong[i].text);
        int code = read_all(wrong[i].text, len, &b, &e);
        if (code != ECO_E_CONTENT || e.line != wrong[i].line || e.column != wrong[i].column ||
            strstr(e.message, wrong[i].message) == NULL || strstr(e.message, "t.csv") == NULL) {
            fail_msg("%s: %d line %ld column %ld %s", wrong[i].text, code, e.line, e.column,
                     e.message);
        }
    }
    eco_buf_done(&b);
}

static void test_limits(void **unused)
{
    struct eco_buf text = ECO_BUF_INIT, b = ECO_BUF_INIT;
    struct eco_err e = {0};

    (void)unused;
    for (int i = 0; i < 100000; i++) {
        eco_buf_printf(&text, "%sc%d", i > 0 ? "," : "", i);
    }
    assert_int_equal(read_all(text.data, text.len, &b, &e), ECO_E_TOO_LARGE);
    assert_non_null(strstr(e.message, "more than 256 columns"));

    for (size_t extra = 0; extra < 2; extra++) {
        eco_buf_clear(&text);
        eco_buf_puts(&text, "a\n\"");
        for (size_t i = 0; i < ECO_CSV_MAX_CELL + extra; i++) {
            eco_buf_putc(&text, 'x');
        }
        eco_buf_putc(&text, '"');
        assert_int_equal(read_all(text.data, text.len, &b, &e), extra ? ECO_E_TOO_LARGE : 0);
    }
    assert_int_equal(e.line, 2);

    eco_buf_clear(&text); /* a quote that opens at the start of a large file */
    eco_buf_puts(&text, "a\n\"");
    for (int i = 0; i < 500000; i++) {
        eco_buf_puts(&text, "1,2,3\n");
    }
    assert_int_equal(read_all(text.data, text.len, &b, &e), ECO_E_CONTENT);
    assert_int_equal(e.line, 2);
    eco_buf_done(&text);
    eco_buf_done(&b);
}

static void test_numbers(void **unused)
{
    static struct eco_csv c;
    const char *text = "gpu,energy_j,n\nA100,1.5,\nH100,+.5,7\nT4,1.5 J,1e999\n";
    struct eco_err e = {0};
    double v = 42;

    (void)unused;
    assert_int_equal(eco_csv_open(&c, "m.csv", text, strlen(text), &e), 0);
    int energy = eco_csv_column(&c, "energy_j"), n = eco_csv_column(&c, "n");
    assert_int_equal(energy, 1);
    assert_int_equal(eco_csv_column(&c, "Energy_j"), -1);
    assert_int_equal(eco_csv_num(&c, energy, &v, &e), 0); /* before the first row */
    assert_int_equal(eco_csv_next(&c, &e), 1);
    assert_int_equal(c.line, 2);
    assert_int_equal(eco_csv_num(&c, n, &v, &e), 0);
    assert_int_equal(eco_csv_num(&c, -1, &v, &e), 0);
    assert_int_equal(eco_csv_num(&c, 3, &v, &e), 0);
    assert_near(v, 42, 0);
    assert_int_equal(eco_csv_num(&c, energy, &v, &e), 1);
    assert_near(v, 1.5, 0);
    assert_int_equal(eco_csv_next(&c, &e), 1);
    assert_int_equal(eco_csv_num(&c, energy, &v, &e), 1);
    assert_near(v, 0.5, 0);
    assert_int_equal(eco_csv_next(&c, &e), 1);
    assert_int_equal(eco_csv_num(&c, energy, &v, &e), ECO_E_CONTENT);
    assert_string_equal(e.arg, "energy_j");
    assert_string_equal(e.message, "'m.csv' line 4 column 'energy_j': '1.5 J' is not a number");
    assert_int_equal(e.line, 4);
    assert_int_equal(e.column, 2);
    assert_int_equal(eco_csv_num(&c, n, &v, &e), ECO_E_CONTENT);
    assert_non_null(strstr(e.message, "too large"));
    assert_near(v, 0.5, 0);
    assert_int_equal(eco_csv_next(&c, &e), 0);
    assert_int_equal(eco_csv_next(&c, &e), 0);
    eco_csv_done(&c);
    eco_csv_done(&c);
    eco_csv_done(NULL);
}

/* What is written is read back. */
static void test_put(void **unused)
{
    static const char *const cells[] = {"",      "plain",  "a,b", "say \"hi\"", "two\nlines",
                                        " lead", "trail ", "\"",  "\r",         "\xC3\xA9"};
    size_t n = sizeof cells / sizeof cells[0];
    struct eco_buf text = ECO_BUF_INIT;
    static struct eco_csv c;
    struct eco_err e = {0};

    (void)unused;
    for (int row = 0; row < 2; row++) {
        for (size_t i = 0; i < n; i++) {
            char name[8];
            snprintf(name, sizeof name, "c%zu", i);
            eco_buf_puts(&text, i > 0 ? "," : "");
            const char *cell = row == 0 ? name : cells[i];
            eco_csv_put(&text, cell, strlen(cell));
        }
        eco_buf_puts(&text, "\r\n");
    }
    assert_int_equal(eco_csv_open(&c, "x", text.data, text.len, &e), 0);
    assert_int_equal(eco_csv_next(&c, &e), 1);
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(c.cell[i].s, cells[i]);
    }
    assert_int_equal(eco_csv_next(&c, &e), 0);
    eco_csv_done(&c);
    eco_buf_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads),  cmocka_unit_test(test_errors),
        cmocka_unit_test(test_limits), cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_put),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
