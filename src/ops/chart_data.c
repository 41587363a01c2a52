#include "chart_data.h"

#include "base/num.h"
#include "dataset/dataset.h"
#include "dataset/predictor_default.h"
#include "texts.h"

#include <math.h>
#include <string.h>

#define CURVE_POINTS 48
#define CURVE_LO_B 0.3
#define CURVE_HI_B 100.0

static const char *chinese(const char *english)
{
    return eco_word(ECO_LANG_ZH, english);
}

const struct eco_chart_look *eco_chart_data_look(const struct eco_ctx *ctx)
{
    static const struct eco_chart_look zh = {.word = chinese};
    return ctx->lang == ECO_LANG_ZH ? &zh : NULL;
}

static int no_memory(struct eco_err *err)
{
    return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
}

static int add_curve(struct eco_question *q, const struct eco_answer *a,
                     struct eco_chart_crossover *out, struct eco_err *err)
{
    struct eco_chart_curve *curve = eco_arena_array(q->ctx->arena, CURVE_POINTS, sizeof(*curve));
    double sizes[CURVE_POINTS];
    struct eco_band bands[CURVE_POINTS];
    struct eco_predict_query pq =
        eco_step_query(q, a->precision); /* the same question, other sizes */
    double size = pq.params_total_b;
    double lo = fmin(CURVE_LO_B, size), hi = fmax(CURVE_HI_B, size);
    if (!curve) {
        return no_memory(err);
    }
    for (int i = 0; i < CURVE_POINTS; i++) {
        sizes[i] = lo * pow(hi / lo, i / (double)(CURVE_POINTS - 1));
    }
    int rc = eco_predict_curve(&eco_predictor_default, &pq, sizes, CURVE_POINTS, bands, err);
    for (int i = 0; rc == 0 && i < CURVE_POINTS; i++) {
        curve[i] = (struct eco_chart_curve){sizes[i], bands[i]};
    }
    out->curve = curve;
    out->curve_count = CURVE_POINTS;
    return rc;
}

/* Measured pairs of this precision on this card, else on its class. */
static bool on_chart(const struct eco_question *q, const struct eco_answer *a,
                     const struct eco_row *r)
{
    bool card = q->gpu ? strcmp(q->gpu->name, r->gpu) == 0 : r->arch == q->arch;
    return card && !r->excluded && r->precision == a->precision && isfinite(r->delta_pct) &&
           isfinite(r->params_b) && (double)r->batch == q->batch &&
           r->power_basis == ECO_POWER_GROSS;
}

/* The axis is exact parameters; a row says the nominal size. */
static double exact_size(const struct eco_row *r)
{
    const struct eco_model *m;
    bool known = eco_dataset_find_model(r->model, strlen(r->model), &m, NULL) == 0;
    return known && m->params_total > 0 ? (double)m->params_total / 1e9 : r->params_b;
}

static int add_marks(struct eco_question *q, const struct eco_answer *a,
                     struct eco_chart_crossover *out, struct eco_err *err)
{
    size_t total = eco_dataset_row_count(), n = 0;
    struct eco_chart_mark *marks = eco_arena_array(q->ctx->arena, total, sizeof(*marks));
    if (!marks) {
        return no_memory(err);
    }
    for (size_t i = 0; i < total; i++) {
        struct eco_row r;
        if (eco_dataset_row(i, &r) && on_chart(q, a, &r)) {
            marks[n++] = (struct eco_chart_mark){
                exact_size(&r), r.delta_pct, r.n_trials,
                eco_step_fmt(q->ctx, "%s, %s, n=%d, %s, %s", r.gpu, r.model, r.n_trials,
                             eco_word(q->ctx->lang, "measured"), r.session)};
        }
    }
    out->marks = marks;
    out->mark_count = n;
    return 0;
}

int eco_chart_data_crossover(struct eco_question *q, const struct eco_answer *a,
                             struct eco_chart_crossover *out, struct eco_err *err)
{
    const struct eco_predict_answer *c = &a->change;
    memset(out, 0, sizeof(*out));
    out->title = eco_step_fmt(q->ctx, TX(q->ctx, chart_title), eco_precision_name(a->precision),
                              eco_step_where(q));
    out->subtitle = q->batch == 1
                        ? TX(q->ctx, chart_subtitle)
                        : eco_step_fmt(q->ctx, TX(q->ctx, chart_subtitle_batch), q->batch);
    out->source = eco_step_fmt(q->ctx, TX(q->ctx, chart_source),
                               eco_word(q->ctx->lang, eco_basis_name(c->basis)), c->n_points);
    bool told = c->crossover.have && c->crossover.median <= ECO_CROSSOVER_SHOWN_B;
    out->crossover_b = told ? c->crossover.median : (double)NAN;
    out->point_b = eco_step_query(q, a->precision).params_total_b;
    out->point_pct = c->delta_pct.median;
    out->point_lo_pct = c->delta_pct.lo95;
    out->point_hi_pct = c->delta_pct.hi95;
    out->point_label = q->known_model
                           ? eco_arena_strdup(q->ctx->arena, q->model.name, strlen(q->model.name))
                           : eco_step_fmt(q->ctx, "%.3g B", q->model.params_b);
    out->point_basis = eco_word(q->ctx->lang, eco_basis_name(c->basis));
    int rc = add_curve(q, a, out, err);
    return rc ? rc : add_marks(q, a, out, err);
}
