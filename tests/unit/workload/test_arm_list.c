/* One value or one for each precision, and the words for the openai helper. */
#include "workload/arm_list.h"
#include "workload/workload.h"

#include "eco_test.h"

#include <sys/stat.h>

static void test_values(void **state)
{
    static const struct {
        const char *text;
        enum eco_precision arm;
        int code;
        const char *value;
    } want[] = {
        {"http://a:1/v1", ECO_PREC_NF4, 0, "http://a:1/v1"},
        {"FP16=http://a,NF4=http://b:2/v1", ECO_PREC_NF4, 0, "http://b:2/v1"},
        {"fp16=http://a,nf4=http://b", ECO_PREC_FP16, 0, "http://a"},
        {"http://a/v1?x=y,z", ECO_PREC_FP16, 0, "http://a/v1?x=y,z"},
        {"name=with,signs", ECO_PREC_FP16, 0, "name=with,signs"},
        {"FP16=a,NF4=b", ECO_PREC_FP8, ECO_E_MISSING, "'x' has no value for FP8"},
        {"a-name-that-is-much-too-long-for-it", ECO_PREC_FP8, ECO_E_TOO_LARGE, "longer than 19"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        char out[20] = "untouched";
        struct eco_err err = {0};
        int rc = eco_arm_list_get(want[i].text, "x", want[i].arm, out, sizeof(out), &err);
        assert_int_equal(rc, want[i].code);
        assert_non_null(strstr(rc ? err.message : out, want[i].value));
        assert_true(rc == 0 || strcmp(out, "untouched") == 0);
    }
}

static void test_lists(void **state)
{
    static const struct {
        const char *text, *says;
    } bad[] = {{"", "'x' is empty"},
               {"FP16=", "has no value for FP16"},
               {"FP16=a,FP16=b", "names twice: FP16"},
               {"FP16=a,b", "'b' does not begin with a precision"},
               {"FP16=a,", "'' does not begin with a precision"}};
    struct eco_err err;
    (void)state;
    assert_int_equal(eco_arm_list_check("a,b=c", "x", &err), 0);
    assert_int_equal(eco_arm_list_check("FP16=a,GGUF-Q8_0=b", "x", &err), 0);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(eco_arm_list_check(bad[i].text, "x", &err), ECO_E_INVALID);
        assert_non_null(strstr(err.message, bad[i].says));
    }
}

static void test_openai_text(void **state)
{
    static const enum eco_precision arms[] = {ECO_PREC_FP16, ECO_PREC_NF4};
    static const struct {
        struct eco_workload_openai o;
        int code;
        const char *says;
    } want[] = {
        {{"http://h:1", NULL, NULL}, 0, "openai:--url 'http://h:1'"},
        {{"http://h", "it's", "K_1"},
         0,
         "openai:--url 'http://h' --served-model 'it'\\''s' --key-env 'K_1'"},
        {{"FP16=https://a,NF4=http://b", NULL, NULL}, 0, "'FP16=https://a,NF4=http://b'"},
        {{NULL, NULL, NULL}, ECO_E_MISSING, "needs 'url'"},
        {{"FP16=http://a", NULL, NULL}, ECO_E_MISSING, "no value for NF4"},
        {{"http://h", "FP16=a", NULL}, ECO_E_MISSING, "'served_model' has no value for NF4"},
        {{"localhost:8000", NULL, NULL}, ECO_E_INVALID, "not 'localhost:8000'"},
        {{"file:///etc/passwd", NULL, NULL}, ECO_E_INVALID, "is the address of a server"},
        {{"http://", NULL, NULL}, ECO_E_INVALID, "is the address of a server"},
        {{"http://a b", NULL, NULL}, ECO_E_INVALID, "is the address of a server"},
        {{"http://me:pw@h", NULL, NULL}, ECO_E_INVALID, "holds a name or password"},
        {{"http://h", NULL, "sk-123"}, ECO_E_INVALID, "not the key"},
        {{"http://h", NULL, ""}, ECO_E_INVALID, "not the key"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        struct eco_buf out = ECO_BUF_INIT;
        struct eco_err err = {0};
        int rc = eco_workload_openai_text(&want[i].o, arms, 2, &out, &err);
        if (rc != want[i].code || !strstr(rc ? err.message : eco_buf_str(&out), want[i].says)) {
            fail_msg("case %zu: %d '%s' '%s'", i, rc, err.message, eco_buf_str(&out));
        }
        eco_buf_done(&out);
    }
}

static void test_no_helper(void **state)
{
    struct eco_worker_options o = {.log = NULL};
    struct eco_generator *w = NULL;
    struct eco_err err;
    (void)state;
    setenv("ECOCOMPUTE_LIBEXEC", "/nowhere", 1);
    assert_int_equal(eco_workload_open_openai("--url x", &o, &w, &err), ECO_E_NOT_FOUND);
    assert_non_null(strstr(err.message, "ecocompute-openai"));
    unsetenv("ECOCOMPUTE_LIBEXEC");
}

/* The helper is found, gets its arguments through the shell, and is a worker. */
static void test_a_helper(void **state)
{
    char folder[] = "ecocompute-helper-XXXXXX", path[64];
    struct eco_generator *w = NULL;
    struct eco_workload_loaded loaded;
    struct eco_workload_arm arm = {"tiny", ECO_PREC_NF4, 1, 8, 16, 1};
    struct eco_err err;
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/ecocompute-openai", folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "#!/bin/sh\n[ \"$2\" = \"it's \\$HOME\" ] || exit 9\n"
               "echo '{\"event\":\"ready\",\"protocol\":1}'\nread line\n"
               "echo '{\"event\":\"error\",\"kind\":\"unknown_name\",\"message\":\"no model\"}'\n");
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(path, 0755), 0);
    setenv("ECOCOMPUTE_LIBEXEC", folder, 1);
    struct eco_worker_options o = {.ready_s = 20, .grace_s = 0.2};
    assert_int_equal(eco_workload_open_openai("--url 'it'\\''s $HOME'", &o, &w, &err), 0);
    assert_int_equal(w->class->load(w, &arm, &loaded, &err), ECO_E_UNKNOWN_NAME);
    assert_string_equal(err.message, "the worker says: no model");
    eco_workload_close(w);
    unsetenv("ECOCOMPUTE_LIBEXEC");
    assert_int_equal(remove(path), 0);
    assert_int_equal(remove(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),      cmocka_unit_test(test_lists),
        cmocka_unit_test(test_openai_text), cmocka_unit_test(test_no_helper),
        cmocka_unit_test(test_a_helper),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
