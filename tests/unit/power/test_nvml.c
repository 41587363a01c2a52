/*
 * The real NVML backend, through dlopen, against the scripted library of tests/fake: every field
 * missing in turn, refusals at any call, sentinels, a stuck counter, a lost card, MIG, a bad one
 * of eight, drivers and sensors of all kinds. In no case may a wrong joule come out.
 */
#include "eco_test.h"

#include "base/clock.h"
#include "power/meter.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#define WINDOW_S 1.0 /* with min_window_s lowered: these are tests of rules, not of accuracy */
#define LIBRARY ECO_FAKE_DIR "/libnvidia-ml.so.1"
#define TRIES 8
#define HELD_S 0.06 /* three periods: a gap */

static struct eco_power_set *set;
static const char *opened; /* the script of `set`, whose times count from its opening */

static void nap(double s)
{
    struct timespec t = {(time_t)s, (long)((s - floor(s)) * 1e9)};
    nanosleep(&t, NULL);
}

/* Writes the script, points the library at it and opens everything. */
static struct eco_power_set *open_with(const char *script, const char *visible)
{
    char path[] = "eco-nvml-XXXXXX";
    int fd = mkstemp(path);
    struct eco_power_options o = {.nvml_library = LIBRARY,
                                  .sysfs = "/nonexistent",
                                  .amd_library = "/nonexistent",
                                  .ipmitool = "",
                                  .visible_devices = visible};
    assert_true(fd >= 0);
    assert_int_equal(write(fd, script, strlen(script)), (ssize_t)strlen(script));
    close(fd);
    setenv("ECO_FAKE_NVML", path, 1);
    assert_int_equal(eco_power_open(&o, &set, NULL), 0);
    unlink(path);
    opened = script;
    return set;
}

static int close_set(void **state)
{
    (void)state;
    eco_power_close(set);
    set = NULL;
    return 0;
}

static struct eco_power_source *card(size_t i)
{
    struct eco_power_source *s = eco_power_at(set, i);
    assert_non_null(s);
    assert_string_equal(s->name, "nvml");
    return s;
}

static struct eco_meter_energy window_of_card(double window_s, double min_s)
{
    struct eco_power_source *s = card(0);
    struct eco_meter_options o = {
        .rate_hz = 50, .gain = NAN, .offset_w = NAN, .min_window_s = min_s};
    struct eco_meter *m;
    struct eco_meter_energy e;
    int id;
    assert_int_equal(eco_meter_new(&s, 1, &o, &m, NULL), 0);
    assert_int_equal(eco_meter_start(m, NULL), 0);
    assert_int_equal(eco_meter_begin(m, &id, NULL), 0);
    nap(window_s);
    assert_int_equal(eco_meter_end(m, id, &e, NULL), 0);
    eco_meter_free(m);
    return e;
}

/* One window of card 0 at 50 Hz. Where the machine stood still the meter says so and gives no
   integral, which is right, but not what is asked here: again, from the script's beginning. */
static struct eco_meter_energy measure(double window_s, double min_s)
{
    struct eco_meter_energy e = window_of_card(window_s, min_s);
    for (int i = 1; (e.missed > 0 || e.window_s > window_s + HELD_S) && i < TRIES; i++) {
        fprintf(stderr, "# the sampler was held up (%lld deadlines): again\n", (long long)e.missed);
        close_set(NULL);
        open_with(opened, NULL);
        e = window_of_card(window_s, min_s);
    }
    return e;
}

static void assert_all(const struct eco_meter_energy *e, double watts, double rel)
{
    assert_near_rel(e->integral_j, watts * e->window_s, rel);
    /* within its own interval without the sensor's bias, and never off by more than a tick */
    double edges_j = sqrt(pow(e->counter_uncertainty_j, 2) - pow(0.098 * e->counter_j, 2));
    assert_near(e->counter_j, watts * e->window_s, edges_j + 0.1);
    assert_near(e->counter_j, watts * e->window_s, 0.021 * watts);
    assert_near_rel(e->v1_j, watts * e->window_s, rel);
}

/* ---- what is found -------------------------------------------------------------------------- */

static void test_no_library(void **state)
{
    (void)state;
    struct eco_power_options o = {
        .nvml_library = "/nonexistent/x.so", .sysfs = "/nonexistent", .ipmitool = ""};
    struct eco_power_source *s[4];
    struct eco_err err = {0};
    assert_int_equal(eco_power_open(&o, &set, NULL), 0);
    assert_non_null(strstr(card(0)->reason, "/nonexistent/x.so"));
    assert_int_equal(eco_power_choose(set, NULL, s, 4, &err), 0);
    assert_int_equal(err.code, ECO_E_DEVICE);
}

static void test_card_is_described(void **state)
{
    (void)state;
    open_with("driver 550.54\nname 0 NVIDIA GeForce RTX 4090\ncc 0 8.9\nlimit 0 450\n", NULL);
    const struct eco_power_source *s = card(0);
    assert_true(s->usable && s->selected && s->counter);
    assert_int_equal(s->fields, 7);
    assert_string_equal(s->driver, "550.54");
    assert_string_equal(s->device, "GPU 0: NVIDIA GeForce RTX 4090");
    assert_int_equal(s->arch, ECO_ARCH_ADA);
    assert_near(s->limit_w, 450, 1e-9);
    assert_near(s->averaging_s[ECO_POWER_DEFAULT], 1, 0);
    assert_near(s->averaging_s[ECO_POWER_INSTANT], 0.1, 0);
    assert_true(s->read_cost_s > 0);
    assert_int_equal(eco_meter_best_field(s), ECO_POWER_INSTANT);
}

/* The table by architecture and driver: 520, 530, 570. */
static void test_drivers(void **state)
{
    (void)state;
    static const struct {
        const char *script;
        double averaging_s; /* of the default field; NAN: not known */
        bool duty;
    } rows[] = {
        {"driver 520.61\ncc 0 8.9\n", 1, false},    {"driver 530.30\ncc 0 8.9\n", 0.1, false},
        {"driver 570.86\ncc 0 8.9\n", 1, false},    {"driver 520.61\ncc 0 8.6\n", 1, false},
        {"driver 570.86\ncc 0 8.0\n", 0.025, true}, {"driver 570.86\ncc 0 9.0\n", 1, false},
        {"driver 520.61\ncc 0 9.0\n", NAN, false},  {"driver 570.86\ncc 0 7.5\n", 0.1, false},
        {"driver 570.86\ncc 0 7.0\n", 0.01, false}, {"driver 570.86\ncc 0 12.0\n", NAN, false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        open_with(rows[i].script, NULL);
        const struct eco_power_source *s = card(0);
        if (isnan(rows[i].averaging_s)) {
            assert_true(isnan(s->averaging_s[ECO_POWER_DEFAULT]));
        } else {
            assert_near(s->averaging_s[ECO_POWER_DEFAULT], rows[i].averaging_s, 1e-12);
        }
        assert_int_equal(s->duty[ECO_POWER_DEFAULT], rows[i].duty);
        close_set(NULL);
    }
    open_with("driver 570.86\ncc 0 9.0\n", NULL); /* Hopper: the instant field sees a quarter */
    assert_true(card(0)->duty[ECO_POWER_INSTANT]);
    assert_int_equal(eco_meter_best_field(card(0)), ECO_POWER_AVERAGE);
}

static void test_eight_cards_one_bad(void **state)
{
    (void)state;
    struct eco_power_source *s[16];
    open_with("gpus 8\nfail nvmlDeviceGetHandleByIndex_v2 3 999\n", NULL);
    assert_int_equal(eco_power_choose(set, NULL, s, 16, NULL), 7);
    assert_false(card(3)->usable);
    assert_non_null(strstr(card(3)->reason, "opening the card"));
    assert_true(card(4)->usable);
}

static void test_visible_devices(void **state)
{
    (void)state;
    static const struct {
        const char *visible;
        size_t n;
        int first;
    } rows[] = {
        {NULL, 4, 0},           {"0", 1, 0},     {"2,1", 2, 1},     {"", 0, 0},        {"-1", 0, 0},
        {"GPU-00000003", 1, 3}, {"1,7,2", 1, 1}, {"MIG-abc", 0, 0}, {"3,MIG-x", 1, 3},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct eco_power_source *s[16];
        open_with("gpus 4\n", rows[i].visible);
        size_t n = eco_power_choose(set, NULL, s, 16, NULL);
        assert_int_equal(n, rows[i].n);
        if (n) {
            assert_int_equal(s[0]->index, rows[i].first);
        }
        close_set(NULL);
    }
}

static void test_mig_is_refused(void **state)
{
    (void)state;
    struct eco_power_source *s[4];
    struct eco_err err = {0};
    open_with("mig 0\nwave 0 287 1\n", NULL);
    assert_false(card(0)->usable);
    assert_true(card(0)->mig && card(0)->shared);
    assert_string_equal(card(0)->note, "board power 287.0 W, shared");
    assert_int_equal(eco_power_choose(set, NULL, s, 4, &err), 0);
    assert_non_null(strstr(err.message, "MIG is on"));
}

static void test_vgpu_is_refused(void **state)
{
    (void)state;
    open_with("vgpu 0\n", NULL);
    assert_false(card(0)->usable);
    assert_non_null(strstr(card(0)->reason, "vGPU"));
}

static void test_state_and_processes(void **state)
{
    (void)state;
    struct eco_power_state st;
    struct eco_power_process p[4];
    open_with("throttle 0 0x40\ntemp 0 83\nmemory 0 24 10\nprocess 0 4242 512\necc 0\n", NULL);
    eco_power_read_state(card(0), &st);
    assert_true(st.throttled);
    assert_string_equal(st.throttle, "thermal");
    assert_near(st.temp_c, 83, 0);
    assert_near(st.clock_sm_mhz, 2520, 0); /* not the temperature, not each other's */
    assert_near(st.clock_mem_mhz, 10501, 0);
    assert_near(st.memory_free_bytes, 10.0 * 1073741824, 0);
    assert_int_equal(st.ecc, 1);
    assert_int_equal(eco_power_processes(card(0), p, 4), 1);
    assert_int_equal(p[0].pid, 4242);
    assert_near(p[0].memory_bytes, 512.0 * 1048576, 0);
    close_set(NULL);
    open_with("throttle 0 0x4\n", NULL); /* at its power limit: named, but the load's own doing */
    eco_power_read_state(card(0), &st);
    assert_false(st.throttled);
    assert_string_equal(st.throttle, "power cap");
}

static void test_clocks_that_are_not_said(void **state)
{
    (void)state;
    struct eco_power_state st;
    open_with("fail nvmlDeviceGetClockInfo * 3\n", NULL);
    eco_power_read_state(card(0), &st);
    assert_true(isnan(st.clock_sm_mhz) && isnan(st.clock_mem_mhz));
    assert_near(st.temp_c, 40, 0);
}

/* A lost card is one that was asked for, unless an index leaves it out. */
static void test_lost_card_is_wanted(void **state)
{
    (void)state;
    open_with("gpus 3\nlost 1 0\n", NULL);
    assert_false(card(1)->usable);
    assert_true(card(1)->wanted);
    assert_non_null(strstr(card(1)->reason, "lost"));
    close_set(NULL);
    open_with("gpus 3\nlost 1 0\n", "0,2");
    assert_false(card(1)->wanted);
    assert_true(card(0)->wanted && card(2)->wanted);
}

static void test_unknown_name(void **state)
{
    (void)state;
    struct eco_power_source *s[4];
    struct eco_err err = {0};
    open_with("", NULL);
    assert_int_equal(eco_power_choose(set, "nosuch", s, 4, &err), 0);
    assert_int_equal(err.code, ECO_E_UNKNOWN_NAME);
    assert_int_equal(eco_power_choose(set, "rapl", s, 4, &err), 0);
    assert_int_equal(err.code, ECO_E_DEVICE);
}

static void test_limit_is_set_read_back_and_refused(void **state)
{
    (void)state;
    struct eco_err err = {0};
    open_with("limit 0 450\n", NULL);
    assert_int_equal(eco_power_set_limit_w(card(0), 300, NULL), 0);
    assert_near(card(0)->limit_w, 300, 1e-9);
    assert_int_equal(eco_power_set_limit_w(card(0), 0, NULL), 0);
    assert_near(card(0)->limit_w, 450, 1e-9);
    assert_int_equal(eco_power_lock_clock_mhz(card(0), 1500, NULL), 0);
    assert_int_equal(eco_power_lock_clock_mhz(card(0), 0, NULL), 0);
    close_set(NULL);
    open_with("fail nvmlDeviceSetPowerManagementLimit * 4\n", NULL);
    assert_int_equal(eco_power_set_limit_w(card(0), 300, &err), ECO_E_PERMISSION);
    assert_non_null(strstr(err.message, "sudo nvidia-smi"));
}

/* Any single call may refuse: what is left still works, and nothing crashes. */
static void test_refusal_at_every_call(void **state)
{
    (void)state;
    static const char *const calls[] = {"nvmlDeviceGetName",
                                        "nvmlDeviceGetUUID",
                                        "nvmlDeviceGetEnforcedPowerLimit",
                                        "nvmlDeviceGetCurrentClocksThrottleReasons",
                                        "nvmlDeviceGetPersistenceMode",
                                        "nvmlDeviceGetVirtualizationMode",
                                        "nvmlDeviceGetClockInfo",
                                        "nvmlDeviceGetTemperature",
                                        "nvmlDeviceGetMemoryInfo",
                                        "nvmlDeviceGetComputeRunningProcesses_v3",
                                        "nvmlDeviceGetMigMode",
                                        "nvmlDeviceGetEccMode",
                                        "nvmlDeviceGetCudaComputeCapability",
                                        "nvmlSystemGetDriverVersion",
                                        "nvmlDeviceGetPowerUsage",
                                        "nvmlDeviceGetTotalEnergyConsumption",
                                        "nvmlDeviceGetFieldValues",
                                        "field185",
                                        "field186",
                                        "field83"};
    static const int codes[] = {3, 4, 13, 999};
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        for (size_t k = 0; k < 4; k++) {
            char script[128];
            struct eco_power_state st;
            double w, j;
            snprintf(script, sizeof(script), "fail %s * %d\n", calls[i], codes[k]);
            open_with(script, NULL);
            struct eco_power_source *s = card(0);
            assert_true(s->usable);
            eco_power_read_state(s, &st);
            for (int f = 0; f < ECO_POWER_FIELDS; f++) {
                if (eco_power_read(s, (enum eco_power_field)f, &w) == ECO_POWER_OK) {
                    assert_near(w, 250, 0.01);
                }
            }
            if (s->counter) {
                assert_int_equal(eco_power_read_counter(s, &j), ECO_POWER_OK);
            }
            close_set(NULL);
        }
    }
}

static void test_init_and_count_refuse(void **state)
{
    (void)state;
    open_with("fail nvmlInit_v2 * 9\n", NULL);
    assert_non_null(strstr(card(0)->reason, "starting NVML"));
    close_set(NULL);
    open_with("fail nvmlDeviceGetCount_v2 * 999\n", NULL);
    assert_non_null(strstr(card(0)->reason, "counting cards"));
    close_set(NULL);
    open_with("gpus 0\n", NULL);
    assert_string_equal(card(0)->reason, "NVML sees no GPU");
}

/* ---- windows -------------------------------------------------------------------------------- */

static void test_constant_load(void **state)
{
    (void)state;
    open_with("wave 0 200 1\n", NULL);
    struct eco_meter_energy e = measure(WINDOW_S, 0.5);
    assert_all(&e, 200, 1e-3);
    assert_int_equal(e.failed, 0);
    assert_true(e.duplicates > 30); /* equal readings are counted and kept */
    assert_false(e.counter_disagrees);
}

static void test_short_window_is_refused_not_zero(void **state)
{
    (void)state;
    open_with("wave 0 200 1\n", NULL);
    struct eco_meter_energy e = measure(0.2, 0);
    assert_true(e.too_short);
    assert_true(isnan(e.integral_j) && isnan(e.counter_j) && isnan(e.v1_j));
    assert_non_null(strstr(e.integral_reason, "shorter than 5 s"));
}

static void test_fields_missing_in_turn(void **state)
{
    (void)state;
    static const struct {
        const char *script;
        enum eco_power_field field;
        bool counter, v1;
    } rows[] = {
        {"wave 0 200 1\nfail field186 * 3\n", ECO_POWER_AVERAGE, true, true},
        {"wave 0 200 1\nfail nvmlDeviceGetFieldValues * 3\n", ECO_POWER_DEFAULT, true, true},
        {"wave 0 200 1\nfail nvmlDeviceGetPowerUsage * 3\n", ECO_POWER_INSTANT, true, false},
        {"wave 0 200 1\nfail nvmlDeviceGetTotalEnergyConsumption * 3\nfail field83 * 3\n",
         ECO_POWER_INSTANT, false, true},
        /* the counter is still there as a field */
        {"wave 0 200 1\nfail nvmlDeviceGetTotalEnergyConsumption * 3\n", ECO_POWER_INSTANT, true,
         true},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        open_with(rows[i].script, NULL);
        struct eco_meter_energy e = measure(0.4, 0.2);
        assert_int_equal(e.field, rows[i].field);
        assert_near_rel(e.integral_j, 200 * e.window_s, 2e-3);
        assert_int_equal(!isnan(e.counter_j), rows[i].counter);
        assert_int_equal(!isnan(e.v1_j), rows[i].v1);
        assert_true(rows[i].counter || e.counter_reason[0]);
        close_set(NULL);
    }
}

/* No power field at all, but a counter: the counter alone, and the integral says why not. */
static void test_counter_alone(void **state)
{
    (void)state;
    open_with("wave 0 200 1\nfail nvmlDeviceGetPowerUsage * 3\nfail nvmlDeviceGetFieldValues * 3\n",
              NULL);
    struct eco_meter_energy e = measure(0.5, 0.2);
    assert_near_rel(e.counter_j, 200 * e.window_s, 0.06);
    assert_true(isnan(e.integral_j));
    assert_true(e.integral_reason[0] != '\0');
}

static void test_neither_power_nor_counter(void **state)
{
    (void)state;
    open_with("fail nvmlDeviceGetPowerUsage * 3\nfail nvmlDeviceGetFieldValues * 3\n"
              "fail nvmlDeviceGetTotalEnergyConsumption * 3\n",
              NULL);
    assert_false(card(0)->usable);
    assert_non_null(strstr(card(0)->reason, "Not Supported"));
}

/* The field answers at first, then says NotSupported: one switch, one message, right joules. */
static void test_field_vanishes(void **state)
{
    (void)state;
    open_with("wave 0 200 1\nfail field186 * 3 0.15\n", NULL);
    nap(0.2);
    struct eco_meter_energy e = measure(0.5, 0.2);
    assert_int_equal(e.field, ECO_POWER_AVERAGE);
    assert_non_null(strstr(e.integral_reason, "the average field was used instead of instant"));
    assert_near_rel(e.integral_j, 200 * e.window_s, 2e-3);
}

static void test_sentinels(void **state)
{
    (void)state;
    open_with("wave 0 200 1\nlimit 0 300\nsentinel 0 instant\nsentinel 0 average\n", NULL);
    struct eco_meter_energy e = measure(0.5, 0.2);
    assert_int_equal(e.field, ECO_POWER_DEFAULT);
    assert_near_rel(e.integral_j, 200 * e.window_s, 2e-3);
    close_set(NULL);
    open_with("sentinel 0 instant\nsentinel 0 average\nsentinel 0 default\nfail field83 * 3\n"
              "fail nvmlDeviceGetTotalEnergyConsumption * 3\n",
              NULL);
    assert_false(card(0)->usable);
    assert_non_null(strstr(card(0)->reason, "cannot be true"));
}

static void test_zero_for_seconds_is_no_reading(void **state)
{
    (void)state;
    open_with("wave 0 0 1\nstuck 0\n", NULL);
    struct eco_meter_energy e = measure(2.3, 0.5);
    assert_true(isnan(e.integral_j) && isnan(e.counter_j));
    assert_string_equal(e.integral_reason, "the sensor read 0 W for seconds");
    assert_string_equal(e.counter_reason, "the counter did not move");
}

static void test_stuck_counter(void **state)
{
    (void)state;
    open_with("wave 0 200 1\nstuck 0\n", NULL);
    struct eco_meter_energy e = measure(0.6, 0.2);
    assert_true(isnan(e.counter_j));
    assert_string_equal(e.counter_reason, "the counter did not move");
    assert_near_rel(e.integral_j, 200 * e.window_s, 2e-3);
}

static void test_counter_of_whole_joules(void **state)
{
    (void)state;
    open_with("wave 0 213 1\ncounter 0 20 1000\n", NULL);
    struct eco_meter_energy e = measure(WINDOW_S, 0.5);
    assert_near(card(0)->resolution_j, 1, 1e-12);
    assert_near(e.counter_j, 213 * e.window_s, e.counter_uncertainty_j);
    assert_near(e.counter_j, 213 * e.window_s, 6); /* one tick is 4 J, one count 1 J */
    assert_near_rel(e.counter_resolution_frac, 2 / e.counter_j, 1e-9);
}

static void test_counter_and_integral_disagree(void **state)
{
    (void)state;
    /* the instant field reads 25 ms of 100: it never sees the load's other half */
    open_with("cc 0 8.0\nwave 0 60 0.06 300 0.04\naveraging 0 instant 25\n"
              "averaging 0 default 25\naveraging 0 average 25\n",
              NULL);
    struct eco_meter_energy e = measure(WINDOW_S, 0.5);
    assert_true(e.duty);
    assert_true(e.withhold && e.counter_disagrees);
    assert_near_rel(e.counter_j, 156 * e.window_s, 0.05);
    assert_near(e.alias_j, 0.31 * e.integral_j, 1e-6);
}

static void test_lost_card(void **state)
{
    (void)state;
    open_with("wave 0 200 1\nlost 0 1.0\n", NULL);
    struct eco_meter_energy e = measure(2, 0.2);
    assert_true(e.lost);
    assert_true(isnan(e.integral_j) && isnan(e.counter_j) && isnan(e.v1_j));
    assert_non_null(strstr(e.integral_reason, "lost"));
}

static void test_failing_reads_are_counted(void **state)
{
    (void)state;
    open_with("wave 0 200 1\nfail nvmlDeviceGetPowerUsage * 999 1.0 1.1\n"
              "fail nvmlDeviceGetFieldValues * 3\n",
              NULL);
    struct eco_meter_energy e = measure(2.5, 0.2);
    assert_in_range(e.failed, 1, 7);
    assert_near_rel(e.integral_j, 200 * e.window_s, 5e-3);
}

/* A second without readings is a gap: no energy of that window, and the reason says how much. */
static void test_long_failure_is_a_gap(void **state)
{
    (void)state;
    open_with("wave 0 200 1\nfail nvmlDeviceGetPowerUsage * 999 1.0 1.6\n"
              "fail nvmlDeviceGetFieldValues * 3\n",
              NULL);
    struct eco_meter_energy e = measure(2.5, 0.2);
    assert_true(isnan(e.integral_j));
    assert_true(e.gaps >= 1 && e.gap_s > 0.4);
    assert_near_rel(e.counter_j, 200 * e.window_s, 0.03);
}

/* A step in the window: the 1 s average, shifted, still holds all of it; protocol v1 does not. */
static void test_average_is_shifted(void **state)
{
    (void)state;
    open_with("cc 0 9.0\ndriver 570.1\nwave 0 100 1.2 300 60\n", NULL);
    struct eco_power_source *s = card(0);
    struct eco_meter_options o = {.rate_hz = 50, .gain = NAN, .offset_w = NAN, .min_window_s = 1};
    struct eco_meter *m;
    struct eco_meter_energy e;
    int id;
    assert_int_equal(eco_meter_new(&s, 1, &o, &m, NULL), 0);
    assert_int_equal(eco_meter_start(m, NULL), 0);
    nap(0.6);
    assert_int_equal(eco_meter_begin(m, &id, NULL), 0);
    nap(2.5);
    assert_int_equal(eco_meter_end(m, id, &e, NULL), 0);
    eco_meter_free(m);
    assert_int_equal(e.field, ECO_POWER_AVERAGE);
    double off = fabs(e.integral_j / e.counter_j - 1), v1_off = fabs(e.v1_j / e.counter_j - 1);
    printf("# step, 1 s average: shifted %.2f %%, plain %.2f %% off the counter\n", 100 * off,
           100 * v1_off);
    assert_true(off < 0.05);
    assert_true(v1_off > 2 * off);
}

#define TEST(t) cmocka_unit_test_teardown(t, close_set)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_no_library),
        TEST(test_card_is_described),
        TEST(test_drivers),
        TEST(test_eight_cards_one_bad),
        TEST(test_visible_devices),
        TEST(test_mig_is_refused),
        TEST(test_vgpu_is_refused),
        TEST(test_state_and_processes),
        TEST(test_clocks_that_are_not_said),
        TEST(test_lost_card_is_wanted),
        TEST(test_unknown_name),
        TEST(test_limit_is_set_read_back_and_refused),
        TEST(test_refusal_at_every_call),
        TEST(test_init_and_count_refuse),
        TEST(test_constant_load),
        TEST(test_short_window_is_refused_not_zero),
        TEST(test_fields_missing_in_turn),
        TEST(test_counter_alone),
        TEST(test_neither_power_nor_counter),
        TEST(test_field_vanishes),
        TEST(test_sentinels),
        TEST(test_zero_for_seconds_is_no_reading),
        TEST(test_stuck_counter),
        TEST(test_counter_of_whole_joules),
        TEST(test_counter_and_integral_disagree),
        TEST(test_lost_card),
        TEST(test_failing_reads_are_counted),
        TEST(test_long_failure_is_a_gap),
        TEST(test_average_is_shifted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
