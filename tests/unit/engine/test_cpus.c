/* CPUs by cgroup v1 and v2 trees of our own making; the pool that works on them. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "base/file.h"
#include "eco_test.h"
#include "engine/cpus.h"
#include "engine/engine.h"
#include "engine/pool.h"

#include <stdatomic.h>

static char root[256];

static const char *at(const char *name)
{
    static char path[2][400];
    static int turn;
    char *p = path[turn++ % 2];
    snprintf(p, sizeof(path[0]), "%s/%s", root, name);
    return p;
}

static void put(const char *name, const char *text)
{
    char folder[400];
    snprintf(folder, sizeof(folder), "%s", at(name));
    *strrchr(folder, '/') = '\0';
    assert_int_equal(eco_file_mkdirs(folder, NULL), 0);
    assert_int_equal(eco_file_write(at(name), text, strlen(text), true, NULL), 0);
}

static int setup(void **state)
{
    const char *base = getenv("TMPDIR");
    (void)state;
    snprintf(root, sizeof(root), "%s/eco-cpus-XXXXXX", base ? base : P_tmpdir);
    return mkdtemp(root) == NULL;
}

static int teardown(void **state)
{
    char command[300];
    (void)state;
    snprintf(command, sizeof(command), "rm -r '%s'", root);
    return system(command);
}

static int cpus(int affinity)
{
    char proc[400];
    snprintf(proc, sizeof(proc), "%s", at("cgroup"));
    return eco_engine_cpus_at(proc, at("sys"), affinity);
}

static void test_version_2(void **state)
{
    (void)state;
    assert_int_equal(eco_engine_cpus_at("/nonexistent", "/nonexistent", 6), 6);
    put("cgroup", "0::/user/app\n");
    put("sys/user/app/cpu.max", "max 100000\n");
    assert_int_equal(cpus(16), 16);
    put("sys/user/app/cpu.max", "250000 100000\n");
    assert_int_equal(cpus(16), 3); /* two and a half: three threads have work */
    assert_int_equal(cpus(2), 2);
    put("sys/user/cpu.max", "100000 100000\n"); /* a tighter one above */
    assert_int_equal(cpus(16), 1);
    put("sys/user/cpu.max", "max 100000\n");
    put("sys/user/app/cpu.max", "20000 100000\n");
    assert_int_equal(cpus(16), 1); /* never 0 */
}

static void test_version_1(void **state)
{
    (void)state;
    put("cgroup", "12:memory:/job\n5:cpuset:/tight\n4:cpu,cpuacct:/job\n");
    put("sys/cpu/job/cpu.cfs_quota_us", "-1\n");
    put("sys/cpu/job/cpu.cfs_period_us", "100000\n");
    assert_int_equal(cpus(8), 8);
    put("sys/cpu/job/cpu.cfs_quota_us", "400000\n");
    assert_int_equal(cpus(8), 4);
}

static void test_this_machine(void **state)
{
    int list[ECO_ENGINE_MAX_THREADS];
    (void)state;
    int n = eco_engine_cpu_list(list, ECO_ENGINE_MAX_THREADS);
    assert_true(n >= 1 && eco_engine_cpus() >= 1 && eco_engine_cpus() <= n);
    assert_true(eco_engine_memory_free() > 1 << 20);
}

struct counting {
    atomic_int *seen; /* [items] */
    int threads;
};

static void count(const void *ctx, int begin, int end, int thread)
{
    const struct counting *c = ctx;
    assert_true(thread >= 0 && thread < c->threads);
    for (int i = begin; i < end; i++) {
        atomic_fetch_add(&c->seen[i], 1);
    }
}

/* Every item once, whatever the chunk, over many rounds with naps between. */
static void test_pool(void **state)
{
    static atomic_int seen[1000];
    struct eco_pool *pool = NULL;
    int rounds = 0;
    (void)state;
    assert_int_equal(eco_engine_pool_new(3, true, &pool, NULL), 0);
    assert_int_equal(eco_engine_pool_threads(pool), 3);
    struct counting c = {seen, 3};
    for (int n = 0; n <= 1000; n += 37) {
        for (int chunk = 1; chunk < 100; chunk += 13, rounds++) {
            eco_engine_pool_run(pool, &(struct eco_job){count, &c, n, chunk});
            for (int i = 0; i < 1000; i++) {
                assert_int_equal(atomic_exchange(&seen[i], 0), i < n);
            }
        }
    }
    assert_true(rounds > 200);
    eco_engine_pool_free(pool);
    eco_engine_pool_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_version_2),
        cmocka_unit_test(test_version_1),
        cmocka_unit_test(test_this_machine),
        cmocka_unit_test(test_pool),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
