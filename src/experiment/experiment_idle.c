/* The idle wait before a trial: same power, same temperature, or a note that it was not so. */
#include "experiment/experiment_state.h"

#include <math.h>

#define STEP_S 0.5
#define COLD_STEPS 4 /* looks at a temperature that waiting cannot raise */
#define REST_QUICK_S 2.0

/* Power as it is now against the level wanted; without one, against its own last seconds. */
static bool at_rest(const struct eco_experiment *x, const struct eco_journal_idle *want,
                    const struct eco_exp_now *now)
{
    struct eco_exp_now longer;
    double level = want->mean_w, sd = want->sd_w;
    if (isnan(level)) {
        x->ports.meter.now(x->ports.meter.self, ECO_EXP_IDLE_S, &longer);
        level = longer.mean_w;
        sd = longer.sd_w;
    }
    double band = fmax(0.05 * level, isnan(sd) ? 0 : 2 * sd);
    return fabs(now->mean_w - level) <= band;
}

/* First time: this is what the arm draws at rest, and every later trial waits for it again. */
static int learn(struct eco_experiment *x, struct eco_journal_idle *idle, struct eco_err *err)
{
    struct eco_exp_now now;
    if (!isnan(idle->mean_w)) {
        return 0;
    }
    x->ports.meter.now(x->ports.meter.self, ECO_EXP_IDLE_S, &now);
    idle->mean_w = now.mean_w;
    idle->sd_w = now.sd_w;
    idle->temp_c = now.temp_c;
    return x->ports.journal ? eco_journal_append_idle(x->ports.journal, idle, err) : 0;
}

int eco_exp_wait_idle(struct eco_experiment *x, int arm, int slot, struct eco_exp_trial *t,
                      struct eco_err *err)
{
    struct eco_journal_idle *idle = &x->idle[arm];
    struct eco_exp_now now = {.mean_w = (double)NAN, .temp_c = (double)NAN};
    double waited_s = 0, quiet_s = 0;
    int cold = 0;
    bool rested = false, warm = false;
    while (waited_s < ECO_EXP_IDLE_LIMIT_S && !(rested && warm) && !eco_exp_stop(x)) {
        eco_exp_sleep(x, STEP_S);
        waited_s += STEP_S;
        x->ports.meter.now(x->ports.meter.self, 1.0, &now);
        eco_exp_show(x, "idle", slot);
        quiet_s = isnan(now.mean_w) || at_rest(x, idle, &now) ? quiet_s + STEP_S : 0;
        rested = quiet_s >= ECO_EXP_IDLE_S;
        double above_c = now.temp_c - x->warm_temp_c; /* NAN: not known, nothing to wait for */
        warm = !(fabs(above_c) > ECO_EXP_IDLE_TEMP_C);
        cold = rested && above_c < -ECO_EXP_IDLE_TEMP_C ? cold + 1 : 0;
        if (cold == COLD_STEPS) {
            break;
        }
    }
    t->run.idle_timeout = !(rested && warm) || isnan(now.mean_w);
    t->run.idle_before_w = now.mean_w;
    t->run.temp_start_c = now.temp_c;
    if (!rested || isnan(now.mean_w)) {
        return 0;
    }
    if (isnan(x->warm_temp_c) && t->run.block > 0) {
        x->warm_temp_c = now.temp_c;
    }
    return learn(x, idle, err);
}

int eco_exp_rest(struct eco_experiment *x, struct eco_err *err)
{
    struct eco_exp_meter *port = &x->ports.meter;
    if (!port->rest || x->rested || x->plan.unmetered || eco_exp_stop(x)) {
        return 0;
    }
    if (x->ports.progress) {
        eco_exp_show(x, "machine at rest", eco_exp_first_slot(x));
    }
    port->rest(port->self, x->plan.quick ? REST_QUICK_S : ECO_EXP_IDLE_S, x->ports.stop,
               x->ports.self, &x->rest);
    if (eco_exp_stop(x)) {
        return 0; /* cut short: not kept */
    }
    x->rested = true;
    return x->ports.journal ? eco_journal_append_rest(x->ports.journal, &x->rest, err) : 0;
}
