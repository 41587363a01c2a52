/*
 * Other ways to measure, on the simulated bench: windows in parts from random phases, the steady
 * state of several streams, no power source, perplexity, the machine at rest, a sweep's journal.
 */
#include "experiment/journal.h"
#include "fake_bench.h"

#include "eco_test.h"

static char folder[] = "ecocompute-ways-XXXXXX";
static char journal[96];

static struct eco_exp_plan plan_of(void)
{
    return (struct eco_exp_plan){.model = "tiny",
                                 .workload = "worker:fake",
                                 .arms = {ECO_PREC_FP16, ECO_PREC_NF4},
                                 .arm_count = 2,
                                 .blocks = 4,
                                 .iterations = 10,
                                 .warmup = 2,
                                 .tokens = 256,
                                 .prompt_tokens = 9,
                                 .batch = 1,
                                 .seed = 11};
}

/* ---- a duty-cycled sensor: it sees 25 ms of every 100 ms ------------------------------------- */

struct duty {
    struct bench bench;
    int64_t part_ns;
    double j, s;
    int parts, windows, most_parts;
    double phases_s[4096];
    int phase_count;
};

static int duty_begin(void *self, struct eco_err *err)
{
    struct duty *d = self;
    (void)err;
    d->part_ns = d->bench.now_ns;
    if (d->phase_count < 4096) {
        d->phases_s[d->phase_count++] = fmod((double)d->part_ns * 1e-9, 0.1);
    }
    return 0;
}

static int duty_end(void *self, bool last, struct eco_exp_energy *out, struct eco_err *err)
{
    struct duty *d = self;
    double s = (double)(d->bench.now_ns - d->part_ns) * 1e-9;
    (void)err;
    d->s += s;
    d->j += s * d->bench.watts[d->bench.arm];
    d->parts++;
    if (last) {
        *out = (struct eco_exp_energy){.window_s = d->s,
                                       .counter_j = d->j,
                                       .integral_j = d->j,
                                       .v1_j = d->j,
                                       .mean_w = d->j / d->s,
                                       .peak_w = d->j / d->s,
                                       .gap_frac = 0,
                                       .samples = 1};
        d->most_parts = d->parts > d->most_parts ? d->parts : d->most_parts;
        d->windows++;
        d->parts = 0;
        d->s = d->j = 0;
    }
    return 0;
}

static void test_random_starts(void **state)
{
    struct eco_exp_plan p = plan_of();
    struct eco_experiment *x = NULL;
    struct eco_err err = {.message = ""};
    struct eco_arena arena;
    struct eco_run r;
    struct duty d = {.parts = 0};
    (void)state;
    bench_init(&d.bench);
    struct eco_exp_ports ports = bench_ports(&d.bench, NULL);
    ports.meter.begin_part = duty_begin;
    ports.meter.end_part = duty_end;
    ports.meter.self = &d;
    ports.meter.starts = 8;
    ports.meter.phase_s = 0.1;
    assert_int_equal(eco_experiment_new(&p, &ports, &x, &err), 0);
    d.bench.hooks = eco_experiment_hooks(x);
    assert_int_equal(eco_experiment_run(x, &d.bench.base, &err), 0);
    assert_int_equal(d.windows, 10);
    assert_int_equal(d.most_parts, 10); /* each generation by itself: 2.57 s and 3.08 s */
    eco_arena_init(&arena, 0);
    eco_run_init(&r);
    assert_int_equal(eco_experiment_summary(x, &arena, &r, &err), 0);
    /* pauses lie outside: the energy is that of the generations alone */
    assert_near_rel(r.arms[0].counter_j_per_token, 300 * (0.02 + 2.55) / 256, 1e-9);
    assert_near_rel(r.arms[1].counter_j_per_token, 200 * (0.02 + 3.06) / 256, 1e-9);
    assert_string_equal(r.protocol, "custom");
    assert_non_null(strstr(r.protocol_differences[0], "random phase"));
    /* spread over the period: each tenth of it is hit, none by over a quarter of the starts */
    int hits[10] = {0};
    for (int i = 0; i < d.phase_count; i++) {
        hits[(int)(d.phases_s[i] * 100) % 10]++;
    }
    assert_int_equal(d.phase_count, 100);
    for (int i = 0; i < 10; i++) {
        assert_true(hits[i] >= 1 && hits[i] <= 25);
    }
    eco_experiment_free(x);
    eco_arena_done(&arena);
}

/* ---- several streams: only the middle of the window is steady -------------------------------- */

static int steady_window(struct eco_generator *w, const struct eco_workload_window *what,
                         struct eco_workload_result *out, struct eco_err *err)
{
    struct bench *b = (struct bench *)w;
    (void)what;
    (void)err;
    b->now_ns += 2000000000; /* slots fill */
    b->hooks.edge(b->hooks.ctx, false);
    b->now_ns += 8000000000;
    b->hooks.edge(b->hooks.ctx, true);
    b->now_ns += 3000000000; /* slots drain */
    *out = (struct eco_workload_result){.iterations = 10,
                                        .tokens = 1600,
                                        .decode_tokens = 1590,
                                        .seconds = 8,
                                        .ttft_s = 0.02,
                                        .tpot_mean_s = 0.01,
                                        .tpot_p50_s = 0.01,
                                        .tpot_p99_s = 0.01,
                                        .steady = true};
    return 0;
}

static void test_steady_state(void **state)
{
    static const struct eco_generator_class streams = {
        "fake", bench_load, steady_window, steady_window, NULL, bench_unload, bench_close};
    struct eco_exp_plan p = plan_of();
    struct eco_experiment *x = NULL;
    struct eco_err err = {.message = ""};
    const struct eco_exp_trial *t;
    struct duty d = {.parts = 0};
    (void)state;
    bench_init(&d.bench);
    d.bench.base.class = &streams;
    struct eco_exp_ports ports = bench_ports(&d.bench, NULL);
    ports.meter.begin_part = duty_begin;
    ports.meter.end_part = duty_end;
    ports.meter.self = &d;
    assert_int_equal(eco_experiment_new(&p, &ports, &x, &err), 0);
    d.bench.hooks = eco_experiment_hooks(x);
    assert_int_equal(eco_experiment_run(x, &d.bench.base, &err), 0);
    size_t n = eco_experiment_trials(x, &t);
    assert_int_equal(n, 10);
    for (size_t i = 0; i < n; i++) {
        double watts = t[i].run.arm ? 200 : 300;
        assert_near(t[i].run.window_s, 8, 1e-9);
        assert_near_rel(t[i].run.energy_counter_j, 8 * watts, 1e-9);
        assert_near(t[i].window_end_s - t[i].window_start_s, 8, 1e-9);
    }
    eco_experiment_free(x);
    /* a meter without such edges gives no joule of another stretch */
    bench_init(&d.bench);
    d.bench.base.class = &streams;
    ports = bench_ports(&d.bench, NULL);
    assert_int_equal(eco_experiment_new(&p, &ports, &x, &err), 0);
    d.bench.hooks = eco_experiment_hooks(x);
    assert_int_equal(eco_experiment_run(x, &d.bench.base, &err), ECO_E_DEVICE);
    eco_experiment_free(x);
}

/* ---- no power source ------------------------------------------------------------------------- */

static void test_times_alone(void **state)
{
    struct eco_exp_plan p = plan_of();
    struct eco_experiment *x = NULL;
    struct eco_err err = {.message = ""};
    struct eco_arena arena;
    struct eco_run r;
    struct bench b;
    (void)state;
    p.unmetered = true;
    p.decode = true;
    bench_init(&b);
    struct eco_exp_ports ports = bench_ports(&b, NULL);
    ports.meter = eco_experiment_no_meter();
    assert_int_equal(eco_experiment_new(&p, &ports, &x, &err), 0);
    b.hooks = eco_experiment_hooks(x);
    assert_int_equal(eco_experiment_planned(x), 8); /* no block is thrown away */
    assert_int_equal(eco_experiment_run(x, &b.base, &err), 0);
    assert_int_equal(b.loads, 8);
    eco_arena_init(&arena, 0);
    eco_run_init(&r);
    assert_int_equal(eco_experiment_summary(x, &arena, &r, &err), 0);
    for (int i = 0; i < 2; i++) {
        const struct eco_run_arm *a = &r.arms[i];
        assert_int_not_equal(a->basis, ECO_BASIS_MEASURED);
        assert_true(isnan(a->j_per_token) && isnan(a->counter_j_per_token));
        assert_true(isnan(a->total_energy_j) && isnan(a->delta.pct));
        assert_non_null(strstr(a->reason, "no power source"));
        assert_near_rel(a->tokens_per_s, 256 / (i ? 0.02 + 3.06 : 0.02 + 2.55), 1e-9);
        assert_near(a->tpot_mean_s, i ? 0.012 : 0.01, 1e-12);
        assert_int_equal(a->energy_stat.n, 4);
    }
    eco_experiment_free(x);
    eco_arena_done(&arena);
}

/* ---- perplexity ------------------------------------------------------------------------------ */

static int asked;

static int perplexity(struct eco_generator *w, const char *path, int seq_len,
                      struct eco_workload_quality *out, struct eco_err *err)
{
    const struct bench *b = (struct bench *)w;
    assert_string_equal(path, "text");
    asked++;
    if (b->arm == ECO_PREC_NF4 && b->fail_window == -1) {
        return eco_err_set(err, ECO_E_UNSUPPORTED, "corpus", "no likelihoods in NF4");
    }
    if (b->arm == ECO_PREC_NF4 && b->fail_window == -2) {
        return eco_err_set(err, ECO_E_INTERRUPTED, "", "interrupted");
    }
    *out = (struct eco_workload_quality){b->arm == ECO_PREC_NF4 ? 2.1 : 2.0, 1000, 2, seq_len};
    return 0;
}

static const struct eco_generator_class reader = {
    "fake", bench_load, bench_generate, bench_generate, perplexity, bench_unload, bench_close};

static struct eco_experiment *with_quality(struct bench *b, bool resume, struct eco_arena *arena,
                                           struct eco_run *r)
{
    struct eco_exp_plan p = plan_of();
    struct eco_experiment *x = NULL;
    struct eco_err err = {.message = ""};
    p.corpus = "text";
    b->base.class = &reader;
    struct eco_exp_ports ports = bench_ports(b, journal);
    assert_int_equal(eco_experiment_new(&p, &ports, &x, &err), 0);
    b->hooks = eco_experiment_hooks(x);
    assert_int_equal(resume ? eco_experiment_resume(x, &err) : 0, 0);
    assert_int_equal(eco_experiment_run(x, &b->base, &err), 0);
    assert_int_equal(eco_experiment_quality(x, &b->base, &err), 0);
    eco_run_init(r);
    assert_int_equal(eco_experiment_summary(x, arena, r, &err), 0);
    return x;
}

static void test_quality(void **state)
{
    struct eco_arena arena;
    struct eco_run r;
    struct bench b;
    (void)state;
    eco_arena_init(&arena, 0);
    bench_init(&b);
    asked = 0;
    eco_experiment_free(with_quality(&b, false, &arena, &r));
    assert_int_equal(asked, 2);
    assert_true(r.arms[1].quality.present && !r.arms[1].quality.error);
    assert_near_rel(r.arms[1].quality.value, exp(2.1), 1e-12);
    assert_near_rel(r.arms[1].quality.fp16_value, exp(2.0), 1e-12);
    assert_near_rel(r.arms[1].quality.delta_pct, 100 * expm1(0.1), 1e-12);
    double energy = r.arms[1].counter_j_per_token;
    /* taken from the journal, not asked again */
    bench_init(&b);
    eco_experiment_free(with_quality(&b, true, &arena, &r));
    assert_int_equal(asked, 2);
    assert_near_rel(r.arms[1].quality.value, exp(2.1), 1e-12);
    assert_int_equal(unlink(journal), 0);
    /* a failure is that arm's, and touches no energy */
    bench_init(&b);
    b.fail_window = -1;
    eco_experiment_free(with_quality(&b, false, &arena, &r));
    assert_string_equal(r.arms[1].quality.error, "no likelihoods in NF4");
    assert_true(isnan(r.arms[1].quality.value) && !r.arms[0].quality.error);
    assert_near_rel(r.arms[1].counter_j_per_token, energy, 0);
    assert_int_equal(unlink(journal), 0);
    /* Ctrl-C: what is done stays, and --resume asks for the rest */
    bench_init(&b);
    b.fail_window = -2;
    eco_experiment_free(with_quality(&b, false, &arena, &r));
    assert_true(r.partial && r.arms[0].quality.present && !r.arms[1].quality.present);
    asked = 0;
    bench_init(&b);
    eco_experiment_free(with_quality(&b, true, &arena, &r));
    assert_int_equal(asked, 1);
    assert_true(!r.partial && r.arms[0].quality.present);
    assert_near_rel(r.arms[1].quality.value, exp(2.1), 1e-12);
    assert_int_equal(unlink(journal), 0);
    eco_arena_done(&arena);
}

/* ---- at rest, and what a journal keeps of a plan --------------------------------------------- */

static void at_rest(void *self, double seconds, bool (*stop)(void *), void *stop_self,
                    struct eco_exp_rest *out)
{
    struct bench *b = self;
    (void)stop;
    (void)stop_self;
    b->now_ns += (int64_t)(2e9 * seconds);
    b->shows += 100000; /* counts the calls */
    *out = (struct eco_exp_rest){31.5, 0.25, ""};
}

static void test_rest_is_looked_at_once(void **state)
{
    struct eco_exp_plan p = plan_of();
    struct eco_arena arena;
    struct eco_run r;
    struct bench b;
    (void)state;
    p.blocks = 2;
    for (int round = 0; round < 2; round++) {
        struct eco_experiment *x = NULL;
        struct eco_err err = {.message = ""};
        bench_init(&b);
        struct eco_exp_ports ports = bench_ports(&b, journal);
        ports.meter.rest = at_rest;
        assert_int_equal(eco_experiment_new(&p, &ports, &x, &err), 0);
        b.hooks = eco_experiment_hooks(x);
        assert_int_equal(round ? eco_experiment_resume(x, &err) : 0, 0);
        assert_int_equal(eco_experiment_run(x, &b.base, &err), 0);
        assert_int_equal(b.shows / 100000, round ? 0 : 1);
        eco_arena_init(&arena, 0);
        eco_run_init(&r);
        assert_int_equal(eco_experiment_summary(x, &arena, &r, &err), 0);
        assert_near(r.idle.without_model_w, 31.5, 0);
        assert_near(r.idle.observer_power_w, 0.25, 0);
        assert_null(r.idle.reason);
        eco_experiment_free(x);
        eco_arena_done(&arena);
    }
    assert_int_equal(unlink(journal), 0);
}

static void test_a_plan_survives(void **state)
{
    struct eco_exp_plan p = plan_of(), got;
    struct eco_arena arena;
    struct eco_err err = {.message = ""};
    (void)state;
    p.source = "exec:watts"; /* a command is not kept: test_a_journal_keeps_no_secret */
    p.device = "0,1";
    p.corpus = "text";
    p.profile = "RTX 3090";
    p.limit_w = 200;
    p.clock_mhz = 1410;
    p.unmetered = true;
    p.sweep = (struct eco_exp_sweep){
        .batch = {1, 8, 32}, .batch_count = 3, .limit_w = {200, 250}, .limit_count = 2};
    assert_int_equal(eco_journal_write_plan(journal, &p, &err), 0);
    eco_arena_init(&arena, 0);
    assert_int_equal(eco_experiment_read_plan(journal, &arena, &got, &err), 0);
    assert_string_equal(got.source, "exec:");
    assert_int_equal(strlen(got.source_sha256), 64);
    assert_string_equal(got.device, "0,1");
    assert_string_equal(got.corpus, "text");
    assert_string_equal(got.profile, "RTX 3090");
    assert_near(got.limit_w, 200, 0);
    assert_near(got.clock_mhz, 1410, 0);
    assert_true(got.unmetered);
    assert_int_equal(got.sweep.batch_count, 3);
    assert_int_equal(got.sweep.batch[2], 32);
    assert_int_equal(got.sweep.limit_count, 2);
    assert_near(got.sweep.limit_w[1], 250, 0);
    eco_arena_done(&arena);
    assert_int_equal(unlink(journal), 0);
}

static int enter(void **state)
{
    (void)state;
    if (!mkdtemp(folder)) {
        return -1;
    }
    snprintf(journal, sizeof(journal), "%s/run.jsonl", folder);
    return 0;
}

static int leave(void **state)
{
    (void)state;
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_starts),
        cmocka_unit_test(test_steady_state),
        cmocka_unit_test(test_times_alone),
        cmocka_unit_test(test_quality),
        cmocka_unit_test(test_rest_is_looked_at_once),
        cmocka_unit_test(test_a_plan_survives),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
