/* The predictor on a made-up world with a known truth: answers, widths, basis, crossings. */
#include "eco_test.h"
#include "predict_world.h"

static const struct eco_gpu card_a = {
    .name = "Card A", .arch = ECO_ARCH_AMPERE, .mem_bw_gbps = 1000.0};
static const struct eco_gpu card_x = {
    .name = "Card X", .arch = ECO_ARCH_AMPERE, .mem_bw_gbps = 1000.0};

struct world {
    struct eco_predict_point points[WORLD_N];
    struct eco_predictor predictor;
    void *memory;
};

static int set_up(void **state)
{
    struct world *w = calloc(1, sizeof(*w));
    double theta[ECO_PG_COUNT];
    struct eco_gp_result r;
    size_t bytes = eco_predict_build_bytes(WORLD_N) + eco_predict_fit_bytes(WORLD_N);

    w->memory = malloc(bytes);
    world_fill(w->points);
    eco_predict_theta_prior(theta);
    assert_int_equal(eco_predict_fit(w->points, WORLD_N, w->memory, bytes, theta, &r, NULL), 0);
    assert_true(r.converged);
    assert_int_equal(
        eco_predict_build(w->points, WORLD_N, theta, w->memory, bytes, &w->predictor, NULL), 0);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;

    free(w->memory);
    free(w);
    return 0;
}

static struct eco_predict_query question(double params_b)
{
    return (struct eco_predict_query){
        .precision = ECO_PREC_NF4, .gpu = &card_a, .params_total_b = params_b};
}

static void test_answers_the_truth(void **state)
{
    struct world *w = *state;
    struct eco_predict_query q = question(5.0);
    struct eco_predict_answer a;

    assert_int_equal(eco_predict(&w->predictor, &q, &a, NULL), 0);
    assert_near(a.mu, world_truth(0, 5.0, 1.0), 0.03);
    assert_near(a.delta_pct.median, 100 * expm1(a.mu), 1e-12);
    assert_true(a.sd > 0.02 && a.sd < 0.15);
    q.precision = ECO_PREC_INT8_MIXED;
    assert_int_equal(eco_predict(&w->predictor, &q, &a, NULL), 0);
    assert_near(a.mu, world_truth(1, 5.0, 1.0), 0.03);
    assert_int_equal(a.recommendation, ECO_REC_DO_NOT_QUANTIZE);
    assert_near(a.p_saves, 0.0, 1e-3);
}

static void test_bands_are_nested_quantiles(void **state)
{
    struct world *w = *state;
    struct eco_predict_query q = question(2.0);
    struct eco_predict_answer a;
    const struct eco_band *b = &a.delta_pct;

    eco_predict(&w->predictor, &q, &a, NULL);
    assert_true(b->lo95 < b->lo80 && b->lo80 < b->lo50 && b->lo50 < b->median);
    assert_true(b->hi95 > b->hi80 && b->hi80 > b->hi50 && b->hi50 > b->median);
    assert_near(log1p(b->hi95 / 100) - a.mu, 1.959963984540054 * a.sd, 1e-12);
    assert_near(a.mu - log1p(b->lo80 / 100), 1.2815515655446004 * a.sd, 1e-12);
    assert_near(log1p(b->hi50 / 100) - a.mu, 0.6744897501960817 * a.sd, 1e-12);
}

static double width(const struct world *w, const struct eco_predict_query *q)
{
    struct eco_predict_answer a;

    assert_int_equal(eco_predict(&w->predictor, q, &a, NULL), 0);
    return a.sd;
}

/* What is known less is answered wider: known session, own card, its architecture, nothing. */
static void test_ignorance_widens(void **state)
{
    struct world *w = *state;
    struct eco_predict_query q = question(5.0), known = q, other = q, nothing = q, fp8 = q;

    known.known_session = true;
    other.gpu = &card_x;
    nothing.gpu = NULL;
    fp8.precision = ECO_PREC_FP8;
    assert_true(width(w, &known) < width(w, &q));
    assert_true(width(w, &q) < width(w, &other));
    assert_true(width(w, &other) < width(w, &nothing));
    assert_true(width(w, &nothing) < width(w, &fp8));
    q.params_total_b = 300.0;
    assert_true(width(w, &q) > width(w, &known));
}

static void test_basis(void **state)
{
    struct world *w = *state;
    struct eco_predict_query q = question(3.0);
    struct eco_predict_answer a;

#define BASIS(expected)                                                                            \
    assert_int_equal(eco_predict(&w->predictor, &q, &a, NULL), 0);                                 \
    assert_int_equal(a.basis, expected)
    BASIS(ECO_BASIS_INTERPOLATED); /* the size was measured, but which model is not said */
    q.model_id = "m/3";
    BASIS(ECO_BASIS_MEASURED);
    assert_int_equal(a.confidence, ECO_CONF_HIGH);
    assert_near(a.distance, 0.0, 1e-12);
    q.engine = ECO_ENGINE_VLLM;
    BASIS(ECO_BASIS_EXTRAPOLATED); /* another kernel path */
    q.engine = ECO_ENGINE_UNKNOWN;
    q.batch = 8.0;
    BASIS(ECO_BASIS_MODELLED); /* m/3 was measured at batch 1 only */
    assert_true(a.modelled);
    q.model_id = "m/14";
    q.params_total_b = 14.0;
    BASIS(ECO_BASIS_MEASURED); /* this one at batch 8 */
    q.context_tokens = 4096.0;
    q.kv_bytes_per_token = 131072.0;
    BASIS(ECO_BASIS_MODELLED);
    q = question(40.0);
    BASIS(ECO_BASIS_EXTRAPOLATED);
    assert_true(a.have_distance);
    assert_near(a.distance, log(40.0 / 14.0), 1e-12);
    q = question(3.0);
    q.gpu = &card_x;
    BASIS(ECO_BASIS_EXTRAPOLATED);
    assert_false(a.have_distance);
    q.gpu = NULL;
    q.arch = ECO_ARCH_ADA;
    BASIS(ECO_BASIS_INTERPOLATED);
    assert_int_equal(a.n_arch, 15);
    q.precision = ECO_PREC_BF16;
    BASIS(ECO_BASIS_COMPUTED);
    assert_int_equal(a.recommendation, ECO_REC_BASELINE);
    assert_near(a.delta_pct.median, 0.0, 0.0);
#undef BASIS
}

/* No jump at a measured size: the model named or not, near it or at it. */
static void test_no_jump_at_a_pair(void **state)
{
    struct world *w = *state;
    struct eco_predict_query at = question(3.0), near = question(3.0000003);
    struct eco_predict_answer a, b;

    eco_predict(&w->predictor, &at, &a, NULL);
    eco_predict(&w->predictor, &near, &b, NULL);
    assert_near(a.mu, b.mu, 1e-6);
    assert_near(a.sd, b.sd, 1e-6);
}

static void test_crossover(void **state)
{
    struct world *w = *state;
    struct eco_predict_query q = question(3.0);
    struct eco_predict_answer a, at;
    double truth = 3.0 * exp(0.1 / 0.2);

    eco_predict(&w->predictor, &q, &a, NULL);
    assert_true(a.crossover.have);
    assert_true(a.crossover.saves_above);
    assert_true(a.crossover.lo < truth && truth < a.crossover.hi);
    assert_near(log(a.crossover.median / truth), 0.0, 0.25);
    q.params_total_b = a.crossover.median;
    eco_predict(&w->predictor, &q, &at, NULL);
    assert_near(at.mu, 0.0, 1e-5);
    q.precision = ECO_PREC_INT8_MIXED; /* crosses only at 3 exp(0.8 / 0.25) = 74e9 */
    eco_predict(&w->predictor, &q, &a, NULL);
    assert_true(!a.crossover.have || a.crossover.median > 20.0);
}

/* 4 bit saves a large model at batch 1 and costs it at batch 8. */
static void test_flip_batch(void **state)
{
    struct world *w = *state;
    struct eco_predict_query q = question(14.0);
    struct eco_predict_answer one, eight;

    eco_predict(&w->predictor, &q, &one, NULL);
    q.batch = 8.0;
    eco_predict(&w->predictor, &q, &eight, NULL);
    assert_true(one.mu < 0.0);
    assert_true(eight.mu > 0.0);
    assert_true(one.flip_batch.have && !one.flip_batch.saves_above);
    assert_true(one.flip_batch.median >= 2.0 && one.flip_batch.median <= 8.0);
    assert_true(one.flip_batch.lo <= one.flip_batch.median);
    assert_true(one.flip_batch.median <= one.flip_batch.hi);
    assert_near(one.flip_batch.median, eight.flip_batch.median, 0.0);
}

/* Any part asked for is the full answer's, bit for bit; what is not asked for is zero. */
static void test_parts(void **state)
{
    struct world *w = *state;
    static const struct eco_predict_anchor no_anchor;
    static const struct eco_predict_crossing none;
    const double batches[] = {1.0, 8.0};

    for (unsigned parts = 0; parts <= ECO_PREDICT_ALL; parts++) {
        struct eco_predict_query q = question(7.0);
        struct eco_predict_answer all, some;
        q.model_id = "m/7";
        q.batch = batches[parts % 2];
        assert_int_equal(eco_predict(&w->predictor, &q, &all, NULL), 0);
        assert_int_equal(eco_predict_parts(&w->predictor, &q, parts, &some, NULL), 0);
        assert_near(some.mu, all.mu, 0.0);
        assert_near(some.sd, all.sd, 0.0);
        assert_near(some.p_saves, all.p_saves, 0.0);
        assert_memory_equal(&some.delta_pct, &all.delta_pct, sizeof all.delta_pct);
        bool anchors = parts & ECO_PREDICT_ANCHORS;
        assert_int_equal(some.n_anchors, anchors ? all.n_anchors : 0);
        assert_memory_equal(some.anchors, anchors ? all.anchors : &no_anchor, sizeof no_anchor);
        assert_memory_equal(&some.crossover, parts & ECO_PREDICT_CROSSOVER ? &all.crossover : &none,
                            sizeof none);
        assert_memory_equal(&some.flip_batch,
                            parts & ECO_PREDICT_FLIP_BATCH ? &all.flip_batch : &none, sizeof none);
    }
}

static void test_anchors(void **state)
{
    struct world *w = *state;
    struct eco_predict_query q = question(7.0);
    struct eco_predict_answer a;
    double total = 0.0;

    q.model_id = "m/7";
    eco_predict(&w->predictor, &q, &a, NULL);
    assert_int_equal(a.n_anchors, ECO_PREDICT_MAX_ANCHORS);
    for (int i = 0; i < a.n_anchors; i++) {
        total += a.anchors[i].weight;
        assert_true(i == 0 || a.anchors[i].weight <= a.anchors[i - 1].weight);
    }
    assert_true(total > 0.3 && total <= 1.0);
    for (int i = 0; i < 3; i++) { /* the three sessions of this very configuration lead */
        assert_string_equal(a.anchors[i].model_id, "m/7");
        assert_string_equal(a.anchors[i].gpu, "Card A");
        assert_int_equal(a.anchors[i].precision, ECO_PREC_NF4);
    }
    assert_int_equal(a.n_points, WORLD_N);
    assert_int_equal(a.n_sessions, 6);
}

/* The weights are the real ones: y of a pair up by d moves mu by weight times d. */
static void test_weights_are_derivatives(void **state)
{
    struct world *w = *state;
    struct eco_predict_query q = question(7.0);
    struct eco_predictor moved;
    struct eco_predict_point points[WORLD_N];
    size_t bytes = eco_predict_build_bytes(WORLD_N);
    void *memory = malloc(bytes);
    struct eco_predict_answer a, b;
    double shares = 0.0;

    eco_predict(&w->predictor, &q, &a, NULL);
    for (int i = 0; i < WORLD_N; i++) {
        memcpy(points, w->points, sizeof(points));
        points[i].y += 1.0;
        eco_predict_build(points, WORLD_N, w->predictor.theta, memory, bytes, &moved, NULL);
        eco_predict(&moved, &q, &b, NULL);
        shares += fabs(b.mu - a.mu);
    }
    for (int k = 0; k < 2; k++) {
        int i = atoi(a.anchors[k].row_id + 1);

        memcpy(points, w->points, sizeof(points));
        points[i].y += 1.0;
        eco_predict_build(points, WORLD_N, w->predictor.theta, memory, bytes, &moved, NULL);
        eco_predict(&moved, &q, &b, NULL);
        assert_near(fabs(b.mu - a.mu) / shares, a.anchors[k].weight, 1e-5);
    }
    free(memory);
}

static void test_curve_is_the_answer(void **state)
{
    struct world *w = *state;
    struct eco_predict_query q = question(3.0);
    double sizes[3] = {1.0, 5.0, 50.0};
    struct eco_predict_answer a;
    struct eco_band band[3];

    assert_int_equal(eco_predict_curve(&w->predictor, &q, sizes, 3, band, NULL), 0);
    for (int i = 0; i < 3; i++) {
        q.params_total_b = sizes[i];
        eco_predict(&w->predictor, &q, &a, NULL);
        assert_near(band[i].median, a.delta_pct.median, 1e-10);
        assert_near(band[i].hi95, a.delta_pct.hi95, 1e-9);
    }
}

/* Longer contexts: KV traffic is the same in both, so a saving shrinks and never grows. */
static void test_context_shrinks_savings(void **state)
{
    struct world *w = *state;
    struct eco_predict_query q = question(14.0);
    struct eco_predict_answer a, b;
    double contexts[3] = {0.0, 8192.0, 65536.0}, mu[3], sd[3];

    q.kv_bytes_per_token = 2e5;
    eco_predict(&w->predictor, &q, &a, NULL);
    q.context_tokens = 8192.0;
    eco_predict(&w->predictor, &q, &b, NULL);
    assert_true(b.mu > a.mu && b.sd > a.sd);
    assert_int_equal(eco_predict_contexts(&w->predictor, &q, contexts, 3, mu, sd, NULL), 0);
    assert_near(mu[0], a.mu, 1e-12);
    assert_near(mu[1], b.mu, 1e-12);
    assert_near(sd[1], b.sd, 1e-12);
    assert_true(mu[2] > mu[1]);
}

static void refuse(const struct world *w, struct eco_predict_query q, int code, const char *arg)
{
    struct eco_predict_answer a = {.mu = 42.0};
    struct eco_err err = {0};

    assert_int_equal(eco_predict(&w->predictor, &q, &a, &err), code);
    assert_string_equal(err.arg, arg);
    assert_near(a.mu, 42.0, 0.0); /* untouched */
}

static void test_bad_questions(void **state)
{
    struct world *w = *state;
    struct eco_predict_query q = question(3.0);

#define REFUSE(field, v, code, arg)                                                                \
    q = question(3.0);                                                                             \
    q.field = (v);                                                                                 \
    refuse(w, q, code, arg)
    REFUSE(params_total_b, 0.0, ECO_E_MISSING, "params_b");
    REFUSE(params_total_b, -7.0, ECO_E_RANGE, "params_b");
    REFUSE(params_total_b, NAN, ECO_E_RANGE, "params_b");
    REFUSE(params_total_b, INFINITY, ECO_E_RANGE, "params_b");
    REFUSE(precision, ECO_PREC_NONE, ECO_E_MISSING, "precision");
    REFUSE(precision, ECO_PREC_COUNT, ECO_E_MISSING, "precision");
    REFUSE(batch, 0.5, ECO_E_RANGE, "batch");
    REFUSE(batch, NAN, ECO_E_RANGE, "batch");
    REFUSE(batch, 1e9, ECO_E_RANGE, "batch");
    REFUSE(context_tokens, -1.0, ECO_E_RANGE, "context");
    REFUSE(baseline, ECO_PREC_NF4, ECO_E_UNSUPPORTED, "baseline");
    REFUSE(params_active_b, 4.0, ECO_E_RANGE, "active_b");
    REFUSE(layers, -1, ECO_E_RANGE, "layers");
    REFUSE(linear_b, 9.0, ECO_E_RANGE, "linear_b");
#undef REFUSE
}

static void test_pair(void **state)
{
    double y = 7.0;

    (void)state;
    assert_int_equal(eco_predict_pair(150.0, 100.0, false, 0, 0, 0, &y, NULL), 0);
    assert_near(y, log(1.5), 1e-15);
    /* RTX 4090D, Qwen2-0.5B, 2026-03-06: 17.7 W at 27.4 and 47.39 tokens/s */
    assert_int_equal(eco_predict_pair(2301.07, 1474.16, true, 17.7, 27.4, 47.39, &y, NULL), 0);
    assert_near(100 * expm1(y), 59.5, 0.05);
    assert_int_equal(eco_predict_pair(1, 0, false, 0, 0, 0, &y, NULL), ECO_E_RANGE);
    assert_int_equal(eco_predict_pair(1, 1, true, 17, 0, 5, &y, NULL), ECO_E_RANGE);
}

static void test_build_refuses(void **state)
{
    struct world *w = *state;
    struct eco_predict_point points[2] = {w->points[0], w->points[1]};
    size_t bytes = eco_predict_build_bytes(2);
    void *memory = malloc(bytes);
    struct eco_predictor out;

    assert_int_equal(eco_predict_build(points, 2, w->predictor.theta, memory, 64, &out, NULL),
                     ECO_E_NO_MEMORY);
    assert_int_equal(eco_predict_build(points, 0, w->predictor.theta, memory, bytes, &out, NULL),
                     ECO_E_RANGE);
    points[1].y = NAN;
    assert_int_equal(eco_predict_build(points, 2, w->predictor.theta, memory, bytes, &out, NULL),
                     ECO_E_INVALID);
    points[1] = w->points[1];
    points[1].precision = ECO_PREC_NONE;
    assert_int_equal(eco_predict_build(points, 2, w->predictor.theta, memory, bytes, &out, NULL),
                     ECO_E_INVALID);
    points[0].fit = points[1].fit = false;
    points[1].precision = ECO_PREC_NF4;
    assert_int_equal(eco_predict_build(points, 2, w->predictor.theta, memory, bytes, &out, NULL),
                     ECO_E_RANGE);
    points[0].fit = true; /* one pair is enough for an answer, a wide one */
    assert_int_equal(eco_predict_build(points, 2, w->predictor.theta, memory, bytes, &out, NULL),
                     0);
    free(memory);
}

static void test_features(void **state)
{
    struct eco_predict_feature one[ECO_PREDICT_MAX_FEATURES], many[ECO_PREDICT_MAX_FEATURES];
    struct eco_predict_levels l = {.precision = ECO_PREC_NF4,
                                   .family = ECO_FAM_BNB_NF4,
                                   .engine = ECO_ENGINE_TRANSFORMERS,
                                   .card = -1,
                                   .model = -1,
                                   .batch = 1.0};
    double x[ECO_PX_COUNT], b[ECO_PB_COUNT];
    int n = eco_predict_features(&l, false, one), all = eco_predict_features(&l, true, many);

    (void)state;
    assert_true(n < all && all <= ECO_PREDICT_MAX_FEATURES);
    for (int i = 0; i < all; i++) {
        for (int j = 0; j < i; j++)
            assert_true(many[i].key != many[j].key);
    }
    /* Qwen2-7B: 6.5256e9 parameters in 28 layers; without a shape, its own size. */
    assert_near(eco_predict_effective_x(7.6, 6.52562176, 28), (log(6.52562176 / 28) + 2.5) / 0.85,
                1e-14);
    assert_near(eco_predict_effective_x(6.0, 0.0, 28), log(2.0), 1e-14);
    eco_predict_size_bases(0.0, x);
    assert_near(x[ECO_PX_CURVE], 0.0, 1e-15);
    eco_predict_batch_bases(1.0, b);
    for (int i = ECO_PB_STEP; i < ECO_PB_COUNT; i++)
        assert_near(b[i], 0.0, 0.0);
    eco_predict_batch_bases(61.0, b);
    assert_near(b[ECO_PB_60], 0.5, 1e-15);
    for (int g = 0; g < ECO_PG_COUNT; g++) {
        assert_true(eco_predict_group_name(g)[0] != '\0');
        for (int h = 0; h < g; h++)
            assert_string_not_equal(eco_predict_group_name(g), eco_predict_group_name(h));
    }
    assert_string_equal(eco_predict_group_name(-1), "none");
    assert_true(eco_predict_noise_weight(ECO_GRADE_A) < eco_predict_noise_weight(ECO_GRADE_B));
    assert_true(eco_predict_noise_weight(ECO_GRADE_C) < eco_predict_noise_weight(ECO_GRADE_D));
}

static void test_usual_engines(void **state)
{
    (void)state;
    assert_int_equal(eco_predict_usual_engine(ECO_PREC_NF4_DQ), ECO_ENGINE_TRANSFORMERS);
    assert_int_equal(eco_predict_usual_engine(ECO_PREC_GGUF_Q8_0), ECO_ENGINE_LLAMACPP);
    assert_int_equal(eco_predict_usual_engine(ECO_PREC_FP8), ECO_ENGINE_VLLM);
    for (int p = 1; p < ECO_PREC_COUNT; p++)
        assert_int_not_equal(eco_predict_usual_engine((enum eco_precision)p), ECO_ENGINE_UNKNOWN);
    assert_int_equal(eco_predict_usual_engine(ECO_PREC_NONE), ECO_ENGINE_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers_the_truth),
        cmocka_unit_test(test_bands_are_nested_quantiles),
        cmocka_unit_test(test_ignorance_widens),
        cmocka_unit_test(test_basis),
        cmocka_unit_test(test_no_jump_at_a_pair),
        cmocka_unit_test(test_crossover),
        cmocka_unit_test(test_flip_batch),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_anchors),
        cmocka_unit_test(test_weights_are_derivatives),
        cmocka_unit_test(test_curve_is_the_answer),
        cmocka_unit_test(test_context_shrinks_savings),
        cmocka_unit_test(test_bad_questions),
        cmocka_unit_test(test_pair),
        cmocka_unit_test(test_build_refuses),
        cmocka_unit_test(test_features),
        cmocka_unit_test(test_usual_engines),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
