/*
 * Files of other tools: fixtures in the formats as their sources write them (llama.cpp's
 * llama-bench, codecarbon's emissions.csv, ML.ENERGY's leaderboard and results), figures ours.
 * What a file does not say must be null with a reason, and what cannot be true is refused.
 */
#include "fixtures.h"

#include "base/arena.h"
#include "report/import.h"
#include "report/report.h"

#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

static struct eco_arena arena;
static struct eco_import im;
static struct eco_report_check check;

static void load(const char *name, struct eco_buf *out)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/conformance/imports/%s", ECO_TEST_DIR, name);
    eco_buf_clear(out);
    read_whole(path, out);
}

static void read_file(const char *name, enum eco_import_kind kind, size_t runs)
{
    struct eco_buf text = ECO_BUF_INIT;
    struct eco_err err = {0};
    load(name, &text);
    assert_int_equal(eco_import_detect(text.data, text.len), kind);
    eco_arena_reset(&arena);
    if (eco_import_read(ECO_IMPORT_UNKNOWN, text.data, text.len, &arena, &im, &err) != 0)
        fail_msg("%s: %s", name, err.message);
    assert_int_equal(im.kind, kind);
    assert_int_equal(im.count, runs);
    eco_buf_done(&text);
}

/* The run as a document that our validator takes. */
static void document(const struct eco_import_more *more, struct eco_buf *out)
{
    struct eco_run run;
    struct eco_err err = {0};
    size_t index;
    eco_buf_clear(out);
    assert_int_equal(eco_import_pick(&im, more, &index, &err), 0);
    if (eco_import_fill(&im, index, more, &arena, &run, &err) != 0)
        fail_msg("%s", err.message);
    run.tool_version = "0.1.0";
    run.timestamp_utc = "2026-11-30T09:12:31.123Z";
    if (eco_report_build(&run, 0, out, &err) != 0)
        fail_msg("%s", err.message);
    if (eco_report_validate(out->data, out->len, &check, &err) != 0)
        fail_msg("%s\n%s", err.message, out->data);
}

static void is_number(const struct eco_buf *text, const char *pointer, double want)
{
    struct eco_json_doc doc;
    assert_int_equal(eco_json_parse(&doc, text->data, text->len, NULL), 0);
    const struct eco_json *v = eco_json_at(doc.root, pointer);
    if (isnan(want) ? !v || v->type != ECO_JSON_NULL
                    : !v || v->type != ECO_JSON_NUMBER || fabs(v->num / want - 1) > 1e-12)
        fail_msg("%s is %s, wanted %g", pointer, v && v->str ? v->str : "not a number", want);
    eco_json_done(&doc);
}

static void is_text(const struct eco_buf *text, const char *pointer, const char *want)
{
    struct eco_json_doc doc;
    assert_int_equal(eco_json_parse(&doc, text->data, text->len, NULL), 0);
    const struct eco_json *v = eco_json_at(doc.root, pointer);
    if (!v || v->type != ECO_JSON_STRING || strcmp(v->str, want) != 0)
        fail_msg("%s is '%s', wanted '%s'", pointer, v && v->str ? v->str : "absent", want);
    eco_json_done(&doc);
}

static const double null = (double)NAN;

static void test_llama_bench(void **state)
{
    (void)state;
    struct eco_buf d = ECO_BUF_INIT;
    static const char *const files[] = {"llama_bench.json", "llama_bench.jsonl"};
    for (size_t i = 0; i < 2; i++) {
        read_file(files[i], ECO_IMPORT_LLAMA_BENCH, 3);
        document(&(struct eco_import_more){0}, &d); /* the first that generates, not the prefill */
        is_text(&d, "/workload/model_name", "Qwen2.5-7B-Instruct-Q4_K_M.gguf");
        is_text(&d, "/workload/precision", "GGUF-Q4_K_M");
        is_text(&d, "/workload/engine", "llama.cpp");
        is_number(&d, "/workload/params_total", 7615616512.0);
        is_number(&d, "/results/throughput_tokens_per_s", 128);
        is_number(&d, "/results/energy_per_token_mj", null);
        is_number(&d, "/results/total_energy_joules", null);
        is_text(&d, "/results/basis", "unavailable");
        is_text(&d, "/results/reason", "llama-bench measures time, not energy");
        is_text(&d, "/system_under_test/boundary", "none");
        is_text(&d, "/system_under_test/gpu_arch", "ada");
        is_text(&d, "/software/packages/llama-bench", "llama.cpp 1a2b3c4d");
        is_text(&d, "/protocol/name", "custom");
    }
    document(&(struct eco_import_more){.row = 1}, &d);
    is_number(&d, "/results/throughput_tokens_per_s", 12487.8);
    assert_non_null(strstr(d.data, "prefill, not generation"));
    read_file("llama_bench_f16.json", ECO_IMPORT_LLAMA_BENCH, 1);
    document(&(struct eco_import_more){0}, &d);
    is_text(&d, "/workload/precision", "FP16");
    struct eco_err err;
    size_t index;
    assert_int_equal(eco_import_pick(&im, &(struct eco_import_more){.row = 2}, &index, &err),
                     ECO_E_RANGE);
    eco_buf_done(&d);
}

static void test_codecarbon(void **state)
{
    (void)state;
    struct eco_buf d = ECO_BUF_INIT;
    struct eco_import_more more = {.precision = ECO_PREC_NF4, .model = "Qwen/Qwen2-7B"};
    struct eco_run run;
    struct eco_err err;
    read_file("emissions.csv", ECO_IMPORT_CODECARBON, 2);
    assert_int_equal(eco_import_fill(&im, 1, &(struct eco_import_more){0}, &arena, &run, &err),
                     ECO_E_MISSING);
    assert_string_equal(err.arg, "precision");
    document(&more, &d); /* the second row: it has GPU energy */
    is_number(&d, "/results/total_energy_joules", 36000);
    is_number(&d, "/results/avg_power_watts", 360);
    is_number(&d, "/results/energy_per_token_mj", null);
    is_text(&d, "/results/reason",
            "the file has the energy of the run but not its tokens; --tokens N adds them");
    is_text(&d, "/system_under_test/gpu", "NVIDIA GeForce RTX 4090");
    is_text(&d, "/system_under_test/boundary", "gpu-board");
    is_text(&d, "/results/basis", "measured");
    is_number(&d, "/results/vs_fp16_energy_pct", null);
    assert_non_null(strstr(d.data, "left out: CPU 0.00118 kWh"));
    assert_non_null(strstr(d.data, "all GPUs of the machine"));
    more.tokens = 9000;
    document(&more, &d);
    is_number(&d, "/results/energy_per_token_mj", 4000);
    is_number(&d, "/results/throughput_tokens_per_s", 90);
    more.row = 1;
    document(&more, &d);
    is_text(&d, "/results/basis", "unavailable");
    is_number(&d, "/results/total_energy_joules", null);
    is_text(&d, "/system_under_test/boundary", "none");
    read_file("emissions_old.csv", ECO_IMPORT_CODECARBON, 1);
    document(&(struct eco_import_more){.precision = ECO_PREC_FP16}, &d);
    is_number(&d, "/results/total_energy_joules", null);
    is_text(&d, "/system_under_test/gpu", "Apple M2");
    eco_buf_done(&d);
}

static void test_ml_energy(void **state)
{
    (void)state;
    struct eco_buf d = ECO_BUF_INIT;
    struct eco_import_more fp16 = {.precision = ECO_PREC_FP16};
    read_file("ml_energy_v2.json", ECO_IMPORT_ML_ENERGY, 1);
    document(&fp16, &d);
    is_number(&d, "/results/energy_per_token_mj", 250);
    is_number(&d, "/system_under_test/accelerator_count", 2);
    is_number(&d, "/trials/0/tpot_mean_s", 0.05);
    is_text(&d, "/system_under_test/gpu_arch", "ampere");
    is_text(&d, "/scenario", "Offline");
    read_file("ml_energy_task.json", ECO_IMPORT_ML_ENERGY, 2);
    document(&(struct eco_import_more){.row = 2}, &d);
    is_number(&d, "/results/energy_per_token_mj", 350);
    is_number(&d, "/results/avg_power_watts", 525);
    is_number(&d, "/workload/params_b", 14);
    is_number(&d, "/workload/batch_size", 32);
    is_text(&d, "/workload/precision", "BF16");
    is_number(&d, "/trials/0/tpot_p99_s", 0.0215);
    read_file("ml_energy_model.json", ECO_IMPORT_ML_ENERGY, 1);
    document(&fp16, &d); /* what the file says is not overruled */
    is_text(&d, "/workload/precision", "FP8");
    is_text(&d, "/workload/model_name", "Qwen/Qwen3-14B");
    read_file("ml_energy_results.json", ECO_IMPORT_ML_ENERGY, 1);
    document(&fp16, &d);
    is_number(&d, "/results/energy_per_token_mj", 100);
    is_number(&d, "/results/total_energy_joules", 50000);
    is_number(&d, "/results/tokens_generated", 500000);
    is_number(&d, "/results/avg_power_watts", 500);
    eco_buf_done(&d);
}

static void refused(enum eco_import_kind kind, const char *text, const char *says)
{
    struct eco_err err = {0};
    eco_arena_reset(&arena);
    int rc = eco_import_read(kind, text, strlen(text), &arena, &im, &err);
    if (rc == 0 || !strstr(err.message, says))
        fail_msg("%s: %d '%s', wanted '%s'", text, rc, err.message, says);
}

static void test_hostile_files(void **state)
{
    (void)state;
    const enum eco_import_kind lb = ECO_IMPORT_LLAMA_BENCH, cc = ECO_IMPORT_CODECARBON,
                               ml = ECO_IMPORT_ML_ENERGY;
    refused(ECO_IMPORT_UNKNOWN, "", "none of the files");
    refused(ECO_IMPORT_UNKNOWN, "{}", "none of the files");
    refused(ECO_IMPORT_UNKNOWN, "{\"schema_version\": \"ecocompute-energy/1.1\"}", "already");
    refused(ECO_IMPORT_UNKNOWN, "a,b\n1,2\n", "none of the files");
    refused(lb, "[]", "holds no run");
    refused(lb, "[1]", "no test of llama-bench");
    refused(lb, "{\"model_filename\":", "json");
    refused(lb, "[{\"model_filename\":\"x\",\"avg_ts\":-3}]", "cannot be true");
    refused(lb, "[{\"model_filename\":\"x\",\"avg_ts\":\"fast\"}]", "no number");
    refused(lb, "[{\"model_filename\":\"x\",\"n_gen\":1.5}]", "no whole number");
    refused(lb, "[{\"model_filename\":\"x\",\"n_gen\":1e300}]", "cannot be true");
    refused(lb, "[{\"model_filename\":\"x\",\"model_filename\":\"y\"}]", "twice");
    refused(cc, "duration\n1\n", "not CodeCarbon's");
    refused(cc, "duration,energy_consumed,emissions,gpu_energy\n-1,1,1,1\n", "cannot be true");
    refused(cc, "duration,energy_consumed,emissions,gpu_energy\n1,1,1,1e300\n", "cannot be true");
    refused(cc, "duration,energy_consumed,emissions,gpu_energy\n1,1,1,nan\n", "gpu_energy");
    refused(cc, "duration,energy_consumed,emissions,gpu_energy\n1,1\n", "cells");
    refused(ml, "{\"configurations\":3}", "a configuration or a list");
    refused(ml, "[{\"energy_per_generation_joules\":5}]", "no energy by token");
    refused(ml, "{\"energy_per_token_joules\":-0.1}", "cannot be true");
    refused(ml, "{\"energy_per_token_joules\":true}", "no number");
    refused(ml, "\"x\"", "a configuration or a list");
}

static void test_texts_are_cleaned(void **state)
{
    (void)state;
    struct eco_buf text = ECO_BUF_INIT, d = ECO_BUF_INIT;
    eco_buf_puts(&text, "{\"energy_per_token_joules\":0.1,\"gpu_model\":\"H100\",\"model_id\":\"");
    eco_buf_puts(&text, "evil\\u001b[31m\\u0000");
    for (int i = 0; i < 5000; i++)
        eco_buf_puts(&text, "\xe2\x82\xac");
    eco_buf_puts(&text, "\"}");
    eco_arena_reset(&arena);
    assert_int_equal(eco_import_read(ECO_IMPORT_ML_ENERGY, text.data, text.len, &arena, &im, NULL),
                     0);
    assert_true(strlen(im.runs[0].model) <= 200);
    assert_null(strchr(im.runs[0].model, 0x1b));
    assert_true(eco_str_is_utf8(im.runs[0].model, strlen(im.runs[0].model)));
    document(&(struct eco_import_more){.precision = ECO_PREC_FP16}, &d);
    eco_buf_done(&text);
    eco_buf_done(&d);
}

/* Imported reports hold to both schemas where both know the precision: python3-jsonschema says. */
static void test_independent_validator_agrees(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        enum eco_precision precision;
        const char *kind;
    } cases[] = {{"llama_bench.json", ECO_PREC_NONE, "ours"},
                 {"llama_bench_f16.json", ECO_PREC_NONE, "both"},
                 {"emissions.csv", ECO_PREC_NF4, "both"},
                 {"emissions_old.csv", ECO_PREC_INT8_MIXED, "both"},
                 {"ml_energy_v2.json", ECO_PREC_FP16, "both"},
                 {"ml_energy_task.json", ECO_PREC_NONE, "ours"},
                 {"ml_energy_model.json", ECO_PREC_NONE, "ours"},
                 {"ml_energy_results.json", ECO_PREC_NF4, "both"}};
    char dir[] = "eco-import-XXXXXX";
    struct eco_buf cmd = ECO_BUF_INIT, d = ECO_BUF_INIT, text = ECO_BUF_INIT;
    assert_non_null(mkdtemp(dir));
    eco_buf_printf(&cmd,
                   "/usr/bin/python3 %s/conformance/check_schemas.py "
                   "%s/schema/ecocompute-energy.schema.json "
                   "%s/conformance/published-1.1.schema.json %s/conformance/schema.jsonl",
                   ECO_TEST_DIR, ECO_SOURCE_DIR, ECO_TEST_DIR, ECO_TEST_DIR);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char path[128];
        load(cases[i].file, &text);
        eco_arena_reset(&arena);
        assert_int_equal(
            eco_import_read(ECO_IMPORT_UNKNOWN, text.data, text.len, &arena, &im, NULL), 0);
        document(&(struct eco_import_more){.precision = cases[i].precision}, &d);
        snprintf(path, sizeof(path), "%s/%s-%zu.json", dir, cases[i].kind, i);
        FILE *f = fopen(path, "wb");
        assert_non_null(f);
        assert_int_equal(fwrite(d.data, 1, d.len, f), d.len);
        assert_int_equal(fclose(f), 0);
        eco_buf_printf(&cmd, " %s", path);
    }
    int status = system(cmd.data);
    eco_buf_clear(&cmd);
    eco_buf_printf(&cmd, "rm -r %s", dir);
    assert_int_equal(system(cmd.data), 0);
    eco_buf_done(&cmd);
    eco_buf_done(&d);
    eco_buf_done(&text);
    if (WIFEXITED(status) && (WEXITSTATUS(status) == 77 || WEXITSTATUS(status) == 127)) {
        print_message("SKIPPED: the independent validator did not run\n");
        skip();
    }
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_llama_bench),
        cmocka_unit_test(test_codecarbon),
        cmocka_unit_test(test_ml_energy),
        cmocka_unit_test(test_hostile_files),
        cmocka_unit_test(test_texts_are_cleaned),
        cmocka_unit_test(test_independent_validator_agrees),
    };
    eco_arena_init(&arena, 0);
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    eco_arena_done(&arena);
    return rc;
}
