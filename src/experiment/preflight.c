/* Before a model is loaded: does it fit, is anyone else there, can the sensor tell us apart? */
#include "eco_memory.h"
#include "experiment/experiment.h"

#include <math.h>

#define ROOM 1.05 /* of what an arm needs */

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

static int need_bytes(const struct eco_exp_plan *p, const struct eco_model *model, int arm,
                      double *bytes, struct eco_err *err)
{
    struct eco_memory m;
    struct eco_memory_query q = {.model = model,
                                 .precision = p->arms[arm],
                                 .batch = p->batch,
                                 .context_tokens = p->prompt_tokens + p->tokens};
    int rc = eco_memory_estimate(&q, &m, err);
    *bytes = rc ? 0 : m.total_bytes * ROOM;
    return rc;
}

static int memory(const struct eco_exp_plan *p, const struct eco_model *model,
                  const struct eco_exp_machine *m, struct checks *c, struct eco_err *err)
{
    if (isnan(m->memory_free_bytes)) {
        check(c, "memory", "skipped", "the device does not say how much memory is free");
        return 0;
    }
    for (int arm = 0; arm < p->arm_count; arm++) {
        double need = 0;
        int rc = need_bytes(p, model, arm, &need, err);
        if (rc) {
            return rc;
        }
        if (need > m->memory_free_bytes) {
            /* weights grow about evenly with size: the largest model that would fit */
            double fits_b = model->params_b * m->memory_free_bytes / need;
            check(c, "memory", "refused",
                  eco_arena_printf(c->arena,
                                   "%s in %s needs %.1f GB with 5 %% to spare, %.1f GB are free; "
                                   "about %.2g B parameters would fit",
                                   model->name, eco_precision_name(p->arms[arm]), need / 1e9,
                                   m->memory_free_bytes / 1e9, fits_b));
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
