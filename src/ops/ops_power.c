/* The operations on power alone: what can be measured here, and the energy of a recorded table. */
#include "args.h"
#include "base/clock.h"
#include "power/meter.h"
#include "power/replay.h"
#include "power/sensor.h"
#include "replay_dir.h"
#include "runs.h"

#include <math.h>
#include <string.h>
#include <time.h>

#define LOOK_S 1.5 /* how long doctor watches the sensors */
#define LOOK_STEP_S 0.004
#define LOOK_MAX 512
#define MAX_LOOKED_AT 16

static int no_memory(struct eco_err *err)
{
    return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
}

static struct eco_opt opt(double v)
{
    return (struct eco_opt){v, isfinite(v)};
}

static const char *keep(struct eco_ctx *ctx, const char *s)
{
    return s && s[0] ? eco_arena_strdup(ctx->arena, s, strlen(s)) : NULL;
}

/* ---- doctor --------------------------------------------------------------------------------- */

struct look {
    double t_s[LOOK_MAX], power_w[LOOK_MAX];
    size_t n;
    double refresh_s;
};

/* Reads the best field of each source again and again: how often does it change? */
static void look_at(const struct eco_power_set *set, struct look *looks, size_t n)
{
    int64_t start_ns = eco_clock_mono_ns(), end_ns = start_ns + (int64_t)(LOOK_S * 1e9);
    const struct timespec step = {0, (long)(LOOK_STEP_S * 1e9)};
    bool any = true;
    while (any && eco_clock_mono_ns() < end_ns) {
        any = false;
        for (size_t i = 0; i < n; i++) {
            struct eco_power_source *s = eco_power_at(set, i);
            struct look *l = &looks[i];
            double w;
            if (!s->selected || !s->fields || s->derived || s->external || l->n == LOOK_MAX) {
                continue;
            }
            any = true;
            if (eco_power_read(s, eco_meter_best_field(s), &w) == ECO_POWER_OK) {
                l->t_s[l->n] = (double)(eco_clock_mono_ns() - start_ns) * 1e-9;
                l->power_w[l->n++] = w;
            }
        }
        nanosleep(&step, NULL);
    }
    for (size_t i = 0; i < n; i++) {
        double averaging_s;
        eco_sensor_detect(looks[i].t_s, looks[i].power_w, looks[i].n, &looks[i].refresh_s,
                          &averaging_s);
    }
}

static void fill_probe(struct eco_ctx *ctx, const struct eco_power_source *s, double refresh_s,
                       struct eco_res_probe *out)
{
    struct eco_run_source row;
    enum eco_power_field f = eco_meter_best_field(s);
    eco_power_describe(s, false, &row);
    const char *status = s->usable && !s->selected ? "left out" : row.status;
    *out = (struct eco_res_probe){.name = s->name,
                                  .status = status,
                                  .device = keep(ctx, row.device),
                                  .boundary = eco_run_boundary_name(s->boundary),
                                  .reason = keep(ctx, s->reason),
                                  .command = keep(ctx, s->command),
                                  .field = row.field,
                                  .note = keep(ctx, s->note),
                                  .driver = keep(ctx, s->driver)};
    if (!s->usable) {
        return;
    }
    double min_s = fmax(5, fmax(20 * s->refresh_s[f], 5 * s->averaging_s[f]));
    out->read_cost_ms = opt(s->read_cost_s * 1e3);
    out->counter_cost_ms = opt(s->counter_cost_s * 1e3);
    out->refresh_ms = opt(refresh_s * 1e3);
    out->refresh_expected_ms = opt(s->refresh_s[f] * 1e3);
    out->averaging_ms = opt(s->averaging_s[f] * 1e3);
    out->min_window_s = opt(min_s);
    out->resolution_j = opt(s->resolution_j);
    out->wrap_j = opt(s->counter ? s->wrap_j : (double)NAN);
    out->wrap_s = opt(s->wrap_s);
    out->limit_w = opt(s->limit_w);
    if (eco_sensor_disagrees(s->refresh_s[f], refresh_s)) {
        out->note = eco_step_fmt(ctx, "refresh seen every %.0f ms, the table says %.0f ms%s%s",
                                 refresh_s * 1e3, s->refresh_s[f] * 1e3, s->note ? "; " : "",
                                 s->note ? s->note : "");
    }
}

/* "GPU 0: NVIDIA GeForce RTX 4090", as the driver's library says it; NULL: it sees no card. */
static const char *card_name(struct eco_ctx *ctx, const struct eco_power_set *set)
{
    for (size_t i = 0; i < eco_power_count(set); i++) {
        const struct eco_power_source *s = eco_power_at(set, i);
        const char *at = strcmp(s->name, "nvml") == 0 ? strstr(s->device, ": ") : NULL;
        if (at && strcmp(at, ": unknown") != 0) {
            return keep(ctx, at + 2);
        }
    }
    return NULL;
}

/* Why there is no card to name, in the words of the source that would know. */
static const char *no_card(struct eco_ctx *ctx, const struct eco_power_set *set)
{
    for (size_t i = 0; i < eco_power_count(set); i++) {
        const struct eco_power_source *s = eco_power_at(set, i);
        if (strcmp(s->name, "nvml") == 0 && s->reason) {
            return eco_step_fmt(ctx, "no NVIDIA GPU: %s", s->reason);
        }
    }
    return "no NVIDIA GPU in this machine";
}

int eco_run_doctor(struct eco_ctx *ctx, const void *args, void *result, struct eco_err *err)
{
    const struct eco_args_doctor *a = args;
    struct eco_res_doctor *out = result;
    struct eco_power_set *set = NULL;
    struct eco_power_options o = {.nvml_library = a->nvml_library,
                                  .sysfs = a->sysfs,
                                  .extra = a->source,
                                  .visible_devices = ctx->visible_devices};
    int rc = eco_power_open(&o, &set, err);
    if (rc) {
        return rc;
    }
    size_t n = eco_power_count(set), found = 0;
    size_t looked_at = n < MAX_LOOKED_AT ? n : MAX_LOOKED_AT;
    struct look *looks = eco_arena_array(ctx->arena, MAX_LOOKED_AT, sizeof(*looks));
    struct eco_res_probe *rows = eco_arena_array(ctx->arena, n + 1, sizeof(*rows));
    if (looks && rows) {
        look_at(set, looks, looked_at);
        for (size_t i = 0; i < n; i++) {
            const struct eco_power_source *s = eco_power_at(set, i);
            found += s->selected;
            fill_probe(ctx, s, i < looked_at ? looks[i].refresh_s : (double)NAN, &rows[i]);
        }
    }
    const char *named = ctx->host_gpu_name ? ctx->host_gpu_name : card_name(ctx, set);
    out->gpu = named;
    out->gpu_reason = named ? NULL : no_card(ctx, set);
    eco_power_close(set);
    out->sources = (struct eco_list){rows, rows ? n : 0};
    out->verdict = found ? eco_step_fmt(ctx, "%zu power source%s can be read here", found,
                                        found == 1 ? "" : "s")
                         : "no power source can be read here: predictions only";
    return looks && rows ? 0 : no_memory(err);
}

/* ---- replay --------------------------------------------------------------------------------- */

static void fill_replay(struct eco_ctx *ctx, const struct eco_replay *r, struct eco_res_replay *out)
{
    const struct eco_meter_energy *e = &r->energy;
    const struct eco_sensor *p = r->profile;
    *out = (struct eco_res_replay){.energy_j = e->integral_j,
                                   .mean_w = e->mean_w,
                                   .samples = e->samples,
                                   .uncertainty_j = e->uncertainty_j,
                                   .bias_j = e->bias_j,
                                   .edge_j = e->edge_j,
                                   .alias_j = e->alias_j,
                                   .window_s = e->window_s,
                                   .peak_w = opt(e->peak_w),
                                   .duplicates = e->duplicates,
                                   .gaps = e->gaps,
                                   .gap_s = e->gap_s,
                                   .shift_s = r->shift_s,
                                   .refresh_s = opt(r->refresh_s),
                                   .averaging_s = opt(r->averaging_s)};
    if (p) {
        out->profile = eco_step_fmt(ctx, "%s, %s field, driver %s", p->gpu, p->field,
                                    p->driver && p->driver[0] ? p->driver : "not known");
        out->gain = opt(p->gain);
        out->offset_w = opt(p->offset_w);
    }
}

int eco_run_replay(struct eco_ctx *ctx, const void *args, void *result, struct eco_err *err)
{
    const struct eco_args_replay *a = args;
    struct eco_record_table t;
    struct eco_replay r;
    struct eco_str text;
    if (!ctx->read_file) {
        return eco_err_set(err, ECO_E_UNSUPPORTED, "power", "there are no files here");
    }
    if (a->dir) {
        return eco_replay_dir(ctx, a->dir, result, err);
    }
    if (!a->power) {
        return eco_err_set(err, ECO_E_MISSING, "power",
                           "say what to replay: replay --power FILE.csv, or the folder of a run");
    }
    int rc = ctx->read_file(ctx, a->power, &text, err);
    rc = rc ? rc : eco_record_read(a->power, text.s, text.len, a->column, &t, err);
    if (rc) {
        return rc;
    }
    const struct eco_op *op = eco_op_find("replay");
    bool from = eco_args_have(op, a, offsetof(struct eco_args_replay, from));
    bool to = eco_args_have(op, a, offsetof(struct eco_args_replay, to));
    rc = eco_replay_energy(&t, t.column, a->profile, from ? a->from : (double)NAN,
                           to ? a->to : (double)NAN, &r, err);
    eco_record_done(&t);
    if (rc == 0) {
        fill_replay(ctx, &r, result);
    }
    return rc;
}
