/* What `measure` is asked for: arms, protocol, conditions; or what a journal says was asked for. */
#include "args.h"
#include "base/file.h"
#include "measure.h"
#include "runs.h"

#include <math.h>
#include <string.h>

#define QUICK_TOKENS 64
#define QUICK_ITERATIONS 3
#define QUICK_BLOCKS 4
#define QUICK_BLOCKS_UNMETERED 2 /* times scatter less than energies, and nobody waits for rest */
#define PROMPT_TOKENS 9          /* of the fixed prompt of protocol v1 */

static int no_memory(struct eco_err *err)
{
    return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
}

const char *eco_measure_workload(const struct eco_args_measure *a)
{
    const char *model = a->target.model;
    if (a->workload) {
        return a->workload;
    }
    bool here = model &&
                (strncmp(model, "synthetic:", strlen("synthetic:")) == 0 || eco_file_exists(model));
    return here ? "builtin" : NULL;
}

/* ---- arms ------------------------------------------------------------------------------------ */

static bool is_baseline(enum eco_precision p)
{
    return p == ECO_PREC_FP16 || p == ECO_PREC_BF16 || p == ECO_PREC_FP32;
}

static int add_arm(struct eco_exp_plan *p, enum eco_precision arm, struct eco_err *err)
{
    for (int i = 0; i < p->arm_count; i++) {
        if (p->arms[i] == arm) {
            return eco_err_set(err, ECO_E_INVALID, "precision", "'precision' names %s twice",
                               eco_precision_name(arm));
        }
    }
    if (p->arm_count == ECO_EXP_MAX_ARMS) {
        return eco_err_set(err, ECO_E_RANGE, "precision", "at most %d precisions in one run",
                           ECO_EXP_MAX_ARMS);
    }
    p->arms[p->arm_count++] = arm;
    return 0;
}

/* "A,B": the 16-bit one among them is the baseline, else FP16 is added as it. */
static int plan_arms(struct eco_ctx *ctx, const char *list, struct eco_exp_plan *p,
                     struct eco_err *err)
{
    enum eco_precision base = ECO_PREC_FP16, others[ECO_EXP_MAX_ARMS];
    int n = 0, rc = 0;
    for (const char *at = list ? list : "NF4"; rc == 0 && *at;) {
        size_t len = strcspn(at, ",");
        enum eco_precision arm;
        const char *word = eco_arena_strdup(ctx->arena, at, len);
        rc = word ? eco_step_precision(word, ECO_PREC_NF4, "precision", &arm, err) : no_memory(err);
        if (rc == 0 && is_baseline(arm)) {
            base = arm;
        } else if (rc == 0 && n == ECO_EXP_MAX_ARMS) {
            rc = add_arm(p, ECO_PREC_NONE, err);
        } else if (rc == 0) {
            others[n++] = arm;
        }
        at += len + (at[len] == ',');
    }
    rc = rc ? rc : add_arm(p, base, err);
    for (int i = 0; rc == 0 && i < n && !p->null_run; i++) {
        rc = add_arm(p, others[i], err);
    }
    if (rc == 0 && p->null_run) {
        p->arms[p->arm_count++] = base;
    }
    if (rc == 0 && p->arm_count < 2) {
        rc = eco_err_set(err, ECO_E_INVALID, "precision",
                         "'precision' must name a quantized one beside the baseline %s (--null "
                         "measures the baseline against itself)",
                         eco_precision_name(base));
    }
    return rc;
}

/* A server's address and names, as the journal keeps them. */
static int plan_server(struct eco_measure_all *all, struct eco_err *err)
{
    const struct eco_args_measure *a = all->args;
    struct eco_exp_plan *p = &all->plan;
    struct eco_workload_openai o = {a->url, a->served_model, a->key_env};
    struct eco_buf text = ECO_BUF_INIT;
    bool server = strcmp(p->workload, "openai") == 0;
    if (!server) {
        const char *stray = a->url            ? "url"
                            : a->served_model ? "served_model"
                            : a->key_env      ? "key_env"
                                              : NULL;
        return stray
                   ? eco_err_set(err, ECO_E_INVALID, stray, "'%s' is for --workload openai", stray)
                   : 0;
    }
    int rc = eco_workload_openai_text(&o, p->arms, p->arm_count, &text, err);
    if (rc == 0) {
        p->workload = eco_arena_strdup(all->ctx->arena, eco_buf_str(&text), text.len);
        rc = p->workload ? 0 : no_memory(err);
    }
    eco_buf_done(&text);
    return rc;
}

/* ---- conditions ------------------------------------------------------------------------------ */

/* Into v, rising, each once; whole numbers where `whole`. */
static int sorted(const struct eco_f64s *list, const char *arg, bool whole,
                  double v[ECO_EXP_MAX_SWEEP], int *count, struct eco_err *err)
{
    *count = 0;
    for (size_t i = 0; i < list->n; i++) {
        double x = list->v[i];
        int at = *count;
        if (whole && x != floor(x)) {
            return eco_err_set(err, ECO_E_INVALID, arg, "'%s' must be whole numbers, not %g", arg,
                               x);
        }
        if (at == ECO_EXP_MAX_SWEEP) {
            return eco_err_set(err, ECO_E_RANGE, arg, "'%s' takes at most %d values", arg,
                               ECO_EXP_MAX_SWEEP);
        }
        for (; at > 0 && v[at - 1] >= x; at--) {
            if (v[at - 1] == x) {
                return eco_err_set(err, ECO_E_INVALID, arg, "'%s' names %g twice", arg, x);
            }
            v[at] = v[at - 1];
        }
        v[at] = x;
        ++*count;
    }
    return 0;
}

static int plan_sweep(const struct eco_args_measure *a, struct eco_exp_plan *p, struct eco_err *err)
{
    double batch[ECO_EXP_MAX_SWEEP];
    struct eco_exp_sweep *s = &p->sweep;
    int n = 0;
    int rc = sorted(&a->batch, "batch", true, batch, &n, err);
    rc =
        rc ? rc : sorted(&a->power_limits, "power_limits", false, s->limit_w, &s->limit_count, err);
    if (rc == 0 && p->null_run && (n > 1 || s->limit_count > 1)) {
        rc = eco_err_set(err, ECO_E_INVALID, "null",
                         "a null run measures one batch at one power limit");
    }
    if (rc) {
        return rc;
    }
    p->batch = n ? (int)batch[0] : 1;
    p->limit_w = s->limit_count ? s->limit_w[0] : 0;
    p->clock_mhz = a->lock_clocks > 0 ? a->lock_clocks : 0;
    s->batch_count = n > 1 ? n : 0;
    s->limit_count = s->limit_count > 1 ? s->limit_count : 0;
    for (int i = 0; i < s->batch_count; i++) {
        s->batch[i] = (int)batch[i];
    }
    return 0;
}

static int at_least_one(int n)
{
    return n ? n : 1;
}

size_t eco_measure_conditions(const struct eco_exp_plan *p)
{
    return (size_t)at_least_one(p->sweep.batch_count) * (size_t)at_least_one(p->sweep.limit_count);
}

static int paths(struct eco_measure *m, const char *dir, struct eco_err *err)
{
    m->dir = dir;
    m->journal = eco_step_fmt(m->ctx, "%s/run.jsonl", dir);
    m->trace = eco_step_fmt(m->ctx, "%s/trace.csv", dir);
    m->log = eco_step_fmt(m->ctx, "%s/worker.log", dir);
    return m->journal && m->trace && m->log ? 0 : no_memory(err);
}

int eco_measure_condition(struct eco_measure_all *all, size_t i, struct eco_measure *m,
                          struct eco_err *err)
{
    const struct eco_exp_sweep *s = &all->plan.sweep;
    size_t limits = (size_t)at_least_one(s->limit_count);
    m->all = all;
    m->ctx = all->ctx;
    m->plan = all->plan;
    if (i == 0) {
        return paths(m, all->root, err);
    }
    m->plan.sweep = (struct eco_exp_sweep){.batch_count = 0};
    const char *batch = "", *limit = "";
    if (s->batch_count) {
        m->plan.batch = s->batch[i / limits];
        batch = eco_step_fmt(all->ctx, "batch-%d", m->plan.batch);
    }
    if (s->limit_count) {
        m->plan.limit_w = s->limit_w[i % limits];
        limit = eco_step_fmt(all->ctx, "%s%gW", s->batch_count ? "-" : "", m->plan.limit_w);
    }
    const char *dir =
        batch && limit ? eco_step_fmt(all->ctx, "%s/%s%s", all->root, batch, limit) : NULL;
    return dir ? paths(m, dir, err) : no_memory(err);
}

/* ---- the plan -------------------------------------------------------------------------------- */

/* What --quick makes of a number that was not given. */
static int count_of(const struct eco_args_measure *a, size_t offset, int64_t asked, int for_quick)
{
    bool given = eco_args_have(eco_op_find("measure"), a, offset);
    return a->quick && !given ? for_quick : (int)asked;
}

#define COUNT_OF(a, member, for_quick)                                                             \
    count_of(a, offsetof(struct eco_args_measure, member), (a)->member, for_quick)

int eco_measure_plan(struct eco_measure_all *all, struct eco_err *err)
{
    const struct eco_args_measure *a = all->args;
    struct eco_exp_plan *p = &all->plan;
    if (!a->target.model) {
        return eco_err_set(err, ECO_E_MISSING, "model",
                           "no model: a workload needs a name, a folder or a file to load");
    }
    *p = (struct eco_exp_plan){.model = a->target.model,
                               .workload = a->workload,
                               .gpu = a->target.gpu,
                               .source = a->source,
                               .device = a->device,
                               .profile = a->profile,
                               .corpus = a->corpus,
                               .iterations = COUNT_OF(a, iterations, QUICK_ITERATIONS),
                               .warmup = a->quick ? 1 : 2,
                               .tokens = COUNT_OF(a, gen_tokens, QUICK_TOKENS),
                               .prompt_tokens = PROMPT_TOKENS,
                               .seed = (uint64_t)a->seed,
                               .quick = a->quick,
                               .null_run = a->null,
                               .decode = !a->quick,
                               .started_unix_ms = all->ctx->now_unix_ms};
    int rc = plan_arms(all->ctx, a->precision, p, err);
    rc = rc ? rc : plan_sweep(a, p, err);
    rc = rc ? rc : plan_server(all, err);
    if (rc == 0 && a->corpus && !eco_file_exists(a->corpus)) {
        rc = eco_err_set(err, ECO_E_NOT_FOUND, "corpus", "'%.200s' cannot be read", a->corpus);
    }
    return rc;
}

/* A journal has no command and no path: they must be given again, and be the same. */
static int resumed_source(const struct eco_exp_plan *p, struct eco_args_measure *a,
                          struct eco_err *err)
{
    char kept[64], digest[65];
    if (!p->source_sha256) {
        a->source = a->source ? a->source : p->source;
        return 0;
    }
    if (!a->source) {
        return eco_err_set(err, ECO_E_MISSING, "source",
                           "the run was begun with --source %.60s%s, which run.jsonl does not keep "
                           "whole: give it again",
                           p->source, strcmp(p->source, "exec:") == 0 ? "COMMAND" : "");
    }
    if (!eco_experiment_source_kept(a->source, kept, digest) ||
        strcmp(digest, p->source_sha256) != 0) {
        return eco_err_set(err, ECO_E_INVALID, "source",
                           "this is another --source than the one the run was begun with (%.60s)",
                           p->source);
    }
    return 0;
}

int eco_measure_resumed_plan(struct eco_measure_all *all, struct eco_args_measure *a,
                             struct eco_err *err)
{
    if (a->target.model || a->workload || a->precision) {
        return eco_err_set(err, ECO_E_INVALID, "resume",
                           "'resume' takes model, precision and workload from the run it goes on "
                           "with");
    }
    const char *journal = eco_step_fmt(all->ctx, "%s/run.jsonl", all->root);
    int rc = journal ? eco_experiment_read_plan(journal, all->ctx->arena, &all->plan, err)
                     : no_memory(err);
    rc = rc ? rc : resumed_source(&all->plan, a, err);
    if (rc == 0) {
        all->plan.source = a->source;
        a->target.model = all->plan.model;
        a->target.gpu = all->plan.gpu;
        a->workload = all->plan.workload;
        a->device = all->plan.device;
        a->profile = all->plan.profile;
        a->corpus = all->plan.corpus;
        a->quick = all->plan.quick;
    }
    return rc;
}

void eco_measure_blocks(struct eco_measure_all *all)
{
    struct eco_exp_plan *p = &all->plan;
    int quick = p->unmetered ? QUICK_BLOCKS_UNMETERED : QUICK_BLOCKS;
    int wanted = COUNT_OF(all->args, blocks, quick);
    /* a quick run of many arms is not lengthened: its places differ by 1, and it says so */
    p->blocks = p->quick ? wanted : eco_order_blocks(p->arm_count, wanted);
}

double eco_measure_least_s(const struct eco_exp_plan *p, double min_window_s)
{
    double windows = p->decode ? 2 : 1;
    double each_s = ECO_EXP_IDLE_S + windows * fmax(min_window_s, ECO_EXP_MIN_WINDOW_S);
    return p->unmetered ? 0 : p->arm_count * (p->blocks + 1) * each_s;
}
