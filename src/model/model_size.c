/* A model of which only the size is known: the shape that known models of that size have. */
#include "base/num.h"
#include "dataset/dataset.h"
#include "model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define BANDWIDTH 0.5 /* of the kernel over ln N: a factor of 1.6 */

/* What is interpolated, each as ln y over ln N. */
enum what { LAYERS, HIDDEN, INTERMEDIATE, KV_WIDTH, VOCAB, TIED, WHATS };

struct fit {
    double w, x, xx, y[WHATS], xy[WHATS];
};

static bool is_template(const struct eco_model *m)
{
    return m->experts == 0 && m->kv_lora_rank == 0 && m->layers > 0 && m->hidden > 0 &&
           m->intermediate > 0 && m->vocab > 0 && m->n_kv_heads > 0 && m->head_dim > 0 &&
           m->params_total > 0;
}

/** Sums of a weighted line through all known dense models; far from all of them it widens. */
static struct fit sums_at(double x0, double bandwidth)
{
    struct fit f = {0};
    for (size_t i = 0; i < eco_dataset_model_count(); i++) {
        const struct eco_model *m = eco_dataset_model(i);
        if (!is_template(m)) {
            continue;
        }
        const struct eco_model_logs *ln = eco_dataset_model_logs(i);
        double x = ln->total_b - x0;
        double w = exp(-0.5 * (x / bandwidth) * (x / bandwidth));
        const double y[WHATS] = {ln->layers,   ln->hidden, ln->intermediate,
                                 ln->kv_width, ln->vocab,  m->tied ? 1.0 : 0.0};
        f.w += w;
        f.x += w * x;
        f.xx += w * x * x;
        for (int k = 0; k < WHATS; k++) {
            f.y[k] += w * y[k];
            f.xy[k] += w * x * y[k];
        }
    }
    return f;
}

/** The line's value at x0 (the sums are centred there). */
static double value_of(const struct fit *f, enum what k)
{
    double d = f->w * f->xx - f->x * f->x;
    if (!(d > 1e-9 * f->w * f->w)) {
        return f->y[k] / f->w;
    }
    return (f->xx * f->y[k] - f->x * f->xy[k]) / d;
}

static int rounded(double v, int step, int lo, int hi)
{
    double r = floor(v / step + 0.5) * step;
    return (int)fmin(fmax(r, lo), hi);
}

static void fill_shape(double x0, struct eco_model *m)
{
    double bandwidth = BANDWIDTH;
    struct fit f = sums_at(x0, bandwidth);
    while (f.w < 3.0 && bandwidth < 64.0) { /* fewer than three models' worth: look wider */
        bandwidth *= 1.5;
        f = sums_at(x0, bandwidth);
    }
    m->hidden = rounded(exp(value_of(&f, HIDDEN)), 64, 64, 1 << 20);
    m->layers = rounded(exp(value_of(&f, LAYERS)), 1, 1, 4096);
    m->intermediate = rounded(exp(value_of(&f, INTERMEDIATE)), 64, 64, 1 << 24);
    m->vocab = rounded(exp(value_of(&f, VOCAB)), 64, 256, 1 << 19);
    m->head_dim = m->hidden < 1536 ? 64 : 128;
    m->n_heads = rounded((double)m->hidden / m->head_dim, 1, 1, 1 << 14);
    double kv = exp(value_of(&f, KV_WIDTH)) / m->head_dim;
    m->n_kv_heads = rounded(kv, 1, 1, m->n_heads);
    m->tied = f.y[TIED] / f.w > 0.5;
}

/** Tables from the shape, at most half of the whole; what is left is matrices. */
static void fill_counts(double total, struct eco_model *m)
{
    double table = (double)m->vocab * m->hidden, tables = m->tied ? 1.0 : 2.0;
    if (table * tables > total / 2) {
        m->vocab = rounded(total / 2 / tables / m->hidden, 1, 1, m->vocab);
        table = (double)m->vocab * m->hidden;
    }
    m->params_total = (uint64_t)(total + 0.5);
    m->params_embedding = (uint64_t)table;
    m->params_lm_head = m->tied ? 0 : (uint64_t)table;
    m->params_norm = (uint64_t)(2 * m->layers + 1) * (uint64_t)m->hidden;
    uint64_t rest = m->params_embedding + m->params_lm_head + m->params_norm;
    m->params_linear = m->params_total > rest ? m->params_total - rest : 0;
    m->params_active = m->params_total - (m->tied ? 0 : m->params_embedding);
}

int eco_model_from_size(double params_b, const char *name, struct eco_model *out,
                        struct eco_err *err)
{
    if (!(params_b >= ECO_MODEL_MIN_SIZE_B && params_b <= ECO_MODEL_MAX_SIZE_B)) {
        return eco_err_set(err, ECO_E_RANGE, "params_b",
                           "'params_b' must be between %g and %.0f billion", ECO_MODEL_MIN_SIZE_B,
                           ECO_MODEL_MAX_SIZE_B);
    }
    struct eco_model m;
    memset(&m, 0, sizeof m);
    if (name != NULL && name[0] != '\0') {
        snprintf(m.name, sizeof m.name, "%.127s", name);
    } else {
        char number[ECO_NUM_MAX];
        eco_num_format(params_b, number);
        snprintf(m.name, sizeof m.name, "%sB", number);
    }
    m.params_b = params_b;
    fill_shape(log(params_b), &m);
    fill_counts(params_b * 1e9, &m);
    m.shape_basis = ECO_BASIS_INTERPOLATED;
    m.source = "size";
    *out = m;
    return 0;
}
