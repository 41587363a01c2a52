/* Names to enums and back; the values of a run that is not filled yet. */
#include "eco_test.h"

#include "eco_run.h"
#include "eco_types.h"

static enum eco_precision precision(const char *text)
{
    return eco_precision_parse(text, strlen(text));
}

static void test_names_read_back(void **state)
{
    (void)state;
    for (int i = 1; i < ECO_ARCH_COUNT; i++) {
        const char *name = eco_arch_name((enum eco_arch)i);
        assert_int_equal(eco_arch_parse(name, strlen(name)), i);
        assert_true(strlen(eco_arch_vendor((enum eco_arch)i)) > 0);
    }
    for (int i = 1; i < ECO_PREC_COUNT; i++) {
        enum eco_precision p = (enum eco_precision)i;
        const char *name = eco_precision_name(p);
        assert_int_equal(eco_precision_parse(name, strlen(name)), i);
        assert_true(eco_precision_bits(p) >= 2 && eco_precision_bits(p) <= 32);
        assert_int_not_equal(eco_precision_family(p), ECO_FAM_NONE);
    }
    for (int i = 1; i < ECO_ENGINE_COUNT; i++) {
        const char *name = eco_engine_name((enum eco_engine)i);
        assert_int_equal(eco_engine_parse(name, strlen(name)), i);
    }
}

/* An alias that two precisions claim would be read as the first of them, silently. */
static void test_aliases_are_of_one_precision(void **state)
{
    (void)state;
    static const struct {
        enum eco_precision p;
        const char *list;
    } all[] = {
#define X(name, text, published, bits, family, aliases) {ECO_PREC_##name, aliases},
        ECO_PRECISIONS(X)
#undef X
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        for (const char *at = all[i].list; *at;) {
            size_t n = strcspn(at, " ");
            if (eco_precision_parse(at, n) != all[i].p)
                fail_msg("'%.*s' is not read as %s", (int)n, at, eco_precision_name(all[i].p));
            at += n;
            at += *at == ' ';
        }
    }
}

static void test_words_people_use(void **state)
{
    (void)state;
    assert_int_equal(precision("int8"), ECO_PREC_INT8_MIXED);
    assert_int_equal(precision("LLM.int8()"), ECO_PREC_INT8_MIXED);
    assert_int_equal(precision("int8_pure"), ECO_PREC_INT8_PURE);
    assert_int_equal(precision("4bit"), ECO_PREC_NF4);
    assert_int_equal(precision("Q8_0"), ECO_PREC_GGUF_Q8_0);
    assert_int_equal(precision(""), ECO_PREC_NONE);
    assert_int_equal(precision("int"), ECO_PREC_NONE);
    assert_int_equal(precision("int8 nf4"), ECO_PREC_NONE);
    assert_int_equal(eco_precision_published(ECO_PREC_INT8_MIXED), ECO_PUB_INT8);
    assert_int_equal(eco_precision_published(ECO_PREC_INT8_PURE), ECO_PUB_NONE);
    assert_int_equal(eco_engine_parse("vLLM 0.11.1", 11), ECO_ENGINE_VLLM);
    assert_int_equal(eco_engine_parse("bitsandbytes 0.45.0", 19), ECO_ENGINE_TRANSFORMERS);
    assert_int_equal(eco_engine_parse("llama.cpp b3000", 15), ECO_ENGINE_LLAMACPP);
    assert_int_equal(eco_arch_parse("ADA", 3), ECO_ARCH_ADA);
    assert_int_equal(eco_arch_parse("ada ", 4), ECO_ARCH_UNKNOWN);
    assert_int_equal(eco_grade_letter(ECO_GRADE_D), 'D');
}

static void test_numbers_out_of_range_have_names(void **state)
{
    (void)state;
    assert_string_equal(eco_arch_name((enum eco_arch)999), "unknown");
    assert_string_equal(eco_precision_name((enum eco_precision) - 1), "none");
    assert_string_equal(eco_basis_name((enum eco_basis)99), "unavailable");
    assert_string_equal(eco_confidence_name((enum eco_confidence)99), "none");
    assert_string_equal(eco_recommendation_name((enum eco_recommendation)99), "none");
    assert_string_equal(eco_published_name((enum eco_published_class)99), "none");
    assert_string_equal(eco_engine_name((enum eco_engine)99), "unknown");
    assert_string_equal(eco_run_boundary_name((enum eco_run_boundary)99), "none");
    assert_string_equal(eco_run_level_name((enum eco_run_level)99), "L0");
    assert_int_equal(eco_grade_letter((enum eco_grade)99), '-');
}

/* A fallback never says measured, whatever the prediction leans on. */
static void test_fallback_is_never_measured(void **state)
{
    (void)state;
    for (int b = ECO_BASIS_UNAVAILABLE; b <= ECO_BASIS_COMPUTED; b++) {
        struct eco_run_arm arm;
        eco_run_arm_init(&arm);
        assert_true(isnan(arm.j_per_token) && arm.tokens == -1);
        arm.predicted.basis = (enum eco_basis)b;
        arm.predicted.delta_pct = (struct eco_band){-20, -25, -15, -30, -10, -40, -5};
        arm.predicted.j_per_token = 4;
        arm.predicted.base_j_per_token = 5;
        eco_run_arm_fallback(&arm, "why");
        assert_int_not_equal(arm.basis, ECO_BASIS_MEASURED);
        assert_string_equal(arm.reason, "why");
        assert_true(isnan(arm.total_energy_j));
        if (b == ECO_BASIS_UNAVAILABLE) {
            assert_true(isnan(arm.j_per_token) && arm.delta.verdict == NULL);
            continue;
        }
        assert_near(arm.delta.pct, -20, 0);
        assert_string_equal(arm.delta.verdict, "saves");
        assert_int_equal(arm.delta.n, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_read_back),
        cmocka_unit_test(test_aliases_are_of_one_precision),
        cmocka_unit_test(test_words_people_use),
        cmocka_unit_test(test_numbers_out_of_range_have_names),
        cmocka_unit_test(test_fallback_is_never_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
