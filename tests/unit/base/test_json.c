#include "base/json.h"
#include "eco_err.h"
#include "eco_test.h"

#include <time.h>

static int parse(struct eco_json_doc *doc, const char *text, struct eco_err *err)
{
    return eco_json_reparse(doc, text, strlen(text), err);
}

static void test_values(void **unused)
{
    const char *text =
        " {\"a\": 1, \"b\" :[true,false,null, -2.5e3],\n\"c\":\"x\\u0000y\",\"d\":{}}\n";
    char *copy = malloc(strlen(text) + 1);
    struct eco_json_doc d;

    (void)unused;
    assert_non_null(copy);
    memcpy(copy, text, strlen(text) + 1);
    assert_int_equal(eco_json_parse(&d, copy, strlen(copy), NULL), 0);
    memset(copy, '#', strlen(copy)); /* the document does not look at its text again */
    free(copy);

    assert_int_equal(d.root->type, ECO_JSON_OBJECT);
    assert_int_equal(d.root->count, 4);
    assert_null(d.root->key);
    const struct eco_json *a = d.root->child, *b = a->next, *c = b->next;
    assert_string_equal(a->key, "a");
    assert_int_equal(a->key_len, 1);
    assert_true(a->is_integer && a->i64 == 1);
    assert_near(a->num, 1, 0);
    assert_string_equal(a->str, "1");
    assert_int_equal(a->line, 1);
    assert_int_equal(a->column, 8);
    assert_int_equal(b->type, ECO_JSON_ARRAY);
    assert_int_equal(b->count, 4);
    assert_int_equal(b->child->type, ECO_JSON_TRUE);
    assert_int_equal(b->child->next->type, ECO_JSON_FALSE);
    assert_int_equal(b->child->next->next->type, ECO_JSON_NULL);
    const struct eco_json *n = b->child->next->next->next;
    assert_near(n->num, -2500, 0);
    assert_false(n->is_integer);
    assert_string_equal(n->str, "-2.5e3");
    assert_null(n->next);
    assert_int_equal(c->len, 3);
    assert_memory_equal(c->str, "x\0y", 4);
    assert_int_equal(c->line, 2);
    assert_int_equal(c->column, 5);
    assert_int_equal(c->next->count, 0);
    assert_null(c->next->child);
    assert_true((uintptr_t)a < (uintptr_t)b && (uintptr_t)b < (uintptr_t)c);
    eco_json_done(&d);
    eco_json_done(&d);
    eco_json_done(NULL);
}

static void test_integers(void **unused)
{
    static const struct {
        const char *text;
        bool is_integer;
        int64_t value;
    } cases[] = {
        {"0", true, 0},
        {"-0", true, 0},
        {"9223372036854775807", true, INT64_MAX},
        {"9223372036854775808", false, 0},
        {"-9223372036854775808", true, INT64_MIN},
        {"-9223372036854775809", false, 0},
        {"1e2", false, 0},
        {"1.0", false, 0},
        {"100000000000000000000000000", false, 0},
    };
    struct eco_json_doc d = {0};

    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(parse(&d, cases[i].text, NULL), 0);
        assert_int_equal(d.root->is_integer, cases[i].is_integer);
        assert_true(!cases[i].is_integer || d.root->i64 == cases[i].value);
        assert_near(d.root->num, strtod(cases[i].text, NULL), 0);
        assert_string_equal(d.root->str, cases[i].text);
    }
    eco_json_done(&d);
}

static void test_strings(void **unused)
{
    static const char *const cases[][2] = {
        {"\"\"", ""},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"},
        {"\"\\u00e9\\u20AC\\uD83D\\uDE00\"", "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"},
        {"\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\"", "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"},
        {"\"\\uFFFF\\uE000\\u0001\"", "\xEF\xBF\xBF\xEE\x80\x80\x01"},
        {"\"\x7F\"", "\x7F"},
    };
    struct eco_json_doc d = {0};

    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(parse(&d, cases[i][0], NULL), 0);
        assert_int_equal(d.root->type, ECO_JSON_STRING);
        assert_string_equal(d.root->str, cases[i][1]);
        assert_int_equal(d.root->len, strlen(cases[i][1]));
    }
    eco_json_done(&d);
}

static const struct {
    const char *text;
    long line, column;
    const char *message; /* a part of it */
} wrong[] = {
    {"", 1, 1, "found the end"},
    {" \n\n ", 3, 2, "found the end"},
    {"nul", 1, 1, "expected a value"},
    {"nullx", 1, 1, "expected a value"},
    {"TRUE", 1, 1, "expected a value"},
    {"NaN", 1, 1, "expected a value"},
    {"-Infinity", 1, 1, "not a json number"},
    {"'a'", 1, 1, "expected a value"},
    {"[1,]", 1, 4, "found ']'"},
    {"[,1]", 1, 2, "found ','"},
    {"[1 2]", 1, 4, "',' or ']'"},
    {"[1", 1, 3, "found the end"},
    {"[", 1, 2, "found the end"},
    {"]", 1, 1, "found ']'"},
    {"[1}", 1, 3, "found '}'"},
    {"{\"a\":1,}", 1, 8, "a name"},
    {"{\"a\":1\n,\n\n b:2}", 4, 2, "found 'b'"},
    {"{\"a\" 1}", 1, 6, "':'"},
    {"{\"a\":}", 1, 6, "found '}'"},
    {"{1:2}", 1, 2, "a name"},
    {"{", 1, 2, "a name"},
    {"{\"a\":1", 1, 7, "',' or '}'"},
    {"1 1", 1, 3, "the end"},
    {"{}\n{}", 2, 1, "the end"},
    {"01", 1, 1, "not a json number"},
    {"+1", 1, 1, "expected a value"},
    {"[1.]", 1, 2, "not a json number"},
    {"[.5]", 1, 2, "expected a value"},
    {"[1e]", 1, 2, "not a json number"},
    {"[0x1F]", 1, 2, "not a json number"},
    {"[1e400]", 1, 2, "too large"},
    {"\"ab", 1, 1, "does not end"},
    {"\"a\nb\"", 1, 3, "control character"},
    {"\"a\tb\"", 1, 3, "control character"},
    {"\"\\x\"", 1, 2, "unknown escape"},
    {"\"\\", 1, 2, "inside a string"},
    {"\"\\u12G4\"", 1, 2, "hexadecimal"},
    {"\"\\u12", 1, 2, "hexadecimal"},
    {"\"\\uD800\"", 1, 2, "surrogate"},
    {"\"\\uDC00\"", 1, 2, "surrogate"},
    {"\"\\uD800\\u0041\"", 1, 2, "surrogate"},
    {"\"\\uD800\\uD800\"", 1, 2, "surrogate"},
    {"\"\\uD800\\uE000\"", 1, 2, "surrogate"},
    {"\"\\uDC00\\uDC00\"", 1, 2, "surrogate"},
    {"\"\\uD800\\uDC0", 1, 2, "surrogate"},
    {"\"\\uD800\\", 1, 2, "surrogate"},
    {"\"\x80\"", 1, 2, "UTF-8"},
    {"\"\xC0\x80\"", 1, 2, "UTF-8"},
    {"\"\xED\xA0\x80\"", 1, 2, "UTF-8"},
    {"\"\xE2\x82\"", 1, 2, "UTF-8"},
    {"\xEF\xBB\xBF{}", 1, 1, "byte order mark"},
    {"/* x */ 1", 1, 1, "found '/'"},
    {"[1\f]", 1, 3, "byte 0x0c"},
    {"{\"a\":1,\n \"a\":2}", 2, 2, "'a' is there twice"},
    {"{\"a\":1,\"\\u0061\":2}", 1, 8, "'a' is there twice"},
    {"[{\"\":1, \"\":2}]", 1, 9, "'' is there twice"},
};

static void test_errors(void **unused)
{
    struct eco_json_doc d = {0};

    (void)unused;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct eco_err e = {0};
        size_t len = strlen(wrong[i].text);
        char *copy = malloc(len + (len == 0)); /* its own memory: a sanitizer sees a read past it */
        assert_non_null(copy);
        memcpy(copy, wrong[i].text, len);
        int code = eco_json_reparse(&d, copy, len, &e);
        free(copy);
        if (code != ECO_E_CONTENT || e.code != code || e.line != wrong[i].line ||
            e.column != wrong[i].column || strstr(e.message, wrong[i].message) == NULL) {
            fail_msg("%s: %d line %ld column %ld %s", wrong[i].text, code, e.line, e.column,
                     e.message);
        }
        assert_null(d.root);
        struct eco_json_doc fresh = {.root = (const struct eco_json *)wrong};
        assert_int_equal(eco_json_parse(&fresh, wrong[i].text, strlen(wrong[i].text), NULL), code);
        assert_ptr_equal(fresh.root, wrong); /* untouched, nothing to free */
    }
    assert_int_equal(eco_json_reparse(&d, "[1]\0", 4, NULL), ECO_E_CONTENT);
    assert_int_equal(eco_json_reparse(&d, "\"a\0b\"", 5, NULL), ECO_E_CONTENT);
    eco_json_done(&d);
}

/* Every prefix of a right document is wrong, and says so at its end or at an open string. */
static void test_prefixes(void **unused)
{
    const char *text = "{\"a\":[1.5e3,\"\\u00e9\\n\",{\"b\":null}],\"c\":{\"d\":[true,false]}}";
    struct eco_json_doc d = {0};
    struct eco_err e;

    (void)unused;
    for (size_t len = 0; len < strlen(text); len++) {
        char *cut = malloc(len + 1); /* its own memory, so that a sanitizer sees a read past it */
        assert_non_null(cut);
        memcpy(cut, text, len);
        assert_int_equal(eco_json_reparse(&d, cut, len, &e), ECO_E_CONTENT);
        assert_true(e.column >= 1 && e.column <= (long)len + 1);
        free(cut);
    }
    assert_int_equal(parse(&d, text, &e), 0);
    eco_json_done(&d);
}

static void test_limits(void **unused)
{
    char text[2 * ECO_JSON_MAX_DEPTH + 8];
    struct eco_json_doc d = {0};
    struct eco_err e;

    (void)unused;
    for (size_t depth = ECO_JSON_MAX_DEPTH; depth <= ECO_JSON_MAX_DEPTH + 1; depth++) {
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        int code = eco_json_reparse(&d, text, 2 * depth, &e);
        assert_int_equal(code, depth == ECO_JSON_MAX_DEPTH ? 0 : ECO_E_TOO_LARGE);
    }
    assert_int_equal(e.column, ECO_JSON_MAX_DEPTH + 1);
    /* refused before a byte is read */
    assert_int_equal(eco_json_reparse(&d, "1", ECO_JSON_MAX_BYTES + 1u, &e), ECO_E_TOO_LARGE);
    eco_json_done(&d);
}

/* An object of n names, the last one as `last`. */
static void wide_object(struct eco_buf *b, int n, const char *last)
{
    eco_buf_clear(b);
    eco_buf_putc(b, '{');
    for (int i = 0; i < n - 1; i++) {
        eco_buf_printf(b, "\"key%d\": [{\"x\\\"]\": \",}\"}, %d],\n", i, i);
    }
    eco_buf_printf(b, "  \"%s\": 0}", last);
}

static void test_wide_objects(void **unused)
{
    struct eco_buf b = ECO_BUF_INIT;
    struct eco_json_doc d = {0};
    struct eco_err e;
    char key[16];

    (void)unused;
    for (int n = 2; n < 60; n++) {
        wide_object(&b, n, "last");
        assert_int_equal(parse(&d, b.data, &e), 0);
        assert_int_equal(d.root->count, n);
        for (int twin = 0; twin < n - 1; twin++) {
            snprintf(key, sizeof key, "key%d", twin);
            wide_object(&b, n, key);
            assert_int_equal(parse(&d, b.data, &e), ECO_E_CONTENT);
            assert_int_equal(e.line, n);
            assert_int_equal(e.column, 3);
            assert_string_equal(e.arg, key);
        }
    }
    /* of several twins the first in the text is reported, not the first in sorted order */
    eco_buf_clear(&b);
    eco_buf_puts(&b, "{");
    for (int i = 0; i < 40; i++) {
        eco_buf_printf(&b, "\"k%02d\":0,\n", 39 - i);
    }
    eco_buf_puts(&b, "\"k30\":0, \"k05\":0, \"k20\":0}");
    assert_int_equal(parse(&d, b.data, &e), ECO_E_CONTENT);
    assert_string_equal(e.arg, "k30");
    assert_int_equal(e.line, 41);
    assert_int_equal(e.column, 1);
    eco_json_done(&d);
    eco_buf_done(&b);
}

/* Hostile width: comparing each name with each would take minutes here. */
static void test_very_wide(void **unused)
{
    struct eco_buf b = ECO_BUF_INIT;
    struct eco_json_doc d = {0};

    (void)unused;
    eco_buf_putc(&b, '{');
    for (int i = 0; i < 300000; i++) {
        eco_buf_printf(&b, "\"%06d\":0,", (int)(i * 7919LL % 300000));
    }
    eco_buf_puts(&b, "\"x\":0}");
    clock_t start = clock();
    assert_int_equal(eco_json_reparse(&d, b.data, b.len, NULL), 0);
    assert_true(clock() - start < 20 * CLOCKS_PER_SEC);
    assert_int_equal(d.root->count, 300001);
    eco_json_done(&d);
    eco_buf_done(&b);
}

static void test_get_and_pointers(void **unused)
{
    const char *text = "{\"a\":{\"b\":[10,{\"c\":5}]},\"\":1,\"x/y\":2,\"m~n\":3,\"~1\":4,\"0\":6}";
    struct eco_json_doc d = {0};

    (void)unused;
    assert_int_equal(parse(&d, text, NULL), 0);
    assert_ptr_equal(eco_json_at(d.root, ""), d.root);
    assert_int_equal(eco_json_at(d.root, "/a/b/0")->i64, 10);
    assert_int_equal(eco_json_at(d.root, "/a/b/1/c")->i64, 5);
    assert_int_equal(eco_json_at(d.root, "/")->i64, 1);
    assert_int_equal(eco_json_at(d.root, "/x~1y")->i64, 2);
    assert_int_equal(eco_json_at(d.root, "/m~0n")->i64, 3);
    assert_int_equal(eco_json_at(d.root, "/~01")->i64, 4);
    assert_int_equal(eco_json_at(d.root, "/0")->i64, 6);
    assert_null(eco_json_at(d.root, "a"));
    assert_null(eco_json_at(d.root, "/a/b/2"));
    assert_null(eco_json_at(d.root, "/a/b/00"));
    assert_null(eco_json_at(d.root, "/a/b/-1"));
    assert_null(eco_json_at(d.root, "/a/b/"));
    assert_null(eco_json_at(d.root, "/a/b/99999999999999999999"));
    assert_null(eco_json_at(d.root, "/0/x"));
    assert_null(eco_json_at(d.root, "/a/"));
    assert_null(eco_json_at(NULL, "/a"));
    assert_int_equal(eco_json_get(d.root, "x/y")->i64, 2);
    assert_null(eco_json_get(d.root, "nope"));
    assert_null(eco_json_get(NULL, "a"));
    assert_null(eco_json_get(eco_json_at(d.root, "/a/b"), "0"));
    assert_string_equal(eco_json_type_name(ECO_JSON_TRUE), "boolean");
    assert_string_equal(eco_json_type_name(ECO_JSON_OBJECT), "object");
    eco_json_done(&d);
}

static void write_sample(struct eco_json_writer *w)
{
    eco_jw_object(w);
    eco_jw_kv_num(w, "half", 0.5);
    eco_jw_kv_i64(w, "least", INT64_MIN);
    eco_jw_kv_str(w, "text", "q\"\\\n\x01\x7F\xC3\xA9");
    eco_jw_kv_str(w, "none", NULL);
    eco_jw_kv_bool(w, "yes", true);
    eco_jw_kv_num(w, "nan", (double)NAN);
    eco_jw_key(w, "list");
    eco_jw_array(w);
    eco_jw_num(w, 1e300);
    eco_jw_array(w);
    eco_jw_array_end(w);
    eco_jw_object(w);
    eco_jw_object_end(w);
    eco_jw_raw(w, "[1,2]", 5);
    eco_jw_null(w);
    eco_jw_bool(w, false);
    eco_jw_array_end(w);
    eco_jw_object_end(w);
}

static void test_writer(void **unused)
{
    struct eco_buf b = ECO_BUF_INIT;
    struct eco_json_writer w;

    (void)unused;
    eco_jw_init(&w, &b, 0);
    write_sample(&w);
    assert_string_equal(b.data, "{\"half\":0.5,\"least\":-9223372036854775808,"
                                "\"text\":\"q\\\"\\\\\\n\\u0001\x7F\xC3\xA9\",\"none\":null,"
                                "\"yes\":true,\"nan\":null,"
                                "\"list\":[1e+300,[],{},[1,2],null,false]}");
    eco_buf_clear(&b);
    eco_jw_init(&w, &b, 2);
    write_sample(&w);
    assert_string_equal(b.data, "{\n  \"half\": 0.5,\n  \"least\": -9223372036854775808,\n"
                                "  \"text\": \"q\\\"\\\\\\n\\u0001\x7F\xC3\xA9\",\n"
                                "  \"none\": null,\n  \"yes\": true,\n  \"nan\": null,\n"
                                "  \"list\": [\n    1e+300,\n    [],\n    {},\n    [1,2],\n"
                                "    null,\n    false\n  ]\n}");
    eco_buf_done(&b);
}

/* Every byte at every place of a text: what needs an escape gets one, wherever it stands. */
static void test_writer_every_byte(void **state)
{
    (void)state;
    for (unsigned c = 1; c < 128; c++) {
        for (size_t at = 0; at < 18; at++) {
            char text[] = "abcdefghijklmnopqr";
            struct eco_buf b = ECO_BUF_INIT;
            struct eco_json_writer w;
            struct eco_json_doc d;
            text[at] = (char)c;
            eco_jw_init(&w, &b, 0);
            eco_jw_str(&w, text);
            assert_int_equal(eco_json_parse(&d, eco_buf_str(&b), b.len, NULL), 0);
            assert_string_equal(d.root->str, text);
            bool plain = c >= 0x20 && c != '"' && c != '\\';
            assert_true(plain == (b.len == sizeof text + 1));
            eco_json_done(&d);
            eco_buf_done(&b);
        }
    }
}

/* A name is written as a key is, compact or not, and a buffer's limit holds for it too. */
static void test_writer_names(void **state)
{
    (void)state;
    for (int indent = 0; indent <= 2; indent += 2) {
        struct eco_buf key = ECO_BUF_INIT, name = ECO_BUF_INIT, small = {.limit = 9};
        struct eco_json_writer k, n, l;
        eco_jw_init(&k, &key, indent);
        eco_jw_init(&n, &name, indent);
        eco_jw_init(&l, &small, indent);
        eco_jw_object(&k);
        eco_jw_object(&n);
        eco_jw_object(&l);
        for (int i = 0; i < 3; i++) {
            eco_jw_kv_i64(&k, "delta_pct", i);
            eco_jw_token(&n, ",\"delta_pct\":", 13);
            eco_jw_i64(&n, i);
            eco_jw_token(&l, ",\"delta_pct\":", 13);
        }
        eco_jw_object_end(&k);
        eco_jw_object_end(&n);
        assert_string_equal(eco_buf_str(&name), eco_buf_str(&key));
        assert_false(eco_buf_ok(&small));
        eco_buf_done(&key);
        eco_buf_done(&name);
        eco_buf_done(&small);
    }
}

static void test_writer_bad_text(void **unused)
{
    struct eco_buf b = ECO_BUF_INIT;
    struct eco_json_writer w;

    (void)unused;
    eco_jw_init(&w, &b, 0);
    eco_jw_strn(&w, "a\xFF\xED\xA0\x80\0b", 7);
    assert_string_equal(b.data, "\"a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\\u0000b\"");
    assert_true(eco_str_is_utf8(b.data, b.len));
    eco_buf_clear(&b);
    eco_jw_init(&w, &b, 0);
    for (int i = 0; i <= ECO_JSON_MAX_DEPTH; i++) {
        assert_true(eco_buf_ok(&b));
        eco_jw_array(&w);
    }
    assert_false(eco_buf_ok(&b)); /* deeper than the reader would take */
    eco_buf_done(&b);
}

/* What is read and written again is the same text. */
static void test_round_trip(void **unused)
{
    static const char *const texts[] = {
        "{\"a\":[1,2.50,1E5,-0,123456789012345678901234567890],\"b\":\"\\u0000\\\"\xC3\xA9\"}",
        "[]",
        "{}",
        "null",
        "\"x\"",
        "[[[[]]],{\"\":{}},true,false]",
    };
    struct eco_json_doc d = {0};
    struct eco_json_writer w;

    (void)unused;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct eco_buf b = ECO_BUF_INIT;
        assert_int_equal(parse(&d, texts[i], NULL), 0);
        eco_jw_init(&w, &b, 0);
        eco_jw_value(&w, d.root);
        assert_string_equal(b.data, texts[i]);
        eco_buf_done(&b);
    }
    eco_json_done(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_prefixes),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_wide_objects),
        cmocka_unit_test(test_very_wide),
        cmocka_unit_test(test_get_and_pointers),
        cmocka_unit_test(test_writer),
        cmocka_unit_test(test_writer_every_byte),
        cmocka_unit_test(test_writer_names),
        cmocka_unit_test(test_writer_bad_text),
        cmocka_unit_test(test_round_trip),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
