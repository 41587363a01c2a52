/*
 * Real samplers over the fake NVML: what the first step of a load shows of two sensors, one that
 * no table knows and one that is not what its table says; parts of a window; the machine at rest.
 */
#include "experiment/meter_port.h"

#include "base/clock.h"

#include "eco_test.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define LIBRARY ECO_FAKE_DIR "/libnvidia-ml.so.1"

static struct eco_power_set *set;
static struct eco_meter_port *port;

static void nap(double s)
{
    struct timespec t = {(time_t)s, (long)((s - floor(s)) * 1e9)};
    nanosleep(&t, NULL);
}

/* Card 0: unknown, a 1 s average every 100 ms. Card 1: its table says 1 s, the driver takes 0.3. */
static const char script[] = "gpus 2\ndriver 570.1\nwave * 60 3 300 600\n"
                             "name 0 NVIDIA Thing\ncc 0 14.2\n"
                             "name 1 NVIDIA GeForce RTX 4090\ncc 1 8.9\naveraging 1 default 300\n";

static int start(void **state)
{
    char path[] = "eco-port-XXXXXX";
    struct eco_power_options o = {.nvml_library = LIBRARY,
                                  .sysfs = "/nonexistent",
                                  .amd_library = "/nonexistent",
                                  .ipmitool = ""};
    struct eco_power_source *s[4];
    (void)state;
    int fd = mkstemp(path);
    dprintf(fd, "%s", script);
    close(fd);
    setenv("ECO_FAKE_NVML", path, 1);
    int rc = eco_power_open(&o, &set, NULL);
    unlink(path);
    nap(1.2); /* the averages hold what the card draws now */
    return rc || eco_power_choose(set, "nvml", s, 4, NULL) != 2 ||
           eco_meter_port_new(s, 2, 25, NAN, NAN, &port, NULL);
}

static int stop(void **state)
{
    (void)state;
    eco_meter_port_free(port);
    eco_power_close(set);
    return 0;
}

static bool warned(const char *words)
{
    const char *line;
    for (size_t i = 0; (line = eco_meter_port_warning(port, i)) != NULL; i++) {
        if (strstr(line, words)) {
            return true;
        }
    }
    return false;
}

static void test_the_first_step_shows_the_sensor(void **state)
{
    struct eco_exp_meter m = eco_meter_port_meter(port);
    const struct eco_power_source *unknown = eco_power_at(set, 0), *known = eco_power_at(set, 1);
    (void)state;
    assert_true(isnan(unknown->refresh_s[ECO_POWER_DEFAULT]));
    assert_int_equal(m.starts, 0);
    m.look(m.self);
    nap(4.5);
    double min_s = m.seen(m.self);
    assert_near(unknown->refresh_s[ECO_POWER_DEFAULT], 0.1, 0.03);
    assert_near(unknown->averaging_s[ECO_POWER_DEFAULT], 1, 0.25);
    assert_near(min_s, fmax(5, 5 * unknown->averaging_s[eco_meter_best_field(unknown)]), 0.5);
    assert_true(warned("NVIDIA Thing, default field: averaging not in the table"));
    assert_true(warned("RTX 4090, default field: averaging seen"));
    assert_false(warned("RTX 4090, average field"));
    assert_near(known->averaging_s[ECO_POWER_DEFAULT], 1, 0); /* told, and not overruled */
}

static void test_parts_add_up(void **state)
{
    struct eco_exp_meter m = eco_meter_port_meter(port);
    struct eco_exp_energy e;
    double busy_s = 0, around_s = 0;
    (void)state;
    for (int i = 0; i < 3; i++) {
        int64_t before_ns = eco_clock_mono_ns();
        assert_int_equal(m.begin_part(m.self, NULL), 0);
        int64_t from_ns = eco_clock_mono_ns();
        nap(0.4);
        busy_s += (double)(eco_clock_mono_ns() - from_ns) * 1e-9;
        assert_int_equal(m.end_part(m.self, i == 2, &e, NULL), 0);
        around_s += (double)(eco_clock_mono_ns() - before_ns) * 1e-9;
    }
    /* under the sensor's shortest window there is no joule, only how long it was */
    assert_true(e.too_short && isnan(e.counter_j) && isnan(e.integral_j));
    assert_true(e.window_s >= busy_s && e.window_s <= around_s);
}

static bool never(void *self)
{
    (void)self;
    return false;
}

static bool at_once(void *self)
{
    (void)self;
    return true;
}

static void test_rest(void **state)
{
    struct eco_exp_meter m = eco_meter_port_meter(port);
    struct eco_exp_rest r;
    struct eco_exp_now now;
    (void)state;
    m.rest(m.self, 0.6, never, NULL, &r);
    assert_near(r.idle_w, 600, 40); /* two cards; both counters tick every 20 ms */
    assert_near(r.observer_w, 0, 60);
    assert_string_equal(r.reason, "");
    nap(0.3);
    m.now(m.self, 0.25, &now); /* the sampler goes on */
    assert_near(now.mean_w, 600, 5);
    m.rest(m.self, 5, at_once, NULL, &r);
    assert_true(isnan(r.observer_w));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_first_step_shows_the_sensor),
        cmocka_unit_test(test_parts_add_up),
        cmocka_unit_test(test_rest),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
