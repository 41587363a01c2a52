/* Probing: every source says its state and, when it cannot be used, why; fakes stand in. */
#include "eco_test.h"

#include "power/power.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define CAP 32

static const struct eco_run_source *find(const struct eco_run_source *s, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(s[i].name, name) == 0) {
            return &s[i];
        }
    }
    return NULL;
}

static void put(const char *root, const char *path, const char *text)
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
    int fd = open(full, O_WRONLY | O_CREAT, 0666);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

static void test_nothing_there(void **state)
{
    (void)state;
    struct eco_arena arena;
    struct eco_run_source s[CAP];
    struct eco_power_options roots = {.nvml_library = "/nonexistent/libnvidia-ml.so.1",
                                      .sysfs = "/nonexistent"};
    eco_arena_init(&arena, 0);
    size_t n = eco_power_probe_all(&roots, &arena, s, CAP);
    assert_int_equal(n, 7);
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(s[i].status, "unavailable");
        assert_non_null(s[i].reason);
    }
    assert_non_null(strstr(find(s, n, "nvml")->reason, "/nonexistent/libnvidia-ml.so.1"));
    eco_arena_done(&arena);
}

static void test_fake_sysfs(void **state)
{
    (void)state;
    char root[] = "eco-sysfs-XXXXXX";
    struct eco_arena arena;
    struct eco_run_source s[CAP];
    assert_non_null(mkdtemp(root));
    put(root, "class/powercap/intel-rapl:0/name", "package-0\n");
    put(root, "class/powercap/intel-rapl:0/energy_uj", "12345\n");
    put(root, "class/powercap/intel-rapl:0:0/energy_uj", "1\n");
    put(root, "class/powercap/intel-rapl:1/name", "package-1\n");
    put(root, "class/hwmon/hwmon0/name", "amdgpu\n");
    put(root, "class/hwmon/hwmon0/power1_average", "30000000\n");
    put(root, "class/hwmon/hwmon1/name", "xe\n");
    put(root, "class/hwmon/hwmon1/energy1_input", "5\n");
    put(root, "class/hwmon/hwmon2/name", "amdgpux\n");
    put(root, "class/hwmon/hwmon2/power1_average", "1\n");
    struct eco_power_options roots = {.nvml_library = "/nonexistent/libnvidia-ml.so.1",
                                      .sysfs = root};
    eco_arena_init(&arena, 0);
    size_t n = eco_power_probe_all(&roots, &arena, s, CAP);
    size_t packages = 0, amd = 0;
    for (size_t i = 0; i < n; i++) {
        packages += strcmp(s[i].name, "rapl") == 0;
        amd += strcmp(s[i].name, "amdgpu") == 0;
    }
    assert_int_equal(packages, 2); /* the sub-domain is not a source of its own */
    assert_int_equal(amd, 1);      /* a driver whose name only begins alike is not one */
    assert_string_equal(find(s, n, "amdgpu")->status, "available");
    assert_string_equal(find(s, n, "intel")->status, "available");
    assert_int_equal(find(s, n, "rapl")->boundary, ECO_RUN_BOUNDARY_CPU_PACKAGE);
    eco_arena_done(&arena);
    char command[64];
    snprintf(command, sizeof(command), "rm -r %s", root);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_there),
        cmocka_unit_test(test_fake_sysfs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
