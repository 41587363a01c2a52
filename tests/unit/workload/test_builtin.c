/* The embedded engine as a workload: counts, intervals, stop, arms one after the other. */
#include "workload/workload.h"

#include "eco_test.h"
#include "engine/reference_folder.h"

#include <unistd.h>

/* a model of a few thousand weights, as files */
static const struct ref_config tiny = {.type = "llama",
                                       .hidden = 64,
                                       .heads = 4,
                                       .kv_heads = 2,
                                       .head_dim = 16,
                                       .inter = 96,
                                       .vocab = 97,
                                       .layers = 3,
                                       .theta = 10000,
                                       .eps = 1e-5,
                                       .f16 = 1};
static char folder[] = "ecocompute-builtin-XXXXXX";

static int ticks;
static bool want_stop;

static void count_tick(void *ctx)
{
    (void)ctx;
    ticks++;
}

static bool stop_now(void *ctx)
{
    (void)ctx;
    return want_stop;
}

static const struct eco_workload_hooks hooks = {count_tick, stop_now, NULL, NULL};

static void test_windows(void **state)
{
    struct eco_workload_arm arm = {folder, ECO_PREC_FP16, 2, 4, 6, 1};
    struct eco_generator *w = NULL;
    struct eco_workload_loaded loaded;
    struct eco_workload_result r;
    struct eco_workload_quality q;
    struct eco_err err = {0};
    (void)state;
    assert_int_equal(eco_workload_open_builtin(&hooks, &w, &err), 0);
    if (w->class->load(w, &arm, &loaded, &err)) {
        fail_msg("%s", err.message);
    }
    assert_string_equal(loaded.engine, "builtin");
    assert_string_equal(loaded.weights, "real");
    double fp16_bytes = loaded.memory_bytes;
    assert_true(fp16_bytes > 100000);
    assert_int_equal(loaded.package_count, 2);
    assert_int_equal(w->class->window(w, &(struct eco_workload_window){3, 6}, &r, &err), 0);
    assert_int_equal(r.iterations, 3);
    assert_int_equal(r.tokens, 3 * 2 * 6);
    assert_int_equal(r.decode_tokens, 3 * 2 * 5);
    assert_false(r.stopped);
    assert_true(r.ttft_s > 0 && r.tpot_mean_s > 0 && r.tpot_p99_s >= r.tpot_p50_s);
    /* what the intervals and first tokens add up to is what the window took */
    assert_near_rel(3 * (r.ttft_s + 5 * r.tpot_mean_s), r.seconds, 0.3);
    assert_true(ticks > 0);
    want_stop = true;
    assert_int_equal(w->class->window(w, &(struct eco_workload_window){5000, 1}, &r, &err), 0);
    assert_true(r.stopped);
    assert_int_equal(r.iterations, 1);
    assert_int_equal(r.decode_tokens, 0);
    assert_true(isnan(r.tpot_mean_s));
    assert_int_equal(w->class->unload(w, &err), 0);
    arm.precision = ECO_PREC_NF4;
    assert_int_equal(w->class->load(w, &arm, &loaded, &err), 0);
    assert_true(loaded.memory_bytes < fp16_bytes);
    assert_int_equal(w->class->perplexity(w, "x", 8, &q, &err), ECO_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "tokenizer")); /* this folder has none */
    arm.model = "synthetic:SmolLM2-135M";
    arm.precision = ECO_PREC_NF4;
    assert_int_equal(w->class->load(w, &arm, &loaded, &err), 0);
    assert_int_equal(w->class->perplexity(w, "x", 8, &q, &err), ECO_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "synthetic weights have no tokenizer"));
    eco_workload_close(w);
}

static void test_what_cannot_be_loaded(void **state)
{
    struct eco_workload_arm arm = {"no-such-model", ECO_PREC_FP16, 1, 4, 4, 1};
    struct eco_generator *w = NULL;
    struct eco_workload_loaded loaded;
    struct eco_err err = {0};
    (void)state;
    assert_int_equal(eco_workload_open_builtin(&hooks, &w, &err), 0);
    assert_true(w->class->load(w, &arm, &loaded, &err) < 0);
    assert_non_null(strstr(err.message, "no-such-model"));
    arm.model = folder;
    arm.precision = ECO_PREC_AWQ_INT4;
    assert_true(w->class->load(w, &arm, &loaded, &err) < 0);
    eco_workload_close(w);
}

static int make_folder(void **state)
{
    struct ref_model m;
    (void)state;
    if (!mkdtemp(folder)) {
        return -1;
    }
    ref_make(&m, &tiny, 3);
    int rc = ref_write_folder(&m, folder, 1);
    ref_done(&m);
    return rc;
}

static int remove_folder(void **state)
{
    char path[64];
    (void)state;
    snprintf(path, sizeof(path), "%s/config.json", folder);
    unlink(path);
    snprintf(path, sizeof(path), "%s/model.safetensors", folder);
    unlink(path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_what_cannot_be_loaded),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
