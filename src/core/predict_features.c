#include "core/predict_features.h"

#include <math.h>

struct group {
    const char *name;
    double sd;
    bool is_free, session;
};

static const struct group groups[ECO_PG_COUNT] = {
#define X(name, text, sd, is_free, session) {text, sd, is_free, session},
    ECO_PREDICT_GROUPS(X)
#undef X
};

const char *eco_predict_group_name(int group)
{
    return group >= 0 && group < ECO_PG_COUNT ? groups[group].name : "none";
}

double eco_predict_group_prior_log_var(int group)
{
    return 2.0 * log(groups[group].sd);
}

bool eco_predict_group_free(int group)
{
    return groups[group].is_free;
}

bool eco_predict_group_session(int group)
{
    return groups[group].session;
}

double eco_predict_effective_x(double params_b, double linear_b, int layers)
{
    if (layers > 0 && linear_b > 0.0)
        return (log(linear_b / layers) + 2.5) / 0.85;
    return log(params_b / 3.0);
}

void eco_predict_size_bases(double x, double out[ECO_PX_COUNT])
{
    double size_b = 3.0 * exp(x);

    out[ECO_PX_ONE] = 1.0;
    out[ECO_PX_SLOPE] = x;
    out[ECO_PX_CURVE] = size_b / (size_b + 4.0) - 3.0 / 7.0; /* saturates; 0 at 3e9 */
}

void eco_predict_batch_bases(double batch, double out[ECO_PB_COUNT])
{
    double over = batch > 1.0 ? batch - 1.0 : 0.0;

    out[ECO_PB_ONE] = 1.0;
    out[ECO_PB_STEP] = over > 0.0 ? 1.0 : 0.0; /* one row or several: other kernels */
    out[ECO_PB_6] = over / (over + 6.0);       /* a + c/b in the ratio, at three scales */
    out[ECO_PB_60] = over / (over + 60.0);
    out[ECO_PB_600] = over / (over + 600.0);
}

int eco_predict_noise_group(enum eco_precision precision)
{
    switch (eco_precision_family(precision)) {
    case ECO_FAM_BNB_INT8:
        return ECO_PG_NOISE_INT8;
    case ECO_FAM_BNB_NF4:
        return ECO_PG_NOISE_NF4;
    default:
        return ECO_PG_NOISE_OTHER;
    }
}

double eco_predict_noise_weight(enum eco_grade grade)
{
    switch (grade) {
    case ECO_GRADE_A:
        return 0.7;
    case ECO_GRADE_B:
        return 1.0;
    case ECO_GRADE_C:
        return 1.6;
    default:
        return 2.0;
    }
}

struct list {
    struct eco_predict_feature *out;
    int n;
};

/* A level of -1 becomes 0xffff, a key that no point has. */
static void add(struct list *f, int group, int a, int b, int c, int x, int batch, double value)
{
    uint64_t key = (uint64_t)group << 48 | (uint64_t)(uint16_t)a << 32 |
                   (uint64_t)(uint16_t)b << 16 | (uint64_t)(uint16_t)c;

    f->out[f->n++] = (struct eco_predict_feature){
        .key = key,
        .coefficient = value,
        .group = (unsigned char)group,
        .x = (unsigned char)x,
        .b = (unsigned char)batch,
    };
}

static void add_size_terms(struct list *f, const struct eco_predict_levels *l)
{
    int family = (int)l->family, engine = (int)l->engine, path = family * 16 + engine;
    bool int8 = l->family == ECO_FAM_BNB_INT8;

    add(f, ECO_PG_POP, 0, 0, 0, ECO_PX_ONE, 0, 1.0);
    add(f, ECO_PG_POP_SLOPE, 0, 0, 0, ECO_PX_SLOPE, 0, 1.0);
    add(f, ECO_PG_POP_CURVE, 0, 0, 0, ECO_PX_CURVE, 0, 1.0);
    add(f, ECO_PG_BITS, 0, 0, 0, ECO_PX_ONE, 0, log(eco_precision_bits(l->precision) / 16) + 1.0);
    add(f, ECO_PG_BANDWIDTH, 0, 0, 0, ECO_PX_ONE, 0, l->ln_bandwidth);
    add(f, ECO_PG_KERNEL, path, 0, 0, ECO_PX_ONE, 0, 1.0);
    add(f, ECO_PG_ENGINE, engine, 0, 0, ECO_PX_ONE, 0, 1.0);
    add(f, ECO_PG_FAMILY, family, 0, 0, ECO_PX_ONE, 0, 1.0);
    add(f, ECO_PG_FAMILY_SLOPE, family, 0, 0, ECO_PX_SLOPE, 0, 1.0);
    add(f, ECO_PG_FAMILY_CURVE, family, 0, 0, ECO_PX_CURVE, 0, 1.0);
    add(f, ECO_PG_PRECISION, (int)l->precision, 0, 0, ECO_PX_ONE, 0, 1.0);
    add(f, ECO_PG_ARCH, family, l->arch == ECO_ARCH_UNKNOWN ? -1 : (int)l->arch, 0, ECO_PX_ONE, 0,
        1.0);
    add(f, int8 ? ECO_PG_CARD_INT8 : ECO_PG_CARD_OTHER, l->card, path, 0, ECO_PX_ONE, 0, 1.0);
    add(f, int8 ? ECO_PG_CARD_SLOPE_INT8 : ECO_PG_CARD_SLOPE_OTHER, l->card, path, 0, ECO_PX_SLOPE,
        0, 1.0);
    add(f, ECO_PG_CARD_CURVE, l->card, path, 0, ECO_PX_CURVE, 0, 1.0);
    add(f, ECO_PG_MODEL, l->model, family, 0, ECO_PX_ONE, 0, 1.0);
}

static void add_session_terms(struct list *f, const struct eco_predict_levels *l)
{
    int group = ECO_PG_SESSION_OTHER, slope = ECO_PG_SESSION_SLOPE;

    if (l->precision == ECO_PREC_INT8_MIXED) {
        group = ECO_PG_SESSION_INT8;
        slope = ECO_PG_SESSION_SLOPE_INT8;
    } else if (l->family == ECO_FAM_BNB_NF4) {
        group = ECO_PG_SESSION_NF4;
    }
    add(f, ECO_PG_SESSION, l->session, 0, 0, ECO_PX_ONE, 0, 1.0);
    add(f, group, l->session, (int)l->precision, 0, ECO_PX_ONE, 0, 1.0);
    add(f, slope, l->session, (int)l->family, 0, ECO_PX_SLOPE, 0, 1.0);
    add(f, ECO_PG_BASELINE, l->baseline, 0, 0, ECO_PX_ONE, 0, 1.0);
}

static void add_batch_terms(struct list *f, const struct eco_predict_levels *l)
{
    int family = (int)l->family, path = family * 16 + (int)l->engine;

    for (int b = ECO_PB_STEP; b < ECO_PB_COUNT; b++) {
        bool step = b == ECO_PB_STEP;

        add(f, ECO_PG_BATCH_POP, b, 0, 0, ECO_PX_ONE, b, 1.0);
        add(f, step ? ECO_PG_BATCH_FAMILY_STEP : ECO_PG_BATCH_FAMILY, b, family, 0, ECO_PX_ONE, b,
            1.0);
        add(f, step ? ECO_PG_BATCH_KERNEL_STEP : ECO_PG_BATCH_KERNEL, b, path, 0, ECO_PX_ONE, b,
            1.0);
        add(f, ECO_PG_BATCH_CARD, b, path, l->card, ECO_PX_ONE, b, 1.0);
        add(f, ECO_PG_BATCH_SESSION, b, l->session, (int)l->precision, ECO_PX_ONE, b, 1.0);
    }
}

int eco_predict_features(const struct eco_predict_levels *l, bool all_batches,
                         struct eco_predict_feature *out)
{
    struct list f = {out, 0};

    add_size_terms(&f, l);
    add_session_terms(&f, l);
    if (all_batches || l->batch > 1.0)
        add_batch_terms(&f, l);
    return f.n;
}
