/* Scores by hand, the binomial test's known ranges, folds against a direct refit. */
#include "core/crossval.h"
#include "eco_test.h"
#include "predict_world.h"

static void test_binomial_ranges(void **state)
{
    /* Published with the project's targets: counts of n that pass at 95 %. */
    static const int known[][3] = {{29, 25, 29}, {34, 29, 34}, {46, 40, 46},
                                   {13, 11, 13}, {6, 4, 6},    {103, 93, 102}};

    (void)state;
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
        int lo, hi;

        eco_crossval_binomial_range(known[i][0], 0.95, &lo, &hi);
        assert_int_equal(lo, known[i][1]);
        assert_int_equal(hi, known[i][2]);
    }
}

static void test_score_by_hand(void **state)
{
    struct eco_predict_point p[3];
    struct eco_crossval_row rows[3] = {{0, 0.0, 0.1}, {1, 0.3, 0.1}, {2, 0.1, 0.1}};
    struct eco_crossval_filter f = {0};
    struct eco_crossval_score s;
    double z = 1.959963984540054, width = 0.0, hi2;

    (void)state;
    memset(p, 0, sizeof(p));
    for (int i = 0; i < 3; i++) {
        p[i].fit = true;
        p[i].session = i < 2 ? "a" : "b";
        p[i].source = "";
        p[i].precision = i == 2 ? ECO_PREC_FP8 : ECO_PREC_NF4;
        p[i].y = i == 0 ? 0.05 : i == 1 ? 0.15 : 0.5;
    }
    eco_crossval_score(p, rows, 3, &f, &s);
    assert_int_equal(s.n, 3);
    assert_int_equal(s.n_sessions, 2);
    assert_near(s.log_mae, (0.05 + 0.15 + 0.4) / 3, 1e-12);
    assert_near(s.mae,
                100 * ((expm1(0.05) - 0) + (expm1(0.3) - expm1(0.15)) + (expm1(0.5) - expm1(0.1))) /
                    3,
                1e-9);
    assert_near(s.median, 100 * (expm1(0.3) - expm1(0.15)), 1e-9);
    assert_near(s.coverage50, 1.0 / 3, 1e-12); /* z = 0.5, 1.5, 4 */
    assert_near(s.coverage80, 1.0 / 3, 1e-12);
    assert_near(s.coverage95, 2.0 / 3, 1e-12);
    for (int i = 0; i < 3; i++)
        width += 100 * (exp(rows[i].mu + z * 0.1) - exp(rows[i].mu - z * 0.1));
    hi2 = 100 * expm1(0.1 + z * 0.1);
    assert_near(s.interval_score, (width + 40 * (100 * expm1(0.5) - hi2)) / 3, 1e-9);
    assert_int_equal(s.firm, 1);
    assert_near(s.sign_ok, 1.0, 0.0);
    assert_near(s.clustered95, 0.5, 1e-12);
    assert_near(s.clustered95_sd, 0.5, 1e-12);
    f.precision = ECO_PREC_FP8;
    eco_crossval_score(p, rows, 3, &f, &s);
    assert_int_equal(s.n, 1);
    f.precision = ECO_PREC_AWQ_INT4;
    eco_crossval_score(p, rows, 3, &f, &s);
    assert_int_equal(s.n, 0);
}

/* An anchor published net of idle is judged on its own boundary. */
static void test_anchors_keep_their_boundary(void **state)
{
    struct eco_predict_point p = {.session = "a",
                                  .source = "",
                                  .precision = ECO_PREC_NF4,
                                  .anchor = true,
                                  .fit = true,
                                  .y = 0.2,
                                  .net_shift = -0.05};
    struct eco_crossval_row row = {0, 0.2, 0.1};
    struct eco_crossval_filter f = {.anchors = true};
    struct eco_crossval_score s;

    (void)state;
    p.published_pct = 100 * expm1(0.15);
    eco_crossval_score(&p, &row, 1, &f, &s);
    assert_near(s.mae, 0.0, 1e-12);
    p.published_pct = 100 * expm1(0.2);
    eco_crossval_score(&p, &row, 1, &f, &s);
    assert_near(s.mae, 100 * (expm1(0.2) - expm1(0.15)), 1e-9);
}

static void count_tick(void *user, int done, int total)
{
    int *last = user;

    assert_true(done > *last && done <= total);
    *last = done;
}

static void test_folds_leave_out(void **state)
{
    struct eco_predict_point points[WORLD_N], kept[WORLD_N];
    struct eco_crossval_row rows[WORLD_N];
    size_t bytes = eco_crossval_bytes(WORLD_N) + eco_predict_fit_bytes(WORLD_N);
    void *memory = malloc(bytes);
    int n = 0, ticks = 0, left = 0;

    (void)state;
    world_fill(points);
    for (int i = 0; i < 10; i++)
        points[i].source = i < 5 ? "x" : "y";
    assert_int_equal(eco_crossval_run(points, WORLD_N, ECO_CROSSVAL_SOURCE, memory, bytes, rows, &n,
                                      count_tick, &ticks, NULL),
                     0);
    assert_int_equal(n, 10);
    assert_int_equal(ticks, 10);
    /* By hand: refit without source x, ask for its first pair as a new session. */
    for (int i = 0; i < WORLD_N; i++) {
        if (strcmp(points[i].source, "x") != 0)
            kept[left++] = points[i];
    }
    {
        double theta[ECO_PG_COUNT], mu, sd;
        struct eco_predict_problem p;
        struct eco_gp_result r;
        struct eco_predict_levels l;
        struct eco_predict_point all[WORLD_N];
        bool use[WORLD_N];

        eco_predict_theta_prior(theta);
        assert_int_equal(eco_predict_fit(kept, left, memory, bytes, theta, &r, NULL), 0);
        memcpy(all, points, sizeof(all));
        for (int i = 0; i < WORLD_N; i++)
            use[i] = strcmp(points[i].source, "x") != 0;
        assert_int_equal(eco_predict_problem_init(&p, all, WORLD_N, use, memory, bytes, NULL), 0);
        double value, gradient[ECO_PG_COUNT];
        memcpy(p.theta, theta, sizeof(theta));
        eco_gp_evaluate(&p.gp, p.theta, &p.work, &value, gradient);
        eco_predict_problem_levels(&p, 0, &l);
        eco_predict_problem_at(&p, &l, true, points[0].grade, &mu, &sd);
        assert_near(rows[0].mu, mu, 2e-3); /* two minimisations, each to 1e-3 in the gradient */
        assert_near(rows[0].sd, sd, 2e-3);
    }
    free(memory);
}

/* A pair that alone tells otherwise must not be answered by itself. */
static void test_no_leak(void **state)
{
    struct eco_predict_point points[WORLD_N];
    struct eco_crossval_row rows[WORLD_N];
    size_t bytes = eco_crossval_bytes(WORLD_N);
    void *memory = malloc(bytes);
    double before;
    int n = 0;

    (void)state;
    world_fill(points);
    for (int i = 3; i < WORLD_N; i++)
        points[i].source = "z"; /* judge three pairs only: quick */
    assert_int_equal(eco_crossval_run(points, WORLD_N, ECO_CROSSVAL_ONE, memory, bytes, rows, &n,
                                      NULL, NULL, NULL),
                     0);
    assert_int_equal(n, 3);
    before = rows[1].mu;
    points[1].fit = false; /* out of every fit, then changed: its own answer stays */
    points[1].anchor = true;
    points[1].y += 5.0;
    assert_int_equal(eco_crossval_run(points, WORLD_N, ECO_CROSSVAL_ONE, memory, bytes, rows, &n,
                                      NULL, NULL, NULL),
                     0);
    assert_int_equal(n, 3);
    assert_near(rows[1].mu, before, 2e-3);
    free(memory);
}

static void test_splits_judge_what_they_should(void **state)
{
    struct eco_predict_point points[WORLD_N];
    struct eco_crossval_row rows[WORLD_N];
    size_t bytes = eco_crossval_bytes(WORLD_N);
    void *memory = malloc(bytes);
    int n = 0;

    (void)state;
    world_fill(points);
    assert_int_equal(eco_crossval_run(points, WORLD_N, ECO_CROSSVAL_SIZE, memory, bytes, rows, &n,
                                      NULL, NULL, NULL),
                     0);
    assert_int_equal(n, WORLD_N - 2); /* two pairs are at batch 8 */
    assert_int_equal(eco_crossval_run(points, WORLD_N, ECO_CROSSVAL_SESSION, memory, bytes, rows,
                                      &n, NULL, NULL, NULL),
                     0);
    assert_int_equal(n, WORLD_N - 2);
    for (int i = 0; i < n; i++)
        assert_true(rows[i].sd > 0.0 && (i == 0 || rows[i].point > rows[i - 1].point));
    assert_int_equal(eco_crossval_run(points, WORLD_N, ECO_CROSSVAL_SIZE, memory, 100, rows, &n,
                                      NULL, NULL, NULL),
                     ECO_E_NO_MEMORY);
    free(memory);
}

/* A wider prior gives a wider variance, and a wider answer for a card never seen. */
static void test_prior_sensitivity(void **state)
{
    struct eco_predict_point points[WORLD_N];
    struct eco_crossval_sensitivity low, high;
    size_t bytes = eco_crossval_bytes(WORLD_N);
    void *memory = malloc(bytes);

    (void)state;
    world_fill(points);
    assert_int_equal(
        eco_crossval_prior(points, WORLD_N, ECO_PG_CARD_OTHER, 0.5, memory, bytes, &low, NULL), 0);
    assert_int_equal(
        eco_crossval_prior(points, WORLD_N, ECO_PG_CARD_OTHER, 2.0, memory, bytes, &high, NULL), 0);
    assert_near(low.prior_sd, 0.05, 1e-12);
    assert_near(high.prior_sd, 0.2, 1e-12);
    assert_true(high.fitted_sd > low.fitted_sd);
    assert_true(high.nf4_new_card_sd > low.nf4_new_card_sd);
    assert_true(low.nf4_new_arch_sd >= low.nf4_new_card_sd);
    assert_int_equal(
        eco_crossval_prior(points, WORLD_N, ECO_PG_CARD_OTHER, 2.0, memory, 10, &high, NULL),
        ECO_E_NO_MEMORY);
    free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_binomial_ranges),
        cmocka_unit_test(test_score_by_hand),
        cmocka_unit_test(test_anchors_keep_their_boundary),
        cmocka_unit_test(test_folds_leave_out),
        cmocka_unit_test(test_no_leak),
        cmocka_unit_test(test_splits_judge_what_they_should),
        cmocka_unit_test(test_prior_sensitivity),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
