/* What `measure` measures with: sources, which card, preflight, limits and clocks. */
#include "dataset/dataset.h"
#include "measure.h"
#include "measure_guard.h"
#include "power/sensor.h"
#include "runs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_ROWS 64
#define MAX_SHOWN_PROCESSES 4

static int no_memory(struct eco_err *err)
{
    return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
}

/* ---- sources --------------------------------------------------------------------------------- */

static bool is(const struct eco_exp_plan *p, const char *workload)
{
    return p->workload && strncmp(p->workload, workload, strlen(workload)) == 0;
}

static bool on_a_card(const struct eco_power_source *s)
{
    return s->boundary == ECO_RUN_BOUNDARY_GPU_BOARD || s->boundary == ECO_RUN_BOUNDARY_GPU_MODULE;
}

/* The embedded engine runs on the CPU: a card's power is not its power. */
static size_t choose_for_cpu(struct eco_measure_all *all, struct eco_err *err)
{
    static const char *const names[] = {"rapl", "hwmon", "ipmi"};
    for (size_t i = 0; i < ECO_COUNT(names); i++) {
        size_t n = eco_power_choose(all->set, names[i], all->sources, ECO_METER_MAX_SOURCES, NULL);
        if (n) {
            return n;
        }
    }
    struct eco_err rapl = {.message = ""};
    eco_power_choose(all->set, "rapl", all->sources, ECO_METER_MAX_SOURCES, &rapl);
    const char *none = "no power source: "; /* said already */
    size_t said = strncmp(rapl.message, none, strlen(none)) == 0 ? strlen(none) : 0;
    eco_err_set(err, rapl.code == ECO_E_PERMISSION ? ECO_E_PERMISSION : ECO_E_DEVICE, "source",
                "the embedded engine runs on the CPU, and no power source covers that: %.150s",
                rapl.message + said);
    return 0;
}

static size_t choose(struct eco_measure_all *all, const char *name, bool extra, struct eco_err *err)
{
    if (is(&all->plan, "builtin") && !name) {
        return choose_for_cpu(all, err);
    }
    return eco_power_choose(all->set, extra ? NULL : name, all->sources, ECO_METER_MAX_SOURCES,
                            err);
}

/* Of several cards the first alone, unless more are asked for: a worker uses what it can see. */
static void first_card(struct eco_measure_all *all)
{
    const struct eco_args_measure *a = all->args;
    if (all->source_count < 2 || a->device || all->ctx->visible_devices ||
        !is(&all->plan, "worker:") || strcmp(all->sources[0]->name, "nvml") != 0) {
        return;
    }
    all->card_note = eco_step_fmt(all->ctx,
                                  "%zu cards are here: the first is measured and shown to the "
                                  "workload; --device 0,1 or all takes more",
                                  all->source_count);
    all->source_count = 1;
}

/* The cards whose power is read are the cards the worker sees, by UUID: CUDA counts otherwise. */
static void show_cards(struct eco_measure_all *all)
{
    if (!is(&all->plan, "worker:") || !all->source_count ||
        strcmp(all->sources[0]->name, "nvml") != 0) {
        return;
    }
    const char *list = "";
    for (size_t i = 0; list && i < all->source_count; i++) {
        const char *uuid = all->sources[i]->uuid;
        list = uuid ? eco_step_fmt(all->ctx, "%s%s%s", list, i ? "," : "", uuid) : NULL;
    }
    all->visible = list;
}

static int list_rows(struct eco_measure_all *all, struct eco_err *err)
{
    all->rows = eco_arena_array(all->ctx->arena, MAX_ROWS, sizeof(*all->rows));
    if (!all->rows) {
        return no_memory(err);
    }
    for (; all->row_count < MAX_ROWS && all->row_count < eco_power_count(all->set);
         all->row_count++) {
        const struct eco_power_source *s = eco_power_at(all->set, all->row_count);
        bool used = false;
        for (size_t i = 0; i < all->source_count; i++) {
            used |= all->sources[i] == s;
        }
        eco_power_describe(s, used, &all->rows[all->row_count]);
    }
    return 0;
}

/* "auto": the profile of the card that is here. */
static int find_profile(struct eco_measure_all *all, struct eco_err *err)
{
    const char *name = all->args->profile;
    if (!name || !all->source_count) {
        return 0;
    }
    const struct eco_power_source *s = all->sources[0];
    enum eco_power_field f = eco_meter_best_field(s);
    bool here = strcmp(name, "auto") == 0;
    if (all->source_count > 1) {
        return eco_err_set(err, ECO_E_INVALID, "profile", "a profile is of one card, not of %zu",
                           all->source_count);
    }
    all->profile = eco_sensor_profile(here ? eco_measure_device(s) : name, f, s->averaging_s[f]);
    return all->profile || here ? 0
                                : eco_err_set(err, ECO_E_UNKNOWN_NAME, "profile",
                                              "no gain and offset are published for '%.80s'", name);
}

static int refuse(const struct eco_measure_all *all, struct eco_err *err)
{
    const struct eco_args_measure *a = all->args;
    if (a->source && strncmp(a->source, "sim:", 4) == 0) {
        return eco_err_set(err, ECO_E_INVALID, "source",
                           "'%.60s' is a simulation: there is nothing to measure", a->source);
    }
    if (all->source_count && is(&all->plan, "builtin") && on_a_card(all->sources[0])) {
        return eco_err_set(err, ECO_E_INVALID, "source",
                           "'%.40s' is a card's power, and the embedded engine runs on the CPU",
                           all->sources[0]->name);
    }
    return 0;
}

int eco_measure_open_sources(struct eco_measure_all *all, struct eco_err *err)
{
    const struct eco_args_measure *a = all->args;
    bool extra = a->source && strchr(a->source, ':');
    bool every = a->device && strcmp(a->device, "all") == 0;
    struct eco_power_options o = {.nvml_library = a->nvml_library,
                                  .sysfs = a->sysfs,
                                  .extra = extra ? a->source : NULL,
                                  .visible_devices = every       ? NULL
                                                     : a->device ? a->device
                                                                 : all->ctx->visible_devices};
    struct eco_err why = {.message = ""};
    int rc = refuse(all, err);
    if (rc == 0 && (all->plan.limit_w > 0 || all->plan.clock_mhz > 0)) {
        rc = eco_guard_start(&o, &all->guard, err); /* before the driver's library is loaded */
    }
    rc = rc ? rc : eco_power_open(&o, &all->set, err);
    if (rc) {
        return rc;
    }
    all->source_count = choose(all, a->source, extra, &why);
    first_card(all);
    show_cards(all);
    rc = refuse(all, err);
    rc = rc ? rc : find_profile(all, err);
    rc = rc ? rc : list_rows(all, err);
    if (rc == 0 && all->source_count == 0) {
        all->why_none = eco_arena_strdup(all->ctx->arena, why.message, strlen(why.message));
        if (a->require_measurement || why.code == ECO_E_UNKNOWN_NAME || all->plan.limit_w > 0 ||
            all->plan.clock_mhz > 0) {
            rc = eco_err_set(err, why.code, "source", "%s", why.message);
        }
    }
    return rc;
}

/* ---- preflight ------------------------------------------------------------------------------- */

static const char *process_list(struct eco_measure *m, int64_t *count)
{
    struct eco_power_process p[MAX_SHOWN_PROCESSES];
    const char *text = NULL;
    *count = 0;
    for (size_t i = 0; i < m->all->source_count; i++) {
        size_t n = eco_power_processes(m->all->sources[i], p, MAX_SHOWN_PROCESSES);
        *count += (int64_t)n;
        for (size_t k = 0; k < n && k < MAX_SHOWN_PROCESSES; k++) {
            const char *held = isnan(p[k].memory_bytes)
                                   ? ""
                                   : eco_step_fmt(m->ctx, " (%.1f GB)", p[k].memory_bytes / 1e9);
            text = eco_step_fmt(m->ctx, "%s%spid %lld%s", text ? text : "", text ? ", " : "",
                                (long long)p[k].pid, held ? held : "");
        }
    }
    return text;
}

/* What the embedded engine would take for an arm, by its own count. */
static int builtin_need(void *self, enum eco_precision p, double *bytes, struct eco_err *err)
{
    const struct eco_measure *m = self;
    struct eco_workload_arm arm = {.model = m->plan.model,
                                   .precision = p,
                                   .batch = m->plan.batch,
                                   .prompt_tokens = m->plan.prompt_tokens,
                                   .gen_tokens = m->plan.tokens,
                                   .seed = m->plan.seed};
    return eco_workload_builtin_need(&arm, bytes, err);
}

int eco_measure_preflight(struct eco_measure *m, struct eco_err *err)
{
    struct eco_measure_all *all = m->all;
    struct eco_exp_machine machine = {
        .memory_free_bytes = (double)NAN, .memory_total_bytes = (double)NAN, .other_processes = -1};
    if (all->source_count) {
        machine.source_name = all->sources[0]->device;
        eco_power_read_state(all->sources[0], &m->state);
        machine.memory_free_bytes = m->state.memory_free_bytes;
        machine.memory_total_bytes = m->state.memory_total_bytes;
        machine.process_list = process_list(m, &machine.other_processes);
    }
    for (size_t i = 0; i < all->source_count; i++) {
        machine.shared |= all->sources[i]->shared;
    }
    if (is(&m->plan, "builtin")) {
        machine.memory_free_bytes = eco_workload_builtin_free_bytes();
        machine.need_bytes = builtin_need;
        machine.self = m;
    }
    int n = eco_experiment_preflight(&m->plan, &m->known->question.model, &machine,
                                     all->args->force, m->ctx->arena, m->checks,
                                     ECO_MEASURE_MAX_CHECKS, &m->contaminated, err);
    m->check_count = n > 0 ? (size_t)n : 0;
    return n < 0 ? n : 0;
}

/* ---- limits and clocks ----------------------------------------------------------------------- */

/* What the card has now, noted with the guard before it is changed. */
static int note(struct eco_measure *m, struct eco_power_source *s, struct eco_err *err)
{
    struct eco_power_state now;
    int rc = 0;
    eco_power_read_state(s, &now);
    if (m->plan.limit_w > 0) {
        rc = now.limit_w > 0 ? eco_guard_note(m->all->guard, s, now.limit_w, err)
                             : eco_err_set(err, ECO_E_DEVICE, "power_limits",
                                           "'%.80s' does not say its power limit: it could not be "
                                           "put back",
                                           s->device);
    }
    if (rc == 0 && m->plan.clock_mhz > 0) {
        rc = eco_guard_note(m->all->guard, s, 0, err);
    }
    return rc;
}

int eco_measure_set(struct eco_measure *m, struct eco_err *err)
{
    struct eco_measure_all *all = m->all;
    if (!all->guard) {
        return 0;
    }
    for (size_t i = 0; i < all->source_count; i++) {
        struct eco_power_source *s = all->sources[i];
        int rc = 0;
        if (!all->noted) {
            struct eco_power_state before;
            eco_power_read_state(s, &before);
            all->limit_before_w[i] = before.limit_w;
            rc = note(m, s, err);
        }
        if (rc == 0 && m->plan.limit_w > 0) {
            rc = eco_power_set_limit_w(s, m->plan.limit_w, err);
        }
        if (rc == 0 && m->plan.clock_mhz > 0) {
            rc = eco_power_lock_clock_mhz(s, m->plan.clock_mhz, err);
        }
        if (rc) {
            return rc;
        }
    }
    all->noted = true;
    return 0;
}

void eco_measure_restore(struct eco_measure_all *all)
{
    for (size_t i = 0; all->guard && i < all->source_count; i++) {
        struct eco_err why = {.message = ""};
        struct eco_power_source *s = all->sources[i];
        int rc = 0;
        if (all->plan.limit_w > 0 && all->limit_before_w[i] > 0) {
            rc = eco_power_set_limit_w(s, all->limit_before_w[i], &why);
        }
        if (all->plan.clock_mhz > 0) {
            int unlocked = eco_power_lock_clock_mhz(s, 0, rc ? NULL : &why);
            rc = rc ? rc : unlocked;
        }
        if (rc && why.code != ECO_E_PERMISSION && all->ctx->warnings) {
            eco_buf_printf(all->ctx->warnings, "%s: settings were not put back: %s\n", s->device,
                           why.message);
        }
    }
    eco_guard_done(all->guard);
    all->guard = NULL;
}
