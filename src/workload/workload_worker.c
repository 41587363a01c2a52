/* The worker workload: the line protocol of docs/workers.md, told from our side. */
#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "workload/worker_process.h"
#include "workload/workload.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define TICK_NS 100000000
#define LAST_WORDS 120
#define MAX_COUNT (INT64_C(1) << 40) /* tokens of one iteration: sums cannot overflow */
#define MAX_LOG ((size_t)16 << 20)   /* bytes of a worker's log that are looked at */

struct worker {
    struct eco_generator base;
    struct eco_worker_process process;
    struct eco_worker_options options;
    char *command, *log;
    struct eco_json_doc event; /* the line received last */
    struct eco_arena loaded;   /* strings of the arm that is loaded */
    struct eco_run_package packages[ECO_WORKLOAD_MAX_PACKAGES];
    size_t package_count;
    char engine[64];
    int batch; /* of the arm that is loaded */
    bool stop_sent;
    bool endable; /* nothing is lost by ending it: a wish to stop does */
    int64_t next_tick_ns;
    double *intervals; /* of the running window */
    size_t interval_count, interval_room;
};

static struct worker *of(struct eco_generator *w)
{
    return (struct worker *)w;
}

static int no_memory(struct eco_err *err)
{
    return eco_err_set(err, ECO_E_NO_MEMORY, NULL, "out of memory");
}

/* ---- what went wrong ------------------------------------------------------------------------ */

/* The last line of the worker's log, which is where a traceback says what it was. */
static void last_line(const char *text, size_t end, char out[LAST_WORDS])
{
    const char killed[] = "Killed"; /* the shell's word about it, when there is one */
    for (int tries = 0; tries < 2; tries++) {
        while (end && (text[end - 1] == '\n' || text[end - 1] == ' ')) {
            end--;
        }
        size_t start = end;
        while (start && text[start - 1] != '\n') {
            start--;
        }
        if (end - start != strlen(killed) || memcmp(text + start, killed, end - start) != 0) {
            snprintf(out, LAST_WORDS, "%s%.*s", end > start ? ": " : "", (int)(end - start),
                     text + start);
            break;
        }
        end = start;
    }
    for (char *c = out; *c; c++) {
        *c = (unsigned char)*c < ' ' ? '?' : *c;
    }
}

static int died(struct worker *w, const char *doing, struct eco_err *err)
{
    char words[LAST_WORDS] = "";
    struct eco_buf log = ECO_BUF_INIT;
    int status = eco_worker_end(&w->process, w->options.grace_s);
    int code = status >= 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    /* the shell between us says 128 + n for a signal n */
    int signal = status >= 0 && WIFSIGNALED(status) ? WTERMSIG(status)
                 : code > 128 && code <= 192        ? code - 128
                                                    : 0;
    if (w->log && eco_file_read(w->log, MAX_LOG, &log, NULL) == 0) {
        last_line(eco_buf_str(&log), log.len, words);
    }
    eco_buf_done(&log);
    if (signal) {
        return eco_err_set(err, ECO_E_DEVICE, "workload", "the worker was killed by signal %d %s%s",
                           signal, doing, words);
    }
    return eco_err_set(err, ECO_E_DEVICE, "workload", "the worker ended with status %d %s%s", code,
                       doing, words);
}

static int not_protocol(const char *line, size_t len, const char *why, struct eco_err *err)
{
    char shown[61];
    size_t n = len < sizeof(shown) - 1 ? len : sizeof(shown) - 1;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)line[i];
        shown[i] = c < ' ' || c > '~' ? '?' : (char)c;
    }
    shown[n] = '\0';
    return eco_err_set(err, ECO_E_CONTENT, "workload",
                       "the worker printed what is not its protocol: '%s' (%.80s)", shown, why);
}

/* ---- lines ---------------------------------------------------------------------------------- */

static int send_line(struct worker *w, struct eco_buf *line, const char *doing, struct eco_err *err)
{
    eco_buf_putc(line, '\n');
    int rc = eco_buf_ok(line) ? 0 : no_memory(err);
    if (rc == 0 && !eco_worker_send(&w->process, line->data, line->len)) {
        rc = died(w, doing, err);
    }
    eco_buf_done(line);
    return rc;
}

static int send_word(struct worker *w, const char *op, const char *doing, struct eco_err *err)
{
    struct eco_buf line = ECO_BUF_INIT;
    eco_buf_printf(&line, "{\"op\":\"%s\"}", op);
    return send_line(w, &line, doing, err);
}

/* Between lines: the experiment looks at its sensors, and the user may want to stop. */
static int tick(struct worker *w, bool may_stop, const char *doing, struct eco_err *err)
{
    const struct eco_workload_hooks *h = &w->options.hooks;
    if (h->tick) {
        h->tick(h->ctx);
    }
    if (may_stop && !w->stop_sent && h->stop && h->stop(h->ctx)) {
        w->stop_sent = true;
        return send_word(w, "stop", doing, err);
    }
    if (w->endable && h->stop && h->stop(h->ctx)) { /* a load may take an hour, or never end */
        return eco_err_set(err, ECO_E_INTERRUPTED, "", "interrupted: the worker was ended %s",
                           doing);
    }
    return 0;
}

/* The code that a worker may name for its error; anything else is a device that failed. */
static int kind_of(const struct eco_json *event)
{
    static const int allowed[] = {ECO_E_CONTENT,      ECO_E_TOO_LARGE,   ECO_E_NOT_FOUND,
                                  ECO_E_UNKNOWN_NAME, ECO_E_UNSUPPORTED, ECO_E_PERMISSION,
                                  ECO_E_INVALID};
    const struct eco_json *kind = eco_json_get(event, "kind");
    for (size_t i = 0; kind && i < sizeof(allowed) / sizeof(allowed[0]); i++) {
        if (kind->type == ECO_JSON_STRING && strcmp(kind->str, eco_err_text(allowed[i])) == 0) {
            return allowed[i];
        }
    }
    return ECO_E_DEVICE;
}

static int parse_event(struct worker *w, const char *line, size_t len, const char **name,
                       struct eco_err *err)
{
    struct eco_err why = {0};
    if (eco_json_reparse(&w->event, line, len, &why)) {
        return not_protocol(line, len, why.message, err);
    }
    const struct eco_json *event = eco_json_get(w->event.root, "event");
    if (!event || event->type != ECO_JSON_STRING) {
        return not_protocol(line, len, "no \"event\"", err);
    }
    *name = event->str;
    if (strcmp(event->str, "error") == 0) {
        const struct eco_json *m = eco_json_get(w->event.root, "message");
        return eco_err_set(err, kind_of(w->event.root), "workload", "the worker says: %.230s",
                           m && m->type == ECO_JSON_STRING ? m->str : "error");
    }
    return 0;
}

/* The next event; `silent_s` is how long it may take to come. */
static int next_event(struct worker *w, double silent_s, bool may_stop, const char *doing,
                      const char **name, struct eco_err *err)
{
    int64_t limit_ns = eco_clock_mono_ns() + (int64_t)(silent_s * 1e9);
    for (;;) {
        const char *line;
        size_t len;
        int64_t now = eco_clock_mono_ns();
        if (now >= w->next_tick_ns) { /* also between lines that come fast */
            w->next_tick_ns = now + TICK_NS;
            int rc = tick(w, may_stop, doing, err);
            if (rc) {
                return rc;
            }
        }
        int64_t until = w->next_tick_ns < limit_ns ? w->next_tick_ns : limit_ns;
        switch (eco_worker_receive(&w->process, until, ECO_WORKER_MAX_LINE, &line, &len)) {
        case ECO_LINE_READY:
            if (len == 0) {
                continue;
            }
            return parse_event(w, line, len, name, err);
        case ECO_LINE_TOO_LONG:
            return eco_err_set(err, ECO_E_TOO_LARGE, "workload",
                               "the worker printed a line of more than %u bytes %s",
                               ECO_WORKER_MAX_LINE, doing);
        case ECO_LINE_END:
            return died(w, doing, err);
        case ECO_LINE_TIMEOUT:
            break;
        }
        if (eco_clock_mono_ns() >= limit_ns) {
            return eco_err_set(err, ECO_E_DEVICE, "workload",
                               "the worker has been silent for %g s %s", silent_s, doing);
        }
    }
}

static int unexpected(const char *name, const char *doing, struct eco_err *err)
{
    return eco_err_set(err, ECO_E_CONTENT, "workload", "the worker said '%.40s' %s", name, doing);
}

/* Waits for one event and no other. */
static int expect(struct worker *w, const char *want, double silent_s, const char *doing,
                  struct eco_err *err)
{
    const char *name = "";
    int rc = next_event(w, silent_s, false, doing, &name, err);
    return rc ? rc : strcmp(name, want) != 0 ? unexpected(name, doing, err) : 0;
}

/* A whole number >= 0 of the event, or an error. */
static int whole(struct worker *w, const char *key, int64_t *out, struct eco_err *err)
{
    const struct eco_json *v = eco_json_get(w->event.root, key);
    if (!v || v->type != ECO_JSON_NUMBER || !v->is_integer || v->i64 < 0 || v->i64 > MAX_COUNT) {
        return eco_err_set(err, ECO_E_CONTENT, "workload",
                           "the worker's '%s' has no whole number '%s'",
                           eco_json_get(w->event.root, "event")->str, key);
    }
    *out = v->i64;
    return 0;
}

static double number_or_nan(struct worker *w, const char *key)
{
    const struct eco_json *v = eco_json_get(w->event.root, key);
    return v && v->type == ECO_JSON_NUMBER ? v->num : (double)NAN;
}

static const char *text_or(const struct eco_json *object, const char *key, const char *other)
{
    const struct eco_json *v = eco_json_get(object, key);
    return v && v->type == ECO_JSON_STRING ? v->str : other;
}

/* ---- the steps ------------------------------------------------------------------------------ */

static void keep_packages(struct worker *w)
{
    const struct eco_json *versions = eco_json_get(w->event.root, "versions");
    if (!versions || versions->type != ECO_JSON_OBJECT) {
        return;
    }
    w->package_count = 0;
    for (const struct eco_json *v = versions->child; v; v = v->next) {
        if (v->type == ECO_JSON_STRING && w->package_count < ECO_WORKLOAD_MAX_PACKAGES) {
            struct eco_run_package p = {eco_arena_strdup(&w->loaded, v->key, v->key_len),
                                        eco_arena_strdup(&w->loaded, v->str, v->len)};
            if (p.name && p.version) {
                w->packages[w->package_count++] = p;
            }
        }
    }
}

static int wait_ready(struct worker *w, struct eco_err *err)
{
    int64_t protocol = 0;
    w->endable = true;
    int rc = expect(w, "ready", w->options.ready_s, "before it was ready", err);
    w->endable = false;
    rc = rc ? rc : whole(w, "protocol", &protocol, err);
    if (rc == 0 && protocol != ECO_WORKER_PROTOCOL) {
        return eco_err_set(err, ECO_E_CONTENT, "workload",
                           "the worker speaks protocol %lld, this program %d", (long long)protocol,
                           ECO_WORKER_PROTOCOL);
    }
    if (rc == 0) {
        snprintf(w->engine, sizeof(w->engine), "%s", text_or(w->event.root, "engine", "worker"));
        keep_packages(w);
    }
    return rc;
}

static int worker_load(struct eco_generator *base, const struct eco_workload_arm *arm,
                       struct eco_workload_loaded *out, struct eco_err *err)
{
    struct worker *w = of(base);
    struct eco_buf line = ECO_BUF_INIT;
    struct eco_json_writer j;
    w->stop_sent = false;
    w->batch = arm->batch;
    eco_jw_init(&j, &line, 0);
    eco_jw_object(&j);
    eco_jw_kv_str(&j, "op", "load");
    eco_jw_kv_str(&j, "model", arm->model);
    eco_jw_kv_str(&j, "precision", eco_precision_name(arm->precision));
    eco_jw_kv_i64(&j, "batch", arm->batch);
    eco_jw_kv_i64(&j, "prompt_tokens", arm->prompt_tokens);
    eco_jw_kv_i64(&j, "tokens", arm->gen_tokens);
    eco_jw_kv_i64(&j, "seed", (int64_t)(arm->seed & 0x7fffffff));
    eco_jw_object_end(&j);
    int rc = send_line(w, &line, "when it was asked to load", err);
    w->endable = true;
    rc = rc ? rc : expect(w, "loaded", w->options.load_s, "while loading", err);
    w->endable = false;
    if (rc) {
        return rc;
    }
    keep_packages(w);
    const char *weights = text_or(w->event.root, "weights", "real");
    *out = (struct eco_workload_loaded){.engine = w->engine,
                                        .weights = strcmp(weights, "synthetic") != 0 ? "real"
                                                                                     : "synthetic",
                                        .memory_bytes = number_or_nan(w, "memory_bytes"),
                                        .packages = w->packages,
                                        .package_count = w->package_count};
    return 0;
}

static int keep_interval(struct worker *w, double v, struct eco_err *err)
{
    if (w->interval_count == w->interval_room) {
        size_t room = w->interval_room ? w->interval_room * 2 : 1024;
        double *more =
            room <= ECO_WORKER_MAX_INTERVALS ? realloc(w->intervals, room * sizeof(*more)) : NULL;
        if (!more) {
            return room > ECO_WORKER_MAX_INTERVALS ? 0 : no_memory(err);
        }
        w->intervals = more;
        w->interval_room = room;
    }
    w->intervals[w->interval_count++] = v;
    return 0;
}

static int keep_intervals(struct worker *w, struct eco_err *err)
{
    const struct eco_json *list = eco_json_get(w->event.root, "intervals_s");
    for (const struct eco_json *v = list ? list->child : NULL; v; v = v->next) {
        if (v->type != ECO_JSON_NUMBER || !(v->num >= 0)) {
            return eco_err_set(err, ECO_E_CONTENT, "workload",
                               "the worker's 'intervals_s' holds what is not a duration");
        }
        int rc = keep_interval(w, v->num, err);
        if (rc) {
            return rc;
        }
    }
    return 0;
}

/* A window while it runs. */
struct tally {
    int iterations;
    int64_t streamed, most; /* tokens the worker told of; tokens it may tell of at most */
    double ttft_sum_s, tpot_sum_s;
    int ttft_n, tpot_n;
    int64_t steady_ns[2]; /* when the steady state began and ended; 0: not told */
};

static int on_iteration(struct worker *w, const struct eco_workload_window *what, struct tally *t,
                        struct eco_err *err)
{
    int64_t tokens = 0;
    int rc = whole(w, "tokens", &tokens, err);
    rc = rc ? rc : keep_intervals(w, err);
    if (rc) {
        return rc;
    }
    if (t->iterations == what->iterations) {
        return eco_err_set(err, ECO_E_CONTENT, "workload",
                           "the worker did more than the %d iterations it was asked for",
                           what->iterations);
    }
    t->iterations++;
    t->streamed += tokens;
    double ttft_s = number_or_nan(w, "ttft_s");
    if (ttft_s >= 0) {
        t->ttft_sum_s += ttft_s;
        t->ttft_n++;
    }
    double tpot_s = number_or_nan(w, "tpot_s");
    if (tpot_s >= 0) {
        t->tpot_sum_s += tpot_s;
        t->tpot_n++;
    }
    return 0;
}

/* The steady state of several streams begins or ends: the meter's window is of it alone. */
static int on_edge(struct worker *w, struct tally *t, bool end, const char *doing,
                   struct eco_err *err)
{
    if (t->steady_ns[end] || (end && !t->steady_ns[0])) {
        return unexpected(end ? "steady_end" : "steady_begin", doing, err);
    }
    t->steady_ns[end] = eco_clock_mono_ns();
    if (w->options.hooks.edge) {
        w->options.hooks.edge(w->options.hooks.ctx, end);
    }
    return 0;
}

/* The result of the steady state, when there was one. */
static int steady(struct worker *w, const struct tally *t, struct eco_workload_result *out,
                  struct eco_err *err)
{
    int64_t tokens = 0, firsts = 0;
    if (!t->steady_ns[1]) {
        return 0;
    }
    int rc = whole(w, "steady_tokens", &tokens, err);
    rc = rc ? rc : whole(w, "steady_first_tokens", &firsts, err);
    if (rc == 0 && (tokens > t->streamed || firsts > tokens)) {
        rc = eco_err_set(err, ECO_E_CONTENT, "workload",
                         "the worker claims %lld tokens of its steady state, %lld of them first "
                         "ones, of %lld in all",
                         (long long)tokens, (long long)firsts, (long long)t->streamed);
    }
    if (rc == 0 && tokens > 0) {
        out->tokens = tokens;
        out->decode_tokens = tokens - firsts;
        out->seconds = (double)(t->steady_ns[1] - t->steady_ns[0]) * 1e-9;
        out->steady = true;
    }
    return rc;
}

/* What it claims must be what it streamed, and no more than it was asked for. */
static int on_end(struct worker *w, const struct eco_workload_window *what, const struct tally *t,
                  int64_t began_ns, struct eco_workload_result *out, struct eco_err *err)
{
    int64_t tokens = 0, batch = 0;
    int rc = whole(w, "tokens", &tokens, err);
    rc = rc ? rc : whole(w, "sequences", &batch, err);
    if (rc) {
        return rc;
    }
    if (batch != w->batch) {
        return eco_err_set(err, ECO_E_CONTENT, "workload",
                           "the worker says %lld sequences, it was asked for %d", (long long)batch,
                           w->batch);
    }
    if (tokens != t->streamed) {
        return eco_err_set(err, ECO_E_CONTENT, "workload",
                           "the worker claims %lld tokens, its iterations make %lld",
                           (long long)tokens, (long long)t->streamed);
    }
    int64_t generations = t->iterations * batch;
    if (tokens > generations * what->tokens) {
        return eco_err_set(err, ECO_E_CONTENT, "workload",
                           "the worker claims %lld tokens in %d iterations of %d tokens",
                           (long long)tokens, t->iterations, what->tokens);
    }
    bool stopped = t->iterations < what->iterations;
    if (stopped && !w->stop_sent) {
        return eco_err_set(err, ECO_E_CONTENT, "workload",
                           "the worker did %d of %d iterations and was not asked to stop",
                           t->iterations, what->iterations);
    }
    struct eco_workload_result r = {.iterations = t->iterations,
                                    .tokens = tokens,
                                    .decode_tokens =
                                        tokens > generations ? tokens - generations : 0,
                                    .seconds = (double)(eco_clock_mono_ns() - began_ns) * 1e-9,
                                    .ttft_s = t->ttft_n ? t->ttft_sum_s / t->ttft_n : (double)NAN,
                                    .stopped = stopped};
    eco_workload_intervals(w->intervals, w->interval_count, &r);
    if (isnan(r.tpot_mean_s) && t->tpot_n) {
        r.tpot_mean_s = t->tpot_sum_s / t->tpot_n;
    }
    rc = steady(w, t, &r, err);
    if (rc == 0) {
        *out = r;
    }
    return rc;
}

static int generate(struct worker *w, const char *op, const struct eco_workload_window *what,
                    struct eco_workload_result *out, struct eco_err *err)
{
    struct eco_buf line = ECO_BUF_INIT;
    struct tally t = {0};
    const char *doing = strcmp(op, "warmup") != 0 ? "in a window" : "while warming up";
    w->interval_count = 0;
    eco_buf_printf(&line, "{\"op\":\"%s\",\"iterations\":%d,\"tokens\":%d}", op, what->iterations,
                   what->tokens);
    int64_t began_ns = eco_clock_mono_ns();
    int rc = send_line(w, &line, doing, err);
    rc = rc ? rc : expect(w, "window_begin", w->options.event_s, doing, err);
    while (rc == 0) {
        const char *name = "";
        rc = next_event(w, w->options.event_s, true, doing, &name, err);
        if (rc == 0 && strcmp(name, "window_end") == 0) {
            return on_end(w, what, &t, began_ns, out, err);
        }
        if (rc == 0 && strcmp(name, "iteration") == 0) {
            rc = on_iteration(w, what, &t, err);
        } else if (rc == 0 && strncmp(name, "steady_", 7) == 0) {
            rc = on_edge(w, &t, strcmp(name, "steady_end") == 0, doing, err);
        } else if (rc == 0 && strcmp(name, "first_token") != 0) {
            rc = unexpected(name, doing, err);
        }
    }
    return rc;
}

static int worker_warmup(struct eco_generator *base, const struct eco_workload_window *what,
                         struct eco_workload_result *out, struct eco_err *err)
{
    return generate(of(base), "warmup", what, out, err);
}

static int worker_window(struct eco_generator *base, const struct eco_workload_window *what,
                         struct eco_workload_result *out, struct eco_err *err)
{
    return generate(of(base), "window", what, out, err);
}

static int worker_perplexity(struct eco_generator *base, const char *path, int seq_len,
                             struct eco_workload_quality *out, struct eco_err *err)
{
    struct worker *w = of(base);
    struct eco_buf line = ECO_BUF_INIT;
    struct eco_workload_quality q = {.seq_len = seq_len};
    struct eco_json_writer j;
    eco_jw_init(&j, &line, 0);
    eco_jw_object(&j);
    eco_jw_kv_str(&j, "op", "perplexity");
    eco_jw_kv_str(&j, "path", path);
    eco_jw_kv_i64(&j, "seq_len", seq_len);
    eco_jw_object_end(&j);
    int rc = send_line(w, &line, "when it was asked for perplexity", err);
    w->endable = true; /* what was measured is kept: a wish to stop ends this, too */
    rc = rc ? rc : expect(w, "perplexity", w->options.load_s, "while judging quality", err);
    w->endable = false;
    rc = rc ? rc : whole(w, "tokens", &q.tokens, err);
    rc = rc ? rc : whole(w, "windows", &q.windows, err);
    q.mean_nll = rc ? 0 : number_or_nan(w, "mean_nll");
    if (rc == 0 && !isfinite(q.mean_nll)) {
        rc = eco_err_set(err, ECO_E_CONTENT, "workload", "the worker's 'perplexity' has no number");
    }
    if (rc == 0) {
        *out = q;
    }
    return rc;
}

static int worker_unload(struct eco_generator *base, struct eco_err *err)
{
    struct worker *w = of(base);
    int rc = send_word(w, "unload", "when it was asked to unload", err);
    return rc ? rc : expect(w, "unloaded", w->options.event_s, "while unloading", err);
}

static void worker_close(struct eco_generator *base)
{
    struct worker *w = of(base);
    eco_worker_end(&w->process, w->options.grace_s);
    eco_json_done(&w->event);
    eco_arena_done(&w->loaded);
    free(w->intervals);
    free(w->command);
    free(w->log);
    free(w);
}

static const struct eco_generator_class worker_class = {
    "worker",          worker_load,   worker_warmup, worker_window,
    worker_perplexity, worker_unload, worker_close};

static void defaults(struct eco_worker_options *o)
{
    o->ready_s = o->ready_s > 0 ? o->ready_s : 300;
    o->load_s = o->load_s > 0 ? o->load_s : 3600;
    o->event_s = o->event_s > 0 ? o->event_s : 300;
    o->grace_s = o->grace_s > 0 ? o->grace_s : 5;
}

int eco_workload_open_worker(const struct eco_worker_options *o, struct eco_generator **out,
                             struct eco_err *err)
{
    struct worker *w = calloc(1, sizeof(*w));
    if (!w) {
        return no_memory(err);
    }
    w->base.class = &worker_class;
    w->options = *o;
    w->process.to = w->process.from = -1;
    eco_arena_init(&w->loaded, (size_t)4 << 20);
    defaults(&w->options);
    w->command = strdup(o->command);
    w->log = o->log ? strdup(o->log) : NULL;
    int rc = w->command && (!o->log || w->log) ? 0 : no_memory(err);
    rc = rc ? rc : eco_worker_spawn(&w->process, w->command, w->log, err);
    rc = rc ? rc : wait_ready(w, err);
    if (rc) {
        worker_close(&w->base);
        return rc;
    }
    *out = &w->base;
    return 0;
}
