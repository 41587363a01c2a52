/* Before a model is loaded: does it fit, is anyone else there, can the sensor tell us apart? */
#include "dataset/dataset.h"
#include "eco_memory.h"
#include "experiment/experiment.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ROOM 1.05 /* of what an arm needs */
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct checks {
    struct eco_run_check *out;
    size_t n, cap;
    struct eco_arena *arena;
    const char *refused; /* the first refusal */
};

static void check(struct checks *c, const char *name, const char *status, const char *detail)
{
    if (c->n < c->cap) {
        c->out[c->n++] = (struct eco_run_check){name, status, detail};
    }
    if (!c->refused && status[0] == 'r') {
        c->refused = detail ? detail : name;
    }
}

/* What is asked whether it fits. */
struct room {
    const struct eco_exp_plan *plan;
    const struct eco_model *model;
    const struct eco_exp_machine *machine;
};

static int estimate(const struct room *r, const struct eco_model *model, enum eco_precision p,
                    double *bytes, struct eco_err *err)
{
    struct eco_memory m;
    struct eco_memory_query q = {.model = model,
                                 .precision = p,
                                 .batch = r->plan->batch,
                                 .context_tokens = r->plan->prompt_tokens + r->plan->tokens,
                                 .engine = r->machine->need_bytes ? ECO_ENGINE_BUILTIN
                                                                  : ECO_ENGINE_UNKNOWN};
    int rc = eco_memory_estimate(&q, &m, err);
    *bytes = rc ? 0 : m.total_bytes * ROOM;
    return rc;
}

static int need_bytes(const struct room *r, enum eco_precision p, double *bytes,
                      struct eco_err *err)
{
    if (!r->machine->need_bytes) {
        return estimate(r, r->model, p, bytes, err);
    }
    int rc = r->machine->need_bytes(r->machine->self, p, bytes, err);
    *bytes *= ROOM;
    return rc;
}

/* Of this model: the precision with the most bits that fits; NONE: not one does. */
static enum eco_precision fitting_precision(const struct room *r, double below, double *bytes)
{
    static const enum eco_precision tried[] = {ECO_PREC_INT8_MIXED, ECO_PREC_NF4, ECO_PREC_NF4_DQ};
    for (size_t i = 0; i < COUNT(tried); i++) {
        if (need_bytes(r, tried[i], bytes, NULL) == 0 && *bytes < below &&
            *bytes <= r->machine->memory_free_bytes) {
            return tried[i];
        }
    }
    return ECO_PREC_NONE;
}

/* "Qwen/Qwen2.5-14B-Instruct" -> length of "Qwen/Qwen2.5-": what its family's names begin with. */
static size_t family_length(const char *name)
{
    for (const char *at = strchr(name, '-'); at; at = strchr(at + 1, '-')) {
        size_t digits = strspn(at + 1, "0123456789.");
        if (digits && strchr("BbMm", at[1 + digits])) {
            return (size_t)(at + 1 - name);
        }
    }
    return 0;
}

/* The largest known model of the same family that fits in precision p; NULL: none is known. */
static const char *fitting_model(const struct room *r, enum eco_precision p)
{
    const struct eco_model *best = NULL;
    size_t family = family_length(r->model->name);
    for (size_t i = 0; family && i < eco_dataset_model_count(); i++) {
        const struct eco_model *m = eco_dataset_model(i);
        double bytes;
        if (strncmp(m->name, r->model->name, family) == 0 && family_length(m->name) == family &&
            (!best || m->params_b > best->params_b) && estimate(r, m, p, &bytes, NULL) == 0 &&
            bytes <= r->machine->memory_free_bytes) {
            best = m;
        }
    }
    return best ? best->name : NULL;
}

static const char *refusal(const struct room *r, enum eco_precision p, double need,
                           struct eco_arena *arena)
{
    double free_bytes = r->machine->memory_free_bytes, bytes = 0;
    enum eco_precision other = fitting_precision(r, need, &bytes);
    const char *model = fitting_model(r, p);
    char smaller[64] = "";
    if (other != ECO_PREC_NONE) {
        snprintf(smaller, sizeof(smaller), "it in %s (%.1f GB), ", eco_precision_name(other),
                 bytes / 1e9);
    }
    /* weights grow about evenly with size: the largest model that would fit */
    return eco_arena_printf(arena,
                            "%s in %s needs %.1f GB with 5 %% to spare, %.1f GB are free; %s%s%s"
                            "about %.2g B parameters would fit",
                            r->model->name, eco_precision_name(p), need / 1e9, free_bytes / 1e9,
                            smaller, model ? model : "", model ? ", " : "",
                            r->model->params_b * free_bytes / need);
}

static int memory(const struct eco_exp_plan *p, const struct eco_model *model,
                  const struct eco_exp_machine *m, struct checks *c, struct eco_err *err)
{
    if (isnan(m->memory_free_bytes)) {
        check(c, "memory", "skipped", "the device does not say how much memory is free");
        return 0;
    }
    struct room r = {p, model, m};
    for (int arm = 0; arm < p->arm_count; arm++) {
        double need = 0;
        int rc = need_bytes(&r, p->arms[arm], &need, err);
        if (rc) {
            return rc;
        }
        if (need > m->memory_free_bytes) {
            check(c, "memory", "refused", refusal(&r, p->arms[arm], need, c->arena));
            return 0;
        }
    }
    check(c, "memory", "ok",
          eco_arena_printf(c->arena, "every arm fits into the %.1f GB that are free",
                           m->memory_free_bytes / 1e9));
    return 0;
}

static void others(const struct eco_exp_machine *m, struct checks *c)
{
    if (m->other_processes < 0) {
        check(c, "other processes", "skipped", "the device does not list its processes");
    } else if (m->other_processes > 0) {
        check(c, "other processes", "refused",
              eco_arena_printf(c->arena, "%lld other process%s on the device: %s",
                               (long long)m->other_processes, m->other_processes == 1 ? "" : "es",
                               m->process_list ? m->process_list : "not listed"));
    } else {
        check(c, "other processes", "ok", NULL);
    }
    if (m->shared) {
        check(c, "sharing", "refused", "the sensor cannot tell this run from others on the card");
    }
}

int eco_experiment_preflight(const struct eco_exp_plan *plan, const struct eco_model *model,
                             const struct eco_exp_machine *m, bool force, struct eco_arena *arena,
                             struct eco_run_check *out, size_t cap, bool *contaminated,
                             struct eco_err *err)
{
    struct checks c = {.out = out, .cap = cap, .arena = arena};
    check(&c, "sources", "ok", m->source_name);
    int rc = memory(plan, model, m, &c, err);
    others(m, &c);
    *contaminated = c.refused != NULL;
    if (rc == 0 && c.refused && !force) {
        rc = eco_err_set(err, ECO_E_DEVICE, "force",
                         "preflight: %.190s (--force measures all the same, marked contaminated)",
                         c.refused);
    }
    return rc ? rc : (int)c.n;
}
