/* JSON read and written, against jansson doing the same in the same run (if it was found). */
#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef ECO_HAVE_JANSSON
#include <jansson.h>
#endif

#define RUNS 5

static struct eco_buf text;
static struct eco_json_doc doc; /* what read_ours read last */
static volatile size_t sink;

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void read_ours(void)
{
    if (eco_json_reparse(&doc, text.data, text.len, NULL) != 0) {
        abort();
    }
    sink = doc.root->count;
}

static void write_ours(void)
{
    static struct eco_buf out;
    struct eco_json_writer w;

    eco_buf_clear(&out);
    eco_jw_init(&w, &out, 0);
    eco_jw_value(&w, doc.root);
    sink = out.len;
}

#ifdef ECO_HAVE_JANSSON
static void read_theirs(void)
{
    json_t *v = json_loadb(text.data, text.len, JSON_REJECT_DUPLICATES, NULL);

    if (v == NULL) {
        abort();
    }
    sink = json_object_size(v);
    json_decref(v);
}
#endif

static double measure(void (*call)(void), int rounds)
{
    double best = INFINITY;

    for (int run = 0; run < RUNS; run++) {
        double start = now_s();
        for (int r = 0; r < rounds; r++) {
            call();
        }
        best = fmin(best, (now_s() - start) * 1e9 / rounds);
    }
    return best;
}

static void report(const char *what, int rounds)
{
    double ns = measure(read_ours, rounds), written_ns = measure(write_ours, rounds);
    double mb = (double)text.len / 1e6;

    printf("%s, %zu bytes: read %.0f ns (%.0f MB/s), written %.0f ns (best of %d)\n", what,
           text.len, ns, mb / ns * 1e9, written_ns, RUNS);
#ifdef ECO_HAVE_JANSSON
    double theirs_ns = measure(read_theirs, rounds);
    printf("  jansson %s reads it in %.0f ns: ratio %.1fx\n", JANSSON_VERSION, theirs_ns,
           theirs_ns / ns);
#else
    printf("  SKIPPED: jansson was not found, no peer\n");
#endif
}

int main(void)
{
    eco_buf_puts(&text, "{\"gpu\":\"rtx-4090\",\"model\":\"qwen2.5-7b\",\"precision\":\"nf4\","
                        "\"batch\":8,\"prompt_tokens\":128,\"exact\":false}");
    report("a request", 200000);
    eco_buf_clear(&text);
    eco_buf_puts(&text, "{\"samples\":[");
    for (int i = 0; i < 20000; i++) {
        eco_buf_printf(&text, "%s{\"t_s\":%d.%02d,\"power_w\":%d.%03d,\"source\":\"nvml\"}",
                       i > 0 ? "," : "", i / 100, i % 100, 70 + i % 200, i * 7 % 1000);
    }
    eco_buf_puts(&text, "]}");
    report("a power trace", 20);
    eco_json_done(&doc);
    eco_buf_done(&text);
    return 0;
}
