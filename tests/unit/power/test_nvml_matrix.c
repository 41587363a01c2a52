/*
 * Everything a card, its driver and its sensors may do, against the fake library's own account of
 * what was drawn: each joule that comes out is within its stated interval, or there is none and a
 * reason. One window a case, each in a process of its own, all at once.
 */
#include "eco_test.h"

#include "base/clock.h"
#include "power/meter.h"

#include <dlfcn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LIBRARY ECO_FAKE_DIR "/libnvidia-ml.so.1"
#define WINDOW_S 2.4
#define SLACK_S 0.004 /* between our reading of the clock and the window's edge */
#define PEAK_W 300.0  /* of the wave below */
#define WAVE "wave * 120 0.7 300 0.43 180 0.31\n"

/* What a case must give, where that is known: otherwise only that nothing is wrong. */
enum wanted { ANY, COUNTER = 1, INTEGRAL = 2, NOTHING = 4, BOTH = COUNTER | INTEGRAL };

struct world {
    const char *name, *script;
    enum wanted wanted;
};

#define ADA(driver) "driver " driver "\nname * NVIDIA GeForce RTX 4090\ncc * 8.9\n"
#define GA102(driver) "driver " driver "\nname * NVIDIA GeForce RTX 3090\ncc * 8.6\nlimit * 350\n"
#define A100(driver)                                                                               \
    "driver " driver "\nname * NVIDIA A100-SXM4-40GB\ncc * 8.0\nlimit * 400\n"                     \
    "averaging * default 25\naveraging * average 25\naveraging * instant 25\n"
#define H100 "driver 570.1\nname * NVIDIA H100\ncc * 9.0\nlimit * 700\naveraging * instant 25\n"
#define NONE(call) ADA("570.1") "fail " call " * 3\n"
#define NOT_YET "fail field185 * 3\nfail field186 * 3\n" /* fields came with driver 530 */

static const struct world worlds[] = {
    {"ada, 520", ADA("520.1") NOT_YET, BOTH},
    {"ada, 530", ADA("530.1") "averaging * default 100\n", BOTH},
    {"ada, 570", ADA("570.1"), BOTH},
    {"ga102, 520", GA102("520.1") NOT_YET, BOTH},
    {"ga102, 530", GA102("530.1") "averaging * default 100\n", BOTH},
    {"ga102, 570", GA102("570.1"), BOTH},
    {"a100, 520", A100("520.1") NOT_YET, BOTH},
    {"a100, 530", A100("530.1"), BOTH},
    {"a100, 570", A100("570.1"), BOTH},
    {"hopper", H100, BOTH},
    {"hopper, no average", H100 "fail field185 * 3\n", BOTH},
    {"turing", "driver 570.1\nname * Tesla T4\ncc * 7.5\naveraging * default 100\n", BOTH},
    {"volta",
     "driver 570.1\nname * Tesla V100\ncc * 7.0\nrefresh * 20\naveraging * default 10\n"
     "averaging * average 10\naveraging * instant 10\n",
     BOTH},
    {"pascal has no counter",
     "driver 570.1\nname * Tesla P100\ncc * 6.0\nrefresh * 20\naveraging * default 10\n" NOT_YET
     "fail nvmlDeviceGetTotalEnergyConsumption * 3\nfail field83 * 3\n",
     INTEGRAL},
    {"a card nobody knows", "driver 999.1\nname * NVIDIA Thing\ncc * 14.2\n", BOTH},
    {"no capability", NONE("nvmlDeviceGetCudaComputeCapability"), BOTH},
    {"no instant", NONE("field186"), BOTH},
    {"no average", NONE("field185"), BOTH},
    {"no default", NONE("nvmlDeviceGetPowerUsage"), BOTH},
    {"no fields", NONE("nvmlDeviceGetFieldValues"), BOTH},
    {"no counter call", NONE("nvmlDeviceGetTotalEnergyConsumption"), BOTH},
    {"no counter at all", NONE("nvmlDeviceGetTotalEnergyConsumption") "fail field83 * 3\n",
     INTEGRAL},
    {"only the counter", NONE("nvmlDeviceGetPowerUsage") NOT_YET, COUNTER},
    {"nothing",
     NONE("nvmlDeviceGetPowerUsage") NOT_YET
     "fail nvmlDeviceGetTotalEnergyConsumption * 3\nfail field83 * 3\n",
     NOTHING},
    {"no name", NONE("nvmlDeviceGetName"), BOTH},
    {"no uuid", NONE("nvmlDeviceGetUUID"), BOTH},
    {"no driver version", NONE("nvmlSystemGetDriverVersion"), BOTH},
    {"no limit", NONE("nvmlDeviceGetEnforcedPowerLimit"), BOTH},
    {"no memory", NONE("nvmlDeviceGetMemoryInfo"), BOTH},
    {"no clocks", NONE("nvmlDeviceGetClockInfo"), BOTH},
    {"no temperature", NONE("nvmlDeviceGetTemperature"), BOTH},
    {"no throttle reasons", NONE("nvmlDeviceGetCurrentClocksThrottleReasons"), BOTH},
    {"no process list", NONE("nvmlDeviceGetComputeRunningProcesses_v3"), BOTH},
    {"no mig mode", NONE("nvmlDeviceGetMigMode"), BOTH},
    {"no ecc", NONE("nvmlDeviceGetEccMode"), BOTH},
    {"no persistence", NONE("nvmlDeviceGetPersistenceMode"), BOTH},
    {"no virtualization mode", NONE("nvmlDeviceGetVirtualizationMode"), BOTH},
    {"no handle", NONE("nvmlDeviceGetHandleByIndex_v2"), NOTHING},
    {"no count", NONE("nvmlDeviceGetCount_v2"), NOTHING},
    {"no init", NONE("nvmlInit_v2"), NOTHING},
    {"no permission for power", ADA("570.1") "fail nvmlDeviceGetPowerUsage * 4\n", BOTH},
    {"default is a sentinel", ADA("570.1") "sentinel * default\n", BOTH},
    {"average is a sentinel", ADA("570.1") "sentinel * average\n", BOTH},
    {"instant is a sentinel", ADA("570.1") "sentinel * instant\n", BOTH},
    {"all are sentinels",
     ADA("570.1") "sentinel * default\nsentinel * average\nsentinel * instant\n", COUNTER},
    {"counter stuck", ADA("570.1") "stuck *\n", INTEGRAL},
    {"counter of 1 J", ADA("570.1") "counter * 100 1000\n", BOTH},
    {"counter every 100 ms", ADA("570.1") "counter * 100 1\n", BOTH},
    {"a counter read takes 3 ms", ADA("570.1") "delay nvmlDeviceGetTotalEnergyConsumption 3\n",
     BOTH},
    {"a power read takes 30 ms", ADA("570.1") "delay nvmlDeviceGetPowerUsage 30\n", ANY},
    {"lost in the middle", ADA("570.1") "lost * 1.2\n", NOTHING},
    {"reads fail for 0.1 s",
     ADA("570.1") "fail nvmlDeviceGetFieldValues * 999 1 1.1\n"
                  "fail nvmlDeviceGetPowerUsage * 999 1 1.1\n",
     ANY},
    {"reads fail for 1 s",
     ADA("570.1") "fail nvmlDeviceGetFieldValues * 999 1 2\n"
                  "fail nvmlDeviceGetPowerUsage * 999 1 2\n",
     COUNTER},
    {"the instant field vanishes", ADA("570.1") "fail field186 * 3 0.5\n", ANY},
    {"a second process", ADA("570.1") "process * 4242 2048\n", BOTH},
    {"mig", A100("570.1") "mig *\n", NOTHING},
    {"vgpu", ADA("570.1") "vgpu *\n", NOTHING},
    {"throttled by heat", ADA("570.1") "throttle * 0x40\ntemp * 92\n", BOTH},
    {"eight, one bad",
     ADA("570.1") "gpus 8\nfail nvmlDeviceGetPowerUsage 3 999\n"
                  "fail nvmlDeviceGetFieldValues 3 999\nfail nvmlDeviceGetTotalEnergyConsumption 3 "
                  "999\n",
     BOTH},
    {"eight, the first lost", ADA("570.1") "gpus 8\nlost 0 0\n", BOTH},
};

#define WORLDS (sizeof(worlds) / sizeof(worlds[0]))

static void nap(double s)
{
    struct timespec t = {(time_t)s, (long)((s - floor(s)) * 1e9)};
    nanosleep(&t, NULL);
}

static double now_s(void)
{
    return (double)eco_clock_mono_ns() * 1e-9;
}

/* "" or what is wrong with a joule that was given. */
static const char *judge(double j, double truth_j, double half_j, const char *reason)
{
    if (isnan(j)) {
        return reason[0] ? "" : "no joule and no reason";
    }
    return fabs(j - truth_j) <= half_j + SLACK_S * PEAK_W ? "" : "outside its interval";
}

static bool unwanted(const struct world *w, bool counter, bool integral)
{
    return (w->wanted == NOTHING && (counter || integral)) || ((w->wanted & COUNTER) && !counter) ||
           ((w->wanted & INTEGRAL) && !integral);
}

static int check(const struct world *w, const struct eco_power_source *s,
                 const struct eco_meter_energy *e, double truth_j)
{
    char none[] = "see the other";
    const char *c = judge(e->counter_j, truth_j, e->counter_uncertainty_j, e->counter_reason);
    const char *i = judge(e->integral_j, truth_j, e->uncertainty_j, e->integral_reason);
    double lag_s = s->averaging_s[ECO_POWER_DEFAULT] >= 0 ? s->averaging_s[ECO_POWER_DEFAULT] : 1;
    double duty = s->duty[ECO_POWER_DEFAULT] ? 0.31 : 0;
    const char *v = judge(e->v1_j, truth_j, (0.1 + duty) * truth_j + lag_s * PEAK_W / 2, none);
    /* a machine that is busy with other things misses deadlines: null, with that reason */
    bool held_up = strstr(e->integral_reason, "have no readings") != NULL;
    bool bad = c[0] || i[0] || v[0] ||
               unwanted(w, !isnan(e->counter_j), !isnan(e->integral_j) || (held_up && e->missed));
    if (bad) {
        fprintf(stderr,
                "%s: drawn %.1f J; counter %.1f +- %.1f (%s) %s; integral %.1f +- %.1f (%s) %s; "
                "v1 %.1f %s\n",
                w->name, truth_j, e->counter_j, e->counter_uncertainty_j, e->counter_reason, c,
                e->integral_j, e->uncertainty_j, e->integral_reason, i, e->v1_j, v);
    }
    return bad;
}

/* One window of every card that can be chosen. */
static int measure(const struct world *w, struct eco_power_source **s, size_t n)
{
    const struct eco_meter_options o = {
        .rate_hz = 25, .gain = NAN, .offset_w = NAN, .min_window_s = 1};
    double (*drawn_j)(unsigned, double);
    void *lib = dlopen(LIBRARY, RTLD_NOW);
    void *symbol = lib ? dlsym(lib, "eco_fake_true_j") : NULL;
    struct eco_meter_energy e[ECO_METER_MAX_SOURCES];
    struct eco_meter *m;
    int id, bad = 0;
    memcpy(&drawn_j, &symbol, sizeof(symbol));
    if (!symbol || eco_meter_new(s, n, &o, &m, NULL) != 0 || eco_meter_start(m, NULL) != 0) {
        return 1;
    }
    nap(0.15);
    bad |= eco_meter_begin(m, &id, NULL) != 0;
    double from_s = now_s();
    nap(WINDOW_S);
    double to_s = now_s();
    bad |= eco_meter_end(m, id, e, NULL) != 0;
    for (size_t i = 0; i < n && !bad; i++) {
        unsigned card = (unsigned)s[i]->index;
        bad |= check(w, s[i], &e[i], drawn_j(card, to_s) - drawn_j(card, from_s));
    }
    eco_meter_free(m);
    dlclose(lib);
    return bad;
}

static int run(const struct world *w)
{
    char path[] = "eco-matrix-XXXXXX";
    struct eco_power_options o = {.nvml_library = LIBRARY,
                                  .sysfs = "/nonexistent",
                                  .amd_library = "/nonexistent",
                                  .ipmitool = ""};
    struct eco_power_source *s[ECO_METER_MAX_SOURCES];
    struct eco_power_set *set;
    struct eco_err err = {.message = ""};
    int fd = mkstemp(path), bad = 0;
    dprintf(fd, WAVE "%s", w->script);
    close(fd);
    setenv("ECO_FAKE_NVML", path, 1);
    if (eco_power_open(&o, &set, &err) != 0) {
        unlink(path);
        return 1;
    }
    size_t n = eco_power_choose(set, "nvml", s, ECO_METER_MAX_SOURCES, &err);
    if (n) {
        bad = measure(w, s, n);
    } else if (w->wanted != NOTHING || !err.message[0]) {
        fprintf(stderr, "%s: nothing to measure with (%s)\n", w->name, err.message);
        bad = 1;
    }
    unlink(path);
    eco_power_close(set);
    return bad;
}

static void test_no_wrong_joule(void **state)
{
    pid_t pid[WORLDS];
    int wrong = 0;
    (void)state;
    for (size_t i = 0; i < WORLDS; i++) {
        pid[i] = fork();
        if (pid[i] == 0) {
            _exit(run(&worlds[i]));
        }
        assert_true(pid[i] > 0);
    }
    for (size_t i = 0; i < WORLDS; i++) {
        int status = 0;
        assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
            fprintf(stderr, "case '%s': status %d\n", worlds[i].name, status);
            wrong++;
        }
    }
    printf("# %zu cases, %d wrong\n", WORLDS, wrong);
    assert_int_equal(wrong, 0);
}

/* The judge itself: a joule off by more than its interval, and one missing without a reason. */
static void test_the_judge_can_say_no(void **state)
{
    (void)state;
    assert_string_equal(judge(500, 500, 10, ""), "");
    assert_string_equal(judge(NAN, 500, NAN, "the device was lost"), "");
    assert_string_not_equal(judge(NAN, 500, NAN, ""), "");
    assert_string_not_equal(judge(520, 500, 10, ""), "");
    assert_string_not_equal(judge(0, 500, 10, ""), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_judge_can_say_no),
        cmocka_unit_test(test_no_wrong_joule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
