/* Sources that are files: fake trees stand in for /sys; RAPL wraps, permissions, rails, dies. */
#include "eco_test.h"

#include "power/backend.h"
#include "power/meter.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char root[32];
static struct eco_power_set *set;

static int make_root(void **state)
{
    (void)state;
    strcpy(root, "eco-sysfs-XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
    (void)state;
    char command[64];
    eco_power_close(set);
    set = NULL;
    snprintf(command, sizeof(command), "rm -r %s", root);
    return system(command);
}

/* Writes a file below the root, making its folders. */
static void put(const char *path, const char *text)
{
    char full[512];
    snprintf(full, sizeof(full), "%s/%s", root, path);
    for (char *c = full + strlen(root) + 1; *c; c++) {
        if (*c == '/') {
            *c = '\0';
            mkdir(full, 0777);
            *c = '/';
        }
    }
    int fd = open(full, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

static void open_tree(const char *amd)
{
    const struct eco_power_options o = {.nvml_library = "/nonexistent/libnvidia-ml.so.1",
                                        .sysfs = root,
                                        .amd_library = amd ? amd : "/nonexistent",
                                        .ipmitool = ""};
    assert_int_equal(eco_power_open(&o, &set, NULL), 0);
}

/* The k-th source of a backend, or NULL. */
static struct eco_power_source *find(const char *name, size_t k)
{
    for (size_t i = 0; i < eco_power_count(set); i++) {
        if (strcmp(eco_power_at(set, i)->name, name) == 0 && k-- == 0) {
            return eco_power_at(set, i);
        }
    }
    return NULL;
}

static double read_j(struct eco_power_source *s)
{
    double j = NAN;
    assert_int_equal(eco_power_read_counter(s, &j), ECO_POWER_OK);
    return j;
}

static void test_nothing_there(void **state)
{
    (void)state;
    open_tree(NULL);
    assert_int_equal(eco_power_count(set), 7);
    for (size_t i = 0; i < 7; i++) {
        assert_false(eco_power_at(set, i)->usable);
        assert_non_null(eco_power_at(set, i)->reason);
    }
    assert_non_null(strstr(find("nvml", 0)->reason, "/nonexistent/libnvidia-ml.so.1"));
    assert_non_null(strstr(find("rapl", 0)->reason, "no sensor in this VM"));
}

static void test_report_rows(void **state)
{
    (void)state;
    struct eco_arena arena;
    struct eco_run_source rows[16];
    const struct eco_power_options o = {
        .nvml_library = "/nonexistent", .sysfs = root, .ipmitool = ""};
    put("class/powercap/intel-rapl:0/name", "package-0\n");
    put("class/powercap/intel-rapl:0/max_energy_range_uj", "262143328850\n");
    put("class/powercap/intel-rapl:0/energy_uj", "12345\n");
    eco_arena_init(&arena, 0);
    size_t n = eco_power_probe_all(&o, &arena, rows, 16), available = 0;
    for (size_t i = 0; i < n; i++) {
        available += strcmp(rows[i].status, "available") == 0;
    }
    assert_int_equal(available, 1);
    eco_arena_done(&arena);
}

/* Two sockets, DRAM apart, psys on its own, a second interface not counted twice. */
static void test_rapl_domains(void **state)
{
    (void)state;
    static const char *const zones[][2] = {
        {"intel-rapl:0", "package-0\n"},     {"intel-rapl:0:0", "core\n"},
        {"intel-rapl:0:1", "dram\n"},        {"intel-rapl:1", "package-1\n"},
        {"intel-rapl:2", "psys\n"},          {"intel-rapl:3", "package-0\n"},
        {"intel-rapl-mmio:0", "package-0\n"}};
    for (size_t i = 0; i < sizeof(zones) / sizeof(zones[0]); i++) {
        char path[128];
        snprintf(path, sizeof(path), "class/powercap/%s/name", zones[i][0]);
        put(path, zones[i][1]);
        snprintf(path, sizeof(path), "class/powercap/%s/energy_uj", zones[i][0]);
        put(path, "1000000\n");
        snprintf(path, sizeof(path), "class/powercap/%s/max_energy_range_uj", zones[i][0]);
        put(path, "262143328850\n");
    }
    put("class/powercap/intel-rapl:0/constraint_0_max_power_uw", "125000000\n");
    open_tree(NULL);
    struct eco_power_source *chosen[8];
    assert_int_equal(eco_power_choose(set, NULL, chosen, 8, NULL), 2);
    assert_string_equal(chosen[0]->device, "package-0");
    assert_string_equal(chosen[1]->device, "package-1");
    assert_string_equal(find("rapl", 1)->device, "package-0+dram");
    assert_int_equal(find("rapl", 1)->boundary, ECO_RUN_BOUNDARY_CPU_PACKAGE_DRAM);
    assert_string_equal(find("rapl", 3)->device, "psys");
    assert_int_equal(find("rapl", 3)->boundary, ECO_RUN_BOUNDARY_SOC);
    assert_null(find("rapl", 4));
    assert_near(chosen[0]->wrap_s, 262143.32885 / 125, 1e-6);
    assert_near(chosen[0]->resolution_j, 61.035e-6, 1e-8);
    /* package and DRAM move: their sum is the third boundary's */
    double before = read_j(find("rapl", 1));
    put("class/powercap/intel-rapl:0/energy_uj", "3000000\n");
    put("class/powercap/intel-rapl:0:1/energy_uj", "1500000\n");
    assert_near(read_j(find("rapl", 1)) - before, 2.5, 1e-9);
}

/* The wrap, exact within one count: both usual units, values near both ends. */
static void test_rapl_wrap(void **state)
{
    (void)state;
    static const uint64_t maxima[] = {262143328850u, 65532610987u, 4294967295u};
    for (size_t k = 0; k < 3; k++) {
        double count_uj = (double)maxima[k] / 4294967295.0;
        struct eco_power_wrap w = {.max = maxima[k], .step = count_uj};
        uint64_t seed = 7, raw = 4294967000u; /* counts of the register underneath */
        double truth = 0;
        eco_power_unwrap(&w, (uint64_t)((double)raw * count_uj));
        for (int i = 0; i < 100000; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            uint64_t step = seed >> 34; /* up to a quarter of the range */
            raw = (raw + step) & 0xffffffffu;
            truth += (double)step * count_uj;
            double got = eco_power_unwrap(&w, (uint64_t)((double)raw * count_uj));
            assert_near(got, truth, 1.5 * count_uj + 1 + 1e-9 * truth);
        }
    }
    /* one wrap alone, by hand: 5 before the end, 7 after it, one count for the step over */
    struct eco_power_wrap w = {.max = 4294967295u, .step = 1};
    eco_power_unwrap(&w, 4294967290u);
    assert_near(eco_power_unwrap(&w, 7), 13, 0);
}

static void test_rapl_wraps_through_the_files(void **state)
{
    (void)state;
    put("class/powercap/intel-rapl:0/name", "package-0\n");
    put("class/powercap/intel-rapl:0/max_energy_range_uj", "262143328850\n");
    put("class/powercap/intel-rapl:0/energy_uj", "262143000000\n");
    open_tree(NULL);
    double before = read_j(find("rapl", 0));
    put("class/powercap/intel-rapl:0/energy_uj", "671150\n");
    assert_near(read_j(find("rapl", 0)) - before, 1.0, 62e-6);
}

static void test_rapl_without_maximum_is_refused(void **state)
{
    (void)state;
    put("class/powercap/intel-rapl:0/name", "package-0\n");
    put("class/powercap/intel-rapl:0/energy_uj", "1\n");
    open_tree(NULL);
    assert_false(find("rapl", 0)->usable);
    assert_non_null(strstr(find("rapl", 0)->reason, "max_energy_range_uj"));
}

static void test_garbage_is_an_error(void **state)
{
    (void)state;
    put("class/powercap/intel-rapl:0/name", "package-0\n");
    put("class/powercap/intel-rapl:0/max_energy_range_uj", "262143328850\n");
    put("class/powercap/intel-rapl:0/energy_uj", "-5\n");
    open_tree(NULL);
    assert_non_null(strstr(find("rapl", 0)->reason, "intel-rapl:0/energy_uj holds '-5'"));
    eco_power_close(set);
    put("class/powercap/intel-rapl:0/energy_uj", "12x\n");
    open_tree(NULL);
    assert_false(find("rapl", 0)->usable);
    uint64_t v;
    static const char *const bad[] = {"", "\n", "-1\n", "99999999999999999999999\n", " 1\n"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char path[64];
        put("number", bad[i]);
        snprintf(path, sizeof(path), "%s/number", root);
        assert_int_not_equal(eco_power_read_u64(path, &v), 0);
    }
}

/* A file only root may read names the one command that grants access to all of them. */
static void test_permission(void **state)
{
    (void)state;
    struct eco_power_source *s[4];
    struct eco_err err = {0};
    char path[128];
    put("class/powercap/intel-rapl:0/name", "package-0\n");
    put("class/powercap/intel-rapl:0/max_energy_range_uj", "262143328850\n");
    put("class/powercap/intel-rapl:0/energy_uj", "1\n");
    snprintf(path, sizeof(path), "%s/class/powercap/intel-rapl:0/energy_uj", root);
    chmod(path, 0);
    bool root_user = geteuid() == 0;
    if (root_user && (chmod(root, 0777) != 0 || seteuid(65534) != 0)) {
        skip();
    }
    open_tree(NULL);
    size_t n = eco_power_choose(set, NULL, s, 4, &err);
    if (root_user) {
        assert_int_equal(seteuid(0), 0);
    }
    assert_int_equal(n, 0);
    assert_int_equal(err.code, ECO_E_PERMISSION);
    assert_non_null(strstr(err.message, "sudo chmod a+r"));
    assert_non_null(strstr(find("rapl", 0)->command, "intel-rapl*/energy_uj"));
}

static void test_gpus_by_hwmon(void **state)
{
    (void)state;
    double w, j0;
    put("class/hwmon/hwmon0/name", "amdgpu\n");
    put("class/hwmon/hwmon0/power1_input", "55000000\n");
    put("class/hwmon/hwmon0/power1_average", "30000000\n");
    put("class/hwmon/hwmon0/power1_cap", "300000000\n");
    put("class/hwmon/hwmon1/name", "xe\n");
    put("class/hwmon/hwmon1/energy1_input", "5000000\n");
    put("class/hwmon/hwmon2/name", "amdgpux\n");
    put("class/hwmon/hwmon2/power1_average", "1\n");
    put("class/hwmon/hwmon3/name", "amdgpu\n");
    put("class/hwmon/hwmon3/power1_input", "70000000\n");
    open_tree(NULL);
    assert_int_equal(eco_power_read(find("amdgpu", 0), ECO_POWER_DEFAULT, &w), ECO_POWER_OK);
    assert_near(w, 30, 1e-9); /* average before input */
    assert_false(find("amdgpu", 0)->counter);
    assert_int_equal(eco_power_read(find("amdgpu", 1), ECO_POWER_DEFAULT, &w), ECO_POWER_OK);
    assert_near(w, 70, 1e-9);
    assert_null(find("amdgpu", 2)); /* a driver whose name only begins alike is not one */
    put("class/hwmon/hwmon0/power1_average", "900000000\n"); /* three times the limit */
    assert_int_equal(eco_power_read(find("amdgpu", 0), ECO_POWER_DEFAULT, &w), ECO_POWER_SENTINEL);
    j0 = read_j(find("intel", 0));
    put("class/hwmon/hwmon1/energy1_input", "7500000\n");
    assert_near(read_j(find("intel", 0)) - j0, 2.5, 1e-9);
    put("class/hwmon/hwmon1/energy1_input", "100\n"); /* the driver was loaded anew */
    assert_int_equal(eco_power_read_counter(find("intel", 0), &j0), ECO_POWER_FAILED);
}

/* Jetson: the rail of the whole board is the source; its parts are never added to it. */
static void test_rails(void **state)
{
    (void)state;
    struct eco_power_source *s[8];
    double w;
    static const char *const labels[] = {"VDD_IN\n", "VDD_CPU_GPU_CV\n", "VDD_SOC\n"};
    put("class/hwmon/hwmon0/name", "ina3221\n");
    for (int i = 0; i < 3; i++) {
        char path[64];
        snprintf(path, sizeof(path), "class/hwmon/hwmon0/in%d_label", i + 1);
        put(path, labels[i]);
        snprintf(path, sizeof(path), "class/hwmon/hwmon0/in%d_input", i + 1);
        put(path, "5000\n");
        snprintf(path, sizeof(path), "class/hwmon/hwmon0/curr%d_input", i + 1);
        put(path, i == 0 ? "3000\n" : "1000\n");
    }
    open_tree(NULL);
    assert_int_equal(eco_power_choose(set, NULL, s, 8, NULL), 1);
    assert_int_equal(eco_power_read(s[0], ECO_POWER_DEFAULT, &w), ECO_POWER_OK);
    assert_near(w, 15, 1e-9);
    assert_int_equal(s[0]->boundary, ECO_RUN_BOUNDARY_SOC);
    assert_non_null(strstr(find("hwmon", 1)->note, "one rail"));
}

static void test_acpi_meter_is_the_wall(void **state)
{
    (void)state;
    put("class/hwmon/hwmon4/name", "power_meter\n");
    put("class/hwmon/hwmon4/power1_average", "412000000\n");
    put("class/hwmon/hwmon4/power1_average_interval", "1000\n");
    open_tree(NULL);
    assert_int_equal(find("hwmon", 0)->boundary, ECO_RUN_BOUNDARY_WALL);
    assert_near(find("hwmon", 0)->averaging_s[ECO_POWER_DEFAULT], 1, 1e-9);
}

/* librocm_smi64: 300 W by its energy count; the second die counts nothing and says so. */
static void test_rocm(void **state)
{
    (void)state;
    const struct timespec nap = {0, 200000000};
    double w, j0, j1;
    open_tree(ECO_FAKE_DIR "/librocm_smi64.so");
    struct eco_power_source *s = find("amd", 0);
    assert_true(s->usable && s->counter && !s->derived);
    assert_int_equal(eco_power_read(s, ECO_POWER_DEFAULT, &w), ECO_POWER_OK);
    assert_near(w, 300, 1e-9);
    j0 = read_j(s);
    nanosleep(&nap, NULL);
    j1 = read_j(s);
    assert_true(j1 - j0 >= 59.9 && j1 - j0 < 300);
    assert_near(s->resolution_j, 15.3e-6, 1e-9);
    assert_false(find("amd", 1)->usable);
    assert_non_null(strstr(find("amd", 1)->reason, "only the even one"));
}

/* One window of a card of libamd_smi. */
static struct eco_meter_energy amd_window(const char *wrong)
{
    const struct timespec nap = {1, 200000000};
    const struct eco_meter_options o = {
        .rate_hz = 25, .gain = NAN, .offset_w = NAN, .min_window_s = 1};
    struct eco_meter_energy e;
    struct eco_meter *m;
    int id;
    setenv("ECO_FAKE_AMD", wrong, 1);
    open_tree(ECO_FAKE_DIR "/libamd_smi.so");
    struct eco_power_source *s = find("amd", 1); /* the second socket's card */
    assert_true(s->usable && s->counter && s->derived);
    assert_int_equal(eco_meter_new(&s, 1, &o, &m, NULL), 0);
    assert_int_equal(eco_meter_start(m, NULL), 0);
    assert_int_equal(eco_meter_begin(m, &id, NULL), 0);
    nanosleep(&nap, NULL);
    assert_int_equal(eco_meter_end(m, id, &e, NULL), 0);
    eco_meter_free(m);
    unsetenv("ECO_FAKE_AMD");
    return e;
}

/* libamd_smi: 250 W by the count; where the count is wrong there is no joule, and a reason. */
static void test_amdsmi(void **state)
{
    static const char *const wrong[] = {"stuck", "back", "fails"};
    (void)state;
    struct eco_meter_energy e = amd_window("");
    assert_near(e.counter_j, 250 * e.window_s, e.counter_uncertainty_j);
    assert_near_rel(e.counter_j, 250 * e.window_s, 0.02);
    assert_true(isnan(e.integral_j) && e.integral_reason[0]);
    for (size_t i = 0; i < 3; i++) {
        remove_root(NULL);
        make_root(NULL);
        e = amd_window(wrong[i]);
        assert_true(isnan(e.counter_j) && isnan(e.integral_j) && isnan(e.v1_j));
        assert_true(e.counter_reason[0] != '\0');
    }
}

static void test_amdsmi_that_refuses(void **state)
{
    static const char *const wrong[] = {"none", "mute"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        setenv("ECO_FAKE_AMD", wrong[i], 1);
        open_tree(ECO_FAKE_DIR "/libamd_smi.so");
        assert_false(find("amd", 0)->usable);
        assert_non_null(find("amd", 0)->reason);
        unsetenv("ECO_FAKE_AMD");
        remove_root(NULL);
        make_root(NULL);
    }
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, make_root, remove_root)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_nothing_there),
        TEST(test_report_rows),
        TEST(test_rapl_domains),
        TEST(test_rapl_wrap),
        TEST(test_rapl_wraps_through_the_files),
        TEST(test_rapl_without_maximum_is_refused),
        TEST(test_garbage_is_an_error),
        TEST(test_permission),
        TEST(test_gpus_by_hwmon),
        TEST(test_rails),
        TEST(test_acpi_meter_is_the_wall),
        TEST(test_rocm),
        TEST(test_amdsmi),
        TEST(test_amdsmi_that_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
