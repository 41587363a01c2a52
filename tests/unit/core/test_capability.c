/* What runs where: known refusals with a reason, and no refusal where nobody knows. */
#include "eco_test.h"

#include "eco_capability.h"
#include "physics_models.h"

static struct eco_gpu card(enum eco_arch arch, double cc)
{
    return (struct eco_gpu){.name = "card", .arch = arch, .vram_gb = 24, .compute_capability = cc};
}

static bool runs(enum eco_precision p, enum eco_engine e, const struct eco_gpu *g)
{
    const char *why = "unset";
    bool yes = eco_precision_runs(p, e, g, ECO_ARCH_UNKNOWN, &why);
    if (!yes) {
        assert_non_null(why);
        assert_true(strlen(why) > 20 && why[strlen(why) - 1] != '.');
        assert_null(strstr(why, "not known"));
    } else {
        assert_true(why == NULL || strncmp(why, "not known", 9) == 0);
    }
    assert_int_equal(eco_precision_runs(p, e, g, ECO_ARCH_UNKNOWN, NULL), yes);
    return yes;
}

static void test_arithmetic_needs_units(void **state)
{
    static const struct {
        enum eco_precision p;
        double from;
    } need[] = {{ECO_PREC_BF16, 8.0},      {ECO_PREC_FP8, 8.9},    {ECO_PREC_NVFP4, 10.0},
                {ECO_PREC_MXFP4, 10.0},    {ECO_PREC_W8A8, 7.5},   {ECO_PREC_AWQ_INT4, 7.5},
                {ECO_PREC_INT8_PURE, 7.5}, {ECO_PREC_NF4, 6.0},    {ECO_PREC_INT8_MIXED, 7.5},
                {ECO_PREC_FP16, 0},        {ECO_PREC_GGUF_Q4_0, 0}};
    static const double cc[] = {3.7, 5.2, 6.0, 6.1, 7.0, 7.5, 8.0, 8.6, 8.9, 9.0, 10.0, 12.0};
    (void)state;
    for (size_t i = 0; i < sizeof need / sizeof need[0]; i++) {
        for (size_t k = 0; k < sizeof cc / sizeof cc[0]; k++) {
            struct eco_gpu g = card(ECO_ARCH_AMPERE, cc[k]);
            assert_int_equal(runs(need[i].p, ECO_ENGINE_UNKNOWN, &g), cc[k] >= need[i].from);
        }
    }
}

static void test_unknown_is_not_no(void **state)
{
    struct eco_gpu nothing = card(ECO_ARCH_UNKNOWN, NAN), nameless = card(ECO_ARCH_AMPERE, NAN);
    const char *why;
    (void)state;
    for (int p = ECO_PREC_NONE + 1; p < ECO_PREC_COUNT; p++) {
        assert_true(runs((enum eco_precision)p, ECO_ENGINE_UNKNOWN, &nothing));
        assert_true(eco_precision_runs((enum eco_precision)p, ECO_ENGINE_UNKNOWN, NULL,
                                       ECO_ARCH_UNKNOWN, &why));
        for (int a = ECO_ARCH_CDNA1; a < ECO_ARCH_COUNT; a++) { /* AMD and Intel */
            struct eco_gpu g = card((enum eco_arch)a, NAN);
            assert_true(runs((enum eco_precision)p, ECO_ENGINE_UNKNOWN, &g));
        }
    }
    /* An architecture alone is enough where not even its newest chip can. */
    assert_false(runs(ECO_PREC_FP8, ECO_ENGINE_UNKNOWN, &nameless));
    assert_false(
        eco_precision_runs(ECO_PREC_BF16, ECO_ENGINE_UNKNOWN, NULL, ECO_ARCH_TURING, &why));
    assert_non_null(strstr(why, "8.0"));
    assert_true(
        eco_precision_runs(ECO_PREC_NVFP4, ECO_ENGINE_UNKNOWN, NULL, ECO_ARCH_BLACKWELL, &why));
    struct eco_gpu mi300 = card(ECO_ARCH_CDNA3, NAN), mi250 = card(ECO_ARCH_CDNA2, NAN);
    assert_true(eco_precision_runs(ECO_PREC_FP8, ECO_ENGINE_VLLM, &mi300, ECO_ARCH_UNKNOWN, &why));
    assert_null(why);
    assert_true(eco_precision_runs(ECO_PREC_FP8, ECO_ENGINE_VLLM, &mi250, ECO_ARCH_UNKNOWN, &why));
    assert_non_null(why);
    assert_true(
        eco_precision_runs(ECO_PREC_NF4, ECO_ENGINE_TRANSFORMERS, &mi250, ECO_ARCH_UNKNOWN, &why));
    assert_non_null(strstr(why, "bitsandbytes"));
}

static void test_formats_belong_to_engines(void **state)
{
    struct eco_gpu g = card(ECO_ARCH_BLACKWELL, 12.0), amd = card(ECO_ARCH_CDNA3, NAN);
    (void)state;
    assert_true(runs(ECO_PREC_GGUF_Q4_K_M, ECO_ENGINE_LLAMACPP, &g));
    assert_false(runs(ECO_PREC_GGUF_Q4_K_M, ECO_ENGINE_TRANSFORMERS, &g));
    assert_false(runs(ECO_PREC_GGUF_Q4_K_M, ECO_ENGINE_TENSORRT_LLM, &g));
    assert_true(runs(ECO_PREC_NF4, ECO_ENGINE_VLLM, &g));
    assert_false(runs(ECO_PREC_NF4, ECO_ENGINE_LLAMACPP, &g));
    assert_false(runs(ECO_PREC_INT8_MIXED, ECO_ENGINE_TENSORRT_LLM, &g));
    assert_true(runs(ECO_PREC_AWQ_INT4, ECO_ENGINE_SGLANG, &g));
    assert_true(runs(ECO_PREC_GPTQ_INT4, ECO_ENGINE_TRANSFORMERS, &g));
    assert_false(runs(ECO_PREC_GPTQ_INT4, ECO_ENGINE_LLAMACPP, &g));
    assert_false(runs(ECO_PREC_FP8, ECO_ENGINE_LLAMACPP, &g));
    for (int e = ECO_ENGINE_UNKNOWN; e < ECO_ENGINE_COUNT; e++) {
        assert_true(runs(ECO_PREC_FP16, (enum eco_engine)e, &g));
    }
    assert_false(runs(ECO_PREC_FP16, ECO_ENGINE_TENSORRT_LLM, &amd));
    assert_true(runs(ECO_PREC_FP16, ECO_ENGINE_VLLM, &amd));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arithmetic_needs_units),
        cmocka_unit_test(test_unknown_is_not_no),
        cmocka_unit_test(test_formats_belong_to_engines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
