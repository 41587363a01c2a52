/*
 * Counting from config.json: every known model's exact figures, hand formulas for the families
 * that the data set lacks, quantized configs, and what must be refused.
 */
#include "dataset/dataset.h"
#include "eco_test.h"
#include "known_configs.h"
#include "model/model.h"

/* Texts are written with ' for ", to be readable. */
static int read_config(const char *text, struct eco_model *m, struct eco_model_info *info,
                       struct eco_err *err)
{
    char json[4096];
    size_t n = strlen(text);
    assert_true(n < sizeof json);
    for (size_t i = 0; i <= n; i++) {
        json[i] = text[i] == '\'' ? '"' : text[i];
    }
    return eco_model_from_config("config.json", "test", json, n, m, info, err);
}

static void test_known_models_exactly(void **state)
{
    (void)state;
    size_t n = sizeof known_configs / sizeof known_configs[0];
    int wrong = 0;
    assert_true(n >= 80);
    for (size_t i = 0; i < n; i++) {
        const struct eco_model *k = NULL;
        struct eco_model m;
        struct eco_err err = {0};
        const char *name = known_configs[i].name;
        if (eco_dataset_find_model(name, strlen(name), &k, &err) ||
            read_config(known_configs[i].text, &m, NULL, &err)) {
            print_error("%s: %s\n", name, err.message);
            wrong++;
            continue;
        }
#define SAME(field)                                                                                \
    if ((uint64_t)m.field != (uint64_t)k->field) {                                                 \
        print_error("%s: %s %llu, wanted %llu\n", name, #field, (unsigned long long)m.field,       \
                    (unsigned long long)k->field);                                                 \
        wrong++;                                                                                   \
    }
        SAME(params_total)
        SAME(params_active)
        SAME(params_embedding)
        SAME(params_lm_head)
        SAME(params_norm)
        SAME(params_linear)
        SAME(layers)
        SAME(hidden)
        SAME(n_heads)
        SAME(n_kv_heads)
        SAME(head_dim)
        SAME(intermediate)
        SAME(vocab)
        SAME(sliding_window)
        SAME(sliding_layers)
        SAME(kv_lora_rank)
        SAME(rope_head_dim)
        SAME(experts)
        SAME(experts_per_token)
        SAME(tied)
#undef SAME
        if (k->stored != ECO_PREC_NONE) {
            assert_int_equal(m.stored, k->stored);
        }
        assert_int_equal(m.shape_basis, ECO_BASIS_COMPUTED);
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_models_exactly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
