/* Ranking of candidates that are given as columns: one pass for budgets, groups and the front. */
#include "eco_optimize.h"

#include "core/pareto.h"

#include <math.h>
#include <string.h>

#define NOBODY SIZE_MAX
#define BATCH_APART 2.0 /* an alternative batch is at least this factor away */

static const struct {
    const char *name, *unit;
    bool floor;
} metrics[] = {
#define X(name, text, unit, floor) [ECO_OPTIMIZE_##name] = {text, unit, floor},
    ECO_OPTIMIZE_METRICS(X)
#undef X
};

static const struct {
    const char *name;
    enum eco_optimize_metric metric;
} objectives[] = {
    [ECO_OPTIMIZE_MIN_ENERGY] = {"min_energy", ECO_OPTIMIZE_ENERGY},
    [ECO_OPTIMIZE_MIN_LATENCY] = {"min_latency", ECO_OPTIMIZE_LATENCY},
    [ECO_OPTIMIZE_MAX_THROUGHPUT] = {"max_throughput", ECO_OPTIMIZE_THROUGHPUT},
    [ECO_OPTIMIZE_MIN_VRAM] = {"min_vram", ECO_OPTIMIZE_MEMORY},
    [ECO_OPTIMIZE_MIN_COST] = {"min_cost", ECO_OPTIMIZE_COST},
    [ECO_OPTIMIZE_MIN_CARBON] = {"min_carbon", ECO_OPTIMIZE_CARBON},
};

const char *eco_optimize_metric_name(enum eco_optimize_metric m)
{
    return (unsigned)m < ECO_OPTIMIZE_METRIC_COUNT ? metrics[m].name : "";
}

const char *eco_optimize_metric_unit(enum eco_optimize_metric m)
{
    return (unsigned)m < ECO_OPTIMIZE_METRIC_COUNT ? metrics[m].unit : "";
}

bool eco_optimize_metric_is_floor(enum eco_optimize_metric m)
{
    return (unsigned)m < ECO_OPTIMIZE_METRIC_COUNT && metrics[m].floor;
}

const char *eco_optimize_objective_name(enum eco_optimize_objective o)
{
    return (unsigned)o < ECO_OPTIMIZE_OBJECTIVE_COUNT ? objectives[o].name : "";
}

bool eco_optimize_objective_parse(const char *text, size_t len, enum eco_optimize_objective *out)
{
    for (int o = 0; o < ECO_OPTIMIZE_OBJECTIVE_COUNT; o++) {
        if (strlen(objectives[o].name) == len && memcmp(objectives[o].name, text, len) == 0) {
            *out = (enum eco_optimize_objective)o;
            return true;
        }
    }
    return false;
}

/* What a candidate costs in the budgets' eyes. */
struct verdict {
    unsigned broken; /* bit per metric */
    int n_broken, n_unknown;
    double excess; /* of the known ones */
};

struct run {
    const struct eco_optimize_table *t;
    const struct eco_optimize_query *q;
    double limit[ECO_OPTIMIZE_METRIC_COUNT];
    enum eco_optimize_metric used[ECO_OPTIMIZE_METRIC_COUNT];
    size_t n_used;
    size_t *group_best; /* [n_cards * n_precisions] */
    struct verdict closest;
    struct eco_optimize_result r;
};

static double figure(const struct run *s, enum eco_optimize_metric m, size_t i)
{
    return s->t->value[m] ? s->t->value[m][i] : NAN;
}

/* Smaller is better; an unknown figure is worse than any. */
static double cost_of(const struct run *s, enum eco_optimize_metric m, size_t i)
{
    double v = figure(s, m, i);

    return isnan(v) ? INFINITY : metrics[m].floor ? -v : v;
}

static bool before(const struct run *s, size_t a, size_t b)
{
    const enum eco_optimize_metric order[] = {objectives[s->q->objective].metric,
                                              ECO_OPTIMIZE_ENERGY, ECO_OPTIMIZE_MEMORY,
                                              ECO_OPTIMIZE_LATENCY};
    for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
        double x = cost_of(s, order[k], a), y = cost_of(s, order[k], b);
        if (x != y) {
            return x < y;
        }
    }
    return a < b;
}

static double excess_of(enum eco_optimize_metric m, double v, double limit)
{
    if (metrics[m].floor) {
        return limit > 0 ? fmax(0.0, (limit - v) / limit) : 0.0;
    }
    return limit > 0 ? fmax(0.0, (v - limit) / limit) : fmax(0.0, v);
}

static struct verdict judge(const struct run *s, size_t i)
{
    struct verdict v = {0};

    for (size_t k = 0; k < s->n_used; k++) {
        enum eco_optimize_metric m = s->used[k];
        double x = figure(s, m, i);
        bool kept = metrics[m].floor ? x >= s->limit[m] : x <= s->limit[m]; /* NAN: no */
        if (!kept) {
            v.broken |= 1u << m;
            v.n_broken++;
            v.n_unknown += isnan(x);
            v.excess += isnan(x) ? 0.0 : excess_of(m, x, s->limit[m]);
        }
    }
    return v;
}

static void count_budgets(struct run *s, const struct verdict *v, size_t i)
{
    for (size_t k = 0; k < s->n_used; k++) {
        enum eco_optimize_metric m = s->used[k];
        struct eco_optimize_binding *b = &s->r.binding[m];
        double x = figure(s, m, i);
        bool broken = v->broken & (1u << m);
        b->n_over += broken;
        b->n_unknown += isnan(x) ? 1u : 0u;
        b->n_only += broken && v->n_broken == 1;
        if (!isnan(x) && (!b->have_best || (metrics[m].floor ? x > b->best : x < b->best))) {
            b->have_best = true;
            b->best = x;
        }
    }
}

static bool nearer(const struct run *s, const struct verdict *v, size_t i)
{
    if (!s->r.have_closest) {
        return true;
    }
    if (v->n_unknown != s->closest.n_unknown) {
        return v->n_unknown < s->closest.n_unknown;
    }
    if (v->excess != s->closest.excess) {
        return v->excess < s->closest.excess;
    }
    return before(s, i, s->r.closest);
}

static size_t group_of(const struct run *s, size_t i)
{
    return (size_t)s->t->label[i].card * s->q->n_precisions + s->t->label[i].precision;
}

static void rank_one(struct run *s, size_t i)
{
    struct verdict v = judge(s, i);

    count_budgets(s, &v, i);
    s->r.n_objective_unknown += isnan(figure(s, objectives[s->q->objective].metric, i)) ? 1u : 0u;
    if (v.n_broken) {
        if (!s->r.have_best && nearer(s, &v, i)) {
            s->closest = v;
            s->r.closest = i;
            s->r.have_closest = true;
        }
        return;
    }
    size_t g = group_of(s, i);
    s->r.feasible++;
    if (s->group_best[g] == NOBODY || before(s, i, s->group_best[g])) {
        s->group_best[g] = i;
    }
    if (!s->r.have_best || before(s, i, s->r.best)) {
        s->r.have_best = true;
        s->r.best = i;
    }
}

/* Keeps the alternatives in the order of the objective, at most as many as wanted. */
static void offer(struct run *s, size_t i, enum eco_optimize_role role)
{
    struct eco_optimize_alternative *a = s->r.alternative;
    size_t at = s->r.n_alternatives;

    while (at > 0 && before(s, i, a[at - 1].index)) {
        at--;
    }
    if (at == s->q->n_alternatives) {
        return;
    }
    s->r.n_alternatives += s->r.n_alternatives < s->q->n_alternatives;
    for (size_t j = s->r.n_alternatives - 1; j > at; j--) {
        a[j] = a[j - 1];
    }
    a[at] = (struct eco_optimize_alternative){i, role};
}

/* The best of every other card and precision, and of the best pair at a batch far from its own. */
static void find_alternatives(struct run *s)
{
    const struct eco_optimize_label *l = s->t->label, *best = &l[s->r.best];
    size_t other = NOBODY, groups = s->q->n_cards * s->q->n_precisions;
    double b = s->q->batches[best->batch];

    for (size_t g = 0; g < groups; g++) {
        size_t i = s->group_best[g];
        if (i != NOBODY && g != group_of(s, s->r.best)) {
            offer(s, i,
                  l[i].card == best->card ? ECO_OPTIMIZE_OTHER_PRECISION : ECO_OPTIMIZE_OTHER_CARD);
        }
    }
    for (size_t i = 0; i < s->t->n; i++) {
        double x = s->q->batches[l[i].batch];
        bool far = x >= b * BATCH_APART || x * BATCH_APART <= b;
        if (far && group_of(s, i) == group_of(s, s->r.best) &&
            (other == NOBODY || before(s, i, other)) && judge(s, i).n_broken == 0) {
            other = i;
        }
    }
    if (other != NOBODY) {
        offer(s, other, ECO_OPTIMIZE_OTHER_BATCH);
    }
}

static size_t collect(const struct run *s, struct eco_pareto_point *p)
{
    const unsigned trade = 1u << ECO_OPTIMIZE_ENERGY | 1u << ECO_OPTIMIZE_LATENCY;
    size_t n = 0;

    for (size_t i = 0; i < s->t->n; i++) {
        double x = figure(s, ECO_OPTIMIZE_ENERGY, i), y = figure(s, ECO_OPTIMIZE_LATENCY, i);
        if (!isfinite(x) || !isfinite(y)) {
            continue;
        }
        /* Neighbours differ by context only, so most fall to the one before them. */
        if (n > 0 && x >= p[n - 1].x && y >= p[n - 1].y && (x > p[n - 1].x || y > p[n - 1].y)) {
            continue;
        }
        if ((judge(s, i).broken & ~trade) == 0) {
            p[n++] = (struct eco_pareto_point){x, y, (uint32_t)i};
        }
    }
    return n;
}

static void describe_closest(struct run *s)
{
    for (size_t k = 0; k < s->n_used; k++) {
        enum eco_optimize_metric m = s->used[k];
        struct eco_optimize_binding *b = &s->r.binding[m];
        b->closest = figure(s, m, s->r.closest);
        b->closest_excess = isnan(b->closest) ? NAN : excess_of(m, b->closest, s->limit[m]);
    }
    s->r.closest_excess = s->closest.excess;
}

static int set_limits(struct run *s, struct eco_err *err)
{
    for (int m = 0; m < ECO_OPTIMIZE_METRIC_COUNT; m++) {
        bool room = m == ECO_OPTIMIZE_ROOM && !s->q->have[m] && s->t->value[m];
        double limit = room ? 1.0 : s->q->limit[m];
        bool zero_ok = metrics[m].floor || m == ECO_OPTIMIZE_QUALITY;
        if (!s->q->have[m] && !room) {
            continue;
        }
        if (!isfinite(limit) || limit < 0 || (limit == 0 && !zero_ok)) {
            return eco_err_set(err, ECO_E_RANGE, metrics[m].name, "the budget of '%s' must be %s",
                               metrics[m].name, zero_ok ? "0 or more" : "above 0");
        }
        s->limit[m] = limit;
        s->used[s->n_used++] = (enum eco_optimize_metric)m;
        s->r.binding[m].limit = limit;
    }
    return ECO_OK;
}

static size_t group_count(const struct eco_optimize_query *q)
{
    return q->n_cards * q->n_precisions;
}

static int check_run(const struct eco_optimize_table *t, const struct eco_optimize_query *q,
                     size_t scratch_size, struct eco_err *err)
{
    if (t->n == 0) {
        return eco_err_set(err, ECO_E_MISSING, "candidates", "no candidate is left to rank");
    }
    if (t->n > ECO_OPTIMIZE_MAX_CANDIDATES || scratch_size < eco_optimize_scratch_size(t->n)) {
        return eco_err_set(err, ECO_E_TOO_LARGE, "candidates",
                           "more than %u candidates, or a "
                           "scratch that is too small for them",
                           ECO_OPTIMIZE_MAX_CANDIDATES);
    }
    if (q->n_cards > ECO_OPTIMIZE_MAX_GROUPS || q->n_precisions > ECO_OPTIMIZE_MAX_GROUPS ||
        group_count(q) > ECO_OPTIMIZE_MAX_GROUPS ||
        q->n_alternatives > ECO_OPTIMIZE_MAX_ALTERNATIVES) {
        return eco_err_set(err, ECO_E_TOO_LARGE, "candidates",
                           "at most %d cards x precisions and %d alternatives",
                           ECO_OPTIMIZE_MAX_GROUPS, ECO_OPTIMIZE_MAX_ALTERNATIVES);
    }
    if ((unsigned)q->objective >= ECO_OPTIMIZE_OBJECTIVE_COUNT) {
        return eco_err_set(err, ECO_E_INVALID, "objective", "unknown objective");
    }
    for (size_t i = 0; i < t->n; i++) {
        const struct eco_optimize_label *l = &t->label[i];
        if (l->card >= q->n_cards || l->precision >= q->n_precisions || l->batch >= q->n_batches) {
            return eco_err_set(err, ECO_E_INVALID, "candidates", "candidate %zu is off the axes",
                               i);
        }
    }
    return ECO_OK;
}

size_t eco_optimize_scratch_size(size_t n)
{
    return ECO_OPTIMIZE_MAX_GROUPS * sizeof(size_t) + 2 * n * sizeof(struct eco_pareto_point);
}

int eco_optimize_run(const struct eco_optimize_table *t, const struct eco_optimize_query *q,
                     void *scratch, size_t scratch_size, size_t *front, size_t front_cap,
                     struct eco_optimize_result *out, struct eco_err *err)
{
    struct run s = {.t = t, .q = q, .group_best = scratch};
    struct eco_pareto_point *p =
        (struct eco_pareto_point *)(s.group_best + ECO_OPTIMIZE_MAX_GROUPS);
    int rc = check_run(t, q, scratch_size, err);

    if (rc == ECO_OK) {
        rc = set_limits(&s, err);
    }
    if (rc) {
        return rc;
    }
    s.r.n = t->n;
    for (size_t g = 0; g < group_count(q); g++) {
        s.group_best[g] = NOBODY;
    }
    for (size_t i = 0; i < t->n; i++) {
        rank_one(&s, i);
    }
    if (s.r.have_best) {
        s.r.have_closest = false;
        find_alternatives(&s);
    } else {
        describe_closest(&s);
    }
    size_t n = collect(&s, p);
    s.r.n_front = eco_pareto_front(p, p + t->n, n);
    if (s.r.n_front > front_cap) {
        return eco_err_set(err, ECO_E_TOO_LARGE, "front", "the front has %zu members", s.r.n_front);
    }
    for (size_t i = 0; i < s.r.n_front; i++) {
        front[i] = p[i].index;
    }
    *out = s.r;
    return ECO_OK;
}
