/* The worker workload against a worker that behaves, and against many that do not. */
#include "base/clock.h"
#include "base/file.h"
#include "workload/workload.h"

#include "eco_test.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#define FAKE "/usr/bin/python3 " ECO_TEST_DIR "/unit/workload/fake_worker.py "

static char folder[] = "ecocompute-worker-XXXXXX";
static char log_path[64];
static int ticks, edges[2];
static bool want_stop, stop_at_once;

static void nap_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

static void count_tick(void *ctx)
{
    (void)ctx;
    ticks++;
}

static void on_edge(void *ctx, bool end)
{
    (void)ctx;
    edges[end]++;
}

static bool stop_now(void *ctx)
{
    (void)ctx;
    return want_stop;
}

static int open_with(const char *command, double event_s, struct eco_generator **w,
                     struct eco_err *err)
{
    struct eco_worker_options o = {.command = command,
                                   .log = log_path,
                                   .ready_s = 50, /* Python starts slowly on a loaded machine */
                                   .load_s = 50,
                                   .event_s = event_s,
                                   .grace_s = 0.3,
                                   .hooks = {count_tick, stop_now, on_edge, NULL}};
    ticks = 0;
    want_stop = stop_at_once;
    return eco_workload_open_worker(&o, w, err);
}

static const struct eco_workload_arm arm = {"tiny", ECO_PREC_NF4, 1, 8, 16, 1};
static const struct eco_workload_window window = {5, 16};

static void test_a_worker_that_behaves(void **state)
{
    struct eco_generator *w = NULL;
    struct eco_workload_loaded loaded;
    struct eco_workload_result r;
    struct eco_workload_quality q;
    struct eco_err err = {0};
    (void)state;
    assert_int_equal(open_with(FAKE "--token-s 0.005", 10, &w, &err), 0);
    assert_int_equal(w->class->load(w, &arm, &loaded, &err), 0);
    assert_string_equal(loaded.engine, "fake");
    assert_string_equal(loaded.weights, "real");
    assert_near(loaded.memory_bytes, 1.5e9, 0);
    assert_int_equal(loaded.package_count, 1);
    assert_string_equal(loaded.packages[0].version, "12.4");
    assert_int_equal(w->class->warmup(w, &(struct eco_workload_window){1, 4}, &r, &err), 0);
    assert_int_equal(r.tokens, 4);
    int64_t began = eco_clock_mono_ns();
    assert_int_equal(w->class->window(w, &window, &r, &err), 0);
    double took_s = (double)(eco_clock_mono_ns() - began) * 1e-9;
    assert_int_equal(r.iterations, 5);
    assert_int_equal(r.tokens, 80);
    assert_int_equal(r.decode_tokens, 75);
    assert_false(r.stopped);
    assert_near(r.ttft_s, 0.004, 1e-12);
    assert_near(r.tpot_mean_s, 0.004, 1e-12);
    assert_near(r.tpot_p99_s, 0.004, 1e-12);
    /* 80 sleeps of 5 ms, which load only lengthens; the upper bound is this run's own clock */
    assert_true(r.seconds >= 0.32 && r.seconds <= took_s);
    assert_true(ticks >= 2);
    assert_int_equal(w->class->perplexity(w, "text", 512, &q, &err), 0);
    assert_near(q.mean_nll, 2.03, 1e-12);
    assert_int_equal(q.tokens, 1000);
    assert_int_equal(w->class->unload(w, &err), 0);
    eco_workload_close(w);
}

static void test_stop_ends_after_an_iteration(void **state)
{
    struct eco_generator *w = NULL;
    struct eco_workload_loaded loaded;
    struct eco_workload_result r;
    struct eco_err err = {0};
    (void)state;
    assert_int_equal(open_with(FAKE "--token-s 0.02", 10, &w, &err), 0);
    assert_int_equal(w->class->load(w, &arm, &loaded, &err), 0);
    want_stop = true;
    assert_int_equal(w->class->window(w, &(struct eco_workload_window){50, 16}, &r, &err), 0);
    assert_true(r.stopped);
    assert_true(r.iterations >= 1 && r.iterations < 10);
    assert_int_equal(r.tokens, r.iterations * 16);
    assert_int_equal(w->class->unload(w, &err), 0); /* it goes on */
    eco_workload_close(w);
}

/* A worker that never gets ready, or never ends its load, ends at the wish to stop. */
static void test_stop_while_starting(void **state)
{
    struct eco_generator *w = NULL;
    struct eco_workload_loaded loaded;
    struct eco_err err = {0};
    (void)state;
    stop_at_once = true;
    assert_int_equal(open_with("exec sleep 60", 50, &w, &err), ECO_E_INTERRUPTED);
    assert_non_null(strstr(err.message, "before it was ready"));
    assert_null(w);
    stop_at_once = false;
    assert_int_equal(
        open_with("echo '{\"event\":\"ready\",\"protocol\":1}'; exec sleep 60", 50, &w, &err), 0);
    want_stop = true;
    assert_int_equal(w->class->load(w, &arm, &loaded, &err), ECO_E_INTERRUPTED);
    assert_non_null(strstr(err.message, "while loading"));
    want_stop = false;
    eco_workload_close(w);
}

/* With several streams only the steady state counts, and its edges are told. */
static void test_steady_state_and_means(void **state)
{
    struct eco_generator *w = NULL;
    struct eco_workload_loaded loaded;
    struct eco_workload_result r;
    struct eco_err err = {0};
    (void)state;
    edges[0] = edges[1] = 0;
    assert_int_equal(open_with(FAKE "--mode steady --token-s 0.005", 10, &w, &err), 0);
    assert_int_equal(w->class->load(w, &arm, &loaded, &err), 0);
    assert_int_equal(w->class->warmup(w, &window, &r, &err), 0);
    assert_false(r.steady);
    assert_int_equal(edges[0], 0);
    int64_t began = eco_clock_mono_ns();
    assert_int_equal(w->class->window(w, &window, &r, &err), 0);
    double whole_s = (double)(eco_clock_mono_ns() - began) * 1e-9;
    assert_true(r.steady);
    assert_int_equal(edges[0], 1);
    assert_int_equal(edges[1], 1);
    assert_int_equal(r.iterations, 5);
    assert_int_equal(r.tokens, 40);
    assert_int_equal(r.decode_tokens, 37);
    /* four of the five iterations: less than the window took; a late reader sees less of them */
    assert_true(r.seconds > 0.5 * 4 * 16 * 0.005 && r.seconds < whole_s);
    eco_workload_close(w);
    /* a worker that gives a mean and no intervals: no percentiles */
    assert_int_equal(open_with(FAKE "--mode tpot", 10, &w, &err), 0);
    assert_int_equal(w->class->load(w, &arm, &loaded, &err), 0);
    assert_int_equal(w->class->window(w, &window, &r, &err), 0);
    assert_false(r.steady);
    assert_near(r.tpot_mean_s, 0.003, 1e-12);
    assert_true(isnan(r.tpot_p99_s) && isnan(r.ttft_s));
    eco_workload_close(w);
}

static void test_hostile_workers(void **state)
{
    static const struct {
        const char *mode;
        int code;
        const char *says;
    } want[] = {
        {"garbage", ECO_E_CONTENT, "not its protocol: 'Loading checkpoint shards: 100%'"},
        {"long", ECO_E_TOO_LARGE, "more than 1048576 bytes"},
        {"silent", ECO_E_DEVICE, "silent for 0.5 s in a window"},
        {"dies", ECO_E_DEVICE, "killed by signal 9 in a window: CUDA error: device-side assert"},
        {"exits", ECO_E_DEVICE, "ended with status 3 in a window: torch.cuda.OutOfMemoryError"},
        {"error", ECO_E_DEVICE, "the worker says: out of memory"},
        {"claims", ECO_E_CONTENT, "claims 1080 tokens, its iterations make 80"},
        {"negative", ECO_E_CONTENT, "no whole number 'tokens'"},
        {"huge", ECO_E_CONTENT, "no whole number 'tokens'"},
        {"sequences", ECO_E_CONTENT, "says 1073741824 sequences, it was asked for 1"},
        {"more", ECO_E_CONTENT, "more than the 5 iterations"},
        {"lazy", ECO_E_CONTENT, "did 1 of 5 iterations"},
        {"kind:unknown_name", ECO_E_UNKNOWN_NAME, "the worker says: told"},
        {"kind:invalid_content", ECO_E_CONTENT, "the worker says: told"},
        {"kind:permission", ECO_E_PERMISSION, "the worker says: told"},
        {"kind:internal", ECO_E_DEVICE, "the worker says: told"}, /* not its to say */
        {"kind:interrupted", ECO_E_DEVICE, "the worker says: told"},
        {"steady-twice", ECO_E_CONTENT, "said 'steady_begin' in a window"},
        {"steady-end", ECO_E_CONTENT, "said 'steady_end' in a window"},
        {"steady-claims", ECO_E_CONTENT, "claims 99999 tokens of its steady state"},
        {"steady-firsts", ECO_E_CONTENT, "41 of them first ones"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        struct eco_generator *w = NULL;
        struct eco_workload_loaded loaded;
        struct eco_workload_result r = {.tokens = -7};
        struct eco_err err = {0};
        char command[512];
        snprintf(command, sizeof(command), FAKE "--mode %s", want[i].mode);
        double patience_s = strcmp(want[i].mode, "silent") == 0 ? 0.5 : 20; /* a loaded machine */
        assert_int_equal(open_with(command, patience_s, &w, &err), 0);
        assert_int_equal(w->class->load(w, &arm, &loaded, &err), 0);
        assert_int_equal(w->class->window(w, &window, &r, &err), want[i].code);
        if (!strstr(err.message, want[i].says)) {
            fail_msg("%s: '%s' does not say '%s'", want[i].mode, err.message, want[i].says);
        }
        assert_int_equal(r.tokens, -7);
        eco_workload_close(w);
    }
}

static void test_workers_that_do_not_start(void **state)
{
    struct eco_generator *w = NULL;
    struct eco_err err = {0};
    (void)state;
    assert_int_equal(open_with("exit 7", 1, &w, &err), ECO_E_DEVICE);
    assert_non_null(strstr(err.message, "ended with status 7 before it was ready"));
    assert_int_equal(open_with("/nowhere/worker", 1, &w, &err), ECO_E_DEVICE);
    assert_non_null(strstr(err.message, "status 127"));
    assert_non_null(strstr(err.message, "not found"));
    assert_int_equal(open_with(FAKE "--mode old", 1, &w, &err), ECO_E_CONTENT);
    assert_non_null(strstr(err.message, "speaks protocol 0"));
    assert_int_equal(open_with(FAKE "--mode early-garbage", 1, &w, &err), ECO_E_CONTENT);
    assert_int_equal(open_with("yes", 1, &w, &err), ECO_E_CONTENT);
    assert_int_equal(open_with("cat /dev/zero", 1, &w, &err), ECO_E_TOO_LARGE);
    assert_int_equal(open_with("printf '\\377\\376{}\\n'; sleep 9", 1, &w, &err), ECO_E_CONTENT);
    assert_int_equal(open_with("echo '[]'; sleep 9", 1, &w, &err), ECO_E_CONTENT);
    assert_int_equal(open_with("echo '{\"event\":3}'; sleep 9", 1, &w, &err), ECO_E_CONTENT);
    assert_null(w);
    struct eco_worker_options mute = {
        .command = FAKE "--mode mute", .ready_s = 0.5, .grace_s = 0.1};
    assert_int_equal(eco_workload_open_worker(&mute, &w, &err), ECO_E_DEVICE);
    assert_non_null(strstr(err.message, "silent for 0.5 s before it was ready"));
}

static void test_refused_precision_and_dead_reader(void **state)
{
    struct eco_generator *w = NULL;
    struct eco_workload_loaded loaded;
    struct eco_workload_arm odd = arm;
    struct eco_err err = {0};
    (void)state;
    odd.precision = ECO_PREC_AWQ_INT4;
    assert_int_equal(open_with(FAKE, 5, &w, &err), 0);
    assert_int_equal(w->class->load(w, &odd, &loaded, &err), ECO_E_DEVICE);
    assert_string_equal(err.message, "the worker says: no precision AWQ-INT4 here");
    eco_workload_close(w);
    /* its end of the pipe is closed: an error, not our end by SIGPIPE */
    assert_int_equal(
        open_with("echo '{\"event\":\"ready\",\"protocol\":1}'; exec <&-; sleep 1; exit 5", 5, &w,
                  &err),
        0);
    nap_ms(200);
    assert_int_equal(w->class->load(w, &arm, &loaded, &err), ECO_E_DEVICE);
    eco_workload_close(w);
}

/* One that will not go, and one that left a child running: both are gone after close. */
static void test_close_ends_the_group(void **state)
{
    struct eco_generator *w = NULL;
    struct eco_err err = {0};
    char command[512], path[128];
    (void)state;
    int64_t start = eco_clock_mono_ns();
    assert_int_equal(open_with(FAKE "--mode clings", 5, &w, &err), 0);
    eco_workload_close(w);
    /* it would have clung for a minute */
    assert_true(eco_clock_mono_ns() - start < INT64_C(50000000000));
    snprintf(path, sizeof(path), "%s/child", folder);
    snprintf(command, sizeof(command),
             "sleep 60 & echo $! > %s; echo '{\"event\":\"ready\",\"protocol\":1}'; cat >&2", path);
    assert_int_equal(open_with(command, 5, &w, &err), 0);
    eco_workload_close(w);
    struct eco_buf pid = ECO_BUF_INIT;
    assert_int_equal(eco_file_read(path, 100, &pid, &err), 0);
    int child = atoi(pid.data);
    eco_buf_done(&pid);
    assert_true(child > 1);
    for (int i = 0; i < 100 && kill(child, 0) == 0; i++) {
        nap_ms(20); /* init reaps it */
    }
    snprintf(command, sizeof(command), "/proc/%d/stat", child);
    struct eco_buf stat = ECO_BUF_INIT; /* gone, or a zombie that nobody reaps in a container */
    bool gone = eco_file_read(command, 4096, &stat, &err) != 0 || strstr(stat.data, ") Z");
    eco_buf_done(&stat);
    assert_true(gone);
}

static void test_intervals(void **state)
{
    double s[] = {4, 1, 3, 2};
    struct eco_workload_result r;
    (void)state;
    eco_workload_intervals(s, 4, &r);
    assert_near(r.tpot_mean_s, 2.5, 0);
    assert_near(r.tpot_p50_s, 2.5, 0);
    assert_near(r.tpot_p99_s, 3.97, 1e-12);
    eco_workload_intervals(s, 0, &r);
    assert_true(isnan(r.tpot_mean_s));
    eco_workload_close(NULL);
}

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder)) {
        return -1;
    }
    snprintf(log_path, sizeof(log_path), "%s/worker.log", folder);
    return 0;
}

static int remove_folder(void **state)
{
    char path[128];
    (void)state;
    snprintf(path, sizeof(path), "%s/child", folder);
    unlink(path);
    unlink(log_path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_worker_that_behaves),
        cmocka_unit_test(test_stop_ends_after_an_iteration),
        cmocka_unit_test(test_stop_while_starting),
        cmocka_unit_test(test_steady_state_and_means),
        cmocka_unit_test(test_hostile_workers),
        cmocka_unit_test(test_workers_that_do_not_start),
        cmocka_unit_test(test_refused_precision_and_dead_reader),
        cmocka_unit_test(test_close_ends_the_group),
        cmocka_unit_test(test_intervals),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
