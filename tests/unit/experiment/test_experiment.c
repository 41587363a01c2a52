/* The experiment on a simulated bench: whole runs, interruptions, kill -9 at every step. */
#include "base/file.h"
#include "base/hash.h"
#include "experiment/journal.h"
#include "fake_bench.h"

#include "eco_test.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

static char folder[] = "ecocompute-exp-XXXXXX";
static char journal[96];

static struct eco_exp_plan plan_of(int arms, int blocks)
{
    struct eco_exp_plan p = {.model = "tiny",
                             .workload = "worker:fake",
                             .gpu = "RTX 4090",
                             .arms = {ECO_PREC_FP16, ECO_PREC_NF4, ECO_PREC_INT8_MIXED},
                             .arm_count = arms,
                             .blocks = blocks,
                             .iterations = 10,
                             .warmup = 2,
                             .tokens = 256,
                             .prompt_tokens = 9,
                             .batch = 1,
                             .seed = 11,
                             .started_unix_ms = 1790000000000};
    return p;
}

/* Opens, runs (after taking over the journal when asked) and returns the code. */
static int run(struct bench *b, const struct eco_exp_plan *p, const char *path, bool resume,
               struct eco_experiment **x, struct eco_err *err)
{
    struct eco_exp_ports ports = bench_ports(b, path);
    int rc = eco_experiment_new(p, &ports, x, err);
    assert_int_equal(rc, 0);
    b->hooks = eco_experiment_hooks(*x);
    rc = resume ? eco_experiment_resume(*x, err) : 0;
    return rc ? rc : eco_experiment_run(*x, &b->base, err);
}

static void test_whole_run(void **state)
{
    struct eco_exp_plan p = plan_of(2, 4);
    struct eco_arena arena;
    struct eco_experiment *x = NULL;
    struct eco_err err = {0};
    struct eco_run r;
    struct bench b;
    (void)state;
    eco_arena_init(&arena, 0);
    bench_init(&b);
    p.decode = true;
    assert_int_equal(run(&b, &p, journal, false, &x, &err), 0);
    assert_false(eco_experiment_partial(x));
    assert_int_equal(b.trials_told, 10);
    assert_true(b.shows > 50);
    eco_run_init(&r);
    assert_int_equal(eco_experiment_summary(x, &arena, &r, &err), 0);
    assert_int_equal(r.trial_count, 10);
    assert_int_equal(r.arm_count, 2);
    assert_string_equal(r.protocol, "v1");
    assert_false(r.partial);
    /* a generation takes 0.02 + 255 * 10 ms at 300 W */
    double base_j = 300 * (0.02 + 2.55) / 256, nf4_j = 200 * (0.02 + 3.06) / 256;
    const struct eco_run_arm *a = &r.arms[0], *q = &r.arms[1];
    assert_near_rel(a->counter_j_per_token, base_j, 1e-9);
    assert_near_rel(a->j_per_token, 1.02 * base_j, 1e-9);
    assert_near_rel(q->counter_j_per_token, nf4_j, 1e-9);
    assert_near_rel(q->base_j_per_token, 1.02 * base_j, 1e-9);
    assert_near(q->counter_delta.pct, 100 * (nf4_j / base_j - 1), 1e-6);
    assert_near(q->delta.pct, 100 * (nf4_j / base_j - 1), 1e-6);
    assert_string_equal(q->delta.verdict, "saves");
    assert_int_equal(q->delta.n, 4);
    assert_near(q->delta.df, 2, 0);
    /* one-token generations of 20 ms; decode is what is left, over 255 tokens */
    assert_near_rel(q->prefill_j, 200 * 0.02, 1e-9);
    assert_near_rel(q->decode_j_per_token, 200 * 0.012, 1e-9);
    assert_near_rel(a->decode_j_per_token, 300 * 0.01, 1e-9);
    assert_near(q->decode_delta.pct, -20, 1e-6);
    assert_near_rel(q->net_j_per_token, nf4_j - 40 * 3.08 / 256, 1e-9);
    assert_int_equal(q->level, ECO_RUN_LEVEL_L2);
    assert_int_equal(q->basis, ECO_BASIS_MEASURED);
    assert_int_equal(q->tokens, 4 * 2560);
    assert_near(q->tpot_p99_s, 0.012, 0);
    assert_near(r.idle.with_model_w, 40, 0);
    assert_string_equal(q->engine, "fake");
    assert_string_equal(r.environment.packages[0].version, "1.0");
    for (size_t i = 0; i < r.trial_count; i++) {
        assert_int_equal(r.trials[i].discarded, r.trials[i].block == 0);
        assert_false(r.trials[i].idle_timeout);
        assert_true(r.trials[i].window_s >= 5);
        assert_true(r.phases[i].end_s > r.phases[i].start_s);
        assert_near(r.trials[i].clock_mean_mhz, 2000, 0);
    }
    eco_experiment_free(x);
    eco_arena_done(&arena);
    assert_int_equal(unlink(journal), 0);
}

static void test_short_windows_are_lengthened(void **state)
{
    struct eco_exp_plan p = plan_of(2, 2);
    struct eco_experiment *x = NULL;
    struct eco_arena arena;
    struct eco_err err = {0};
    struct eco_run r;
    struct bench b;
    (void)state;
    eco_arena_init(&arena, 0);
    bench_init(&b);
    p.tokens = 16;
    p.iterations = 2;
    b.short_windows = 1; /* and the first one is still too short for the sensor */
    assert_int_equal(run(&b, &p, NULL, false, &x, &err), 0);
    eco_run_init(&r);
    assert_int_equal(eco_experiment_summary(x, &arena, &r, &err), 0);
    assert_string_equal(r.protocol, "custom");
    assert_int_equal(r.protocol_difference_count, 3);
    assert_string_equal(r.protocol_differences[0], "tokens per iteration 16 instead of 256");
    assert_string_equal(r.protocol_differences[1], "iterations 2 instead of 10");
    assert_non_null(strstr(r.protocol_differences[2], "so that windows are long enough"));
    for (size_t i = 0; i < r.trial_count; i++) {
        assert_true(r.trials[i].window_s >= 5 && r.trials[i].window_s < 9);
    }
    /* two blocks of two arms: a change, no interval, no verdict */
    assert_true(isnan(r.arms[1].delta.lo95_pct));
    assert_string_equal(r.arms[1].delta.verdict, "cannot tell");
    eco_experiment_free(x);
    bench_init(&b);
    b.short_windows = 2;
    assert_int_equal(run(&b, &p, NULL, false, &x, &err), ECO_E_DEVICE);
    assert_non_null(strstr(err.message, "too short for this sensor"));
    assert_true(eco_experiment_partial(x));
    eco_experiment_free(x);
    eco_arena_done(&arena);
}

static void test_throttled_trial_is_repeated_once(void **state)
{
    struct eco_exp_plan p = plan_of(2, 2);
    const struct eco_exp_trial *t;
    struct eco_experiment *x = NULL;
    struct eco_err err = {0};
    struct bench b;
    (void)state;
    bench_init(&b);
    b.throttle_window = 4; /* windows 1 and 2 are the discarded block */
    assert_int_equal(run(&b, &p, NULL, false, &x, &err), 0);
    assert_int_equal(eco_experiment_trials(x, &t), 7);
    assert_true(t[3].run.throttled && t[3].run.discarded);
    assert_false(t[4].run.throttled || t[4].run.discarded);
    assert_int_equal(t[3].run.block, t[4].run.block);
    assert_int_equal(t[3].run.arm, t[4].run.arm);
    eco_experiment_free(x);
}

static void test_idle_waits_end(void **state)
{
    struct eco_exp_plan p = plan_of(2, 2);
    const struct eco_exp_trial *t;
    struct eco_experiment *x = NULL;
    struct eco_err err = {0};
    struct bench b;
    (void)state;
    bench_init(&b);
    b.restless_w = 10;
    assert_int_equal(run(&b, &p, NULL, false, &x, &err), 0);
    size_t n = eco_experiment_trials(x, &t);
    for (size_t i = 0; i < n; i++) {
        assert_true(t[i].run.idle_timeout);
        assert_true(t[i].window_start_s - t[i].start_s < ECO_EXP_IDLE_LIMIT_S + 20);
    }
    eco_experiment_free(x);
    bench_init(&b); /* a card that got colder: waiting cannot heat it, so it is only noted */
    b.cold_c = 5;
    p.blocks = 1;
    assert_int_equal(run(&b, &p, NULL, false, &x, &err), 0);
    eco_experiment_free(x);
    bench_init(&b);
    b.no_counter = b.no_power = true;
    assert_int_equal(run(&b, &p, NULL, false, &x, &err), ECO_E_DEVICE);
    assert_non_null(strstr(err.message, "no energy for this window: the device is gone"));
    eco_experiment_free(x);
}

static void test_sources_that_disagree_give_no_verdict(void **state)
{
    struct eco_exp_plan p = plan_of(2, 4);
    struct eco_experiment *x = NULL;
    struct eco_arena arena;
    struct eco_err err = {0};
    struct eco_run r;
    struct bench b;
    (void)state;
    eco_arena_init(&arena, 0);
    bench_init(&b);
    b.withhold_window = 5;
    assert_int_equal(run(&b, &p, NULL, false, &x, &err), 0);
    eco_run_init(&r);
    assert_int_equal(eco_experiment_summary(x, &arena, &r, &err), 0);
    assert_string_equal(r.arms[1].delta.verdict, "saves"); /* both agree on the sign */
    assert_int_equal(r.warning_count, 1);
    eco_experiment_free(x);
    bench_init(&b);
    b.withhold_window = 5;
    b.no_counter = true; /* one source alone cannot agree */
    assert_int_equal(run(&b, &p, NULL, false, &x, &err), 0);
    eco_run_init(&r);
    assert_int_equal(eco_experiment_summary(x, &arena, &r, &err), 0);
    assert_string_equal(r.arms[1].delta.verdict, "cannot tell");
    assert_true(isnan(r.arms[1].counter_j_per_token));
    eco_experiment_free(x);
    eco_arena_done(&arena);
}

/* Counted trials only, and a run that is taken up again knows them from its journal. */
static void test_others_on_the_cpus_are_told(void **state)
{
    struct eco_exp_plan p = plan_of(2, 4);
    struct eco_experiment *x = NULL;
    struct eco_arena arena;
    struct eco_err err = {0};
    struct eco_run r;
    struct bench b;
    (void)state;
    eco_arena_init(&arena, 0);
    for (int again = 0; again < 2; again++) {
        bench_init(&b);
        if (again == 0) {
            b.others_frac[ECO_PREC_FP16] = 0.049;
            b.others_frac[ECO_PREC_NF4] = 0.31;
        }
        assert_int_equal(run(&b, &p, journal, again, &x, &err), 0);
        eco_run_init(&r);
        assert_int_equal(eco_experiment_summary(x, &arena, &r, &err), 0);
        assert_int_equal(r.warning_count, 1);
        assert_string_equal(r.warnings[0],
                            "in 4 of 8 trials other processes used 5 % of the CPUs or more, up to "
                            "31 %: speed and energy are not this run's alone");
        eco_experiment_free(x);
    }
    assert_int_equal(unlink(journal), 0);
    eco_arena_done(&arena);
}

static void test_null_run_says_what_it_could_see(void **state)
{
    struct eco_exp_plan p = plan_of(2, 4);
    struct eco_experiment *x = NULL;
    struct eco_arena arena;
    struct eco_err err = {0};
    struct eco_run r;
    struct bench b;
    (void)state;
    eco_arena_init(&arena, 0);
    bench_init(&b);
    p.null_run = true;
    p.arms[1] = ECO_PREC_FP16;
    assert_int_equal(run(&b, &p, NULL, false, &x, &err), 0);
    eco_run_init(&r);
    assert_int_equal(eco_experiment_summary(x, &arena, &r, &err), 0);
    assert_int_equal(r.warning_count, 1);
    assert_non_null(strstr(r.warnings[0], "null run, both arms FP16: +0.00 %"));
    assert_non_null(strstr(r.warnings[0], "zero is inside"));
    eco_experiment_free(x);
    eco_arena_done(&arena);
}

static void test_a_dead_worker_loses_no_finished_trial(void **state)
{
    struct eco_exp_plan p = plan_of(2, 4);
    const struct eco_exp_trial *t;
    struct eco_experiment *x = NULL;
    struct eco_arena arena;
    struct eco_err err = {0};
    struct eco_run r;
    struct bench b;
    (void)state;
    eco_arena_init(&arena, 0);
    bench_init(&b);
    b.fail_window = 6;
    assert_int_equal(run(&b, &p, journal, false, &x, &err), ECO_E_DEVICE);
    assert_string_equal(err.message, "the worker was killed by signal 9");
    assert_true(eco_experiment_partial(x));
    assert_int_equal(eco_experiment_trials(x, &t), 5);
    eco_run_init(&r);
    assert_int_equal(eco_experiment_summary(x, &arena, &r, &err), 0);
    assert_true(r.partial);
    eco_experiment_free(x);
    bench_init(&b);
    assert_int_equal(run(&b, &p, journal, true, &x, &err), 0);
    assert_int_equal(eco_experiment_trials(x, &t), 10);
    assert_int_equal(b.loads, 5);
    eco_experiment_free(x);
    eco_arena_done(&arena);
    unlink(journal);
}

static void test_stop_keeps_what_was_measured(void **state)
{
    struct eco_exp_plan p = plan_of(2, 4);
    (void)state;
    for (int call = 1; call < 200; call += 13) {
        const struct eco_exp_trial *t;
        struct eco_experiment *x = NULL;
        struct eco_err err = {0};
        struct bench b;
        bench_init(&b);
        b.stop_call = call;
        assert_int_equal(run(&b, &p, journal, false, &x, &err), 0);
        bool partial = eco_experiment_partial(x);
        size_t n = eco_experiment_trials(x, &t);
        assert_int_equal(partial, n < 10);
        eco_experiment_free(x);
        bench_init(&b);
        assert_int_equal(run(&b, &p, journal, true, &x, &err), 0);
        assert_int_equal(eco_experiment_trials(x, &t), 10);
        assert_int_equal(b.loads, 10 - n);
        assert_false(eco_experiment_partial(x));
        eco_experiment_free(x);
        unlink(journal);
    }
}

/* ---- kill -9 --------------------------------------------------------------------------------- */

/* All of a summary but times, as text. */
static void digest(const struct eco_run *r, char *out, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < r->arm_count; i++) {
        const struct eco_run_arm *a = &r->arms[i];
        n += (size_t)snprintf(out + n, size - n, "%d %.17g %.17g %.17g %.17g %.17g %.17g %lld %s\n",
                              a->precision, a->total_energy_j, a->j_per_token,
                              a->counter_j_per_token, a->delta.pct, a->delta.lo95_pct,
                              a->decode_j_per_token, (long long)a->tokens,
                              a->delta.verdict ? a->delta.verdict : "-");
    }
    for (size_t i = 0; i < r->trial_count; i++) {
        const struct eco_run_trial *t = &r->trials[i];
        n += (size_t)snprintf(out + n, size - n, "%d %d %d %d %.17g %.17g %.17g %d\n", t->block,
                              t->position, t->arm, t->discarded, t->energy_counter_j,
                              t->energy_v1_j, t->idle_before_w, t->iterations);
    }
    for (size_t i = 0; i < r->arm_count; i++) {
        n += (size_t)snprintf(out + n, size - n, "%s %s\n", r->arms[i].engine, r->arms[i].weights);
    }
    for (size_t i = 0; i < r->environment.package_count; i++) {
        n += (size_t)snprintf(out + n, size - n, "%s %s\n", r->environment.packages[i].name,
                              r->environment.packages[i].version);
    }
    snprintf(out + n, size - n, "%s %d %zu\n", r->protocol, r->partial, r->warning_count);
}

static void summary_text(struct eco_experiment *x, char *out, size_t size)
{
    struct eco_arena arena;
    struct eco_err err = {0};
    struct eco_run r;
    eco_arena_init(&arena, 0);
    eco_run_init(&r);
    assert_int_equal(eco_experiment_summary(x, &arena, &r, &err), 0);
    digest(&r, out, size);
    eco_arena_done(&arena);
}

/* Lines of the journal that are whole. */
static int whole_lines(void)
{
    struct eco_buf text = ECO_BUF_INIT;
    int n = 0;
    if (eco_file_read(journal, 1 << 20, &text, NULL) == 0) {
        for (size_t i = 0; i < text.len; i++) {
            n += text.data[i] == '\n';
        }
    }
    eco_buf_done(&text);
    return n;
}

static bool run_in_child(const struct eco_exp_plan *p, int kill_call, bool resume)
{
    pid_t pid = fork();
    if (pid == 0) {
        struct eco_experiment *x = NULL;
        struct eco_err err = {0};
        struct bench b;
        bench_init(&b);
        b.kill_call = kill_call;
        _exit(run(&b, p, journal, resume, &x, &err) ? 1 : 0);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    return WIFSIGNALED(status);
}

static void test_kill_at_any_point(void **state)
{
    struct eco_exp_plan p = plan_of(2, 4);
    char undisturbed[8192], after[8192];
    struct eco_experiment *x = NULL;
    struct eco_err err = {0};
    struct bench b;
    int killed = 0;
    (void)state;
    p.decode = true;
    bench_init(&b);
    assert_int_equal(run(&b, &p, NULL, false, &x, &err), 0);
    int calls = b.calls;
    summary_text(x, undisturbed, sizeof(undisturbed));
    eco_experiment_free(x);
    assert_true(calls > 60);
    for (int call = 1; call <= calls; call += 3) { /* every third step of the run: over 50 points */
        killed += run_in_child(&p, call, false);
        int before = whole_lines();
        /* and again in the middle of what is left, then to the end */
        run_in_child(&p, 1 + (calls - call) / 2, true);
        assert_true(whole_lines() >= before);
        bench_init(&b);
        assert_int_equal(run(&b, &p, journal, true, &x, &err), 0);
        summary_text(x, after, sizeof(after));
        assert_string_equal(after, undisturbed);
        eco_experiment_free(x);
        unlink(journal);
    }
    printf("killed at %d points of %d\n", killed, calls);
    assert_true(killed >= 20);
}

/* A line that the crash tore is cut off; anything else that is wrong is an error with its line. */
static void test_torn_and_wrong_journals(void **state)
{
    struct eco_exp_plan p = plan_of(2, 2), got;
    const struct eco_exp_trial *t;
    struct eco_experiment *x = NULL;
    struct eco_arena arena;
    struct eco_buf text = ECO_BUF_INIT;
    struct eco_err err = {0};
    struct bench b;
    (void)state;
    eco_arena_init(&arena, 0);
    bench_init(&b);
    assert_int_equal(run(&b, &p, journal, false, &x, &err), 0);
    eco_experiment_free(x);
    assert_int_equal(eco_file_read(journal, 1 << 20, &text, &err), 0);
    for (size_t cut = 1; cut < 400; cut += 7) { /* inside the last line, or the one before it */
        assert_int_equal(eco_file_write(journal, text.data, text.len - cut, true, &err), 0);
        bench_init(&b);
        assert_int_equal(run(&b, &p, journal, true, &x, &err), 0);
        assert_int_equal(eco_experiment_trials(x, &t), 6);
        /* told, unless the cut took a whole line */
        assert_int_equal(eco_experiment_torn(x), text.data[text.len - cut - 1] != '\n');
        eco_experiment_free(x);
    }
    assert_int_equal(eco_experiment_read_plan(journal, &arena, &got, &err), 0);
    assert_string_equal(got.model, "tiny");
    assert_string_equal(got.gpu, "RTX 4090");
    assert_int_equal(got.arm_count, 2);
    assert_int_equal(got.arms[1], ECO_PREC_NF4);
    assert_true(got.seed == 11 && got.started_unix_ms == 1790000000000);
    /* the same file is not started twice */
    bench_init(&b);
    assert_true(run(&b, &p, journal, false, &x, &err) < 0);
    eco_experiment_free(x);
    /* another plan's journal */
    p.seed = 12;
    int rc = 0;
    for (uint64_t seed = 12; seed < 20 && rc == 0; seed++) {
        p.seed = seed;
        bench_init(&b);
        rc = run(&b, &p, journal, true, &x, &err);
        eco_experiment_free(x);
    }
    assert_int_equal(rc, ECO_E_CONTENT);
    static const char *const wrong[] = {"",
                                        "{\"kind\":\"trial\"}\n",
                                        "nonsense\n",
                                        "{\"kind\":\"plan\",\"journal\":9}\n",
                                        "{\"kind\":\"plan\",\"journal\":1}\n",
                                        "[]\n[]\n"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(eco_file_write(journal, wrong[i], strlen(wrong[i]), true, &err), 0);
        assert_int_equal(eco_experiment_read_plan(journal, &arena, &got, &err), ECO_E_CONTENT);
    }
    unlink(journal);
    assert_int_equal(eco_experiment_read_plan(journal, &arena, &got, &err), ECO_E_NOT_FOUND);
    eco_buf_done(&text);
    eco_arena_done(&arena);
}

static void test_a_full_disk_is_an_error(void **state)
{
    struct eco_exp_plan p = plan_of(2, 1);
    struct eco_exp_trial t = {0};
    struct eco_err err = {0};
    (void)state;
    assert_int_equal(eco_journal_append_trial("/dev/full", &t, &err), ECO_E_IO);
    assert_non_null(strstr(err.message, "No space left"));
    assert_int_equal(eco_journal_write_plan("/nowhere/run.jsonl", &p, &err), ECO_E_IO);
}

static size_t journal_bytes(void)
{
    struct eco_buf text = ECO_BUF_INIT;
    assert_int_equal(eco_file_read(journal, 1 << 20, &text, NULL), 0);
    size_t n = text.len;
    eco_buf_done(&text);
    return n;
}

/* A disk that is full in the middle of a line: the part is taken back, what was there stays. */
static void test_half_a_line_is_taken_back(void **state)
{
    struct eco_exp_plan p = plan_of(2, 1), got;
    struct eco_exp_trial t = {0};
    struct eco_err err = {0};
    struct eco_arena arena;
    struct rlimit limit, before;
    (void)state;
    assert_int_equal(eco_journal_write_plan(journal, &p, &err), 0);
    size_t whole = journal_bytes();
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = whole + 50;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    int rc = eco_journal_append_trial(journal, &t, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(rc, ECO_E_IO);
    assert_int_equal(journal_bytes(), whole);
    eco_arena_init(&arena, 0);
    assert_int_equal(eco_experiment_read_plan(journal, &arena, &got, &err), 0);
    eco_arena_done(&arena);
    unlink(journal);
}

/* Nothing of the first line on the disk, or a part of it: no run, and the message says so. */
static void test_a_journal_without_its_first_line(void **state)
{
    static const char *const none[] = {"", "{\"kind\":\"pl"};
    struct eco_exp_plan p = plan_of(2, 1), got;
    struct eco_err err = {0};
    struct eco_arena arena;
    (void)state;
    eco_arena_init(&arena, 0);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(eco_file_write(journal, none[i], strlen(none[i]), true, &err), 0);
        assert_true(eco_experiment_nothing_in(journal));
        assert_int_equal(eco_experiment_read_plan(journal, &arena, &got, &err), ECO_E_CONTENT);
        assert_non_null(strstr(err.message, "nothing was measured; start it again"));
    }
    unlink(journal);
    assert_false(eco_experiment_nothing_in(journal)); /* none at all is another thing */
    assert_int_equal(eco_journal_write_plan(journal, &p, &err), 0);
    assert_false(eco_experiment_nothing_in(journal));
    unlink(journal);
    eco_arena_done(&arena);
}

/* A command may hold a password, a path a user's name; a digest tells whether it is the same. */
static void test_a_journal_keeps_no_secret(void **state)
{
    static const char *const sources[] = {"exec:meter --token S3CRET /data/jane/x",
                                          "csv:/data/jane/power/meter.csv", "ptd:/data/jane/p.log",
                                          "nvml"};
    static const char *const kept[] = {"exec:", "csv:meter.csv", "ptd:p.log", "nvml"};
    struct eco_err err = {0};
    struct eco_arena arena;
    (void)state;
    eco_arena_init(&arena, 0);
    for (size_t i = 0; i < 4; i++) {
        struct eco_exp_plan p = plan_of(2, 1), got;
        struct eco_buf text = ECO_BUF_INIT;
        char digest[65];
        p.source = sources[i];
        assert_int_equal(eco_journal_write_plan(journal, &p, &err), 0);
        assert_int_equal(eco_file_read(journal, 1 << 20, &text, NULL), 0);
        assert_null(strstr(eco_buf_str(&text), "S3CRET"));
        assert_null(strstr(eco_buf_str(&text), "jane"));
        assert_int_equal(eco_experiment_read_plan(journal, &arena, &got, &err), 0);
        assert_string_equal(got.source, kept[i]);
        eco_sha256_hex(sources[i], strlen(sources[i]), digest);
        if (i < 3) {
            assert_string_equal(got.source_sha256, digest);
        } else {
            assert_null(got.source_sha256);
        }
        eco_buf_done(&text);
        unlink(journal);
    }
    eco_arena_done(&arena);
}

static void test_plans_that_cannot_be(void **state)
{
    struct bench b;
    struct eco_exp_ports ports;
    struct eco_experiment *x = NULL;
    struct eco_err err = {0};
    struct eco_exp_plan p;
    (void)state;
    bench_init(&b);
    ports = bench_ports(&b, NULL);
    p = plan_of(0, 1);
    assert_int_equal(eco_experiment_new(&p, &ports, &x, &err), ECO_E_RANGE);
    p = plan_of(9, 1);
    assert_int_equal(eco_experiment_new(&p, &ports, &x, &err), ECO_E_RANGE);
    p = plan_of(2, 0);
    assert_int_equal(eco_experiment_new(&p, &ports, &x, &err), ECO_E_RANGE);
    p = plan_of(2, 1001);
    assert_int_equal(eco_experiment_new(&p, &ports, &x, &err), ECO_E_RANGE);
    p = plan_of(2, 1);
    p.tokens = 0;
    assert_int_equal(eco_experiment_new(&p, &ports, &x, &err), ECO_E_RANGE);
    assert_null(x);
    eco_experiment_free(NULL);
}

/* A model of 7 billion parameters. */
static struct eco_model seven(void)
{
    return (struct eco_model){.name = "seven",
                              .params_b = 7,
                              .params_total = 7000000000u,
                              .params_active = 6900000000u,
                              .params_embedding = 100000000u,
                              .params_linear = 6900000000u,
                              .layers = 32,
                              .hidden = 4096,
                              .n_heads = 32,
                              .n_kv_heads = 32,
                              .head_dim = 128,
                              .intermediate = 11008,
                              .vocab = 32000,
                              .tied = true};
}

static void test_preflight(void **state)
{
    struct eco_exp_plan p = plan_of(2, 4);
    struct eco_model m = seven();
    struct eco_exp_machine machine = {.memory_free_bytes = 24e9,
                                      .memory_total_bytes = 24e9,
                                      .other_processes = 0,
                                      .source_name = "nvml"};
    struct eco_run_check c[8];
    struct eco_arena arena;
    struct eco_err err = {0};
    bool contaminated = false;
    (void)state;
    eco_arena_init(&arena, 0);
    assert_int_equal(
        eco_experiment_preflight(&p, &m, &machine, false, &arena, c, 8, &contaminated, &err), 3);
    assert_false(contaminated);
    assert_string_equal(c[1].status, "ok");
    machine.memory_free_bytes = 12e9; /* 14 GB of 16-bit weights do not fit */
    assert_int_equal(
        eco_experiment_preflight(&p, &m, &machine, false, &arena, c, 8, &contaminated, &err),
        ECO_E_DEVICE);
    assert_non_null(strstr(err.message, "seven in FP16 needs 1"));
    assert_non_null(strstr(err.message, "12.0 GB are free"));
    assert_int_equal(
        eco_experiment_preflight(&p, &m, &machine, true, &arena, c, 8, &contaminated, &err), 3);
    assert_true(contaminated);
    machine.memory_free_bytes = (double)NAN;
    machine.other_processes = 1;
    machine.process_list = "pid 77 (2.0 GB)";
    assert_int_equal(
        eco_experiment_preflight(&p, &m, &machine, false, &arena, c, 8, &contaminated, &err),
        ECO_E_DEVICE);
    assert_non_null(strstr(err.message, "1 other process on the device: pid 77"));
    machine.other_processes = -1;
    machine.shared = true;
    assert_int_equal(
        eco_experiment_preflight(&p, &m, &machine, false, &arena, c, 8, &contaminated, &err),
        ECO_E_DEVICE);
    eco_arena_done(&arena);
}

/* A refusal for memory names what fits: a precision of the model, one of its family, a size. */
static void test_preflight_names_what_fits(void **state)
{
    struct eco_exp_plan p = plan_of(2, 4);
    struct eco_model m = seven();
    struct eco_exp_machine machine = {
        .memory_free_bytes = 12e9, .memory_total_bytes = 24e9, .other_processes = 0};
    struct eco_run_check c[8];
    struct eco_arena arena;
    struct eco_err err = {0};
    bool contaminated = false;
    (void)state;
    eco_arena_init(&arena, 0);
    assert_int_equal(
        eco_experiment_preflight(&p, &m, &machine, false, &arena, c, 8, &contaminated, &err),
        ECO_E_DEVICE);
    /* a precision of it that fits, and a size; 7 B in 8 bits is 7 GB and some */
    assert_non_null(strstr(err.message, "; it in INT8-MIXED (8."));
    assert_non_null(strstr(err.message, " GB), about 5.5 B parameters would fit"));
    strcpy(m.name, "Qwen/Qwen2.5-7B-Instruct");
    assert_int_equal(
        eco_experiment_preflight(&p, &m, &machine, false, &arena, c, 8, &contaminated, &err),
        ECO_E_DEVICE);
    /* 3.1 B of the same family in 16 bits: 6.2 GB */
    assert_non_null(strstr(err.message, ", Qwen/Qwen2.5-3B"));
    machine.memory_free_bytes = 2.5e9; /* not one precision of it: none is named */
    assert_int_equal(
        eco_experiment_preflight(&p, &m, &machine, false, &arena, c, 8, &contaminated, &err),
        ECO_E_DEVICE);
    assert_null(strstr(err.message, "it in "));
    assert_non_null(strstr(err.message, " free; Qwen/Qwen2.5-0.5B, about 1.1 B"));
    eco_arena_done(&arena);
}

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder)) {
        return -1;
    }
    snprintf(journal, sizeof(journal), "%s/run.jsonl", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(journal);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_run),
        cmocka_unit_test(test_short_windows_are_lengthened),
        cmocka_unit_test(test_throttled_trial_is_repeated_once),
        cmocka_unit_test(test_idle_waits_end),
        cmocka_unit_test(test_sources_that_disagree_give_no_verdict),
        cmocka_unit_test(test_others_on_the_cpus_are_told),
        cmocka_unit_test(test_null_run_says_what_it_could_see),
        cmocka_unit_test(test_a_dead_worker_loses_no_finished_trial),
        cmocka_unit_test(test_stop_keeps_what_was_measured),
        cmocka_unit_test(test_kill_at_any_point),
        cmocka_unit_test(test_torn_and_wrong_journals),
        cmocka_unit_test(test_a_full_disk_is_an_error),
        cmocka_unit_test(test_half_a_line_is_taken_back),
        cmocka_unit_test(test_a_journal_without_its_first_line),
        cmocka_unit_test(test_a_journal_keeps_no_secret),
        cmocka_unit_test(test_plans_that_cannot_be),
        cmocka_unit_test(test_preflight),
        cmocka_unit_test(test_preflight_names_what_fits),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
