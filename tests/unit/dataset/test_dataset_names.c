/* Finding cards, models and regions by what people type. */
#include "dataset/dataset.h"
#include "eco_test.h"

#include <time.h>

static void test_gpu_names(void **state)
{
    static const struct {
        const char *typed, *card;
        enum eco_match_kind kind;
    } cases[] = {
        {"RTX 4090", "RTX 4090", ECO_MATCH_EXACT},
        {"rtx4090", "RTX 4090", ECO_MATCH_EXACT},
        {"4090", "RTX 4090", ECO_MATCH_ALIAS},
        {"RTX-4090", "RTX 4090", ECO_MATCH_EXACT},
        {"NVIDIA GeForce RTX 4090 D", "RTX 4090D", ECO_MATCH_EXACT},
        {"rtx4090d", "RTX 4090D", ECO_MATCH_EXACT},
        {"GeForce RTX 4070 Ti SUPER", "RTX 4070 Ti SUPER", ECO_MATCH_EXACT},
        {"NVIDIA GeForce RTX 3090 24GB", "RTX 3090", ECO_MATCH_ALIAS},
        {"tesla_t4", "T4", ECO_MATCH_EXACT},
        {"T4", "T4", ECO_MATCH_EXACT},
        {"a100", "A100 SXM 80GB", ECO_MATCH_DEFAULT},
        {"NVIDIA A100-SXM4-40GB", "A100 SXM 40GB", ECO_MATCH_ALIAS},
        {"A100 80GB", "A100 SXM 80GB", ECO_MATCH_ALIAS},
        {"h100", "H100 SXM", ECO_MATCH_DEFAULT},
        {"h100-pcie", "H100 PCIe", ECO_MATCH_EXACT},
        {"A800", "A800 SXM4 80GB", ECO_MATCH_DEFAULT},
        {"A800-SXM4-80GB", "A800 SXM4 80GB", ECO_MATCH_EXACT},
        {"v100", "V100 SXM2", ECO_MATCH_DEFAULT},
        {"RTX 4060 Ti", "RTX 4060 Ti 16GB", ECO_MATCH_DEFAULT},
        {"RTX A6000", "RTX A6000", ECO_MATCH_EXACT},
        {"a6000", "RTX A6000", ECO_MATCH_ALIAS},
        {"RTX PRO 6000 Blackwell", "RTX PRO 6000 Blackwell Server Edition", ECO_MATCH_DEFAULT},
        {"mi300x", "MI300X", ECO_MATCH_EXACT},
        {"AMD Instinct MI300X", "MI300X", ECO_MATCH_EXACT},
        {"Intel Gaudi 2", "Gaudi 2", ECO_MATCH_EXACT},
        {"L40S", "L40S", ECO_MATCH_EXACT},
        {"DGX Spark", "GB10", ECO_MATCH_ALIAS},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct eco_match m;
        struct eco_err err;

        if (eco_dataset_match_gpu(cases[i].typed, strlen(cases[i].typed), &m, &err) != 0)
            fail_msg("%s", err.message);
        if (strcmp(eco_dataset_gpu(m.index)->name, cases[i].card) != 0 || m.kind != cases[i].kind)
            fail_msg("'%s': %s, kind %d", cases[i].typed, eco_dataset_gpu(m.index)->name, m.kind);
        assert_int_equal(m.kind == ECO_MATCH_DEFAULT, m.note[0] != '\0');
    }
}

/* Every card is found under its name, its short name and each of its other names. */
static void test_gpu_round_trip(void **state)
{
    (void)state;
    for (size_t i = 0; i < eco_dataset_gpu_count(); i++) {
        const struct eco_gpu *g = eco_dataset_gpu(i), *found = NULL;
        const char *s = eco_dataset_gpu_short(i);

        assert_int_equal(eco_dataset_find_gpu(g->name, strlen(g->name), &found, NULL), 0);
        assert_ptr_equal(found, g);
        assert_int_equal(eco_dataset_find_gpu(s, strlen(s), &found, NULL), 0);
        assert_ptr_equal(found, g);
    }
    for (size_t i = 0; i < eco_dataset_model_count(); i++) {
        const struct eco_model *m = eco_dataset_model(i), *found = NULL;
        const char *s = eco_dataset_model_short(i);

        assert_int_equal(eco_dataset_find_model(m->name, strlen(m->name), &found, NULL), 0);
        assert_ptr_equal(found, m);
        assert_int_equal(eco_dataset_find_model(s, strlen(s), &found, NULL), 0);
        assert_ptr_equal(found, m);
    }
    for (size_t i = 0; i < eco_dataset_region_count(); i++) {
        const struct eco_region *r = eco_dataset_region(i), *found = NULL;

        assert_int_equal(eco_dataset_find_region(r->code, strlen(r->code), &found, NULL), 0);
        assert_ptr_equal(found, r);
        assert_int_equal(eco_dataset_find_region(r->name, strlen(r->name), &found, NULL), 0);
        assert_ptr_equal(found, r);
    }
}

static void test_default_says_so(void **state)
{
    struct eco_match m;

    (void)state;
    assert_int_equal(eco_dataset_match_gpu("h100", 4, &m, NULL), 0);
    assert_string_equal(m.note, "'h100' is taken as H100 SXM (also: H100 PCIe, H100 NVL)");
}

static void test_unknown_gpu(void **state)
{
    static const struct {
        const char *typed, *message;
    } cases[] = {
        {"rtx4900", "unknown gpu 'rtx4900': did you mean 'rtx4090'?"},
        {"h10", "unknown gpu 'h10': did you mean"},
        {"quantum 9000", "unknown gpu 'quantum 9000'"},
        {"RTX A5500", "unknown gpu 'RTX A5500': did you mean"},
        {"NVIDIA GeForce GTX 1660 SUPER", "unknown gpu 'NVIDIA GeForce GTX 1660 SUPER'"},
        {"", "unknown gpu ''"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct eco_gpu *g = NULL;
        struct eco_err err;

        assert_int_equal(eco_dataset_find_gpu(cases[i].typed, strlen(cases[i].typed), &g, &err),
                         ECO_E_UNKNOWN_NAME);
        assert_null(g);
        assert_string_equal(err.arg, "gpu");
        if (strncmp(err.message, cases[i].message, strlen(cases[i].message)) != 0)
            fail_msg("%s", err.message);
    }
}

static void test_model_names(void **state)
{
    static const struct {
        const char *typed, *name;
    } cases[] = {
        {"Qwen/Qwen2.5-7B-Instruct", "Qwen/Qwen2.5-7B-Instruct"},
        {"qwen2.5-7b", "Qwen/Qwen2.5-7B-Instruct"},
        {"Qwen2.5-7B", "Qwen/Qwen2.5-7B-Instruct"},
        {"QWEN 2.5 7B", "Qwen/Qwen2.5-7B-Instruct"},
        {"Qwen/Qwen2.5-14B-Instruct", "Qwen/Qwen2.5-14B"},
        {"Qwen/Qwen2.5-3B", "Qwen/Qwen2.5-3B"},
        {"Qwen/Qwen2.5-3B-Instruct", "Qwen/Qwen2.5-3B-Instruct"},
        {"tinyllama", "TinyLlama/TinyLlama-1.1B-Chat-v1.0"},
        {"TinyLlama-1.1B", "TinyLlama/TinyLlama-1.1B-Chat-v1.0"},
        {"llama-2-7b", "meta-llama/Llama-2-7b-hf"},
        {"meta-llama/Llama-2-7b-chat-hf", "meta-llama/Llama-2-7b-hf"},
        {"meta-llama/Meta-Llama-3.1-8B-Instruct", "meta-llama/Llama-3.1-8B-Instruct"},
        {"llama3.1:8b", "meta-llama/Llama-3.1-8B-Instruct"},
        {"Llama-3.1-8B", "meta-llama/Llama-3.1-8B-Instruct"},
        {"mistral-7b", "mistralai/Mistral-7B-v0.1"},
        {"mistralai/Mistral-7B-Instruct-v0.3", "mistralai/Mistral-7B-Instruct-v0.3"},
        {"Mixtral-8x7B-Instruct-v0.1", "mistralai/Mixtral-8x7B-v0.1"},
        {"phi-3-mini", "microsoft/Phi-3-mini-4k-instruct"},
        {"gemma-2-9b-it", "google/gemma-2-9b"},
        {"gpt-oss-20b", "openai/gpt-oss-20b"},
        {"yi-1.5-6b", "01-ai/Yi-1.5-6B"},
    };
    const struct eco_model *m = NULL;
    struct eco_err err;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (eco_dataset_find_model(cases[i].typed, strlen(cases[i].typed), &m, &err) != 0)
            fail_msg("%s", err.message);
        if (strcmp(m->name, cases[i].name) != 0)
            fail_msg("'%s': %s", cases[i].typed, m->name);
    }
    m = NULL;
    assert_int_equal(eco_dataset_find_model("qwen2.5-8b", 10, &m, &err), ECO_E_UNKNOWN_NAME);
    assert_null(m);
    assert_non_null(strstr(err.message, "did you mean"));
    assert_non_null(strstr(err.message, "'qwen2.5-7b'"));
}

static void test_region_names(void **state)
{
    static const struct {
        const char *typed, *code;
    } cases[] = {{"FRA", "FRA"},        {"fr", "FRA"},      {"france", "FRA"},   {"US", "USA"},
                 {"us average", "USA"}, {"uk", "GBR"},      {"Korea", "KOR"},    {"EU", "EU"},
                 {"eu-average", "EU"},  {"world", "WORLD"}, {"viet nam", "VNM"}, {"Vietnam", "VNM"},
                 {"autodl", "autodl"}};
    const struct eco_region *r = NULL;
    struct eco_err err;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (eco_dataset_find_region(cases[i].typed, strlen(cases[i].typed), &r, &err) != 0)
            fail_msg("%s", err.message);
        assert_string_equal(r->code, cases[i].code);
    }
    assert_int_equal(eco_dataset_find_region("germny", 6, &r, &err), ECO_E_UNKNOWN_NAME);
    assert_string_equal(err.message, "unknown region 'germny': did you mean 'Germany'?");
}

/* Wide, since the machine may be busy and sanitizers on. */
static void test_speed(void **state)
{
    struct timespec a, b;
    const struct eco_gpu *g;
    const struct eco_model *m;
    double ns;
    int rounds = 20000;

    (void)state;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
    for (int i = 0; i < rounds; i++) {
        eco_dataset_find_gpu("NVIDIA GeForce RTX 4090", 23, &g, NULL);
        eco_dataset_find_model("mistralai/Mistral-7B-Instruct-v0.3", 34, &m, NULL);
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
    ns = ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / rounds / 2.0;
    print_message("look-up: %.0f ns\n", ns);
    assert_true(ns < 100000.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gpu_names),       cmocka_unit_test(test_gpu_round_trip),
        cmocka_unit_test(test_default_says_so), cmocka_unit_test(test_unknown_gpu),
        cmocka_unit_test(test_model_names),     cmocka_unit_test(test_region_names),
        cmocka_unit_test(test_speed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
