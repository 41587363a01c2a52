#include "dataset/points_csv.h"

#include "base/csv.h"

#include <math.h>
#include <string.h>

/* Where each column of the file is; -1: left out. */
struct columns {
    int id, baseline_id, gpu, arch, model_id, precision, engine, session, source, grade;
    int params_b, active_b, nominal_b, layers, linear_b, batch, context_tokens, mem_bw_gbps;
    int n_gpus, n_trials, y, delta_pct, net_shift, published_pct, anchor, fit;
};

static int bad_cell(const struct eco_csv *c, int column, const char *what, struct eco_err *err)
{
    return eco_err_set_at(err, ECO_E_CONTENT, c->header[column].s, c->line, column + 1,
                          "%s line %ld: '%s' is not %s", c->name, c->line, c->cell[column].s, what);
}

static int find_columns(const struct eco_csv *c, struct columns *k, struct eco_err *err)
{
    *k = (struct columns){
#define AT(name) .name = eco_csv_column(c, #name)
        AT(id),        AT(baseline_id),    AT(gpu),         AT(arch),          AT(model_id),
        AT(precision), AT(engine),         AT(session),     AT(source),        AT(grade),
        AT(params_b),  AT(active_b),       AT(nominal_b),   AT(layers),        AT(linear_b),
        AT(batch),     AT(context_tokens), AT(mem_bw_gbps), AT(n_gpus),        AT(n_trials),
        AT(y),         AT(delta_pct),      AT(net_shift),   AT(published_pct), AT(anchor),
        AT(fit),
#undef AT
    };
    if (k->id < 0 || k->gpu < 0 || k->precision < 0 || k->params_b < 0 ||
        (k->y < 0 && k->delta_pct < 0))
        return eco_err_set(err, ECO_E_CONTENT, c->name,
                           "%s needs the columns id, gpu, precision, params_b and y or delta_pct",
                           c->name);
    return 0;
}

/* A text cell in the arena, `fallback` where it is absent or empty. */
static const char *text(const struct eco_csv *c, int column, const char *fallback,
                        struct eco_arena *arena)
{
    if (column < 0 || c->cell[column].len == 0)
        return fallback;
    return eco_arena_strdup(arena, c->cell[column].s, c->cell[column].len);
}

static int number(const struct eco_csv *c, int column, double fallback, double *out,
                  struct eco_err *err)
{
    int rc;

    *out = fallback;
    if (column < 0)
        return 0;
    rc = eco_csv_num(c, column, out, err);
    if (rc == 0)
        *out = fallback;
    return rc < 0 ? rc : 0;
}

static int whole(const struct eco_csv *c, int column, int fallback, int *out, struct eco_err *err)
{
    double v;
    int rc = number(c, column, fallback, &v, err);

    if (rc != 0)
        return rc;
    if (!(v >= 0.0 && v <= 1e6) || v != floor(v))
        return bad_cell(c, column, "a count", err);
    *out = (int)v;
    return 0;
}

static int flag(const struct eco_csv *c, int column, bool fallback, bool *out, struct eco_err *err)
{
    *out = fallback;
    if (column < 0 || c->cell[column].len == 0)
        return 0;
    *out = strcmp(c->cell[column].s, "yes") == 0;
    if (!*out && strcmp(c->cell[column].s, "no") != 0)
        return bad_cell(c, column, "yes or no", err);
    return 0;
}

static enum eco_grade grade_of(const struct eco_csv *c, int column)
{
    if (column < 0 || c->cell[column].len == 0)
        return ECO_GRADE_B;
    if (c->cell[column].len == 1) {
        for (int g = ECO_GRADE_A; g <= ECO_GRADE_D; g++) {
            if (c->cell[column].s[0] == eco_grade_letter((enum eco_grade)g))
                return (enum eco_grade)g;
        }
    }
    return ECO_GRADE_NONE;
}

static int read_words(const struct eco_csv *c, const struct columns *k, struct eco_arena *arena,
                      struct eco_predict_point *p, struct eco_err *err)
{
    p->id = text(c, k->id, "", arena);
    p->gpu = text(c, k->gpu, "", arena);
    p->model_id = text(c, k->model_id, p->id, arena);
    p->session = text(c, k->session, "own", arena);
    p->source = text(c, k->source, "", arena);
    p->baseline_id = text(c, k->baseline_id, NULL, arena);
    if (p->baseline_id == NULL && p->id != NULL)
        p->baseline_id = eco_arena_printf(arena, "%s/baseline", p->id);
    if (p->id == NULL || p->gpu == NULL || p->model_id == NULL || p->session == NULL ||
        p->source == NULL || p->baseline_id == NULL)
        return eco_err_set(err, ECO_E_NO_MEMORY, c->name, "out of memory");
    if (p->id[0] == '\0' || p->gpu[0] == '\0')
        return bad_cell(c, p->id[0] == '\0' ? k->id : k->gpu, "a name", err);
    p->precision = eco_precision_parse(c->cell[k->precision].s, c->cell[k->precision].len);
    if (p->precision == ECO_PREC_NONE)
        return bad_cell(c, k->precision, "a precision", err);
    if (k->arch >= 0 && c->cell[k->arch].len > 0) {
        p->arch = eco_arch_parse(c->cell[k->arch].s, c->cell[k->arch].len);
        if (p->arch == ECO_ARCH_UNKNOWN)
            return bad_cell(c, k->arch, "an architecture", err);
    }
    p->engine = eco_predict_usual_engine(p->precision);
    if (k->engine >= 0 && c->cell[k->engine].len > 0) {
        p->engine = eco_engine_parse(c->cell[k->engine].s, c->cell[k->engine].len);
        if (p->engine == ECO_ENGINE_UNKNOWN)
            return bad_cell(c, k->engine, "an engine", err);
    }
    p->grade = grade_of(c, k->grade);
    if (p->grade == ECO_GRADE_NONE)
        return bad_cell(c, k->grade, "a grade A to D", err);
    return 0;
}

/* y, or from the change in percent. */
static int read_change(const struct eco_csv *c, const struct columns *k,
                       struct eco_predict_point *p, struct eco_err *err)
{
    double delta;
    int rc = number(c, k->y, NAN, &p->y, err);

    if (rc == 0 && isnan(p->y)) {
        rc = number(c, k->delta_pct, NAN, &delta, err);
        if (rc == 0 && !(delta > -100.0))
            return bad_cell(c, k->delta_pct >= 0 ? k->delta_pct : k->y, "a change above -100 %",
                            err);
        p->y = rc == 0 ? log1p(delta / 100.0) : 0.0;
    }
    return rc;
}

static int read_numbers(const struct eco_csv *c, const struct columns *k,
                        struct eco_predict_point *p, struct eco_err *err)
{
    int rc = number(c, k->params_b, 0.0, &p->params_b, err);

    if (rc == 0 && !(p->params_b >= ECO_PREDICT_MIN_B && p->params_b <= ECO_PREDICT_MAX_B))
        return bad_cell(c, k->params_b, "a size in billions", err);
    if (rc == 0)
        rc = number(c, k->active_b, p->params_b, &p->active_b, err);
    if (rc == 0)
        rc = number(c, k->nominal_b, p->params_b, &p->nominal_b, err);
    if (rc == 0)
        rc = number(c, k->linear_b, 0.0, &p->linear_b, err);
    if (rc == 0)
        rc = number(c, k->batch, 1.0, &p->batch, err);
    if (rc == 0 && !(p->batch >= 1.0 && p->batch <= ECO_PREDICT_MAX_BATCH))
        return bad_cell(c, k->batch, "a batch", err);
    if (rc == 0)
        rc = number(c, k->context_tokens, 0.0, &p->context_tokens, err);
    if (rc == 0)
        rc = number(c, k->mem_bw_gbps, 0.0, &p->mem_bw_gbps, err);
    if (rc == 0)
        rc = number(c, k->net_shift, 0.0, &p->net_shift, err);
    if (rc == 0)
        rc = whole(c, k->layers, 0, &p->layers, err);
    if (rc == 0)
        rc = whole(c, k->n_gpus, 1, &p->n_gpus, err);
    if (rc == 0)
        rc = whole(c, k->n_trials, 1, &p->n_trials, err);
    if (rc == 0)
        rc = read_change(c, k, p, err);
    if (rc == 0)
        rc = number(c, k->published_pct, 100.0 * expm1(p->y), &p->published_pct, err);
    if (rc == 0)
        rc = flag(c, k->anchor, false, &p->anchor, err);
    if (rc == 0)
        rc = flag(c, k->fit, p->grade != ECO_GRADE_D, &p->fit, err);
    return rc;
}

int eco_points_read(const char *name, const char *text_in, size_t len, struct eco_arena *arena,
                    struct eco_predict_point **out, int *n, struct eco_err *err)
{
    struct eco_predict_point *points;
    struct columns k = {0};
    struct eco_csv c;
    int count = 0, more = 0, rc = eco_csv_open(&c, name, text_in, len, err);

    if (rc != 0)
        return rc;
    points = eco_arena_array(arena, ECO_PREDICT_MAX_POINTS, sizeof(*points));
    rc = points == NULL ? eco_err_set(err, ECO_E_NO_MEMORY, name, "out of memory")
                        : find_columns(&c, &k, err);
    while (rc == 0 && (more = eco_csv_next(&c, err)) == 1) {
        if (count == ECO_PREDICT_MAX_POINTS) {
            rc = eco_err_set_at(err, ECO_E_RANGE, name, c.line, 0, "%s has over %d pairs", name,
                                ECO_PREDICT_MAX_POINTS);
            break;
        }
        rc = read_words(&c, &k, arena, &points[count], err);
        if (rc == 0)
            rc = read_numbers(&c, &k, &points[count], err);
        count++;
    }
    if (rc == 0 && more < 0)
        rc = more;
    eco_csv_done(&c);
    if (rc == 0) {
        *out = points;
        *n = count;
    }
    return rc;
}

int eco_points_read_theta(const char *name, const char *text_in, size_t len,
                          double theta[ECO_PG_COUNT], struct eco_err *err)
{
    double read[ECO_PG_COUNT];
    struct eco_csv c;
    int group, value, more = 0, rc = eco_csv_open(&c, name, text_in, len, err);

    if (rc != 0)
        return rc;
    for (int g = 0; g < ECO_PG_COUNT; g++)
        read[g] = NAN;
    group = eco_csv_column(&c, "group");
    value = eco_csv_column(&c, "log_variance");
    if (group < 0 || value < 0)
        rc = eco_err_set(err, ECO_E_CONTENT, name, "%s needs group and log_variance", name);
    while (rc == 0 && (more = eco_csv_next(&c, err)) == 1) {
        int g = 0;

        while (g < ECO_PG_COUNT && strcmp(c.cell[group].s, eco_predict_group_name(g)) != 0)
            g++;
        if (g == ECO_PG_COUNT || !isnan(read[g]))
            rc = bad_cell(&c, group, "a group, named once", err);
        else if (eco_csv_num(&c, value, &read[g], err) != 1)
            rc = bad_cell(&c, value, "a number", err);
    }
    if (rc == 0 && more < 0)
        rc = more;
    for (int g = 0; rc == 0 && g < ECO_PG_COUNT; g++) {
        if (isnan(read[g]))
            rc = eco_err_set(err, ECO_E_CONTENT, name, "%s lacks the group '%s'", name,
                             eco_predict_group_name(g));
    }
    eco_csv_done(&c);
    if (rc == 0)
        memcpy(theta, read, sizeof(read));
    return rc;
}
