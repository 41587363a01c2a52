/*
 * The shipped predictor: its pairs follow from the data set's own rows, its variances are the
 * maximum they claim to be, its answers are those of an independent implementation (numpy, dense
 * matrices, features written out again), and what docs/calibration.md claims holds.
 */
#include "base/arena.h"
#include "base/buf.h"
#include "base/file.h"
#include "core/crossval.h"
#include "dataset/dataset.h"
#include "dataset/points_csv.h"
#include "dataset/predictor_default.h"
#include "eco_test.h"

static const struct eco_predictor *shipped = &eco_predictor_default;

/* --- pairs ------------------------------------------------------------------------------- */

static const char *baseline_of(const struct eco_row *row)
{
    struct eco_pair pair;

    if (row->table == ECO_ROWS_MEASUREMENTS)
        return row->baseline_id;
    for (size_t i = 0; i < eco_dataset_pair_count(); i++) {
        eco_dataset_pair(i, &pair);
        if (strcmp(pair.quant_id, row->id) == 0)
            return pair.base_id;
    }
    return "";
}

static void test_pairs_follow_from_the_rows(void **state)
{
    (void)state;
    for (int i = 0; i < shipped->n_points; i++) {
        const struct eco_predict_point *p = &shipped->points[i];
        struct eco_row q, b;
        double y;
        bool net;

        assert_true(eco_dataset_row_by_id(p->id, strlen(p->id), &q));
        assert_true(eco_dataset_row_by_id(p->baseline_id, strlen(p->baseline_id), &b));
        net = q.energy_basis == ECO_POWER_NET;
        assert_int_equal(eco_predict_pair(q.energy_j_per_1k, b.energy_j_per_1k, net, q.idle_w,
                                          q.throughput_tok_s, b.throughput_tok_s, &y, NULL),
                         0);
        assert_near(p->y, y, 2e-5);
        assert_near(p->net_shift, net ? log(q.energy_j_per_1k / b.energy_j_per_1k) - y : 0.0, 2e-5);
        assert_string_equal(p->gpu, q.gpu);
        assert_int_equal(p->precision, q.precision);
        assert_int_equal(p->engine, q.engine);
        assert_int_equal(p->arch, q.arch);
        assert_near(p->batch, q.batch, 0.0);
        assert_true(p->anchor || (q.grade != ECO_GRADE_D && b.grade != ECO_GRADE_D));
    }
}

/* Every pair of grades A to C with a known boundary is there, and no other. */
static void test_no_pair_is_missing(void **state)
{
    int own = 0, external = 0, single = 0, anchors = 0, fitted_own = 0;
    struct eco_row q, b;
    struct eco_pair pair;

    (void)state;
    for (size_t i = 0; i < eco_dataset_table_count(ECO_ROWS_MEASUREMENTS); i++) {
        const char *base;

        eco_dataset_row(i, &q);
        base = baseline_of(&q);
        if (base[0] == '\0' || !eco_dataset_row_by_id(base, strlen(base), &b))
            continue;
        own += q.grade != ECO_GRADE_D && b.grade != ECO_GRADE_D &&
               q.boundary == ECO_BOUNDARY_GPU_BOARD;
    }
    for (size_t i = 0; i < eco_dataset_pair_count(); i++) {
        eco_dataset_pair(i, &pair);
        external += !pair.excluded;
    }
    for (int i = 0; i < shipped->n_points; i++) {
        const struct eco_predict_point *p = &shipped->points[i];

        fitted_own += p->fit && p->source[0] == '\0';
        single += p->fit && p->source[0] == '\0' && p->batch == 1.0;
        anchors += p->anchor;
    }
    assert_int_equal(fitted_own, own);
    assert_int_equal(shipped->n_fit, own + external);
    assert_int_equal(single, 100);
    assert_int_equal(external, 114);
    assert_int_equal(anchors, 29);
}

/* --- variances --------------------------------------------------------------------------- */

static void test_refit_agrees(void **state)
{
    size_t bytes = eco_predict_fit_bytes(shipped->n_points);
    double theta[ECO_PG_COUNT], value, gradient[ECO_PG_COUNT];
    void *memory = malloc(bytes);
    struct eco_predict_problem p;
    struct eco_gp_result r;

    (void)state;
    eco_predict_theta_prior(theta);
    assert_int_equal(
        eco_predict_fit(shipped->points, shipped->n_points, memory, bytes, theta, &r, NULL), 0);
    assert_true(r.converged);
    assert_int_equal(
        eco_predict_problem_init(&p, shipped->points, shipped->n_points, NULL, memory, bytes, NULL),
        0);
    assert_int_equal(eco_gp_evaluate(&p.gp, shipped->theta, &p.work, &value, gradient), 0);
    assert_near(value, -389.4913554752, 1e-8); /* numpy's */
    assert_near(r.value, value, 1e-4);
    for (int g = 0; g < ECO_PG_COUNT; g++) {
        assert_near(gradient[g], 0.0, 2e-3);
        assert_near(theta[g], shipped->theta[g], 0.02);
        if (!eco_predict_group_free(g))
            assert_near(shipped->theta[g], eco_predict_group_prior_log_var(g), 1e-8);
    }
    free(memory);
}

/* --- answers ----------------------------------------------------------------------------- */

struct oracle {
    const char *gpu;
    enum eco_arch arch;
    double bandwidth;
    enum eco_precision precision;
    enum eco_engine engine;
    double params_b, batch;
    int layers;
    double linear_b;
    const char *model;
    double mu, sd;
};

#define TF ECO_ENGINE_TRANSFORMERS
static const struct oracle oracles[] = {
    {"RTX 4090", ECO_ARCH_ADA, 1008, ECO_PREC_NF4, TF, 7, 1, 0, 0, NULL, -0.300569221403,
     0.119018335765},
    {"RTX 4090", ECO_ARCH_ADA, 1008, ECO_PREC_NF4, TF, 7.615616512, 1, 28, 6.52562176,
     "Qwen/Qwen2-7B", -0.387541974741, 0.110011472033},
    {"RTX 4090", ECO_ARCH_ADA, 1008, ECO_PREC_INT8_MIXED, TF, 0.494032768, 1, 24, 0.35784,
     "Qwen/Qwen2-0.5B", 1.481333992632, 0.286676658718},
    {"T4", ECO_ARCH_TURING, 320, ECO_PREC_NF4, TF, 3, 1, 0, 0, NULL, -0.026664296818,
     0.127076295755},
    {"A800 SXM4 80GB", ECO_ARCH_AMPERE, 2039, ECO_PREC_INT8_PURE, TF, 14, 8, 0, 0, NULL,
     0.232716471283, 0.133431588263},
    {"L4", ECO_ARCH_ADA, 300, ECO_PREC_NF4_DQ, TF, 1.1, 1, 0, 0, NULL, 0.215199204583,
     0.236150231333},
    {"MI300X", ECO_ARCH_CDNA3, 5300, ECO_PREC_GGUF_Q4_K_M, ECO_ENGINE_LLAMACPP, 8, 1, 0, 0, NULL,
     -0.344449543561, 0.331623963668},
    {"H100 SXM", ECO_ARCH_HOPPER, 3350, ECO_PREC_FP8, ECO_ENGINE_VLLM, 235, 256, 0, 0, NULL,
     -0.004257493876, 0.167435218925},
    {"H100 SXM", ECO_ARCH_HOPPER, 3350, ECO_PREC_FP8, ECO_ENGINE_VLLM, 235, 8, 0, 0, NULL,
     0.533206935011, 0.151097334477},
    {"A2", ECO_ARCH_AMPERE, 200, ECO_PREC_GPTQ_INT4, ECO_ENGINE_VLLM, 3.09, 128, 0, 0, NULL,
     0.139032871546, 0.154258788875},
    {"A2", ECO_ARCH_AMPERE, 200, ECO_PREC_NF4, ECO_ENGINE_VLLM, 3.09, 4, 0, 0, NULL, 0.528838363595,
     0.149694699429},
    {"RTX 5090", ECO_ARCH_BLACKWELL, 1792, ECO_PREC_NVFP4, ECO_ENGINE_VLLM, 8.2, 8, 0, 0, NULL,
     -0.517788108961, 0.142494276481},
};
#undef TF

static void test_answers_are_numpys(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(oracles) / sizeof(*oracles); i++) {
        const struct oracle *o = &oracles[i];
        struct eco_gpu gpu = {.name = o->gpu, .arch = o->arch, .mem_bw_gbps = o->bandwidth};
        struct eco_predict_query q = {.precision = o->precision,
                                      .gpu = &gpu,
                                      .params_total_b = o->params_b,
                                      .linear_b = o->linear_b,
                                      .layers = o->layers,
                                      .model_id = o->model,
                                      .engine = o->engine,
                                      .batch = o->batch};
        struct eco_predict_answer a;

        assert_int_equal(eco_predict(shipped, &q, &a, NULL), 0);
        assert_near(a.mu, o->mu, 1e-9);
        assert_near(a.sd, o->sd, 1e-9);
    }
}

/* Signs that the measured pairs show must be there, at the batch where they were measured. */
static void test_sign_follows_the_batch(void **state)
{
    const struct eco_gpu *a2 = NULL, *h100 = NULL;
    struct eco_predict_answer a;
    struct eco_predict_query q = {.precision = ECO_PREC_GPTQ_INT4, .params_total_b = 3.09};

    (void)state;
    assert_int_equal(eco_dataset_find_gpu("A2", 2, &a2, NULL), 0);
    assert_int_equal(eco_dataset_find_gpu("H100 SXM", 8, &h100, NULL), 0);
    q.gpu = a2;
    eco_predict(shipped, &q, &a, NULL);
    assert_true(a.delta_pct.median < -50.0); /* -60 % measured */
    assert_true(a.flip_batch.have && !a.flip_batch.saves_above);
    assert_true(a.flip_batch.median > 32.0 && a.flip_batch.median < 128.0);
    q.batch = 128.0;
    eco_predict(shipped, &q, &a, NULL);
    assert_true(a.delta_pct.median > 0.0); /* +13 % measured */
    q = (struct eco_predict_query){
        .precision = ECO_PREC_NF4, .params_total_b = 3.09, .gpu = a2, .engine = ECO_ENGINE_VLLM};
    eco_predict(shipped, &q, &a, NULL);
    assert_true(a.delta_pct.hi95 < 0.0); /* -25 % */
    q.batch = 4.0;
    eco_predict(shipped, &q, &a, NULL);
    assert_true(a.delta_pct.lo95 > 0.0); /* +84 % */
    q = (struct eco_predict_query){
        .precision = ECO_PREC_FP8, .params_total_b = 235.0, .gpu = h100, .batch = 8.0};
    eco_predict(shipped, &q, &a, NULL);
    assert_true(a.delta_pct.lo95 > 0.0); /* +54 to +84 % */
    q.batch = 256.0;
    eco_predict(shipped, &q, &a, NULL);
    assert_true(a.delta_pct.median < 5.0 && a.delta_pct.lo95 < 0.0); /* -29 to -13 % */
}

static void test_every_card_and_precision_is_answered(void **state)
{
    struct eco_predict_answer a;

    (void)state;
    for (size_t g = 0; g < eco_dataset_gpu_count(); g++) {
        for (int p = 1; p < ECO_PREC_COUNT; p++) {
            struct eco_predict_query q = {.precision = (enum eco_precision)p,
                                          .gpu = eco_dataset_gpu(g),
                                          .params_total_b = 8.0,
                                          .batch = p % 2 ? 1.0 : 16.0};

            assert_int_equal(eco_predict(shipped, &q, &a, NULL), 0);
            assert_true(isfinite(a.delta_pct.lo95) && isfinite(a.delta_pct.hi95));
            assert_true(a.delta_pct.lo95 >= -100.0);
            assert_true(a.p_saves >= 0.0 && a.p_saves <= 1.0);
        }
    }
}

/* --- the figures that docs/calibration.md claims ------------------------------------------ */

static struct eco_crossval_score judge(enum eco_crossval_split split, bool anchors,
                                       enum eco_precision precision)
{
    static struct eco_crossval_row rows[ECO_CROSSVAL_SPLITS][ECO_PREDICT_MAX_POINTS];
    static int n_rows[ECO_CROSSVAL_SPLITS];
    struct eco_crossval_filter f = {.anchors = anchors, .precision = precision};
    struct eco_crossval_score s;

    if (n_rows[split] == 0) {
        size_t bytes = eco_crossval_bytes(shipped->n_points);
        void *memory = malloc(bytes);

        assert_int_equal(eco_crossval_run(shipped->points, shipped->n_points, split, memory, bytes,
                                          rows[split], &n_rows[split], NULL, NULL, NULL),
                         0);
        free(memory);
    }
    eco_crossval_score(shipped->points, rows[split], n_rows[split], &f, &s);
    return s;
}

/* A refit for every pair: fifteen seconds under sanitizers, for code that the others run too. */
static bool leaves_one_out(void)
{
    return getenv("SANITIZED") == NULL;
}

static void test_anchors_reach_their_target(void **state)
{
    struct eco_crossval_score s;

    (void)state;
    if (!leaves_one_out())
        skip();
    s = judge(ECO_CROSSVAL_ONE, true, ECO_PREC_NONE);
    assert_int_equal(s.n, 29);
    assert_true(s.passes);
    assert_true(s.mae <= 11.0);
    assert_true(s.interval_score <= 70.0);
}

static void test_splits_beat_the_first_try(void **state)
{
    struct eco_crossval_score size = judge(ECO_CROSSVAL_SIZE, false, ECO_PREC_NONE);
    struct eco_crossval_score session = judge(ECO_CROSSVAL_SESSION, false, ECO_PREC_NONE);
    struct eco_crossval_score source = judge(ECO_CROSSVAL_SOURCE, false, ECO_PREC_NONE);

    (void)state;
    assert_int_equal(size.n, 100);
    assert_true(size.mae < 22.8 && size.median < 10.2 && size.log_mae < 0.093);
    assert_true(session.mae < 47.2 && session.median < 19.7 && session.log_mae < 0.207);
    assert_true(judge(ECO_CROSSVAL_SESSION, false, ECO_PREC_NF4).mae < 12.1);
    assert_int_equal(source.n, 114);
    assert_true(source.passes);
    assert_true(source.sign_ok >= 0.95);
}

static void test_coverage_passes_everywhere(void **state)
{
    static const enum eco_precision kinds[] = {ECO_PREC_NONE,       ECO_PREC_NF4,
                                               ECO_PREC_INT8_MIXED, ECO_PREC_INT8_PURE,
                                               ECO_PREC_NF4_DQ,     ECO_PREC_FP8};

    (void)state;
    for (int split = ECO_CROSSVAL_ONE; split < ECO_CROSSVAL_SPLITS; split++) {
        if (split == ECO_CROSSVAL_SOURCE || split == ECO_CROSSVAL_PUBLISHER)
            continue; /* external pairs, judged above */
        if (split == ECO_CROSSVAL_ONE && !leaves_one_out())
            continue;
        for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
            struct eco_crossval_score s = judge((enum eco_crossval_split)split, false, kinds[i]);

            if (!s.passes)
                fail_msg("split %d, %s: %d of %d inside", split, eco_precision_name(kinds[i]),
                         s.inside95, s.n);
        }
    }
}

/* --- csv --------------------------------------------------------------------------------- */

static int read_text(const char *text, struct eco_arena *arena, struct eco_predict_point **p,
                     int *n, struct eco_err *err)
{
    return eco_points_read("own.csv", text, strlen(text), arena, p, n, err);
}

static void test_own_points(void **state)
{
    struct eco_predict_point *p = NULL;
    struct eco_arena arena;
    struct eco_err err = {0};
    int n = 0;

    (void)state;
    eco_arena_init(&arena, 0);
    assert_int_equal(read_text("id,gpu,precision,params_b,delta_pct\n"
                               "a,RTX 4090,nf4,7,-28.5\nb,L4,int8,3,100\n",
                               &arena, &p, &n, &err),
                     0);
    assert_int_equal(n, 2);
    assert_near(p[0].y, log(0.715), 1e-12);
    assert_int_equal(p[1].precision, ECO_PREC_INT8_MIXED);
    assert_int_equal(p[1].engine, ECO_ENGINE_TRANSFORMERS);
    assert_string_equal(p[0].baseline_id, "a/baseline");
    assert_true(p[0].fit);
#define REFUSED(text, at)                                                                          \
    assert_int_equal(read_text(text, &arena, &p, &n, &err), ECO_E_CONTENT);                        \
    assert_int_equal(err.line, at)
    REFUSED("id,gpu,precision,params_b\na,b,nf4,7\n", 0);
    REFUSED("id,gpu,precision,params_b,y\na,b,nf5,7,0.1\n", 2);
    REFUSED("id,gpu,precision,params_b,y\na,b,nf4,0,0.1\n", 2);
    REFUSED("id,gpu,precision,params_b,y\na,b,nf4,7,x\n", 2);
    REFUSED("id,gpu,precision,params_b,delta_pct\na,b,nf4,7,-100\n", 2);
    REFUSED("id,gpu,precision,params_b,y,batch\na,b,nf4,7,0.1,0\n", 2);
    REFUSED("id,gpu,precision,params_b,y,fit\na,b,nf4,7,0.1,no\na,b,nf4,7,0.1,maybe\n", 3);
    REFUSED("id,gpu,precision,params_b,y,grade\na,b,nf4,7,0.1,E\n", 2);
    REFUSED("id,gpu,precision,params_b,y,layers\na,b,nf4,7,0.1,1.5\n", 2);
    REFUSED("id,gpu,precision,params_b,y\na,b,nf4,7,\n", 2);
#undef REFUSED
    eco_arena_done(&arena);
}

static void test_theta_file(void **state)
{
    struct eco_buf text = {.limit = 1 << 20};
    double theta[ECO_PG_COUNT];
    struct eco_err err = {0};

    (void)state;
    assert_int_equal(
        eco_file_read(ECO_SOURCE_DIR "/data/fitted/predictor_theta.csv", 1 << 20, &text, &err), 0);
    assert_int_equal(eco_points_read_theta("theta", text.data, text.len, theta, &err), 0);
    assert_memory_equal(theta, shipped->theta, sizeof(theta));
    /* One line less: the missing group is named. */
    assert_int_equal(eco_points_read_theta("theta", text.data, text.len / 2, theta, &err),
                     ECO_E_CONTENT);
    eco_buf_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs_follow_from_the_rows),
        cmocka_unit_test(test_no_pair_is_missing),
        cmocka_unit_test(test_refit_agrees),
        cmocka_unit_test(test_answers_are_numpys),
        cmocka_unit_test(test_sign_follows_the_batch),
        cmocka_unit_test(test_every_card_and_precision_is_answered),
        cmocka_unit_test(test_anchors_reach_their_target),
        cmocka_unit_test(test_splits_beat_the_first_try),
        cmocka_unit_test(test_coverage_passes_everywhere),
        cmocka_unit_test(test_own_points),
        cmocka_unit_test(test_theta_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
