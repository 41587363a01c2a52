/* Sizes without a model: the shape must stand between its neighbours and add up. */
#include "dataset/dataset.h"
#include "eco_memory.h"
#include "eco_test.h"
#include "model/model.h"

static void test_classes_add_up(void **state)
{
    (void)state;
    const double sizes[] = {0.001, 0.1, 0.494, 1.1, 3, 7, 13, 32, 70, 405, 1000, 1e6};
    double hidden = 0, layers = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct eco_model m;
        assert_int_equal(eco_model_from_size(sizes[i], NULL, &m, NULL), 0);
        assert_int_equal(m.params_total, (uint64_t)(sizes[i] * 1e9 + 0.5));
        assert_int_equal(m.params_total,
                         m.params_embedding + m.params_lm_head + m.params_norm + m.params_linear);
        assert_int_equal(m.shape_basis, ECO_BASIS_INTERPOLATED);
        assert_true(m.n_kv_heads >= 1 && m.n_kv_heads <= m.n_heads);
        assert_true(m.hidden >= hidden && m.layers >= layers * 0.8);
        hidden = m.hidden;
        layers = m.layers;
        struct eco_memory r;
        struct eco_memory_query q = {.model = &m, .precision = ECO_PREC_NF4, .context_tokens = 1};
        assert_int_equal(eco_memory_estimate(&q, &r, NULL), 0);
        assert_int_equal(r.basis, ECO_BASIS_INTERPOLATED);
    }
}

/* Left out of no fit, but a test of sense: known dense models within a factor of their own size. */
static void test_known_models_are_met_roughly(void **state)
{
    (void)state;
    int n = 0, near_nf4 = 0, near_linear = 0;
    for (size_t i = 0; i < eco_dataset_model_count(); i++) {
        const struct eco_model *k = eco_dataset_model(i);
        if (k->experts || k->params_total < 400000000) {
            continue;
        }
        struct eco_model m;
        assert_int_equal(eco_model_from_size((double)k->params_total / 1e9, NULL, &m, NULL), 0);
        double nf4 =
            eco_memory_weight_bytes(&m, ECO_PREC_NF4) / eco_memory_weight_bytes(k, ECO_PREC_NF4);
        n++;
        near_nf4 += fabs(nf4 - 1) < 0.15;
        near_linear += fabs((double)m.layers * m.hidden * m.hidden /
                                ((double)k->layers * k->hidden * k->hidden) -
                            1) < 0.5;
    }
    assert_true(n > 40);
    assert_true(near_nf4 > n * 8 / 10);
    assert_true(near_linear > n * 7 / 10);
}

static void test_names_and_refusals(void **state)
{
    (void)state;
    struct eco_model m, before;
    struct eco_err err;
    assert_int_equal(eco_model_from_size(7, NULL, &m, NULL), 0);
    assert_string_equal(m.name, "7B");
    assert_string_equal(m.source, "size");
    assert_near(m.params_b, 7, 0);
    assert_int_equal(eco_model_from_size(0.5, "my-own", &m, NULL), 0);
    assert_string_equal(m.name, "my-own");
    before = m;
    const double bad[] = {0, -7, 9e-4, 1.1e6, NAN, INFINITY};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(eco_model_from_size(bad[i], NULL, &m, &err), ECO_E_RANGE);
        assert_string_equal(err.arg, "params_b");
    }
    assert_memory_equal(&m, &before, sizeof m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_classes_add_up),
        cmocka_unit_test(test_known_models_are_met_roughly),
        cmocka_unit_test(test_names_and_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
