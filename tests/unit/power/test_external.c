/* Meters outside the device: a command, IPMI, growing files; recorded tables; the sensor table. */
#include "eco_test.h"

#include "base/clock.h"
#include "power/record.h"
#include "power/sensor.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

static struct eco_power_set *set;

static int close_set(void **state)
{
    (void)state;
    eco_power_close(set);
    set = NULL;
    return 0;
}

static int open_extra(const char *extra, const char *ipmitool, struct eco_err *err)
{
    const struct eco_power_options o = {.nvml_library = "/nonexistent",
                                        .sysfs = "/nonexistent",
                                        .amd_library = "/nonexistent",
                                        .ipmitool = ipmitool,
                                        .extra = extra};
    return eco_power_open(&o, &set, err);
}

/* Reads until it is a value or half a second has passed. */
static double soon(struct eco_power_source *s)
{
    const struct timespec nap = {0, 10000000};
    double w = NAN;
    for (int i = 0; i < 50 && eco_power_read(s, ECO_POWER_DEFAULT, &w) != ECO_POWER_OK; i++) {
        nanosleep(&nap, NULL);
    }
    return w;
}

static void test_command_that_prints_watts(void **state)
{
    (void)state;
    const struct timespec nap = {0, 100000000};
    struct eco_power_source *s[4];
    double w = 0;
    assert_int_equal(
        open_extra("exec:echo 'load 123.5 W'; sleep 0.05; echo watts=80; sleep 5", "", NULL), 0);
    assert_int_equal(eco_power_choose(set, NULL, s, 4, NULL), 1);
    assert_true(!s[0]->external && s[0]->unrated); /* nobody says which meter it reads */
    assert_string_equal(s[0]->device, "external meter (command)"); /* it may hold a password */
    assert_int_equal(s[0]->boundary, ECO_RUN_BOUNDARY_WALL);
    for (int i = 0; i < 40 && w != 80; i++) { /* a loaded machine takes its time */
        nanosleep(&nap, NULL);
        assert_int_equal(eco_power_read(s[0], ECO_POWER_DEFAULT, &w), ECO_POWER_OK);
    }
    assert_near(w, 80, 0); /* the newest line */
}

static void test_command_without_a_number(void **state)
{
    (void)state;
    struct eco_power_source *s[4];
    struct eco_err err = {0};
    assert_int_equal(open_extra("exec:echo garbage", "", NULL), 0);
    assert_int_equal(eco_power_choose(set, NULL, s, 4, &err), 0);
    assert_non_null(strstr(err.message, "no number of watts"));
}

static void test_ipmi(void **state)
{
    (void)state;
    const struct eco_power_source *s = NULL;
    char path[] = "eco-ipmi-XXXXXX", tool[64];
    static const char script[] = "#!/bin/sh\necho ' Instantaneous power reading:  412 Watts'\n"
                                 "echo ' Minimum during sampling period:  10 Watts'\n";
    int fd = mkstemp(path);
    assert_int_equal(write(fd, script, sizeof(script) - 1), (ssize_t)sizeof(script) - 1);
    close(fd);
    snprintf(tool, sizeof(tool), "sh ./%s", path);
    assert_int_equal(open_extra(NULL, tool, NULL), 0);
    for (size_t i = 0; i < eco_power_count(set); i++) {
        if (strcmp(eco_power_at(set, i)->name, "ipmi") == 0) {
            s = eco_power_at(set, i);
        }
    }
    assert_non_null(s);
    assert_true(s->usable);
    double w;
    assert_int_equal(eco_power_read(eco_power_at(set, 6), ECO_POWER_DEFAULT, &w), ECO_POWER_OK);
    assert_near(w, 412, 0);
    unlink(path);
}

static void test_growing_files(void **state)
{
    (void)state;
    static const struct {
        const char *scheme, *head, *row;
        double watts;
    } rows[] = {
        {"csv", "t_s,power_w\n0,999\n", "1,231.5\n", 231.5},
        {"ptd", "Time,05-01-2026 10:00:00.000,Watts,999.0,Volts,230\n",
         "Time,05-01-2026 10:00:01.000,Watts,412.25,Volts,230\n", 412.25},
    };
    for (size_t i = 0; i < 2; i++) {
        char path[] = "eco-tail-XXXXXX", extra[64];
        struct eco_power_source *s[2];
        double w;
        int fd = mkstemp(path);
        assert_true(write(fd, rows[i].head, strlen(rows[i].head)) > 0);
        snprintf(extra, sizeof(extra), "%s:%s", rows[i].scheme, path);
        assert_int_equal(open_extra(extra, "", NULL), 0);
        assert_int_equal(eco_power_choose(set, NULL, s, 2, NULL), 1);
        /* what was written before opening is not a reading of now */
        assert_int_equal(eco_power_read(s[0], ECO_POWER_DEFAULT, &w), ECO_POWER_FAILED);
        assert_true(write(fd, rows[i].row, strlen(rows[i].row)) > 0);
        assert_near(soon(s[0]), rows[i].watts, 0);
        close(fd);
        unlink(path);
        close_set(NULL);
    }
}

static void test_extras_that_cannot_be(void **state)
{
    (void)state;
    static const struct {
        const char *extra;
        int code;
    } rows[] = {{"csv:/nonexistent.csv", ECO_E_NOT_FOUND},
                {"magic:x", ECO_E_UNKNOWN_NAME},
                {"exec:", ECO_E_UNKNOWN_NAME},
                {"sim:const:-1", ECO_E_INVALID},
                {"sim:square:1,2", ECO_E_INVALID},
                {"sim:sine:1,2,0", ECO_E_INVALID}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct eco_err err = {0};
        assert_int_equal(open_extra(rows[i].extra, "", &err), rows[i].code);
        assert_true(err.message[0] != '\0');
    }
}

/* ---- recorded tables ------------------------------------------------------------------------ */

static int read_text(const char *text, const char *column, struct eco_record_table *t,
                     struct eco_err *err)
{
    return eco_record_read("t.csv", text, strlen(text), column, t, err);
}

static void test_tables(void **state)
{
    (void)state;
    struct eco_record_table t;
    struct eco_err err = {0};
    assert_int_equal(read_text("t_s,power_w\n0,1\n1,\n2,3\n", NULL, &t, &err), 0);
    assert_int_equal(t.n, 2);
    assert_int_equal(t.empty, 1);
    assert_string_equal(t.column, "power_w");
    eco_record_done(&t);
    assert_int_equal(read_text("t_s,power_w\n0,1\n2,1\n1,1\n", NULL, &t, &err), ECO_E_CONTENT);
    assert_int_equal(err.line, 4);
    assert_int_equal(read_text("t_s,power_w\n0,1\n1,x\n", NULL, &t, &err), ECO_E_CONTENT);
    assert_int_equal(read_text("t_s,power_w\n0,1\n1e300,1\n", NULL, &t, &err), ECO_E_CONTENT);
    assert_int_equal(read_text("t_s,power_w\n0,1\n1,1e308\n", NULL, &t, &err), ECO_E_CONTENT);
    assert_int_equal(err.line, 3);
    assert_int_equal(read_text("time,power_w\n0,1\n", NULL, &t, &err), ECO_E_CONTENT);
    assert_int_equal(read_text("t_s,a\n0,1\n", NULL, &t, &err), ECO_E_UNKNOWN_NAME);
    assert_int_equal(read_text("t_s,power_w\n0,1\n", NULL, &t, &err), ECO_E_CONTENT);
    assert_int_equal(read_text("", NULL, &t, &err), ECO_E_CONTENT);
}

/* A PTDaemon log over midnight of a leap day, with a reading that failed (-1). */
static void test_ptdaemon_log(void **state)
{
    (void)state;
    struct eco_record_table t;
    struct eco_err err = {0};
    static const char log[] = "Time,02-29-2024 23:59:59.500,Watts,100.5,Volts,230.1,Mark,notset\r\n"
                              "Time,03-01-2024 00:00:00.500,Watts,-1.000,Volts,230.1\r\n"
                              "some other line\r\n"
                              "Time,03-01-2024 00:00:01.500,Watts,102.5,Volts,230.1\r\n";
    assert_int_equal(read_text(log, NULL, &t, &err), 0);
    assert_int_equal(t.n, 2);
    assert_int_equal(t.empty, 1);
    assert_near(t.t_s[1], 2.0, 1e-6);
    assert_near(t.power_w[1], 102.5, 0);
    eco_record_done(&t);
    double at, w;
    assert_false(eco_record_ptd_line("Time,02-29-2024 23:59:59,Watts,1", 32, &at, &w));
    assert_false(eco_record_ptd_line("Time,", 5, &at, &w));
}

/* ---- the sensor table and detection --------------------------------------------------------- */

#define N 2000
static double t_s[N], power_w[N];

/* 5 ms polls of a sensor that refreshes and averages over a step at 2 s, with a little noise. */
static void make_step(double refresh_s, double averaging_s)
{
    for (int i = 0; i < N; i++) {
        t_s[i] = i * 0.005;
        double tick = floor(t_s[i] / refresh_s) * refresh_s;
        double on_s = fmin(fmax(tick - 2, 0), averaging_s);
        power_w[i] = 50 + 250 * on_s / averaging_s + 0.01 * fmod(tick / refresh_s, 7);
    }
}

static void test_detection(void **state)
{
    (void)state;
    static const double windows[][2] = {{0.1, 1.0}, {0.1, 0.5}, {0.02, 0.2}};
    for (size_t i = 0; i < 3; i++) {
        double refresh_s, averaging_s;
        make_step(windows[i][0], windows[i][1]);
        eco_sensor_detect(t_s, power_w, N, &refresh_s, &averaging_s);
        assert_near_rel(refresh_s, windows[i][0], 0.1);
        assert_near_rel(averaging_s, windows[i][1], 0.2);
    }
    double refresh_s, averaging_s;
    for (int i = 0; i < N; i++) {
        power_w[i] = 100; /* a constant load shows neither */
    }
    eco_sensor_detect(t_s, power_w, N, &refresh_s, &averaging_s);
    assert_true(isnan(refresh_s) && isnan(averaging_s));
    assert_true(eco_sensor_disagrees(0.1, 0.25));
    assert_true(eco_sensor_disagrees(1.0, 0.1));
    assert_false(eco_sensor_disagrees(0.1, 0.12));
    assert_false(eco_sensor_disagrees(0.1, NAN));
}

static void test_profiles(void **state)
{
    (void)state;
    const struct eco_sensor *s = eco_sensor_profile("rtx4090", ECO_POWER_DEFAULT, 0.25);
    assert_string_equal(s->driver, "530"); /* nearest to the window that was seen */
    s = eco_sensor_profile("NVIDIA GeForce RTX 4090", ECO_POWER_DEFAULT, 1.05);
    assert_string_equal(s->driver, "535");
    s = eco_sensor_profile("RTX 3090", ECO_POWER_INSTANT, NAN);
    assert_near(s->gain, 0.948, 0);
    s = eco_sensor_profile("A100", ECO_POWER_INSTANT, NAN);
    assert_near(s->gain, 0.954, 0);
    assert_null(eco_sensor_profile("H100", ECO_POWER_INSTANT, NAN)); /* nobody put a meter to it */
    assert_null(eco_sensor_profile("GT 1030", ECO_POWER_DEFAULT, NAN));
    assert_null(eco_sensor_profile("", ECO_POWER_DEFAULT, NAN));
    assert_int_equal(eco_sensor_driver_major("535.104.05"), 535);
    assert_int_equal(eco_sensor_driver_major(NULL), 0);
}

#define TEST(t) cmocka_unit_test_teardown(t, close_set)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_command_that_prints_watts),
        TEST(test_command_without_a_number),
        TEST(test_ipmi),
        TEST(test_growing_files),
        TEST(test_extras_that_cannot_be),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_ptdaemon_log),
        cmocka_unit_test(test_detection),
        cmocka_unit_test(test_profiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
