/*
 * Which side of a crossover saves is the curve's sign: the same for every model whose answer names
 * that crossover, also where a model's own change says otherwise.
 */
#include "eco_test.h"

#include "dataset/dataset.h"
#include "ops/args.h"
#include "ops/op.h"
#include "ops/params.h"
#include "ops/records.h"
#include "report/chart.h"

#define MAX_CURVES 256

struct told {
    double crossover_b;
    const char *side;
};

struct seen {
    struct told curves[MAX_CURVES]; /* of one card and precision */
    size_t n, shown, differing;
};

static bool of_interest(enum eco_precision p)
{
    enum eco_precision_family f = eco_precision_family(p);
    return f == ECO_FAM_BNB_NF4 || f == ECO_FAM_BNB_INT8 || f == ECO_FAM_FP8;
}

static int estimate(struct eco_ctx *ctx, const char *model, double params_b,
                    const struct eco_row *row, struct eco_res_estimate *out)
{
    const struct eco_op *op = eco_op_find("estimate");
    struct eco_args_estimate *args = eco_arena_alloc(ctx->arena, op->args_size);
    struct eco_err err = {0};
    memset(out, 0, sizeof(*out));
    assert_int_equal(eco_args_init(op, args, ctx->arena, &err), 0);
    args->target = (struct eco_args_target){.model = model, .params_b = params_b, .gpu = row->gpu};
    args->precision = eco_precision_name(row->precision);
    return op->run(ctx, args, out, &err);
}

/* The drawn curve on both sides of the crossover; it has 48 points, so the nearest are taken. */
static const char *drawn_side(const struct eco_res_estimate *r)
{
    const struct eco_chart_crossover *c = r->chart;
    for (size_t i = 0; i + 1 < c->curve_count; i++) {
        const struct eco_chart_curve *lo = &c->curve[i], *hi = lo + 1;
        if (lo->params_b <= c->crossover_b && c->crossover_b <= hi->params_b) {
            assert_true((lo->delta_pct.median < 0) != (hi->delta_pct.median < 0));
            return hi->delta_pct.median < 0 ? "above" : "below";
        }
    }
    return NULL; /* left of the chart */
}

static void check_answer(const struct eco_res_estimate *r, struct seen *s)
{
    assert_int_equal(r->crossover_b.have, r->crossover_saves != NULL);
    if (!r->crossover_saves) {
        return;
    }
    const char *side = drawn_side(r);
    if (side) {
        assert_string_equal(r->crossover_saves, side);
    }
    for (size_t i = 0; i < s->n; i++) {
        if (s->curves[i].crossover_b == r->crossover_b.v) {
            assert_string_equal(s->curves[i].side, r->crossover_saves);
        }
    }
    assert_true(s->n < MAX_CURVES);
    s->curves[s->n++] = (struct told){r->crossover_b.v, r->crossover_saves};
    bool above = r->input.params_total_b.have && r->input.params_total_b.v > r->crossover_b.v;
    s->shown++;
    bool own_above = above == (r->delta_pct < 0);
    s->differing += own_above != (strcmp(r->crossover_saves, "above") == 0);
}

/* Ends of opposite sign leave one answer; where they agree the curve turns and may have two. */
static void check_ends(struct eco_ctx *ctx, const struct eco_row *row, const struct seen *s)
{
    struct eco_res_estimate small, large;
    assert_int_equal(estimate(ctx, NULL, 0.1, row, &small), 0);
    assert_int_equal(estimate(ctx, NULL, 1000, row, &large), 0);
    if ((small.delta_pct < 0) == (large.delta_pct < 0)) {
        return;
    }
    for (size_t i = 0; i < s->n; i++) {
        assert_string_equal(s->curves[i].side, large.delta_pct < 0 ? "above" : "below");
    }
}

static bool is_new(size_t index, const struct eco_row *row)
{
    struct eco_row other;
    for (size_t i = 0; i < index; i++) {
        if (eco_dataset_row(i, &other) && other.precision == row->precision &&
            strcmp(other.gpu, row->gpu) == 0) {
            return false;
        }
    }
    return true;
}

/* Every card with a row of NF4, INT8 or FP8, and every model. */
static void test_the_side_is_the_curves(void **state)
{
    static struct seen s;
    size_t shown = 0, differing = 0, pairs = 0;
    (void)state;
    for (size_t i = 0; i < eco_dataset_row_count(); i++) {
        struct eco_row row;
        struct eco_arena arena;
        if (!eco_dataset_row(i, &row) || !of_interest(row.precision) || !is_new(i, &row)) {
            continue;
        }
        s = (struct seen){0};
        for (size_t m = 0; m < eco_dataset_model_count(); m++) {
            struct eco_res_estimate r;
            eco_arena_init(&arena, 0);
            struct eco_ctx ctx = {.arena = &arena, .want_chart = true};
            assert_int_equal(estimate(&ctx, eco_dataset_model_short(m), 0, &row, &r), 0);
            check_answer(&r, &s);
            eco_arena_done(&arena);
        }
        eco_arena_init(&arena, 0);
        check_ends(&(struct eco_ctx){.arena = &arena}, &row, &s);
        eco_arena_done(&arena);
        pairs++, shown += s.shown, differing += s.differing;
    }
    print_message("%zu cards and precisions, %zu crossovers, %zu by models that differ\n", pairs,
                  shown, differing);
    assert_true(pairs > 20 && shown > 1000 && differing > 0); /* else it would see no fault */
}

/* Known answers: models whose own change is of the other sign, and one that saves below. */
static void test_near_the_crossover(void **state)
{
    static const struct {
        const char *model, *gpu, *side;
        enum eco_precision precision;
    } cases[] = {
        {"Qwen2.5-3B", "L4", "above", ECO_PREC_NF4},
        {"Qwen2.5-3B-Instruct", "L4", "above", ECO_PREC_NF4},
        {"Mistral-7B-v0.1", "H100 SXM", "above", ECO_PREC_NF4},
        {"Llama-3.1-70B-Instruct", "RTX 4090", "below", ECO_PREC_FP8},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct eco_row row = {.gpu = cases[i].gpu, .precision = cases[i].precision};
        struct eco_res_estimate r;
        struct eco_arena arena;
        eco_arena_init(&arena, 0);
        struct eco_ctx ctx = {.arena = &arena};
        assert_int_equal(estimate(&ctx, cases[i].model, 0, &row, &r), 0);
        assert_non_null(r.crossover_saves);
        assert_string_equal(r.crossover_saves, cases[i].side);
        eco_arena_done(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_side_is_the_curves),
        cmocka_unit_test(test_near_the_crossover),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
