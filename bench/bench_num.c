/* Numbers as text: nanoseconds a number, against the C library's snprintf and strtod. */
#include "base/num.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COUNT 4096
#define ROUNDS 20
#define RUNS 5

static double values[COUNT];
static char texts[COUNT][ECO_NUM_MAX];
static volatile double sink;

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double format_ours(int i)
{
    char text[ECO_NUM_MAX];
    return (double)eco_num_format(values[i], text);
}

static double format_libc(int i)
{
    char text[64];
    return snprintf(text, sizeof text, "%.17g", values[i]);
}

static double fixed_ours(int i)
{
    char text[ECO_NUM_MAX + 320];
    return (double)eco_num_fixed(values[i], 3, text);
}

static double fixed_libc(int i)
{
    char text[64];
    return snprintf(text, sizeof text, "%.3f", values[i]);
}

static double round_ours(int i)
{
    return eco_num_round(values[i], 3);
}

static double round_libc(int i)
{
    char text[64];
    snprintf(text, sizeof text, "%.3f", values[i]);
    return strtod(text, NULL);
}

static double parse_ours(int i)
{
    double v = 0;
    return eco_num_parse(texts[i], strlen(texts[i]), &v) == 0 ? v : 0;
}

static double parse_libc(int i)
{
    return strtod(texts[i], NULL);
}

/* The quickest of RUNS, in nanoseconds a call; *slowest too. */
static double measure(double (*call)(int), double *slowest)
{
    double best = INFINITY;

    *slowest = 0;
    for (int run = 0; run < RUNS; run++) {
        double start = now_s(), sum = 0;
        for (int r = 0; r < ROUNDS; r++) {
            for (int i = 0; i < COUNT; i++) {
                sum += call(i);
            }
        }
        double ns = (now_s() - start) * 1e9 / ((double)ROUNDS * COUNT);
        sink = sum;
        best = fmin(best, ns);
        *slowest = fmax(*slowest, ns);
    }
    return best;
}

static void compare(const char *what, double (*ours)(int), const char *peer, double (*theirs)(int))
{
    double slow, peer_slow;
    double ns = measure(ours, &slow), peer_ns = measure(theirs, &peer_slow);

    printf("%-24s %6.1f ns (slowest of %d: %.1f), %s %6.1f ns (%.1f): ratio %.1fx\n", what, ns,
           RUNS, slow, peer, peer_ns, peer_slow, peer_ns / ns);
}

static void fill(bool plain)
{
    unsigned seed = 1;

    for (int i = 0; i < COUNT; i++) {
        seed = seed * 1664525u + 1013904223u;
        values[i] = plain ? (double)(seed >> 8) / 1e3 : (double)(seed >> 8) / 16777.216;
        eco_num_format(values[i], texts[i]);
    }
}

int main(void)
{
    fill(true);
    compare("format, 3 places", format_ours, "snprintf %.17g", format_libc);
    compare("parse, 3 places", parse_ours, "strtod", parse_libc);
    fill(false);
    compare("format, all digits", format_ours, "snprintf %.17g", format_libc);
    compare("parse, all digits", parse_ours, "strtod", parse_libc);
    compare("fixed, 3 places", fixed_ours, "snprintf %.3f", fixed_libc);
    compare("round, 3 places", round_ours, "snprintf and strtod", round_libc);
    return 0;
}
