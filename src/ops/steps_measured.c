/* What was measured of the very configuration that is asked about, all sessions together. */
#include "base/num.h"
#include "dataset/dataset.h"
#include "steps.h"

#include <math.h>
#include <string.h>

/*
 * How far one session lies from the mean of all sessions of the same model, card, precision, engine
 * and batch, as the standard deviation of the ln; the larger one of speed and energy, by kernels.
 * tests/unit/ops/test_evidence.c computes them from the rows again.
 */
static double session_sd(enum eco_precision p)
{
    switch (eco_precision_family(p)) {
    case ECO_FAM_FLOAT:
        return 0.14;
    case ECO_FAM_BNB_NF4:
        return 0.15;
    case ECO_FAM_BNB_INT8: /* one stack and the next differ by a factor of two */
        return 0.28;
    default:
        return 0.2; /* too few repeated: all of them together */
    }
}

struct session {
    const char *name;
    double tps_ln, j_ln;
    int n_tps, n_j;
};

static bool of_model(const struct eco_row_brief *r, const char *model)
{
    return !r->excluded && r->n_devices == 1 && r->boundary == ECO_BOUNDARY_GPU_BOARD &&
           strcmp(model, r->model) == 0;
}

static struct session *session_of(struct session *s, size_t *n, const char *name)
{
    size_t i = 0;
    while (i < *n && strcmp(s[i].name, name) != 0) {
        i++;
    }
    if (i == ECO_MEASURED_SESSIONS) {
        return NULL;
    }
    if (i == *n) {
        s[(*n)++] = (struct session){.name = name};
    }
    return &s[i];
}

static void widen(double *lo, double *hi, double v)
{
    *lo = v > 0 ? fmin(*lo, v) : *lo;
    *hi = v > 0 ? fmax(*hi, v) : *hi;
}

static void add_row(struct session *s, const struct eco_row *r, struct eco_measured *out)
{
    if (r->throughput_tok_s > 0) {
        s->tps_ln += log(r->throughput_tok_s);
        s->n_tps++;
    }
    if (r->energy_gross_j_per_1k > 0) {
        s->j_ln += log(r->energy_gross_j_per_1k);
        s->n_j++;
    }
    widen(&out->prompt_lo, &out->prompt_hi, r->prompt_tokens);
    widen(&out->gen_lo, &out->gen_hi, r->gen_tokens);
    out->trials += r->n_trials > 0 ? r->n_trials : 1;
}

struct eco_own_rows eco_step_own_rows(const struct eco_question *q, enum eco_precision p)
{
    struct eco_own_rows own = {.precision = p};
    size_t n = 0, kept = 0;
    const uint16_t *of = eco_dataset_rows_of(p, &n);
    uint16_t *v = q->known_model && n ? eco_arena_array(q->ctx->arena, n, sizeof(*v)) : NULL;
    for (size_t i = 0; v && i < n; i++) {
        struct eco_row_brief r;
        if (eco_dataset_row_brief(of[i], &r) && of_model(&r, q->model.name)) {
            v[kept++] = of[i];
        }
    }
    own.row = v;
    own.n = kept;
    return own;
}

/* A session counts once, however many rows it has. */
static bool mean_of_sessions(const struct session *s, size_t n, struct eco_measured *out)
{
    double tps = 0, j = 0;
    int n_tps = 0, n_j = 0;
    for (size_t i = 0; i < n; i++) {
        tps += s[i].n_tps ? s[i].tps_ln / s[i].n_tps : 0;
        j += s[i].n_j ? s[i].j_ln / s[i].n_j : 0;
        n_tps += s[i].n_tps > 0;
        n_j += s[i].n_j > 0;
        out->session[i] = s[i].name;
    }
    out->tokens_per_s = n_tps ? exp(tps / n_tps) : (double)NAN;
    out->j_per_1k = n_j ? exp(j / n_j) : (double)NAN;
    out->sessions = (int)n;
    return n_tps + n_j > 0;
}

bool eco_step_measured_of(const struct eco_own_rows *own, const struct eco_gpu *gpu,
                          enum eco_engine engine, double batch, struct eco_measured *out)
{
    struct session s[ECO_MEASURED_SESSIONS];
    size_t n = 0;
    *out = (struct eco_measured){.tokens_per_s = NAN,
                                 .j_per_1k = NAN,
                                 .prompt_lo = INFINITY,
                                 .prompt_hi = -INFINITY,
                                 .gen_lo = INFINITY,
                                 .gen_hi = -INFINITY};
    for (size_t i = 0; gpu && i < own->n; i++) {
        struct eco_row_brief brief;
        struct eco_row r;
        bool same = eco_dataset_row_brief(own->row[i], &brief) && brief.engine == engine &&
                    (double)brief.batch == batch && strcmp(gpu->name, brief.gpu) == 0;
        if (same && eco_dataset_row(own->row[i], &r)) {
            struct session *mine = session_of(s, &n, r.session);
            if (mine) {
                add_row(mine, &r, out);
            }
        }
    }
    bool have = mean_of_sessions(s, n, out);
    out->sd_ln = n ? session_sd(own->precision) * sqrt(1.0 + 1.0 / (double)n) : 0.0;
    return have;
}

bool eco_step_measured(const struct eco_question *q, enum eco_precision p, enum eco_engine engine,
                       struct eco_measured *out)
{
    struct eco_own_rows own = eco_step_own_rows(q, p);
    return eco_step_measured_of(&own, q->gpu, engine, q->batch, out);
}

int eco_step_known(struct eco_ctx *ctx, const struct eco_measured *m, struct eco_res_known *out)
{
    size_t n = (size_t)m->sessions;
    const char **v = eco_arena_array(ctx->arena, n + 1, sizeof(*v));
    if (!v) {
        return ECO_E_NO_MEMORY;
    }
    memcpy(v, m->session, n * sizeof(*v));
    out->measured_tokens_per_s = eco_some(eco_step_round(m->tokens_per_s, 3));
    out->measured_j_per_1k = eco_some(eco_step_round(m->j_per_1k, 4));
    out->measured_n = eco_some(m->trials);
    out->measured_sessions = eco_some(m->sessions);
    out->measured_in = (struct eco_strs){v, n};
    out->measured_prompt = eco_span_of(m->prompt_lo, m->prompt_hi);
    out->measured_gen = eco_span_of(m->gen_lo, m->gen_hi);
    return 0;
}
