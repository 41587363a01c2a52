/* Perplexity of the arms, after the sampler has stopped: it can never touch an energy. */
#include "experiment/experiment_state.h"

#include <math.h>
#include <stdio.h>

/* false: after this error the workload takes no more calls. Interrupted: *q stays undone. */
static bool ask(struct eco_experiment *x, struct eco_generator *w, int arm,
                struct eco_journal_quality *q)
{
    struct eco_workload_quality got;
    struct eco_err why = {.message = ""};
    int rc = eco_exp_load(x, w, arm, &why);
    if (rc == 0 && !w->class->perplexity) {
        rc = eco_err_set(&why, ECO_E_UNSUPPORTED, "corpus", "this workload has no perplexity");
    }
    rc = rc ? rc : w->class->perplexity(w, x->plan.corpus, ECO_EXP_SEQ_LEN, &got, &why);
    if (rc == ECO_E_INTERRUPTED) {
        return false;
    }
    *q = (struct eco_journal_quality){.done = true,
                                      .arm = arm,
                                      .mean_nll = (double)NAN,
                                      .tokens = -1,
                                      .windows = -1,
                                      .seq_len = ECO_EXP_SEQ_LEN};
    if (rc) {
        snprintf(q->error, sizeof(q->error), "%.150s", why.message);
        return why.code == ECO_E_UNSUPPORTED;
    }
    q->mean_nll = got.mean_nll;
    q->tokens = got.tokens;
    q->windows = got.windows;
    q->seq_len = got.seq_len > 0 ? got.seq_len : ECO_EXP_SEQ_LEN;
    if (!isfinite(q->mean_nll) || q->mean_nll < 0) {
        q->mean_nll = (double)NAN;
        snprintf(q->error, sizeof(q->error), "the workload gave no likelihood");
    }
    return w->class->unload(w, NULL) == 0;
}

/* A slot of the arm, for the line on the terminal. */
static int slot_of(const struct eco_experiment *x, int arm)
{
    int slot = 0;
    while (slot + 1 < x->plan.arm_count && x->order[slot] != arm) {
        slot++;
    }
    return x->plan.unmetered ? slot + x->plan.arm_count : slot;
}

int eco_experiment_quality(struct eco_experiment *x, struct eco_generator *w, struct eco_err *err)
{
    const struct eco_journal_quality *dead = NULL;
    int rc = 0;
    for (int arm = 0; arm < x->plan.arm_count && rc == 0; arm++) {
        struct eco_journal_quality *q = &x->quality[arm];
        if (q->done || !x->plan.corpus || (x->plan.null_run && arm > 0)) {
            continue;
        }
        if (dead) { /* after an error only close is allowed */
            *q = *dead;
            q->arm = arm;
        } else if (!eco_exp_stop(x)) {
            eco_exp_show(x, "perplexity", slot_of(x, arm));
            dead = ask(x, w, arm, q) ? NULL : q;
        }
        if (!q->done) { /* --resume does the rest */
            x->partial = true;
            break;
        }
        rc = x->ports.journal ? eco_journal_append_quality(x->ports.journal, q, err) : 0;
    }
    return rc;
}
