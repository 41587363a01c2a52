/*
 * Built reports, judged by our validator and by python3-jsonschema, which knows neither our table
 * nor our code. ECO_BLESS=1 rewrites schema/ecocompute-energy.schema.json.
 */
#include "fixtures.h"
#include "samples.h"

#include "report/report.h"
#include "report/sign.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SCHEMA ECO_SOURCE_DIR "/schema/ecocompute-energy.schema.json"

static struct sample sample;
static struct eco_report_check check;

static void build(struct eco_buf *out)
{
    struct eco_err err = {0};
    eco_buf_clear(out);
    if (eco_report_build(&sample.run, 0, out, &err) != 0)
        fail_msg("%s", err.message);
    if (eco_report_validate(out->data, out->len, &check, &err) != 0)
        fail_msg("%s\n%s", err.message, out->data);
    for (size_t i = 0; i < check.advice_count; i++)
        fail_msg("advice on our own report: %s %s", check.advice[i].pointer,
                 check.advice[i].message);
    assert_true(check.ours);
}

static void test_builds_are_valid(void **state)
{
    (void)state;
    struct eco_buf out = ECO_BUF_INIT;
    for (int p = ECO_PREC_NONE + 1; p < ECO_PREC_COUNT; p++) {
        sample_fallback(&sample, (enum eco_precision)p);
        build(&out);
        sample_measured(&sample, (enum eco_precision)p);
        build(&out);
        sample_nothing(&sample, (enum eco_precision)p);
        build(&out);
        sample_partial(&sample, (enum eco_precision)p);
        build(&out);
        sample_sweep(&sample, (enum eco_precision)p);
        build(&out);
        assert_non_null(strstr(out.data, "\"batch_crossover\": 17.5"));
    }
    eco_buf_done(&out);
}

static const struct eco_json *at(const struct eco_json_doc *doc, const char *pointer)
{
    const struct eco_json *v = eco_json_at(doc->root, pointer);
    if (!v)
        fail_msg("no %s", pointer);
    return v;
}

static void test_fallback_says_what_it_is(void **state)
{
    (void)state;
    struct eco_buf out = ECO_BUF_INIT;
    struct eco_json_doc doc;
    sample_fallback(&sample, ECO_PREC_INT8_MIXED);
    build(&out);
    assert_int_equal(eco_json_parse(&doc, out.data, out.len, NULL), 0);
    assert_string_equal(at(&doc, "/results/basis")->str, "interpolated");
    assert_string_equal(at(&doc, "/workload/precision")->str, "INT8");
    assert_string_equal(at(&doc, "/workload/precision_exact")->str, "INT8-MIXED");
    assert_string_equal(at(&doc, "/ecocompute/basis")->str, "unavailable");
    assert_string_equal(at(&doc, "/results/level")->str, "L0");
    assert_int_equal(at(&doc, "/results/total_energy_joules")->type, ECO_JSON_NULL);
    assert_int_equal(at(&doc, "/certified_benchmark_result")->type, ECO_JSON_FALSE);
    assert_near(at(&doc, "/results/energy_per_token_mj")->num, 4320, 1e-9);
    assert_near(at(&doc, "/results/vs_fp16_energy_pct")->num, -22.4, 0);
    assert_string_equal(at(&doc, "/results/verdict")->str, "cannot tell");
    eco_json_done(&doc);
    eco_buf_done(&out);
}

/* The rule in the file: which block leads, how far the other is, what sessions say. */
static void test_headline_and_sessions(void **state)
{
    (void)state;
    struct eco_buf out = ECO_BUF_INIT;
    struct eco_json_doc doc;
    sample_two_instruments(&sample);
    build(&out);
    assert_int_equal(eco_json_parse(&doc, out.data, out.len, NULL), 0);
    assert_string_equal(at(&doc, "/headline/block")->str, "ecocompute");
    assert_near(at(&doc, "/headline/cross_check_pct")->num, 100 * (318.0 / 337 - 1), 1e-9);
    assert_near(at(&doc, "/ecocompute/fp16_energy_per_token_mj")->num, 513, 1e-9);
    assert_near(at(&doc, "/results/energy_per_token_mj")->num, 318, 1e-9); /* protocol v1 */
    assert_near(at(&doc, "/statistics/counter/sd_mj")->num, 2.7, 1e-9);
    assert_int_equal(at(&doc, "/sessions/n")->i64, 1);
    assert_int_equal(at(&doc, "/sessions/between_sd_pct")->type, ECO_JSON_NULL);
    assert_int_equal(at(&doc, "/sessions/vs_fp16_ci95_pct")->type, ECO_JSON_NULL);
    assert_string_equal(at(&doc, "/sessions/reason")->str, "one session: unknown");
    assert_string_equal(at(&doc, "/workload/backend")->str, "ecocompute-cpu");
    eco_json_done(&doc);
    sample_times_only(&sample);
    build(&out);
    assert_int_equal(eco_json_parse(&doc, out.data, out.len, NULL), 0);
    assert_string_equal(at(&doc, "/headline/block")->str, "results");
    assert_int_equal(at(&doc, "/headline/instrument")->type, ECO_JSON_NULL);
    assert_string_equal(at(&doc, "/system_under_test/gpu")->str, "AMD EPYC 9355");
    assert_string_equal(at(&doc, "/prediction/gpu")->str, "NVIDIA GeForce RTX 4090");
    assert_string_equal(at(&doc, "/prediction/gpu_arch")->str, "ada");
    assert_int_equal(at(&doc, "/sessions/n")->i64, 0);
    eco_json_done(&doc);
    eco_buf_done(&out);
}

static void test_pure_int8_is_never_int8(void **state)
{
    (void)state;
    struct eco_buf out = ECO_BUF_INIT;
    sample_fallback(&sample, ECO_PREC_INT8_PURE);
    build(&out);
    assert_non_null(strstr(out.data, "\"precision\": \"INT8-PURE\""));
    assert_null(strstr(out.data, "\"INT8\""));
    eco_buf_done(&out);
}

static void test_untruths_are_refused(void **state)
{
    (void)state;
    struct eco_buf out = ECO_BUF_INIT;
    struct eco_err err;
    sample_fallback(&sample, ECO_PREC_NF4);
    sample.arms[0].basis = ECO_BASIS_MEASURED;
    assert_int_equal(eco_report_build(&sample.run, 0, &out, &err), ECO_E_INVALID);
    sample_fallback(&sample, ECO_PREC_NF4);
    sample.arms[0].reason = NULL;
    assert_int_equal(eco_report_build(&sample.run, 0, &out, &err), ECO_E_INVALID);
    sample_measured(&sample, ECO_PREC_NF4);
    sample.run.boundary = ECO_RUN_BOUNDARY_NONE;
    assert_int_equal(eco_report_build(&sample.run, 0, &out, &err), ECO_E_INVALID);
    sample_measured(&sample, ECO_PREC_NF4);
    for (int i = 0; i < 4; i++)
        sample.trials[i].discarded = true;
    assert_int_equal(eco_report_build(&sample.run, 0, &out, &err), ECO_E_INVALID);
    sample_measured(&sample, ECO_PREC_NF4);
    assert_int_equal(eco_report_build(&sample.run, 7, &out, &err), ECO_E_INVALID);
    sample.run.timestamp_utc = NULL;
    assert_int_equal(eco_report_build(&sample.run, 0, &out, &err), ECO_E_MISSING);
    assert_int_equal(out.len, 0);
    eco_buf_done(&out);
}

static void write_whole(const char *path, const struct eco_buf *b)
{
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(b->data, 1, b->len, f) != b->len || fclose(f) != 0)
        fail_msg("cannot write %s", path);
}

static void test_schema_file_is_the_table(void **state)
{
    (void)state;
    struct eco_buf made = ECO_BUF_INIT, file = ECO_BUF_INIT;
    eco_report_schema_json(&made);
    if (getenv("ECO_BLESS"))
        write_whole(SCHEMA, &made);
    read_whole(SCHEMA, &file);
    if (made.len != file.len || memcmp(made.data, file.data, made.len) != 0)
        fail_msg("%s is not what the table says; run this test with ECO_BLESS=1", SCHEMA);
    eco_buf_done(&made);
    eco_buf_done(&file);
}

/* Breaks one thing a schema can see. */
static void spoil(struct eco_buf *b, const char *from, const char *to)
{
    char *hit = strstr(b->data, from);
    assert_non_null(hit);
    assert_int_equal(strlen(from), strlen(to));
    memcpy(hit, to, strlen(to));
}

static void save(const char *dir, const char *name, const struct eco_buf *b, struct eco_buf *list)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    write_whole(path, b);
    eco_buf_printf(list, " %s", path);
}

/* A signed report, where libsodium is there to sign it. */
static void save_signed(const char *dir, struct eco_buf *files)
{
    struct eco_sign_key key;
    struct eco_buf plain = ECO_BUF_INIT, out = ECO_BUF_INIT;
    if (eco_sign_keygen(&key, NULL) != 0) {
        print_message("SKIPPED: no libsodium, no signed report is judged\n");
        return;
    }
    sample_measured(&sample, ECO_PREC_INT8_MIXED);
    build(&plain);
    assert_int_equal(eco_report_sign(plain.data, plain.len, &key, &out, NULL), 0);
    assert_int_equal(eco_report_validate(out.data, out.len, &check, NULL), 0);
    assert_int_equal(check.advice_count, 0);
    save(dir, "both-signed.json", &out, files);
    eco_buf_done(&plain);
    eco_buf_done(&out);
}

static void test_independent_validator_agrees(void **state)
{
    (void)state;
    char dir[] = "eco-report-XXXXXX";
    struct eco_buf out = ECO_BUF_INIT, cmd = ECO_BUF_INIT, files = ECO_BUF_INIT;
    assert_non_null(mkdtemp(dir));
    static void (*const fill[])(struct sample *, enum eco_precision) = {
        sample_fallback, sample_measured, sample_nothing, sample_partial, sample_sweep};
    sample_two_instruments(&sample);
    build(&out);
    save(dir, "both-two.json", &out, &files);
    sample_times_only(&sample);
    build(&out);
    save(dir, "both-times.json", &out, &files);
    for (int p = ECO_PREC_NONE + 1; p < ECO_PREC_COUNT; p++) {
        bool both = p == ECO_PREC_FP16 || p == ECO_PREC_NF4 || p == ECO_PREC_INT8_MIXED;
        for (int i = 0; i < 5; i++) {
            char name[64];
            fill[i](&sample, (enum eco_precision)p);
            build(&out);
            snprintf(name, sizeof(name), "%s-%d-%d.json", both ? "both" : "ours", p, i);
            save(dir, name, &out, &files);
        }
    }
    save_signed(dir, &files);
    sample_measured(&sample, ECO_PREC_NF4);
    build(&out);
    spoil(&out, "\"basis\": \"measured\"", "\"basis\": \"Measured\"");
    save(dir, "bad-basis.json", &out, &files);
    build(&out);
    spoil(&out, "\"batch_size\": 1", "\"batch_size\": 0");
    save(dir, "bad-batch.json", &out, &files);
    build(&out);
    spoil(&out, "\"certified_benchmark_result\": false", "\"certified_benchmark_result\": true ");
    save(dir, "bad-certified.json", &out, &files);
    eco_buf_printf(&cmd,
                   "/usr/bin/python3 %s/conformance/check_schemas.py %s "
                   "%s/conformance/published-1.1.schema.json %s/conformance/schema.jsonl%s",
                   ECO_TEST_DIR, SCHEMA, ECO_TEST_DIR, ECO_TEST_DIR, files.data);
    int status = system(cmd.data);
    eco_buf_clear(&cmd);
    eco_buf_printf(&cmd, "rm -r %s", dir);
    assert_int_equal(system(cmd.data), 0);
    eco_buf_done(&out);
    eco_buf_done(&cmd);
    eco_buf_done(&files);
    if (WIFEXITED(status) && (WEXITSTATUS(status) == 77 || WEXITSTATUS(status) == 127)) {
        print_message("SKIPPED: the independent validator did not run\n");
        skip();
    }
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_builds_are_valid),
        cmocka_unit_test(test_fallback_says_what_it_is),
        cmocka_unit_test(test_headline_and_sessions),
        cmocka_unit_test(test_pure_int8_is_never_int8),
        cmocka_unit_test(test_untruths_are_refused),
        cmocka_unit_test(test_schema_file_is_the_table),
        cmocka_unit_test(test_independent_validator_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
