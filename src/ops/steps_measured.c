/* What was measured of the very configuration that is asked about, all sessions together. */
#include "base/num.h"
#include "dataset/dataset.h"
#include "steps.h"

#include <math.h>
#include <string.h>

#define MAX_SESSIONS 16

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

static bool same_run(const struct eco_question *q, enum eco_precision p, enum eco_engine engine,
                     const struct eco_row *r)
{
    return !r->excluded && r->precision == p && r->engine == engine && r->n_devices == 1 &&
           (double)r->batch == q->batch && r->boundary == ECO_BOUNDARY_GPU_BOARD &&
           strcmp(q->gpu->name, r->gpu) == 0 && strcmp(q->model.name, r->model) == 0;
}

static struct session *session_of(struct session *s, size_t *n, const char *name)
{
    size_t i = 0;
    while (i < *n && strcmp(s[i].name, name) != 0) {
        i++;
    }
    if (i == MAX_SESSIONS) {
        return NULL;
    }
    if (i == *n) {
        s[(*n)++] = (struct session){.name = name};
    }
    return &s[i];
}

static void add_row(struct session *s, const struct eco_row *r, int *trials)
{
    if (r->throughput_tok_s > 0) {
        s->tps_ln += log(r->throughput_tok_s);
        s->n_tps++;
    }
    if (r->energy_gross_j_per_1k > 0) {
        s->j_ln += log(r->energy_gross_j_per_1k);
        s->n_j++;
    }
    *trials += r->n_trials > 0 ? r->n_trials : 1;
}

bool eco_step_measured(const struct eco_question *q, enum eco_precision p, enum eco_engine engine,
                       struct eco_measured *out)
{
    struct session s[MAX_SESSIONS] = {{0}};
    size_t n = 0;
    double tps = 0, j = 0;
    int n_tps = 0, n_j = 0;
    *out = (struct eco_measured){.tokens_per_s = NAN, .j_per_1k = NAN};
    for (size_t i = 0; q->gpu && q->known_model && i < eco_dataset_row_count(); i++) {
        struct eco_row r;
        if (eco_dataset_row(i, &r) && same_run(q, p, engine, &r)) {
            struct session *own = session_of(s, &n, r.session);
            if (own) {
                add_row(own, &r, &out->trials);
            }
        }
    }
    for (size_t i = 0; i < n; i++) { /* a session counts once, however many rows it has */
        tps += s[i].n_tps ? s[i].tps_ln / s[i].n_tps : 0;
        j += s[i].n_j ? s[i].j_ln / s[i].n_j : 0;
        n_tps += s[i].n_tps > 0;
        n_j += s[i].n_j > 0;
    }
    out->tokens_per_s = n_tps ? exp(tps / n_tps) : (double)NAN;
    out->j_per_1k = n_j ? exp(j / n_j) : (double)NAN;
    out->sessions = (int)n;
    out->sd_ln = n ? session_sd(p) * sqrt(1.0 + 1.0 / (double)n) : 0.0;
    return n_tps + n_j > 0;
}
