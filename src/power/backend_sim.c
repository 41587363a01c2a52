/*
 * A simulated device: known waveforms, so that a measured joule can be compared with a true one.
 * "sim:const:200", "sim:square:60,300,0.1" (low, high, period), "sim:sine:100,300,2".
 */
#include "backend.h"
#include "base/clock.h"
#include "base/num.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

enum shape { SHAPE_CONST, SHAPE_SQUARE, SHAPE_SINE };

struct wave {
    enum shape shape;
    double lo_w, hi_w, period_s;
};

struct sim {
    struct eco_power_sim is;
    struct wave wave;
    int64_t start_ns;
};

static double wave_power(void *ctx, double t_s)
{
    const struct wave *w = ctx;
    double phase = w->period_s > 0 ? t_s / w->period_s - floor(t_s / w->period_s) : 0;
    switch (w->shape) {
    case SHAPE_SQUARE:
        return phase < 0.5 ? w->hi_w : w->lo_w;
    case SHAPE_SINE:
        return (w->lo_w + w->hi_w) / 2 + (w->hi_w - w->lo_w) / 2 * sin(2 * PI * phase);
    case SHAPE_CONST:
        break;
    }
    return w->lo_w;
}

static double wave_energy(void *ctx, double t_s)
{
    const struct wave *w = ctx;
    double whole = w->period_s > 0 ? floor(t_s / w->period_s) : 0;
    double rest_s = t_s - whole * w->period_s, mean_w = (w->lo_w + w->hi_w) / 2;
    switch (w->shape) {
    case SHAPE_SQUARE: {
        double half_s = w->period_s / 2, on_s = rest_s < half_s ? rest_s : half_s;
        return whole * w->period_s * mean_w + on_s * w->hi_w + (rest_s - on_s) * w->lo_w;
    }
    case SHAPE_SINE:
        return mean_w * t_s + (w->hi_w - w->lo_w) / 2 * w->period_s / (2 * PI) *
                                  (1 - cos(2 * PI * rest_s / w->period_s));
    case SHAPE_CONST:
        break;
    }
    return w->lo_w * t_s;
}

static double now_s(const struct sim *m)
{
    int64_t ns = m->is.now_ns ? m->is.now_ns(m->is.ctx) : eco_clock_mono_ns();
    return (double)(ns - m->start_ns) * 1e-9;
}

static void sample(struct eco_power_source *s, double power_w[ECO_POWER_FIELDS],
                   unsigned char status[ECO_POWER_FIELDS])
{
    const struct sim *m = s->ctx;
    double t_s = now_s(m);
    for (int f = 0; f < ECO_POWER_FIELDS; f++) {
        power_w[f] = (double)NAN;
        status[f] = ECO_POWER_ABSENT;
    }
    if (m->is.refresh_s > 0) {
        t_s = floor(t_s / m->is.refresh_s) * m->is.refresh_s;
    }
    double from_s = t_s - m->is.averaging_s;
    power_w[ECO_POWER_DEFAULT] =
        m->is.averaging_s > 0
            ? (m->is.energy_j(m->is.ctx, t_s) - m->is.energy_j(m->is.ctx, from_s)) /
                  m->is.averaging_s
            : m->is.power_w(m->is.ctx, t_s);
    status[ECO_POWER_DEFAULT] = ECO_POWER_OK;
}

static enum eco_power_status counter(struct eco_power_source *s, double *energy_j)
{
    const struct sim *m = s->ctx;
    double t_s = now_s(m);
    if (m->is.tick_s > 0) {
        t_s = floor(t_s / m->is.tick_s) * m->is.tick_s;
    }
    double j = m->is.energy_j(m->is.ctx, t_s);
    *energy_j = m->is.count_j > 0 ? floor(j / m->is.count_j) * m->is.count_j : j;
    return ECO_POWER_OK;
}

struct eco_power_source *eco_power_add_sim(struct eco_power_set *set, const char *device,
                                           const struct eco_power_sim *sim)
{
    struct sim *m = eco_arena_alloc(&set->arena, sizeof(*m));
    struct eco_power_source *s =
        eco_power_add(set, &eco_power_sim, eco_arena_strdup(&set->arena, device, strlen(device)));
    if (!m || !s) {
        return NULL;
    }
    m->is = *sim;
    m->start_ns = sim->now_ns ? 0 : eco_clock_mono_ns();
    s->ctx = m;
    eco_power_usable(s, 1u << ECO_POWER_DEFAULT, !sim->no_counter);
    s->resolution_j = sim->count_j > 0 ? sim->count_j : 0;
    s->refresh_s[ECO_POWER_DEFAULT] = sim->refresh_s > 0 ? sim->refresh_s : (double)NAN;
    s->averaging_s[ECO_POWER_DEFAULT] = sim->averaging_s > 0 ? sim->averaging_s : (double)NAN;
    s->duty[ECO_POWER_DEFAULT] = sim->duty;
    s->note = "simulated: not a measurement";
    return s;
}

/* "square:60,300,0.1" */
static bool parse_wave(const char *text, struct wave *w)
{
    static const char *const names[] = {"const:", "square:", "sine:"};
    static const int numbers[] = {1, 3, 3};
    for (int i = 0; i < 3; i++) {
        size_t n = strlen(names[i]);
        if (strncmp(text, names[i], n) != 0) {
            continue;
        }
        double v[3] = {0, 0, 0};
        const char *at = text + n;
        for (int k = 0; k < numbers[i]; k++) {
            size_t len = strcspn(at, ",");
            if (eco_num_parse_lenient(at, len, &v[k]) != 0 || v[k] < 0) {
                return false;
            }
            at += len + (at[len] == ',');
        }
        *w = (struct wave){(enum shape)i, v[0], numbers[i] == 1 ? v[0] : v[1], v[2]};
        return *at == '\0' && (i == 0 || v[2] > 0);
    }
    return false;
}

static int find(struct eco_power_set *set, const char *extra, struct eco_err *err)
{
    struct wave *w = eco_arena_alloc(&set->arena, sizeof(*w));
    if (!w) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    if (!parse_wave(extra, w)) {
        return eco_err_set(err, ECO_E_INVALID, "source",
                           "'sim:%.60s' must be sim:const:W, sim:square:LO,HI,PERIOD or "
                           "sim:sine:LO,HI,PERIOD",
                           extra);
    }
    const struct eco_power_sim sim = {
        .power_w = wave_power, .energy_j = wave_energy, .ctx = w, .refresh_s = 0};
    eco_power_add_sim(set, extra, &sim);
    return 0;
}

const struct eco_power_backend eco_power_sim = {.name = "sim",
                                                .boundary = ECO_RUN_BOUNDARY_NONE,
                                                .find = find,
                                                .sample = sample,
                                                .counter = counter};
