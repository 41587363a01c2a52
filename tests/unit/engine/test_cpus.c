/* CPUs by cgroup v1 and v2 trees of our own making; the pool that works on them. */
#define _GNU_SOURCE /* sched_getaffinity, mkdtemp */
#include "base/file.h"
#include "eco_test.h"
#include "engine/cpus.h"
#include "engine/engine.h"
#include "engine/pool.h"

#include <dirent.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

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

static uint64_t memory(void)
{
    char proc[400], sys[400];
    snprintf(proc, sizeof(proc), "%s", at("proc"));
    snprintf(sys, sizeof(sys), "%s", at("mem"));
    return eco_engine_memory_free_at(proc, sys);
}

static void test_memory(void **state)
{
    const uint64_t mb = 1 << 20;
    (void)state;
    assert_int_equal(eco_engine_memory_free_at("/nonexistent", "/nonexistent"), 0);
    put("proc/meminfo", "MemTotal: 9000 kB\nMemFree: 10 kB\nMemAvailable:  2048000 kB\n");
    assert_int_equal(memory(), 2000 * mb);
    put("proc/self/cgroup", "0::/user/app\n");
    put("mem/user/app/memory.max", "max\n");
    put("mem/user/app/memory.current", "1000000000\n");
    assert_int_equal(memory(), 2000 * mb);
    put("mem/user/memory.max", "1048576000\n"); /* 1000 MB, a limit above the own group */
    put("mem/user/memory.current", "629145600\n");
    assert_int_equal(memory(), 400 * mb);
    put("mem/user/memory.stat", "anon 7\ninactive_file 104857600\nactive_file 5\n");
    assert_int_equal(memory(), 500 * mb);
    put("mem/user/memory.current", "2000000000\n"); /* over its limit: nothing is left */
    assert_int_equal(memory(), 1);
    put("proc/self/cgroup", "4:cpu,cpuacct:/job\n3:memory:/job\n"); /* v1 */
    put("mem/memory/job/memory.limit_in_bytes", "9223372036854771712\n");
    put("mem/memory/job/memory.usage_in_bytes", "104857600\n");
    assert_int_equal(memory(), 2000 * mb);
    put("mem/memory/job/memory.limit_in_bytes", "314572800\n");
    assert_int_equal(memory(), 200 * mb);
    /* a path from outside the container: the mounted root is what counts */
    put("proc/self/cgroup", "0::/../../elsewhere\n");
    put("mem/memory.max", "209715200\n");
    assert_int_equal(memory(), 200 * mb);
}

static void test_load(void **state)
{
    char proc[400];
    (void)state;
    snprintf(proc, sizeof(proc), "%s", at("proc"));
    assert_int_equal(eco_engine_runnable_at("/nonexistent"), -1);
    put("proc/loadavg", "0.50 0.40 0.30 5/321 12345\n");
    assert_int_equal(eco_engine_runnable_at(proc), 4);
    put("proc/loadavg", "0.50 0.40\n");
    assert_int_equal(eco_engine_runnable_at(proc), -1);
}

/* Ticks are hundredths of a second here as everywhere; what we used is taken off. */
static void test_others(void **state)
{
    const int cpu[] = {1, 10}, gone[] = {1, 4};
    struct eco_cpu_use a = {100, 7, 0}, b = {102, 8, 0}, now, later;
    char proc[400];
    (void)state;
    snprintf(proc, sizeof(proc), "%s", at("proc"));
    assert_int_equal(sysconf(_SC_CLK_TCK), 100);
    assert_true(isnan(eco_engine_busy_s_at("/nonexistent", cpu, 2)));
    put("proc/stat", "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 900 0 0 5 0 0 0 0 0 0\n"
                     "cpu1 100 20 30 4000 500 6 7 8 90 0\ncpu10 10 0 0 7 0 0 0 0 0 0\nintr 1 2\n");
    a.busy_s = eco_engine_busy_s_at(proc, cpu, 2);
    assert_near(a.busy_s, 1.81, 1e-12); /* idle, iowait and guests are not work */
    assert_true(isnan(eco_engine_busy_s_at(proc, gone, 2)));
    b.busy_s = a.busy_s + 2.0; /* one of 2 s is ours; 2 CPUs for 2 s */
    assert_near(eco_engine_others_frac(&a, &b, 2), 0.25, 1e-12);
    b.busy_s = a.busy_s + 0.9; /* less than we used */
    assert_near(eco_engine_others_frac(&a, &b, 2), 0.0, 0.0);
    b.busy_s = NAN;
    assert_near(eco_engine_others_frac(&a, &b, 2), 0.0, 0.0);
    b = (struct eco_cpu_use){100.4, 7, a.busy_s + 9};
    assert_near(eco_engine_others_frac(&a, &b, 2), 0.0, 0.0); /* too short to know */
    eco_engine_cpu_use(&now);
    eco_engine_cpu_use(&later);
    assert_true(later.wall_s > now.wall_s && later.own_s > now.own_s &&
                !(later.busy_s < now.busy_s));
}

/* A model that does not fit is refused with the numbers, before anything is made. */
static void test_too_large(void **state)
{
    struct eco_engine_options o = {.model = "synthetic:Llama-2-7b-hf",
                                   .precision = ECO_PREC_NF4,
                                   .memory_bytes = UINT64_C(3) << 30};
    struct eco_decoder *e = NULL;
    struct eco_err err = {0};
    uint64_t need = 0;
    (void)state;
    assert_int_equal(eco_engine_open(&o, &e, &err), ECO_E_NO_FIT);
    assert_non_null(strstr(err.message, "3.22 GB are free"));
    assert_non_null(strstr(err.message, "weights"));
    assert_int_equal(eco_engine_need(&o, &need, &err), 0);
    assert_true(need > UINT64_C(4000000000) && need < UINT64_C(6000000000)); /* 7B within 6 GB */
}

/* Threads of this process that may use one CPU only; an emulator has some of its own. */
static int bound_threads(void)
{
    DIR *d = opendir("/proc/self/task");
    int n = 0;
    assert_non_null(d);
    for (struct dirent *e = readdir(d); e; e = readdir(d)) {
        cpu_set_t set;
        if (e->d_name[0] != '.' && sched_getaffinity(atoi(e->d_name), sizeof(set), &set) == 0) {
            n += CPU_COUNT(&set) == 1;
        }
    }
    closedir(d);
    return n;
}

/* More threads than CPUs are not made, and a line says so; pinned, each has a CPU of its own. */
static void test_threads_are_cut(void **state)
{
    struct eco_engine_options o = {.model = "synthetic:SmolLM2-135M",
                                   .precision = ECO_PREC_GGUF_Q4_0,
                                   .threads = 200,
                                   .context_tokens = 8,
                                   .pin = true};
    struct eco_decoder *e = NULL;
    struct eco_err err = {0};
    int list[ECO_ENGINE_MAX_THREADS];
    int usable = eco_engine_cpu_list(list, ECO_ENGINE_MAX_THREADS), cpus = eco_engine_cpus();
    (void)state;
    assert_true(usable == 1 || bound_threads() == 0);
    assert_int_equal(eco_engine_open(&o, &e, &err), 0);
    const struct eco_engine_info *i = eco_engine_info(e);
    assert_int_equal(i->threads, cpus);
    assert_non_null(strstr(i->warning, "200 threads were asked for"));
    assert_true(usable == 1 || bound_threads() == i->threads);
    eco_engine_close(e);
    assert_int_equal(eco_engine_cpu_list(list, ECO_ENGINE_MAX_THREADS), usable); /* given back */
}

struct meeting {
    cpu_set_t *mask; /* [threads] */
    atomic_int *there;
    int threads;
};

/* An item waits for all others, so that each thread takes one. */
static void meet(const void *ctx, int begin, int end, int thread)
{
    const struct meeting *m = ctx;
    assert_int_equal(end, begin + 1);
    sched_getaffinity(0, sizeof(cpu_set_t), &m->mask[thread]);
    atomic_fetch_add(m->there, 1);
    while (atomic_load(m->there) < m->threads) {
        sched_yield();
    }
}

/* Thread i on the i-th CPU of the mask, round and round; not pinned, all of the mask. */
static void test_pins(void **state)
{
    enum { THREADS = 3 };
    int list[ECO_ENGINE_MAX_THREADS], n = eco_engine_cpu_list(list, ECO_ENGINE_MAX_THREADS);
    cpu_set_t all, mask[THREADS];
    (void)state;
    assert_true(n > 0);
    sched_getaffinity(0, sizeof(all), &all);
    for (int pin = 0; pin < 2; pin++) {
        struct eco_pool *pool = NULL;
        atomic_int there = 0;
        struct meeting m = {mask, &there, THREADS};
        assert_int_equal(eco_engine_pool_new(THREADS, pin, &pool, NULL), 0);
        eco_engine_pool_run(pool, &(struct eco_job){meet, &m, THREADS, 1});
        for (int i = 0; i < THREADS; i++) {
            cpu_set_t own;
            CPU_ZERO(&own);
            CPU_SET((size_t)list[i % n], &own);
            assert_true(CPU_EQUAL(&mask[i], pin ? &own : &all));
        }
        eco_engine_pool_free(pool);
        sched_getaffinity(0, sizeof(mask[0]), &mask[0]);
        assert_true(CPU_EQUAL(&mask[0], &all));
    }
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
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_load),
        cmocka_unit_test(test_others),
        cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_threads_are_cut),
        cmocka_unit_test(test_this_machine),
        cmocka_unit_test(test_pool),
        cmocka_unit_test(test_pins),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
