/* Points -> sparse columns of the mixed model, and predictions straight from the problem. */
#include "core/predict_fit.h"

#include "core/linalg.h"

#include <math.h>
#include <string.h>

enum { PER_POINT = ECO_PREDICT_MAX_FEATURES };

struct entry {
    uint64_t key;
    double value;
    int row;
};

struct block {
    unsigned char *at;
    size_t left;
};

static void *take(struct block *b, size_t count, size_t size)
{
    size_t bytes = (count * size + 15u) & ~(size_t)15u;
    void *p = b->at;

    if (bytes > b->left)
        return NULL;
    b->at += bytes;
    b->left -= bytes;
    return p;
}

size_t eco_predict_problem_bytes(int n_points)
{
    size_t n = n_points > 0 ? (size_t)n_points : 1, entries = n * PER_POINT;
    size_t levels = 5 * n * sizeof(int), rows = n * (3 * sizeof(double) + 1);
    size_t columns =
        entries * (sizeof(struct entry) + sizeof(double) + 2 * sizeof(int) + sizeof(uint64_t) + 1);

    return levels + rows + columns + eco_gp_work_doubles(n_points) * sizeof(double) + 1024;
}

/* Index of the first point with the same text: a level that needs no table of names. */
static int first_same(const struct eco_predict_point *points, size_t offset, int i)
{
    const char *text = *(const char *const *)((const char *)&points[i] + offset);

    for (int j = 0; j < i; j++) {
        if (strcmp(*(const char *const *)((const char *)&points[j] + offset), text) == 0)
            return j;
    }
    return i;
}

static int check_point(const struct eco_predict_point *q, int i, struct eco_err *err)
{
    bool finite = isfinite(q->y) && isfinite(q->params_b) && isfinite(q->batch) &&
                  isfinite(q->linear_b) && isfinite(q->mem_bw_gbps) && isfinite(q->net_shift);

    if (!finite || !(q->params_b > 0.0) || !(q->batch >= 1.0))
        return eco_err_set(err, ECO_E_INVALID, "points", "point %d '%s' has an impossible number",
                           i + 1, q->id != NULL ? q->id : "");
    if (q->id == NULL || q->baseline_id == NULL || q->gpu == NULL || q->model_id == NULL ||
        q->session == NULL || q->source == NULL)
        return eco_err_set(err, ECO_E_INVALID, "points", "point %d lacks a name", i + 1);
    if (eco_precision_family(q->precision) == ECO_FAM_NONE)
        return eco_err_set(err, ECO_E_INVALID, "precision", "point '%s' has no precision", q->id);
    return 0;
}

void eco_predict_problem_levels(const struct eco_predict_problem *p, int point,
                                struct eco_predict_levels *out)
{
    const struct eco_predict_point *q = &p->points[point];

    *out = (struct eco_predict_levels){
        .precision = q->precision,
        .family = eco_precision_family(q->precision),
        .engine = q->engine,
        .arch = q->arch,
        .card = p->card[point],
        .model = p->model[point],
        .session = p->session[point],
        .baseline = p->baseline[point],
        .x = eco_predict_effective_x(q->params_b, q->linear_b, q->layers),
        .batch = q->batch,
        .ln_bandwidth = q->mem_bw_gbps > 0.0 ? log(q->mem_bw_gbps / 1000.0) : 0.0,
    };
}

static bool before(const struct entry *a, const struct entry *b)
{
    return a->key < b->key || (a->key == b->key && a->row < b->row);
}

/* Heap sort: libc's qsort may allocate. */
static void sift(struct entry *e, int root, int n)
{
    struct entry top = e[root];

    for (int child = 2 * root + 1; child < n; child = 2 * root + 1) {
        if (child + 1 < n && before(&e[child], &e[child + 1]))
            child++;
        if (!before(&top, &e[child]))
            break;
        e[root] = e[child];
        root = child;
    }
    e[root] = top;
}

static void sort_entries(struct entry *e, int n)
{
    for (int i = n / 2 - 1; i >= 0; i--)
        sift(e, i, n);
    for (int i = n - 1; i > 0; i--) {
        struct entry last = e[i];

        e[i] = e[0];
        e[0] = last;
        sift(e, 0, i);
    }
}

static int list_entries(const struct eco_predict_problem *p, struct entry *e)
{
    int count = 0;

    for (int row = 0; row < p->gp.n; row++) {
        struct eco_predict_feature f[ECO_PREDICT_MAX_FEATURES];
        struct eco_predict_levels l;
        double x[ECO_PX_COUNT], b[ECO_PB_COUNT];
        int n;

        eco_predict_problem_levels(p, p->fit_point[row], &l);
        n = eco_predict_features(&l, false, f);
        eco_predict_size_bases(l.x, x);
        eco_predict_batch_bases(l.batch, b);
        for (int j = 0; j < n; j++)
            e[count++] = (struct entry){f[j].key, f[j].coefficient * x[f[j].x] * b[f[j].b], row};
    }
    return count;
}

static void compress(struct eco_predict_problem *p, const struct entry *e, int count, int *start,
                     int *row, double *value, unsigned char *group)
{
    int m = 0;

    for (int i = 0; i < count; i++) {
        if (i == 0 || e[i].key != e[i - 1].key) {
            p->key[m] = e[i].key;
            group[m] = (unsigned char)(e[i].key >> 48);
            start[m++] = i;
        }
        row[i] = e[i].row;
        value[i] = e[i].value;
    }
    start[m] = count;
    p->gp.m = m;
}

/* Tables that depend on nothing but the model's form. */
static const bool *free_groups(void)
{
    static const bool table[ECO_PG_COUNT] = {
#define X(name, text, sd, is_free, session) is_free,
        ECO_PREDICT_GROUPS(X)
#undef X
    };
    return table;
}

static void find_levels(struct eco_predict_problem *p)
{
    for (int i = 0; i < p->n_points; i++) {
        p->card[i] = first_same(p->points, offsetof(struct eco_predict_point, gpu), i);
        p->model[i] = first_same(p->points, offsetof(struct eco_predict_point, model_id), i);
        p->session[i] = first_same(p->points, offsetof(struct eco_predict_point, session), i);
        p->baseline[i] = first_same(p->points, offsetof(struct eco_predict_point, baseline_id), i);
    }
}

/* Carves the row arrays and fills them. */
static int fill_rows(struct eco_predict_problem *p, const bool *use, struct block *b)
{
    size_t n = (size_t)p->n_points;
    double *y = take(b, n, sizeof(*y)), *weight = take(b, n, sizeof(*weight));
    unsigned char *noise = take(b, n, 1);

    p->card = take(b, n, sizeof(int));
    p->model = take(b, n, sizeof(int));
    p->session = take(b, n, sizeof(int));
    p->baseline = take(b, n, sizeof(int));
    p->fit_point = take(b, n, sizeof(int));
    p->k = take(b, n, sizeof(double));
    if (p->k == NULL)
        return -1;
    find_levels(p);
    p->gp.n = 0;
    for (int i = 0; i < p->n_points; i++) {
        const struct eco_predict_point *q = &p->points[i];

        if (!q->fit || (use != NULL && !use[i]))
            continue;
        p->fit_point[p->gp.n] = i;
        y[p->gp.n] = q->y;
        weight[p->gp.n] = eco_predict_noise_weight(q->grade);
        noise[p->gp.n++] = (unsigned char)eco_predict_noise_group(q->precision);
    }
    p->gp.y = y;
    p->gp.noise_weight = weight;
    p->gp.noise_group = noise;
    return 0;
}

static int fill_columns(struct eco_predict_problem *p, struct block *b)
{
    size_t most = (size_t)p->gp.n * PER_POINT;
    double *work = take(b, eco_gp_work_doubles(p->gp.n), sizeof(double));
    double *prior = take(b, ECO_PG_COUNT, sizeof(double));
    int *start = take(b, most + 1, sizeof(int)), *row = take(b, most, sizeof(int));
    double *value = take(b, most, sizeof(double));
    unsigned char *group = take(b, most, 1);
    struct entry *e;
    int count;

    p->key = take(b, most, sizeof(uint64_t));
    e = take(b, most, sizeof(*e));
    if (e == NULL)
        return -1;
    for (int g = 0; g < ECO_PG_COUNT; g++)
        prior[g] = eco_predict_group_prior_log_var(g);
    count = list_entries(p, e);
    sort_entries(e, count);
    compress(p, e, count, start, row, value, group);
    eco_gp_work_init(&p->work, p->gp.n, work);
    p->gp.col_start = start;
    p->gp.row = row;
    p->gp.value = value;
    p->gp.col_group = group;
    p->gp.n_groups = ECO_PG_COUNT;
    p->gp.free_group = free_groups();
    p->gp.prior_log_var = prior;
    p->gp.prior_width = ECO_PREDICT_PRIOR_WIDTH;
    return 0;
}

int eco_predict_problem_init(struct eco_predict_problem *p, const struct eco_predict_point *points,
                             int n_points, const bool *use, void *memory, size_t bytes,
                             struct eco_err *err)
{
    struct block b = {memory, bytes};

    if (points == NULL || n_points < 1 || n_points > ECO_PREDICT_MAX_POINTS)
        return eco_err_set(err, ECO_E_RANGE, "points", "number of pairs must be 1 to %d",
                           ECO_PREDICT_MAX_POINTS);
    if (memory == NULL || bytes < eco_predict_problem_bytes(n_points))
        return eco_err_set(err, ECO_E_NO_MEMORY, "memory", "the block is too small");
    for (int i = 0; i < n_points; i++) {
        int rc = check_point(&points[i], i, err);

        if (rc != 0)
            return rc;
    }
    memset(p, 0, sizeof(*p));
    p->points = points;
    p->n_points = n_points;
    if (fill_rows(p, use, &b) != 0)
        return eco_err_set(err, ECO_E_NO_MEMORY, "memory", "the block is too small");
    if (p->gp.n < 1)
        return eco_err_set(err, ECO_E_RANGE, "points", "no pair is left to fit");
    if (fill_columns(p, &b) != 0)
        return eco_err_set(err, ECO_E_NO_MEMORY, "memory", "the block is too small");
    return 0;
}

static int find_column(const struct eco_predict_problem *p, uint64_t key)
{
    int lo = 0, hi = p->gp.m;

    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;

        if (p->key[mid] < key)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < p->gp.m && p->key[lo] == key ? lo : -1;
}

void eco_predict_problem_at(const struct eco_predict_problem *p, const struct eco_predict_levels *l,
                            bool new_session, enum eco_grade grade, double *mu, double *sd)
{
    struct eco_predict_feature f[ECO_PREDICT_MAX_FEATURES];
    double x[ECO_PX_COUNT], b[ECO_PB_COUNT], prior = 0.0, explained = 0.0;
    int n = eco_predict_features(l, false, f), noise = eco_predict_noise_group(l->precision);

    eco_predict_size_bases(l->x, x);
    eco_predict_batch_bases(l->batch, b);
    memset(p->k, 0, (size_t)p->gp.n * sizeof(*p->k));
    for (int i = 0; i < n; i++) {
        double v = f[i].coefficient * x[f[i].x] * b[f[i].b], lambda = exp(p->theta[f[i].group]);
        bool fresh = new_session && eco_predict_group_session(f[i].group);
        int j = fresh ? -1 : find_column(p, f[i].key);

        prior += lambda * v * v;
        for (int a = j < 0 ? 0 : p->gp.col_start[j]; j >= 0 && a < p->gp.col_start[j + 1]; a++)
            p->k[p->gp.row[a]] += lambda * v * p->gp.value[a];
    }
    for (int i = 0; i < p->gp.n; i++)
        explained +=
            p->k[i] * eco_linalg_dot(p->work.inverse + (size_t)i * (size_t)p->gp.n, p->k, p->gp.n);
    *mu = eco_linalg_dot(p->k, p->work.alpha, p->gp.n);
    *sd =
        sqrt(fmax(prior - explained, 0.0) + exp(p->theta[noise]) * eco_predict_noise_weight(grade));
}
