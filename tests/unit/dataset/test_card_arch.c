/* The card recogniser against every case of the published set, and against its traps. */
#include "base/csv.h"
#include "base/file.h"
#include "dataset/dataset.h"
#include "eco_test.h"

#include <time.h>

static bool among(const char *got, const char *wanted)
{
    size_t n = strlen(got);

    while (*wanted != '\0') {
        size_t w = strcspn(wanted, "|");
        if (w == n && memcmp(wanted, got, n) == 0)
            return true;
        wanted += w;
        wanted += *wanted == '|';
    }
    return false;
}

static const char *arch_of(const char *name)
{
    enum eco_arch a = eco_dataset_detect_arch(name, strlen(name), NULL);

    return a == ECO_ARCH_UNKNOWN ? "none" : eco_arch_name(a);
}

static void test_conformance(void **state)
{
    struct eco_buf b = ECO_BUF_INIT;
    struct eco_err err;
    struct eco_csv c;
    size_t cases = 0, wrong = 0;

    (void)state;
    assert_int_equal(eco_file_read(ECO_TEST_DIR "/conformance/arch_detect.csv", 1 << 20, &b, &err),
                     0);
    assert_int_equal(eco_csv_open(&c, "arch_detect.csv", b.data, b.len, &err), 0);
    while (eco_csv_next(&c, &err) == 1) {
        const char *got = arch_of(c.cell[1].s);
        if (!among(got, c.cell[2].s)) {
            print_message("'%s': %s, wanted %s\n", c.cell[1].s, got, c.cell[2].s);
            wrong++;
        }
        cases++;
    }
    eco_csv_done(&c);
    eco_buf_done(&b);
    assert_int_equal(cases, 117);
    assert_int_equal(wrong, 0);
}

/* Not from the published set: names of product lists, written as drivers and people write them. */
static const struct {
    const char *name, *want;
} products[] = {
    {"NVIDIA GeForce RTX 4090 D", "ada"},
    {"NVIDIA GeForce RTX 4070 Laptop GPU", "ada"},
    {"NVIDIA RTX 5000 Ada Generation", "ada"},
    {"NVIDIA L4", "ada"},
    {"NVIDIA L40S-48Q", "ada"},
    {"NVIDIA RTX6000-Ada-48Q", "ada"},
    {"NVIDIA GeForce RTX 5070 Ti Laptop GPU", "blackwell"},
    {"NVIDIA RTX PRO 5000 Blackwell", "blackwell"},
    {"NVIDIA RTX PRO 6000", "blackwell"},
    {"NVIDIA GB10", "blackwell"},
    {"NVIDIA GB300", "blackwell"},
    {"NVIDIA Jetson AGX Thor", "blackwell"},
    {"NVIDIA DGX Spark", "blackwell"},
    {"NVIDIA H200", "hopper"},
    {"NVIDIA H800", "hopper"},
    {"NVIDIA H100XM-80C", "hopper"},
    {"NVIDIA H20-3e", "hopper"},
    {"Orin (nvgpu)", "ampere"},
    {"NVIDIA Jetson Orin Nano", "ampere"},
    {"NVIDIA A100X", "ampere"},
    {"GRID A100D-80C", "ampere"},
    {"NVIDIA A16-4Q", "ampere"},
    {"NVIDIA A30", "ampere"},
    {"NVIDIA RTX A5500 Laptop GPU", "ampere"},
    {"NVIDIA RTX A500 Laptop GPU", "ampere"},
    {"A6000", "ampere"},
    {"DGX A100", "ampere"},
    {"NVIDIA A100-80C", "ampere"},
    {"GRID A100DX-40C", "ampere"},
    {"NVIDIA A10M", "ampere"},
    {"NVIDIA RTX A3000 Laptop GPU", "ampere"},
    {"NVIDIA GeForce RTX 3060 Lite Hash Rate", "ampere"},
    {"NVIDIA GeForce RTX 2050", "ampere"},
    {"NVIDIA CMP 170HX", "ampere"},
    {"Quadro RTX 3000", "turing"},
    {"Quadro RTX 6000", "turing"},
    {"NVIDIA GeForce MX550", "turing"},
    {"NVIDIA GeForce MX450", "turing"},
    {"NVIDIA GeForce RTX 2060", "turing"},
    {"NVIDIA GeForce GTX 1630", "turing"},
    {"NVIDIA T1200 Laptop GPU", "turing"},
    {"NVIDIA T4G", "turing"},
    {"GRID RTX6000-8Q", "turing"},
    {"GRID RTX8000P-48Q", "turing"},
    {"Quadro T2000", "turing"},
    {"NVIDIA T550 Laptop GPU", "turing"},
    {"NVIDIA CMP 40HX", "turing"},
    {"Tesla T4", "turing"},
    {"GRID V100D-16Q", "volta"},
    {"Tesla V100S-PCIE-32GB", "volta"},
    {"NVIDIA TITAN V CEO Edition", "volta"},
    {"NVIDIA TITAN Xp", "pascal"},
    {"NVIDIA TITAN X (Pascal)", "pascal"},
    {"NVIDIA GeForce GT 1030", "pascal"},
    {"NVIDIA GeForce MX250", "pascal"},
    {"Quadro GP100", "pascal"},
    {"GRID M60-8Q", "maxwell"},
    {"GRID M10-8Q", "maxwell"},
    {"Tesla M4", "maxwell"},
    {"NVIDIA GeForce GTX 960M", "maxwell"},
    {"NVIDIA GeForce 940MX", "maxwell"},
    {"Quadro M2000", "maxwell"},
    {"NVIDIA GeForce GTX TITAN X", "maxwell"},
    {"Quadro K620", "maxwell"},
    {"NVIDIA Tegra X1", "maxwell"},
    {"Tesla K80", "kepler"},
    {"NVIDIA GeForce GTX TITAN Black", "kepler"},
    {"GeForce 3080", "ampere"},
    {"4090", "ada"},
    {"5070 Ti", "blackwell"},
    {"rtx3090ti", "ampere"},
    {"H100", "hopper"},
    {"b200", "blackwell"},
    /* nothing to be told */
    {"Quadro 6000", "none"},
    {"GeForce GTX 480", "none"},
    {"Canada", "none"},
    {"Intel(R) UHD Graphics 770", "none"},
    {"Intel(R) Arc(TM) A770 Graphics", "none"},
    {"AMD Radeon Pro W7900", "none"},
    {"AMD A10-7850K", "none"},
    {"Apple M2 Ultra", "none"},
    {"Apple M4", "none"},
    {"M4 Max", "none"},
    {"a770", "none"},
    {"MacBook Pro 2019", "none"},
    {"Ascend 910B", "none"},
    {"Moore Threads MTT S80", "none"},
    {"Tesla M2090", "none"},
    {"Quadro FX 4800", "none"},
    {"16GB", "none"},
    {"Microsoft Basic Render Driver", "none"},
    {"NVIDIA", "none"},
    {"a", "none"},
    {"---", "none"},
    {"serial 4090123456789", "none"},
};

static void test_product_names(void **state)
{
    size_t wrong = 0;

    (void)state;
    for (size_t i = 0; i < sizeof products / sizeof products[0]; i++) {
        if (strcmp(arch_of(products[i].name), products[i].want) != 0) {
            print_message("'%s': %s, wanted %s\n", products[i].name, arch_of(products[i].name),
                          products[i].want);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

static void test_other_vendors(void **state)
{
    static const struct {
        const char *name;
        enum eco_arch want;
    } cases[] = {
        {"AMD Instinct MI300X", ECO_ARCH_CDNA3},
        {"AMD Instinct MI250X / MI250", ECO_ARCH_CDNA2},
        {"AMD Instinct MI355X", ECO_ARCH_CDNA4},
        {"AMD Instinct MI100", ECO_ARCH_CDNA1},
        {"gfx90a", ECO_ARCH_CDNA2},
        {"gfx1100", ECO_ARCH_RDNA3},
        {"AMD Radeon RX 7900 XTX", ECO_ARCH_RDNA3},
        {"AMD Radeon RX 6800 XT", ECO_ARCH_RDNA2},
        {"AMD Radeon RX 9070 XT", ECO_ARCH_RDNA4},
        {"AMD Radeon RX 580", ECO_ARCH_UNKNOWN},
        {"Intel(R) Arc(TM) A770 Graphics", ECO_ARCH_XE_HPG},
        {"Intel(R) Arc(TM) B580 Graphics", ECO_ARCH_XE2_HPG},
        {"Intel(R) Data Center GPU Max 1550", ECO_ARCH_XE_HPC},
        {"Intel Gaudi 3", ECO_ARCH_GAUDI},
        {"NVIDIA A100-SXM4-80GB", ECO_ARCH_AMPERE},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        enum eco_arch got = eco_dataset_detect_any_arch(cases[i].name, strlen(cases[i].name), NULL);
        if (got != cases[i].want)
            fail_msg("'%s': %s", cases[i].name, eco_arch_name(got));
    }
}

static void test_card_row(void **state)
{
    static const struct {
        const char *name, *row;
    } cases[] = {
        {"NVIDIA GeForce RTX 4090", "RTX 4090"},
        {"NVIDIA GeForce RTX 4090 D", "RTX 4090D"},
        {"NVIDIA A100-SXM4-80GB", "A100 SXM 80GB"},
        {"NVIDIA A100 80GB PCIe", "A100 PCIe 80GB"},
        {"NVIDIA A100-PCIE-40GB", "A100 PCIe 40GB"},
        {"NVIDIA H100 80GB HBM3", "H100 SXM"},
        {"NVIDIA H200", "H200 SXM"},
        {"Tesla T4", "T4"},
        {"Tesla V100-SXM2-32GB", "V100 SXM2"},
        {"NVIDIA RTX 6000 Ada Generation", "RTX 6000 Ada"},
        {"NVIDIA RTX PRO 6000 Blackwell Server Edition", "RTX PRO 6000 Blackwell Server Edition"},
        {"NVIDIA GeForce RTX 4060 Laptop GPU", NULL}, /* not the desktop card */
        {"NVIDIA A100-SXM4-40GB MIG 3g.20gb", NULL},  /* a slice is not the card */
        {"NVIDIA A40-48Q", NULL},
    };
    const struct eco_gpu *gpu;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        eco_dataset_detect_arch(cases[i].name, strlen(cases[i].name), &gpu);
        if (cases[i].row == NULL) {
            if (gpu != NULL)
                fail_msg("'%s' got row %s", cases[i].name, gpu->name);
        } else if (gpu == NULL || strcmp(gpu->name, cases[i].row) != 0) {
            fail_msg("'%s': %s", cases[i].name, gpu == NULL ? "no row" : gpu->name);
        }
    }
}

/* Every card of the table is recognised as what the table says. */
static void test_table_agrees(void **state)
{
    (void)state;
    for (size_t i = 0; i < eco_dataset_gpu_count(); i++) {
        const struct eco_gpu *g = eco_dataset_gpu(i), *row;
        enum eco_arch a = eco_dataset_detect_any_arch(g->name, strlen(g->name), &row);

        if (a != g->arch || row != g)
            fail_msg("'%s': %s, row %s", g->name, eco_arch_name(a), row == NULL ? "-" : row->name);
        a = eco_dataset_detect_any_arch(eco_dataset_gpu_short(i), strlen(eco_dataset_gpu_short(i)),
                                        &row);
        if (a != g->arch)
            fail_msg("'%s': %s", eco_dataset_gpu_short(i), eco_arch_name(a));
    }
}

/* Bytes that are no name must not be read past their end. */
static void test_junk(void **state)
{
    char junk[300];

    (void)state;
    for (unsigned seed = 1; seed < 2000; seed++) {
        size_t len = seed % sizeof junk;
        unsigned x = seed;
        char *copy = malloc(len + 1);

        assert_non_null(copy);
        for (size_t i = 0; i < len; i++) {
            x = x * 1664525u + 1013904223u;
            junk[i] = (char)("rtx A4900tg-hL\xff\x01 5"[(x >> 24) % 18]);
        }
        memcpy(copy, junk, len);
        eco_dataset_detect_any_arch(copy, len, NULL);
        free(copy);
    }
}

static double ns_per_call(const char *name)
{
    struct timespec a, b;
    const struct eco_gpu *gpu;
    int rounds = 20000;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
    for (int i = 0; i < rounds; i++)
        eco_dataset_detect_arch(name, strlen(name), &gpu);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
    return ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / rounds;
}

/* Wide, since the machine may be busy and sanitizers on: the bound catches a square law only. */
static void test_speed(void **state)
{
    double ns = ns_per_call("NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition");

    (void)state;
    print_message("detect: %.0f ns\n", ns);
    assert_true(ns < 100000.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conformance),   cmocka_unit_test(test_product_names),
        cmocka_unit_test(test_other_vendors), cmocka_unit_test(test_card_row),
        cmocka_unit_test(test_table_agrees),  cmocka_unit_test(test_junk),
        cmocka_unit_test(test_speed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
