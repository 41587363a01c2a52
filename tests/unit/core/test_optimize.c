/* Ranking of columns: against a naive sort and the definitions, then by small known tables. */
#include "eco_test.h"

#include "eco_optimize.h"

#define N_CARDS 3
#define N_PRECISIONS 4
#define N_BATCHES 5
#define N_CONTEXTS 4
#define MAX (N_CARDS * N_PRECISIONS * N_BATCHES * N_CONTEXTS)

static const double batches[N_BATCHES] = {1, 2, 3, 8, 16};

struct world {
    struct eco_optimize_label label[MAX];
    double value[ECO_OPTIMIZE_METRIC_COUNT][MAX];
    struct eco_optimize_table t;
    struct eco_optimize_query q;
    uint64_t scratch[(ECO_OPTIMIZE_MAX_GROUPS * 8 + 2 * MAX * 24) / 8];
    size_t front[MAX];
    struct eco_optimize_result r;
};

static uint32_t seed = 5;

static uint32_t draw(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

static void fill_axes(struct world *w)
{
    w->t.n = 0;
    w->t.label = w->label;
    for (uint16_t c = 0; c < N_CARDS; c++) {
        for (uint16_t p = 0; p < N_PRECISIONS; p++) {
            for (uint16_t b = 0; b < N_BATCHES; b++) {
                for (uint16_t x = 0; x < N_CONTEXTS; x++) {
                    w->label[w->t.n++] = (struct eco_optimize_label){c, p, b, x};
                }
            }
        }
    }
    w->q = (struct eco_optimize_query){.batches = batches,
                                       .n_batches = N_BATCHES,
                                       .n_precisions = N_PRECISIONS,
                                       .n_cards = N_CARDS,
                                       .n_alternatives = 5};
}

/* Coarse values, so that ties are common; some figures unknown, some columns absent. */
static void random_world(struct world *w)
{
    fill_axes(w);
    w->q.objective = (enum eco_optimize_objective)draw(ECO_OPTIMIZE_OBJECTIVE_COUNT);
    for (int m = 0; m < ECO_OPTIMIZE_METRIC_COUNT; m++) {
        uint32_t levels = draw(2) ? 12 : 5000, gaps = draw(3) ? 0 : 10;
        w->t.value[m] = draw(8) ? w->value[m] : NULL;
        for (size_t i = 0; i < w->t.n; i++) {
            w->value[m][i] = gaps && draw(gaps) == 0 ? NAN : 1.0 + draw(levels);
        }
        w->q.have[m] = draw(3) == 0;
        w->q.limit[m] = 1.0 + draw(levels) * (draw(2) ? 1.0 : 0.1);
    }
}

static double at(const struct world *w, int m, size_t i)
{
    return w->t.value[m] ? w->t.value[m][i] : NAN;
}

static double limit_of(const struct world *w, int m)
{
    return w->q.have[m] ? w->q.limit[m] : m == ECO_OPTIMIZE_ROOM && w->t.value[m] ? 1.0 : NAN;
}

static bool keeps(const struct world *w, int m, size_t i)
{
    double v = at(w, m, i), limit = limit_of(w, m);

    return isnan(limit) || (m == ECO_OPTIMIZE_THROUGHPUT ? v >= limit : v <= limit);
}

static int broken(const struct world *w, size_t i)
{
    int n = 0;

    for (int m = 0; m < ECO_OPTIMIZE_METRIC_COUNT; m++) {
        n += !keeps(w, m, i);
    }
    return n;
}

static const struct world *sorting;

static double rank_value(const struct world *w, int m, size_t i)
{
    double v = at(w, m, i);

    return isnan(v) ? INFINITY : m == ECO_OPTIMIZE_THROUGHPUT ? -v : v;
}

static int compare(const void *pa, const void *pb)
{
    static const int objective[] = {ECO_OPTIMIZE_ENERGY,     ECO_OPTIMIZE_LATENCY,
                                    ECO_OPTIMIZE_THROUGHPUT, ECO_OPTIMIZE_MEMORY,
                                    ECO_OPTIMIZE_COST,       ECO_OPTIMIZE_CARBON};
    size_t a = *(const size_t *)pa, b = *(const size_t *)pb;
    int order[] = {objective[sorting->q.objective], ECO_OPTIMIZE_ENERGY, ECO_OPTIMIZE_MEMORY,
                   ECO_OPTIMIZE_LATENCY};

    for (int k = 0; k < 4; k++) {
        double x = rank_value(sorting, order[k], a), y = rank_value(sorting, order[k], b);
        if (x != y) {
            return x < y ? -1 : 1;
        }
    }
    return a < b ? -1 : 1;
}

static void check_best(const struct world *w, const size_t *sorted)
{
    size_t feasible = 0, first = SIZE_MAX;

    for (size_t k = 0; k < w->t.n; k++) {
        if (broken(w, sorted[k]) == 0) {
            first = feasible++ == 0 ? sorted[k] : first;
        }
    }
    assert_int_equal(w->r.feasible, feasible);
    assert_int_equal(w->r.have_best, feasible > 0);
    if (feasible) {
        assert_int_equal(w->r.best, first);
    }
}

static bool same_pair(const struct eco_optimize_label *a, const struct eco_optimize_label *b)
{
    return a->card == b->card && a->precision == b->precision;
}

/* The first feasible of each other card and precision, and of the best pair at a far batch. */
static void check_alternatives(const struct world *w, const size_t *sorted)
{
    bool used[N_CARDS][N_PRECISIONS] = {{false}}, far_used = false;
    const struct eco_optimize_label *best = &w->label[w->r.best];
    size_t n = 0;

    for (size_t k = 0; k < w->t.n && n < w->q.n_alternatives; k++) {
        const struct eco_optimize_label *l = &w->label[sorted[k]];
        double ratio = batches[l->batch] / batches[best->batch];
        if (broken(w, sorted[k])) {
            continue;
        }
        if (same_pair(l, best)) {
            if (far_used || (ratio < 2 && ratio > 0.5)) {
                continue;
            }
            far_used = true;
        } else if (used[l->card][l->precision]) {
            continue;
        }
        used[l->card][l->precision] = true;
        assert_true(n < w->r.n_alternatives);
        assert_int_equal(w->r.alternative[n].index, sorted[k]);
        n++;
    }
    assert_int_equal(w->r.n_alternatives, n);
}

static double excess(const struct world *w, size_t i, int *unknown)
{
    double sum = 0;

    *unknown = 0;
    for (int m = 0; m < ECO_OPTIMIZE_METRIC_COUNT; m++) {
        double limit = limit_of(w, m), v = at(w, m, i);
        if (isnan(limit)) {
            continue;
        }
        *unknown += isnan(v) ? 1 : 0;
        double over = m == ECO_OPTIMIZE_THROUGHPUT ? (limit - v) / limit : (v - limit) / limit;
        sum += over > 0 ? over : 0; /* NAN: no */
    }
    return sum;
}

static void check_closest(const struct world *w, const size_t *sorted)
{
    int unknown, other;
    double mine = excess(w, w->r.closest, &unknown);

    assert_true(w->r.have_closest);
    assert_near(w->r.closest_excess, mine, 1e-12 * (1 + mine));
    for (size_t k = 0; k < w->t.n; k++) {
        double e = excess(w, sorted[k], &other);
        assert_true(other > unknown || (other == unknown && e >= mine));
    }
}

static void check_front(const struct world *w)
{
    size_t wanted = 0, k = 0;
    static bool eligible[MAX];

    for (size_t i = 0; i < w->t.n; i++) {
        eligible[i] =
            !isnan(at(w, ECO_OPTIMIZE_ENERGY, i)) && !isnan(at(w, ECO_OPTIMIZE_LATENCY, i));
        for (int m = 0; m < ECO_OPTIMIZE_METRIC_COUNT; m++) {
            bool trade = m == ECO_OPTIMIZE_ENERGY || m == ECO_OPTIMIZE_LATENCY;
            eligible[i] = eligible[i] && (trade || keeps(w, m, i));
        }
    }
    for (size_t i = 0; i < w->t.n; i++) {
        bool dominated = !eligible[i];
        for (size_t j = 0; j < w->t.n && !dominated; j++) {
            double dx = at(w, ECO_OPTIMIZE_ENERGY, j) - at(w, ECO_OPTIMIZE_ENERGY, i);
            double dy = at(w, ECO_OPTIMIZE_LATENCY, j) - at(w, ECO_OPTIMIZE_LATENCY, i);
            dominated = eligible[j] && dx <= 0 && dy <= 0 && (dx < 0 || dy < 0);
        }
        bool found = false;
        for (k = 0; k < w->r.n_front; k++) {
            found = found || w->front[k] == i;
        }
        assert_int_equal(found, !dominated);
        wanted += !dominated;
    }
    assert_int_equal(w->r.n_front, wanted);
    for (k = 1; k < w->r.n_front; k++) {
        assert_true(at(w, ECO_OPTIMIZE_ENERGY, w->front[k - 1]) <=
                    at(w, ECO_OPTIMIZE_ENERGY, w->front[k]));
    }
}

static void check_bindings(const struct world *w)
{
    for (int m = 0; m < ECO_OPTIMIZE_METRIC_COUNT; m++) {
        const struct eco_optimize_binding *b = &w->r.binding[m];
        size_t over = 0, only = 0, unknown = 0;
        double best = INFINITY;
        if (isnan(limit_of(w, m))) {
            continue;
        }
        for (size_t i = 0; i < w->t.n; i++) {
            over += !keeps(w, m, i);
            only += !keeps(w, m, i) && broken(w, i) == 1;
            unknown += isnan(at(w, m, i)) ? 1u : 0u;
            best = fmin(best, rank_value(w, m, i));
        }
        assert_near(b->limit, limit_of(w, m), 0);
        assert_int_equal(b->n_over, over);
        assert_int_equal(b->n_only, only);
        assert_int_equal(b->n_unknown, unknown);
        assert_int_equal(b->have_best, isfinite(best) != 0);
        if (b->have_best) {
            assert_near(b->best, m == ECO_OPTIMIZE_THROUGHPUT ? -best : best, 0);
        }
    }
}

static int run(struct world *w)
{
    return eco_optimize_run(&w->t, &w->q, w->scratch, sizeof w->scratch, w->front, MAX, &w->r,
                            NULL);
}

static void test_random_tables(void **state)
{
    static struct world w;
    size_t sorted[MAX], feasible = 0;

    (void)state;
    for (int round = 0; round < 300; round++) {
        random_world(&w);
        assert_int_equal(run(&w), 0);
        for (size_t i = 0; i < w.t.n; i++) {
            sorted[i] = i;
        }
        sorting = &w;
        qsort(sorted, w.t.n, sizeof *sorted, compare);
        check_best(&w, sorted);
        if (w.r.have_best) {
            feasible++;
            check_alternatives(&w, sorted);
        } else {
            check_closest(&w, sorted);
        }
        check_front(&w);
        check_bindings(&w);
    }
    assert_true(feasible > 60 && feasible < 290); /* both ways are tried */
}

/* Known values: energy falls with batch, latency and memory rise. */
static void plain_world(struct world *w)
{
    fill_axes(w);
    for (int m = 0; m < ECO_OPTIMIZE_METRIC_COUNT; m++) {
        w->t.value[m] = NULL;
    }
    for (size_t i = 0; i < w->t.n; i++) {
        const struct eco_optimize_label *l = &w->label[i];
        double b = batches[l->batch], size = 4.0 - l->precision;
        w->value[ECO_OPTIMIZE_ENERGY][i] = size * (1 + 10 / b) * (1 + 0.1 * l->context);
        w->value[ECO_OPTIMIZE_LATENCY][i] = 0.01 * (size + 0.1 * b * (1 + l->context));
        w->value[ECO_OPTIMIZE_MEMORY][i] = 1e9 * (size + 0.2 * b * (1 + l->context));
        w->value[ECO_OPTIMIZE_ROOM][i] = w->value[ECO_OPTIMIZE_MEMORY][i] / (4e9 * (1 + l->card));
    }
    for (int m = 0; m < ECO_OPTIMIZE_METRIC_COUNT; m++) {
        bool filled = m == ECO_OPTIMIZE_ENERGY || m == ECO_OPTIMIZE_LATENCY ||
                      m == ECO_OPTIMIZE_MEMORY || m == ECO_OPTIMIZE_ROOM;
        w->t.value[m] = filled ? w->value[m] : NULL;
    }
}

static void test_card_memory_is_a_limit(void **state)
{
    static struct world w;

    (void)state;
    plain_world(&w);
    assert_int_equal(run(&w), 0);
    /* Batch 16 at the smallest context needs 3.2 + 1 = 4.2 GB: over the 4 GB of card 0 only. */
    assert_int_equal(w.label[w.r.best].card, 1);
    assert_int_equal(w.label[w.r.best].precision, 3);
    assert_int_equal(w.label[w.r.best].batch, 4);
    assert_true(w.r.binding[ECO_OPTIMIZE_ROOM].n_over > 0);
    for (size_t k = 0; k < w.r.n_front; k++) {
        assert_true(w.value[ECO_OPTIMIZE_ROOM][w.front[k]] <= 1.0);
    }
}

static void test_alternatives_differ(void **state)
{
    static struct world w;
    int roles[3] = {0};

    (void)state;
    plain_world(&w);
    w.q.n_alternatives = ECO_OPTIMIZE_MAX_ALTERNATIVES;
    assert_int_equal(run(&w), 0);
    const struct eco_optimize_label *best = &w.label[w.r.best];
    for (size_t k = 0; k < w.r.n_alternatives; k++) {
        const struct eco_optimize_label *l = &w.label[w.r.alternative[k].index];
        assert_true(!same_pair(l, best) || l->batch != best->batch);
        roles[w.r.alternative[k].role]++;
        assert_int_equal(w.r.alternative[k].role == ECO_OPTIMIZE_OTHER_CARD, l->card != best->card);
    }
    assert_true(roles[ECO_OPTIMIZE_OTHER_CARD] > 0 && roles[ECO_OPTIMIZE_OTHER_PRECISION] > 0);
    assert_int_equal(roles[ECO_OPTIMIZE_OTHER_BATCH], 1);
}

static void test_impossible_names_the_budget(void **state)
{
    static struct world w;

    (void)state;
    plain_world(&w);
    w.q.have[ECO_OPTIMIZE_LATENCY] = true;
    w.q.limit[ECO_OPTIMIZE_LATENCY] = 0.01; /* the fastest needs 0.011 */
    w.q.have[ECO_OPTIMIZE_ENERGY] = true;
    w.q.limit[ECO_OPTIMIZE_ENERGY] = 1000; /* everyone keeps it */
    assert_int_equal(run(&w), 0);
    assert_false(w.r.have_best);
    assert_near(w.r.binding[ECO_OPTIMIZE_LATENCY].best, 0.011, 1e-15);
    assert_near(w.r.binding[ECO_OPTIMIZE_LATENCY].closest, 0.011, 1e-15);
    assert_near(w.r.binding[ECO_OPTIMIZE_LATENCY].closest_excess, 0.1, 1e-12);
    assert_true(w.r.binding[ECO_OPTIMIZE_LATENCY].n_only > 0);
    assert_near(w.r.binding[ECO_OPTIMIZE_ENERGY].closest_excess, 0, 0);
    assert_int_equal(w.r.binding[ECO_OPTIMIZE_ENERGY].n_over, 0);
    assert_true(w.r.n_front > 0); /* the trade is still shown */
}

static void test_unknown_quality_is_excluded(void **state)
{
    static struct world w;

    (void)state;
    plain_world(&w);
    w.t.value[ECO_OPTIMIZE_QUALITY] = w.value[ECO_OPTIMIZE_QUALITY];
    for (size_t i = 0; i < w.t.n; i++) {
        w.value[ECO_OPTIMIZE_QUALITY][i] = w.label[i].precision == 0 ? 0.0 : NAN;
    }
    w.q.have[ECO_OPTIMIZE_QUALITY] = true;
    w.q.limit[ECO_OPTIMIZE_QUALITY] = 0;
    assert_int_equal(run(&w), 0);
    assert_true(w.r.have_best);
    assert_int_equal(w.label[w.r.best].precision, 0);
    assert_int_equal(w.r.binding[ECO_OPTIMIZE_QUALITY].n_unknown, MAX * 3 / 4);
    w.t.value[ECO_OPTIMIZE_QUALITY] = NULL;
    assert_int_equal(run(&w), 0);
    assert_int_equal(w.r.feasible, 0);
    assert_int_equal(w.r.binding[ECO_OPTIMIZE_QUALITY].n_unknown, MAX);
}

static void test_refusals(void **state)
{
    static struct world w;
    struct eco_err err;
    const double bad[] = {-1, NAN, INFINITY, 0};

    (void)state;
    plain_world(&w);
    for (int k = 0; k < 4; k++) {
        w.q.have[ECO_OPTIMIZE_MEMORY] = true;
        w.q.limit[ECO_OPTIMIZE_MEMORY] = bad[k];
        assert_int_equal(run(&w), ECO_E_RANGE);
    }
    plain_world(&w);
    assert_int_equal(eco_optimize_run(&w.t, &w.q, w.scratch, 8, w.front, MAX, &w.r, &err),
                     ECO_E_TOO_LARGE);
    assert_int_equal(
        eco_optimize_run(&w.t, &w.q, w.scratch, sizeof w.scratch, w.front, 0, &w.r, &err),
        ECO_E_TOO_LARGE);
    w.q.n_precisions = 2;
    assert_int_equal(run(&w), ECO_E_INVALID);
    plain_world(&w);
    w.q.objective = (enum eco_optimize_objective)99;
    assert_int_equal(run(&w), ECO_E_INVALID);
    plain_world(&w);
    w.q.n_alternatives = ECO_OPTIMIZE_MAX_ALTERNATIVES + 1;
    assert_int_equal(run(&w), ECO_E_TOO_LARGE);
    w.t.n = 0;
    assert_int_equal(run(&w), ECO_E_MISSING);
}

static void test_names(void **state)
{
    enum eco_optimize_objective o;

    (void)state;
    for (int i = 0; i < ECO_OPTIMIZE_OBJECTIVE_COUNT; i++) {
        const char *name = eco_optimize_objective_name((enum eco_optimize_objective)i);
        assert_true(eco_optimize_objective_parse(name, strlen(name), &o));
        assert_int_equal(o, i);
    }
    assert_false(eco_optimize_objective_parse("cheapest", 8, &o));
    assert_string_equal(eco_optimize_objective_name((enum eco_optimize_objective)99), "");
    assert_true(eco_optimize_metric_is_floor(ECO_OPTIMIZE_THROUGHPUT));
    assert_false(eco_optimize_metric_is_floor(ECO_OPTIMIZE_ENERGY));
    assert_string_equal(eco_optimize_metric_name(ECO_OPTIMIZE_ENERGY), "energy_j_per_1k_tokens");
    assert_string_equal(eco_optimize_metric_unit(ECO_OPTIMIZE_MEMORY), "bytes");
    assert_string_equal(eco_optimize_metric_unit((enum eco_optimize_metric)99), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_tables),
        cmocka_unit_test(test_card_memory_is_a_limit),
        cmocka_unit_test(test_alternatives_differ),
        cmocka_unit_test(test_impossible_names_the_budget),
        cmocka_unit_test(test_unknown_quality_is_excluded),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
