/* Where an answer comes from: the measured rows closest to the question, and where they end. */
#include "base/num.h"
#include "dataset/dataset.h"
#include "steps.h"
#include "texts.h"

#include <math.h>
#include <string.h>

#define SHOWN 3
#define OTHER_CLASS 8.0 /* distances in ln: another class, another card, another model */
#define OTHER_CARD 3.0
#define OTHER_MODEL 0.3
#define OTHER_ENGINE 0.5
#define SAME_SIZE 0.15 /* ln of the sizes */

static bool same_model(const struct eco_question *q, const struct eco_row_brief *r)
{
    return q->known_model && strcmp(q->model.name, r->model) == 0;
}

static bool same_card(const struct eco_question *q, const struct eco_row_brief *r)
{
    return q->gpu && strcmp(q->gpu->name, r->gpu) == 0;
}

/* A row whose joules can stand beside the answer's: one board, idle inside, not excluded. */
static bool is_usable(const struct eco_row_brief *r)
{
    return !r->excluded && r->params_b > 0 && r->batch > 0 && r->n_devices == 1 &&
           isfinite(r->energy_gross_j_per_1k) && r->boundary == ECO_BOUNDARY_GPU_BOARD;
}

/* The part of a row's distance that its names make. */
static double name_distance(const struct eco_question *q, enum eco_engine engine,
                            const struct eco_row_brief *r)
{
    double card = same_card(q, r) ? 0.0 : r->arch == q->arch ? OTHER_CARD : OTHER_CLASS;
    double model = same_model(q, r) ? 0.0 : OTHER_MODEL;
    model += r->engine == engine ? 0.0 : OTHER_ENGINE;
    return card + model;
}

/* How far a usable row is from the question. */
static double distance(const struct eco_question *q, const struct eco_row_brief *r, double names)
{
    return names + fabs(log(r->params_b / q->model.params_b)) +
           fabs(log((double)r->batch / q->batch));
}

static void fill_row(const struct eco_row *r, struct eco_res_evidence *out)
{
    static const char *const grades[] = {"", "A", "B", "C", "D"};
    *out = (struct eco_res_evidence){
        .row = r->id,
        .gpu = r->gpu,
        .model = r->model,
        .precision = eco_precision_name(r->precision),
        .batch = r->batch,
        .tokens_per_s = eco_some(r->throughput_tok_s),
        .power_w = r->power_basis == ECO_POWER_GROSS ? eco_some(r->power_w) : (struct eco_opt){0},
        .j_per_1k = eco_some(eco_step_round(r->energy_gross_j_per_1k, 4)),
        .delta_pct = eco_some(eco_num_round(r->delta_gross_pct, 1)),
        .n = r->n_trials > 0 ? eco_some(r->n_trials) : (struct eco_opt){0},
        .grade = (unsigned)r->grade < ECO_COUNT(grades) ? grades[r->grade] : "",
        .session = r->session,
        .stack = r->stack};
}

/* The nearest rows so far. */
struct nearest {
    size_t row[SHOWN], n;
    double far[SHOWN];
};

static void keep_nearest(struct nearest *k, size_t row, double d)
{
    size_t at = k->n;
    for (; at > 0 && d < k->far[at - 1]; at--) {
        if (at < SHOWN) {
            k->far[at] = k->far[at - 1];
            k->row[at] = k->row[at - 1];
        }
    }
    if (at < SHOWN && isfinite(d)) {
        k->far[at] = d;
        k->row[at] = row;
        k->n += k->n < SHOWN;
    }
}

struct eco_list eco_step_evidence(struct eco_question *q, enum eco_precision p)
{
    struct eco_res_evidence *rows = eco_arena_array(q->ctx->arena, SHOWN, sizeof(*rows));
    struct nearest k = {.n = 0};
    enum eco_engine engine =
        q->engine != ECO_ENGINE_UNKNOWN ? q->engine : eco_predict_usual_engine(p);
    size_t n;
    const uint16_t *of = eco_dataset_rows_of(p, &n);
    for (size_t i = 0; i < n; i++) {
        struct eco_row_brief r;
        if (!eco_dataset_row_brief(of[i], &r) || !is_usable(&r)) {
            continue;
        }
        double names = name_distance(q, engine, &r);
        if (k.n < SHOWN || names < k.far[SHOWN - 1]) { /* what it adds is not negative */
            keep_nearest(&k, of[i], distance(q, &r, names));
        }
    }
    for (size_t i = 0; rows && i < k.n; i++) {
        struct eco_row r;
        if (eco_dataset_row(k.row[i], &r)) {
            fill_row(&r, &rows[i]);
        }
    }
    return (struct eco_list){rows, rows ? k.n : 0};
}

struct eco_span eco_step_power_range(const struct eco_question *q, enum eco_precision p)
{
    double lo = INFINITY, hi = -INFINITY;
    size_t n;
    const uint16_t *of = eco_dataset_rows_of(p, &n);
    for (size_t i = 0; i < n; i++) {
        struct eco_row_brief r;
        bool here = eco_dataset_row_brief(of[i], &r) && is_usable(&r) && same_card(q, &r) &&
                    r.power_basis == ECO_POWER_GROSS && isfinite(r.power_w) &&
                    fabs(log(r.params_b / q->model.params_b)) <= SAME_SIZE &&
                    (double)r.batch == q->batch;
        if (here) {
            lo = fmin(lo, r.power_w);
            hi = fmax(hi, r.power_w);
        }
    }
    return eco_span_of(lo, hi);
}

struct eco_opt eco_step_gpu_util(const struct eco_question *q, enum eco_precision p)
{
    for (size_t i = 0; i < eco_dataset_batch_count(); i++) {
        struct eco_batch_point b;
        if (eco_dataset_batch(i, &b) && !b.excluded && b.precision == p && q->gpu &&
            strcmp(b.gpu, q->gpu->name) == 0 && (double)b.batch == q->batch && q->known_model &&
            strcmp(b.model, q->model.name) == 0) {
            return eco_some(eco_num_round(b.gpu_util_pct, 1));
        }
    }
    return (struct eco_opt){0};
}

static const char *quality_limit(struct eco_question *q, enum eco_precision p)
{
    struct eco_quality quality;
    eco_step_quality(q, p, &quality);
    const char *name = eco_precision_name(p);
    if (!quality.loss_pct.have) {
        return eco_step_fmt(q->ctx, TX(q->ctx, limit_quality), name);
    }
    return quality.loss_pct.v > 0
               ? eco_step_fmt(q->ctx, TX(q->ctx, limit_quality_loss), name, quality.loss_pct.v,
                              eco_step_quality_words(q->ctx, &quality))
               : NULL;
}

static const char *closest_limit(struct eco_question *q, enum eco_precision p,
                                 const struct eco_res_transparency *t)
{
    const struct eco_res_evidence *best = t->closest.items;
    struct eco_ctx *ctx = q->ctx;
    if (t->closest.n == 0) {
        return eco_step_fmt(ctx, TX(ctx, limit_none), eco_precision_name(p));
    }
    if (t->measured_here) {
        return eco_step_fmt(ctx, TX(ctx, limit_own), (int)t->measured_n.v,
                            t->measured_n.v > 1 ? TX(ctx, plural_s) : "",
                            (int)t->measured_sessions.v,
                            t->measured_sessions.v > 1 ? TX(ctx, plural_s) : "");
    }
    return eco_step_fmt(ctx, TX(ctx, limit_closest), best->gpu, best->model, best->precision,
                        (int)best->batch);
}

static const char *tokens_of(struct eco_ctx *ctx, struct eco_span s)
{
    if (!s.have) {
        return TX(ctx, length_unstated);
    }
    const char *lo = eco_step_num(ctx, s.lo, 6);
    return s.lo == s.hi ? lo : eco_step_fmt(ctx, TX(ctx, to), lo, eco_step_num(ctx, s.hi, 6));
}

/* "This configuration" is one at any length: say at which it was measured. */
static const char *length_limit(struct eco_question *q, const struct eco_res_known *k)
{
    return !k->measured_n.have ? NULL
                               : eco_step_fmt(q->ctx, TX(q->ctx, limit_length),
                                              tokens_of(q->ctx, k->measured_prompt),
                                              tokens_of(q->ctx, k->measured_gen),
                                              eco_step_num(q->ctx, q->context_tokens, 6));
}

void eco_step_transparency(struct eco_question *q, enum eco_precision p, enum eco_basis basis,
                           struct eco_res_transparency *out)
{
    const char **v = eco_arena_array(q->ctx->arena, 5, sizeof(*v));
    size_t n = 0;
    *out = (struct eco_res_transparency){.basis = eco_basis_name(basis),
                                         .boundary = "gpu-board",
                                         .closest = eco_step_evidence(q, p)};
    struct eco_measured run;
    enum eco_engine e = q->engine != ECO_ENGINE_UNKNOWN ? q->engine : eco_predict_usual_engine(p);
    out->measured_here = eco_step_measured(q, p, e, &run);
    struct eco_res_known k = {0};
    if (out->measured_here && eco_step_known(q->ctx, &run, &k) == 0) {
        out->measured_tokens_per_s = k.measured_tokens_per_s;
        out->measured_j_per_1k = k.measured_j_per_1k;
        out->measured_n = k.measured_n;
        out->measured_sessions = k.measured_sessions;
    }
    const char *said[] = {closest_limit(q, p, out), length_limit(q, &k),
                          q->batch > 1 ? eco_step_fmt(q->ctx, TX(q->ctx, limit_batch), q->batch)
                                       : NULL,
                          quality_limit(q, p), TX(q->ctx, limit_boundary)};
    for (size_t i = 0; v && i < ECO_COUNT(said); i++) {
        if (said[i]) {
            v[n++] = said[i];
        }
    }
    out->limits = (struct eco_strs){v, n};
}
