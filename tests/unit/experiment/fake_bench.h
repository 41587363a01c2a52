/*
 * A measuring bench on simulated time: a clock, a card that draws power by what the workload
 * does, and a workload without a model. Everything is a function of the seed, the arm, the block
 * and the place, so two runs of one plan give the same energies.
 */
#ifndef ECO_TEST_FAKE_BENCH_H
#define ECO_TEST_FAKE_BENCH_H

#include "experiment/experiment.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct bench {
    struct eco_generator base;
    struct eco_workload_hooks hooks;
    int64_t now_ns;
    enum eco_precision arm;
    int batch;
    bool loaded, in_window;
    int windows, loads, calls;
    /* what goes wrong, by the number of the window or call; 0: never */
    int throttle_window, kill_call, fail_window, stop_call, short_windows;
    int withhold_window;
    double restless_w; /* idle power that never comes to rest */
    double cold_c;     /* the card is this much under its first temperature from load 3 on */
    bool no_counter, no_power;
    double token_s[ECO_PREC_COUNT], watts[ECO_PREC_COUNT];
    double others_frac[ECO_PREC_COUNT]; /* of the CPUs */
    double place_effect;                /* the second arm of a block costs this share more */
    int64_t began_ns;
    int trials_told, shows;
};

/* A chance for kill -9 and for Ctrl-C: every call of ours is one. */
static inline void bench_call(struct bench *b)
{
    if (++b->calls == b->kill_call) {
        raise(SIGKILL);
    }
}

static inline int64_t bench_now(void *self)
{
    return ((struct bench *)self)->now_ns;
}

static inline void bench_sleep(void *self, int64_t ns)
{
    struct bench *b = self;
    bench_call(b);
    b->now_ns += ns;
}

static inline bool bench_stop(void *self)
{
    const struct bench *b = self;
    return b->stop_call && b->calls >= b->stop_call;
}

static inline void bench_told(void *self)
{
    ((struct bench *)self)->trials_told++;
}

static inline void bench_show(void *self, const struct eco_exp_progress *p)
{
    ((struct bench *)self)->shows += p->trial >= 1 && p->trial <= p->trials;
}

static inline int bench_begin(void *self, struct eco_err *err)
{
    struct bench *b = self;
    (void)err;
    bench_call(b);
    b->began_ns = b->now_ns;
    b->in_window = true;
    b->windows++;
    return 0;
}

static inline int bench_end(void *self, struct eco_exp_energy *out, struct eco_err *err)
{
    struct bench *b = self;
    double s = (double)(b->now_ns - b->began_ns) * 1e-9, j = s * b->watts[b->arm];
    (void)err;
    bench_call(b);
    b->in_window = false;
    *out = (struct eco_exp_energy){.window_s = s,
                                   .counter_j = b->no_counter ? (double)NAN : j,
                                   .integral_j = b->no_power ? (double)NAN : j * 1.01,
                                   .v1_j = b->no_power ? (double)NAN : j * 1.02,
                                   .mean_w = j / s,
                                   .peak_w = j / s + 3,
                                   .gap_frac = 0.01,
                                   .resolution_frac = 1 / j,
                                   .samples = (int64_t)(s * 10),
                                   .withhold = b->windows == b->withhold_window,
                                   .too_short = b->short_windows > 0};
    if (b->no_power && b->no_counter) {
        strcpy(out->reason, "the device is gone");
    }
    if (b->short_windows > 0) {
        b->short_windows--;
        out->counter_j = out->integral_j = out->v1_j = (double)NAN;
    }
    return 0;
}

static inline void bench_state(void *self, double seconds, struct eco_exp_now *out)
{
    const struct bench *b = self;
    double wobble = seconds > 2 ? 3 : (double)(b->now_ns / 500000000 % 7);
    *out = (struct eco_exp_now){.mean_w = 40 + wobble * b->restless_w,
                                .sd_w = 0.5,
                                .temp_c = b->loads >= 3 ? 50 - b->cold_c : 50,
                                .clock_mhz = 2000,
                                .throttled = b->in_window && b->windows == b->throttle_window};
}

/* ---- the workload ---------------------------------------------------------------------------- */

static inline int bench_load(struct eco_generator *w, const struct eco_workload_arm *arm,
                             struct eco_workload_loaded *out, struct eco_err *err)
{
    static const struct eco_run_package packages[] = {{"fake", "1.0"}};
    struct bench *b = (struct bench *)w;
    (void)err;
    bench_call(b);
    b->loads++;
    b->now_ns += 2000000000;
    b->arm = arm->precision;
    b->batch = arm->batch;
    b->loaded = true;
    *out = (struct eco_workload_loaded){"fake", "real", 1e9, packages, 1, "fake-backend"};
    return 0;
}

static inline int bench_generate(struct eco_generator *w, const struct eco_workload_window *what,
                                 struct eco_workload_result *out, struct eco_err *err)
{
    struct bench *b = (struct bench *)w;
    bool stopped = false;
    int done = 0;
    bench_call(b);
    if (b->in_window && b->windows == b->fail_window) {
        return eco_err_set(err, ECO_E_DEVICE, "workload", "the worker was killed by signal 9");
    }
    int64_t start = b->now_ns;
    while (done < what->iterations && !stopped) {
        /* a generation: 20 ms of prefill, then the tokens */
        b->now_ns += (int64_t)((0.02 + b->token_s[b->arm] * (what->tokens - 1)) * 1e9);
        done++;
        b->hooks.tick(b->hooks.ctx);
        stopped = b->hooks.stop(b->hooks.ctx);
    }
    int64_t tokens = (int64_t)done * what->tokens * b->batch;
    *out =
        (struct eco_workload_result){.iterations = done,
                                     .tokens = tokens,
                                     .decode_tokens = tokens - (int64_t)done * b->batch,
                                     .seconds = (double)(b->now_ns - start) * 1e-9,
                                     .ttft_s = 0.02,
                                     .others_cpu_frac = b->in_window ? b->others_frac[b->arm] : 0.0,
                                     .tpot_mean_s = b->token_s[b->arm],
                                     .tpot_p50_s = b->token_s[b->arm],
                                     .tpot_p99_s = b->token_s[b->arm],
                                     .stopped = done < what->iterations};
    return 0;
}

static inline int bench_unload(struct eco_generator *w, struct eco_err *err)
{
    (void)err;
    bench_call((struct bench *)w);
    ((struct bench *)w)->loaded = false;
    return 0;
}

static inline void bench_close(struct eco_generator *w)
{
    (void)w;
}

static const struct eco_generator_class bench_class = {
    "fake", bench_load, bench_generate, bench_generate, NULL, bench_unload, bench_close};

static inline void bench_init(struct bench *b)
{
    memset(b, 0, sizeof(*b));
    b->base.class = &bench_class;
    for (int i = 0; i < ECO_PREC_COUNT; i++) {
        b->token_s[i] = 0.01;
        b->watts[i] = 300;
    }
    b->token_s[ECO_PREC_NF4] = 0.012;
    b->watts[ECO_PREC_NF4] = 200;
}

static inline struct eco_exp_ports bench_ports(struct bench *b, const char *journal)
{
    return (struct eco_exp_ports){.meter = {.begin = bench_begin,
                                            .end = bench_end,
                                            .now = bench_state,
                                            .min_window_s = ECO_EXP_MIN_WINDOW_S,
                                            .self = b},
                                  .clock = {bench_now, bench_sleep, b},
                                  .stop = bench_stop,
                                  .progress = bench_show,
                                  .trial_done = bench_told,
                                  .self = b,
                                  .journal = journal};
}

#endif
