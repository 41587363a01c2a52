/*
 * Every allocation of base fails once. The sources that allocate are compiled into this program
 * with an allocator that counts down; the linker then takes them instead of the library's.
 */
#define _XOPEN_SOURCE 700 /* as file.c */
#include "eco_test.h"

static long fail_at = -1; /* allocations until the one that fails; -1: none does */
static long in_use;

static void *counted(void *old, size_t size)
{
    if (fail_at == 0) {
        return NULL;
    }
    fail_at -= fail_at > 0;
    void *p = realloc(old, size);
    in_use += old == NULL && p != NULL;
    return p;
}

static void counted_free(void *p)
{
    in_use -= p != NULL;
    free(p);
}

#undef fail /* a macro of cmocka; file.c has a function */
#define malloc(size) counted(NULL, size)
#define realloc(old, size) counted(old, size)
#define free(p) counted_free(p)
#include "../../../src/base/arena.c" /* NOLINT(bugprone-suspicious-include) */
#include "../../../src/base/buf.c"   /* NOLINT(bugprone-suspicious-include) */
#include "../../../src/base/file.c"  /* NOLINT(bugprone-suspicious-include) */
#undef malloc
#undef realloc
#undef free

#include "base/csv.h"
#include "base/hash.h"
#include "base/json.h"
#include "eco_err.h"

static int use_json(void)
{
    struct eco_buf text = ECO_BUF_INIT, out = ECO_BUF_INIT;
    struct eco_json_writer w;
    struct eco_json_doc d = {0};
    struct eco_err e = {0};
    int code;

    eco_buf_puts(&text, "[{\"a\":\"text\"");
    for (int i = 0; i < 400; i++) {
        eco_buf_printf(&text, ",\"k%d\":[%d,null]", i, i);
    }
    eco_buf_puts(&text, "}]");
    code = eco_buf_ok(&text) ? eco_json_parse(&d, text.data, text.len, &e) : ECO_E_NO_MEMORY;
    assert_int_equal(code, code == 0 ? 0 : ECO_E_NO_MEMORY);
    if (code == 0) {
        eco_jw_init(&w, &out, 1);
        eco_jw_value(&w, d.root);
        code = eco_buf_ok(&out) ? eco_json_reparse(&d, out.data, out.len, &e) : ECO_E_NO_MEMORY;
        assert_true(code == 0 || d.root == NULL || !eco_buf_ok(&out));
    }
    eco_json_done(&d);
    eco_buf_done(&text);
    eco_buf_done(&out);
    return code;
}

static int use_csv(void)
{
    static struct eco_csv c;
    static char text[9000];
    int code;

    snprintf(text, sizeof text, "a,b\n1,\"2\"\n%08000d,x\n", 7);
    code = eco_csv_open(&c, "t.csv", text, strlen(text), NULL);
    while (code == 0 && (code = eco_csv_next(&c, NULL)) == 1) {
        code = 0;
    }
    eco_csv_done(&c);
    return code;
}

static int use_text(void)
{
    struct eco_arena a;
    struct eco_buf code64 = ECO_BUF_INIT, back = ECO_BUF_INIT;
    int code = ECO_E_NO_MEMORY;

    eco_arena_init(&a, 0);
    const char *p = eco_arena_printf(&a, "%5000d", 1);
    const char *q = eco_arena_strdup(&a, "x", 1);
    if (p != NULL && q != NULL) {
        eco_base64url_encode(&code64, p, strlen(p));
        eco_buf_put_num(&back, 1.5);
        if (eco_buf_ok(&code64) && eco_buf_ok(&back)) {
            code = eco_base64url_decode(&back, code64.data, code64.len);
        }
    }
    eco_buf_done(&code64);
    eco_buf_done(&back);
    eco_arena_done(&a);
    return code;
}

static int use_file(void)
{
    const char *path = "eco-test-nomem/a/b";
    struct eco_buf b = ECO_BUF_INIT;
    int code = eco_file_read(ECO_TEST_DIR "/unit/base/num_js.txt", 1 << 20, &b, NULL);

    code = code == 0 ? eco_file_mkdirs("eco-test-nomem/a", NULL) : code;
    code = code == 0 ? eco_file_write(path, b.data, b.len, false, NULL) : code;
    assert_int_equal(eco_file_exists(path), code == 0); /* whole or not at all */
    remove(path);
    remove("eco-test-nomem/a");
    remove("eco-test-nomem");
    eco_buf_done(&b);
    return code;
}

/* Fails allocation 0, 1, 2 … until all goes well: always the right code, never a leak. */
static void sweep(int (*use)(void), long at_least)
{
    long n = 0;

    for (;; n++) {
        fail_at = n;
        int code = use();
        assert_int_equal(in_use, 0);
        if (code == 0) {
            break;
        }
        assert_int_equal(code, ECO_E_NO_MEMORY);
        assert_true(n < 1000);
    }
    assert_true(n >= at_least);
    fail_at = -1;
}

static void test_json(void **unused)
{
    (void)unused;
    sweep(use_json, 6);
}

static void test_csv(void **unused)
{
    (void)unused;
    sweep(use_csv, 3);
}

static void test_text(void **unused)
{
    (void)unused;
    sweep(use_text, 4);
}

static void test_file(void **unused)
{
    (void)unused;
    sweep(use_file, 5);
}

/* A repeated parse, once warm, allocates nothing. */
static void test_reparse_is_free(void **unused)
{
    struct eco_json_doc d = {0};
    char text[200];

    (void)unused;
    for (int i = 0; i < 100; i++) {
        fail_at = i < 3 ? -1 : 0;
        int len =
            snprintf(text, sizeof text, "{\"model\":\"m%d\",\"batch\":[1,%d],\"x\":{}}", i, i);
        assert_int_equal(eco_json_reparse(&d, text, (size_t)len, NULL), 0);
    }
    fail_at = -1;
    eco_json_done(&d);
    assert_int_equal(in_use, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_csv),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_reparse_is_free),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
