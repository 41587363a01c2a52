/* What an answer cites can be shown, and is about the question; prices of traps add up. */
#include "eco_test.h"

#include "dataset/dataset.h"
#include "eco_alerts.h"
#include "ops/args.h"
#include "ops/params.h"
#include "ops/records.h"

static struct eco_arena arena;

static int start(void **state)
{
    (void)state;
    eco_arena_init(&arena, 0);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    eco_arena_done(&arena);
    return 0;
}

static const void *answer(const char *verb, const char *const (*params)[2], size_t n)
{
    const struct eco_op *op = eco_op_find(verb);
    struct eco_ctx ctx = {.arena = &arena};
    struct eco_err err = {0};
    void *args = eco_arena_alloc(&arena, op->args_size);
    void *result = eco_arena_alloc(&arena, op->result->size);
    int rc = eco_args_init(op, args, &arena, &err);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        rc = eco_args_set(op, args, &arena, eco_args_find(op, params[i][0], strlen(params[i][0])),
                          params[i][1], strlen(params[i][1]), &err);
    }
    rc = rc ? rc : eco_args_finish(op, args, &err);
    rc = rc ? rc : op->run(&ctx, args, result, &err);
    if (rc) {
        fail_msg("%s: %s", verb, err.message);
    }
    return result;
}

#define ANSWER(verb, params) answer(verb, params, ECO_COUNT(params))

/* `data show ID` is what the view says. */
static void test_evidence_of_traps_can_be_shown(void **state)
{
    (void)state;
    for (size_t i = 0; i < eco_alerts_count(); i++) {
        for (const char *at = eco_alerts_rule(i)->evidence; *at;) {
            struct eco_row row;
            size_t n = strcspn(at, " ");
            if (!eco_dataset_row_by_id(at, n, &row)) {
                fail_msg("%s cites '%.*s'", eco_alerts_rule(i)->id, (int)n, at);
            }
            at += n + (at[n] == ' ');
        }
    }
}

static void test_closest_rows(void **state)
{
    (void)state;
    static const char *const q[][2] = {
        {"model", "Mistral-7B-v0.1"}, {"gpu", "a800"}, {"precision", "NF4"}};
    const struct eco_res_estimate *r = ANSWER("estimate", q);
    const struct eco_res_evidence *e = r->transparency.closest.items;
    assert_true(r->transparency.closest.n > 0);
    assert_true(r->transparency.measured_here);
    assert_string_equal(e->gpu, "A800 SXM4 80GB");
    assert_string_equal(e->precision, "NF4");
    assert_true(r->transparency.limits.n > 0);
    for (size_t i = 0; i < r->transparency.closest.n; i++) {
        struct eco_row row;
        assert_true(eco_dataset_row_by_id(e[i].row, strlen(e[i].row), &row));
        assert_false(row.excluded);
    }
}

/* What a trap costs is a part of the bill: bill = without * (1 + effect). */
static void test_price_of_a_trap(void **state)
{
    (void)state;
    static const char *const q[][2] = {
        {"model", "Mistral-7B-v0.1"}, {"gpu", "rtx4090d"}, {"precision", "INT8"}};
    const struct eco_res_estimate *r = ANSWER("estimate", q);
    const struct eco_res_alert *a = r->alerts.items;
    assert_string_equal(a->id, "int8-paradox");
    double without = r->cost->month.usd.v / (1 + a->effect_pct.v / 100);
    assert_near(a->month_usd.v, r->cost->month.usd.v - without, 0.01 * a->month_usd.v);
    assert_near(a->fix_saving_usd.v, -r->cost->month.usd.v * a->fix_effect_pct.v / 100,
                0.01 * a->fix_saving_usd.v);
}

/* Volumes in other units are the requests that one would compute by hand. */
static void test_volumes(void **state)
{
    (void)state;
    static const char *const cases[][2] = {{"requests_per_day", "1000"},
                                           {"users", "200"},
                                           {"tokens", "23040000"},
                                           {"characters", "46080000"},
                                           {"gb_text", "0.09216"}};
    for (size_t i = 0; i < ECO_COUNT(cases); i++) {
        const char *const q[][2] = {
            {"model", "Mistral-7B-v0.1"}, {"gpu", "a800"}, {cases[i][0], cases[i][1]}};
        const struct eco_res_cost *r = ANSWER("cost", q);
        assert_near(r->bill.requests, 30000, 1e-6); /* of 768 tokens, 2 characters each */
        assert_true(r->conversions.n > 0);
    }
}

/* From what is seen to what is expected after the fix, in percent of what is seen. */
static void test_improvement(void **state)
{
    (void)state;
    static const char *const q[][2] = {{"model", "Mistral-7B-v0.1"},
                                       {"gpu", "rtx4090d"},
                                       {"precision", "INT8"},
                                       {"throughput", "9.5"},
                                       {"power_w", "140"}};
    const struct eco_res_diagnose *r = ANSWER("diagnose", q);
    const struct eco_res_improvement *m = r->improvement;
    assert_string_equal(r->pattern, "int8-mixed");
    assert_true(r->likelihood.v > 0.5 && r->evidence.n > 0);
    assert_non_null(m);
    assert_string_equal(m->fix, "use-16-bit");
    assert_near(m->j_per_1k_now.v, 1000.0 * 140 / 9.5, 10);
    assert_near(m->energy_pct.v, 100 * (m->j_per_1k_then.v / m->j_per_1k_now.v - 1), 0.5);
    assert_true(m->j_per_1k_then.v < m->j_per_1k_now.v && m->saving_usd.v > 0);
    assert_near(m->saving_year_usd.v, 12 * m->saving_usd.v, 0.01 * m->saving_year_usd.v);
}

/* ---- what one session tells of the next ---------------------------------------------------- */

#define MAX_ROWS 1200

static bool repeats(const struct eco_row *a, const struct eco_row *b)
{
    return a->precision == b->precision && a->engine == b->engine && a->batch == b->batch &&
           strcmp(a->gpu, b->gpu) == 0 && strcmp(a->model, b->model) == 0;
}

/* Pooled standard deviation of the ln of sessions of one configuration, by kernels. Rows of the
 * same session are averaged first. */
static double pooled(const struct eco_row *r, size_t n, enum eco_precision_family f, bool energy)
{
    double ss = 0;
    int free_degrees = 0;
    bool *used = eco_arena_array(&arena, n, sizeof(*used));
    for (size_t i = 0; i < n; i++) {
        double mean[16];
        const char *name[16];
        int count[16], k = 0;
        for (size_t j = i; j < n && eco_precision_family(r[i].precision) == f; j++) {
            double v = energy ? r[j].energy_gross_j_per_1k : r[j].throughput_tok_s;
            if (used[j] || !repeats(&r[i], &r[j]) || !(v > 0)) {
                continue;
            }
            int at = 0;
            while (at < k && strcmp(name[at], r[j].session) != 0) {
                at++;
            }
            if (at == k) {
                assert_true(k < 16);
                name[k] = r[j].session;
                mean[k] = 0;
                count[k++] = 0;
            }
            mean[at] += log(v);
            count[at]++;
            used[j] = true;
        }
        double sum = 0;
        for (int at = 0; at < k; at++) {
            mean[at] /= count[at];
            sum += mean[at] / k;
        }
        for (int at = 0; k > 1 && at < k; at++) {
            ss += (mean[at] - sum) * (mean[at] - sum);
        }
        free_degrees += k > 1 ? k - 1 : 0;
    }
    return sqrt(ss / free_degrees);
}

/* The spreads that steps_measured.c uses are those of the data, speed or energy, the larger. */
static void test_spread_of_sessions(void **state)
{
    (void)state;
    static const struct {
        const char *model, *gpu, *precision;
        enum eco_precision_family family;
        int sessions;
    } cases[] = {{"Qwen/Qwen2.5-3B", "RTX 5090", "FP16", ECO_FAM_FLOAT, 1},
                 {"Qwen/Qwen2-7B", "RTX 5090", "NF4", ECO_FAM_BNB_NF4, 2},
                 {"Qwen/Qwen2-7B", "RTX 4090", "INT8-MIXED", ECO_FAM_BNB_INT8, 3}};
    struct eco_row *r = eco_arena_array(&arena, MAX_ROWS, sizeof(*r));
    size_t n = 0;
    for (size_t i = 0; i < eco_dataset_row_count() && n < MAX_ROWS; i++) {
        bool usable = eco_dataset_row(i, &r[n]) && !r[n].excluded && r[n].n_devices == 1 &&
                      r[n].batch > 0 && r[n].boundary == ECO_BOUNDARY_GPU_BOARD &&
                      r[n].table == ECO_ROWS_MEASUREMENTS;
        n += usable;
    }
    for (size_t i = 0; i < ECO_COUNT(cases); i++) {
        const char *const params[][2] = {{"model", cases[i].model},
                                         {"gpu", cases[i].gpu},
                                         {"precision", cases[i].precision},
                                         {"throughput", "20"}};
        const struct eco_res_diagnose *d = ANSWER("diagnose", params);
        double sd = fmax(pooled(r, n, cases[i].family, false), pooled(r, n, cases[i].family, true));
        double used = log(d->expect_tokens_per_s_ci.hi / d->expect_tokens_per_s.v) / 1.96 /
                      sqrt(1.0 + 1.0 / cases[i].sessions);
        assert_string_equal(d->expect_basis, "measured");
        assert_int_equal((int)d->expect_sessions.v, cases[i].sessions);
        if (fabs(used - sd) > 0.02) {
            fail_msg("%s: sessions spread by %.3f, the range says %.3f", cases[i].precision, sd,
                     used);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_evidence_of_traps_can_be_shown),
        cmocka_unit_test(test_closest_rows),
        cmocka_unit_test(test_price_of_a_trap),
        cmocka_unit_test(test_volumes),
        cmocka_unit_test(test_improvement),
        cmocka_unit_test(test_spread_of_sessions),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
