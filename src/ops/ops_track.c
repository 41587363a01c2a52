/*
 * `track -- COMMAND`: runs it and says what every power source measured meanwhile. The command's
 * output goes on to standard error, so that standard output carries the result alone.
 */
#include "base/buf.h"
#include "base/clock.h"
#include "base/num.h"
#include "power/meter.h"
#include "runs.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINE_BYTES 1024
#define MAX_WORDS 256
#define MIN_WINDOW_S 5.0

extern char **environ;

struct track {
    struct eco_power_set *set;
    struct eco_power_source *source[ECO_METER_MAX_SOURCES];
    size_t n;
    struct eco_power_source *row[ECO_POWER_MAX_SOURCES]; /* the sources, and their lost fellows */
    size_t rows;
    struct eco_meter *meter; /* NULL: nothing to read */
    struct eco_meter_energy energy[ECO_METER_MAX_SOURCES];
    int window;
    double tokens; /* NAN: the command printed none */
    double min_s;  /* shortest window that any source can measure */
    char line[LINE_BYTES];
    size_t len;
};

static int no_memory(struct eco_err *err)
{
    return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
}

static struct eco_opt opt(double v)
{
    return (struct eco_opt){v, isfinite(v)};
}

/* ---- what the command prints ---------------------------------------------------------------- */

/* "tokens=512", "tokens: 512", "completion_tokens": 512, "tokens_generated": 512 in a line. */
static bool tokens_in(const char *line, double *out)
{
    static const char *const names[] = {"completion_tokens", "tokens_generated", "tokens"};
    for (size_t i = 0; i < ECO_COUNT(names); i++) {
        const char *at = strstr(line, names[i]);
        if (!at) {
            continue;
        }
        at += strlen(names[i]);
        size_t gap = strspn(at, "\"' :=");
        size_t digits = strspn(at + gap, "0123456789");
        if (gap && digits && digits < 16 && eco_num_parse_lenient(at + gap, digits, out) == 0) {
            return true;
        }
    }
    return false;
}

static void scan(struct track *t, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] != '\n') {
            if (t->len < LINE_BYTES - 1) {
                t->line[t->len++] = bytes[i];
            }
            continue;
        }
        t->line[t->len] = '\0';
        double v;
        if (tokens_in(t->line, &v)) {
            t->tokens = v;
        }
        t->len = 0;
    }
}

static void pass_on(struct track *t, int fd)
{
    char bytes[4096];
    ssize_t got;
    while ((got = read(fd, bytes, sizeof(bytes))) > 0 || (got < 0 && errno == EINTR)) {
        for (ssize_t done = 0, put; got > 0 && done < got; done += put) {
            put = write(STDERR_FILENO, bytes + done, (size_t)(got - done));
            if (put <= 0) {
                break;
            }
        }
        if (got > 0) {
            scan(t, bytes, (size_t)got);
        }
    }
}

/* ---- running it ----------------------------------------------------------------------------- */

static int spawn(const struct eco_strs *words, int out_fd, pid_t *pid, struct eco_err *err)
{
    char *argv[MAX_WORDS + 1];
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t defaults;
    if (words->n > MAX_WORDS) {
        return eco_err_set(err, ECO_E_TOO_LARGE, "command", "over %d words", MAX_WORDS);
    }
    for (size_t i = 0; i < words->n; i++) {
        argv[i] = (char *)(uintptr_t)words->v[i];
    }
    argv[words->n] = NULL;
    if (!argv[0]) {
        return eco_err_set(err, ECO_E_MISSING, "command", "no command: track -- COMMAND");
    }
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGINT);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, out_fd, STDOUT_FILENO);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setsigdefault(&attr, &defaults);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
    int rc = posix_spawnp(pid, argv[0], &files, &attr, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attr);
    return rc ? eco_err_set(err, ECO_E_NOT_FOUND, "command", "cannot run '%.100s': %s", argv[0],
                            strerror(rc))
              : 0;
}

/* Runs the command to its end; Ctrl-C reaches it, and its energy so far is still reported. */
static int run_command(struct track *t, const struct eco_strs *words, double *time_s, int *status,
                       struct eco_err *err)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    int ends[2], raw = 0;
    pid_t pid = 0;
    if (pipe(ends) != 0) {
        return eco_err_set(err, ECO_E_IO, "", "cannot make a pipe: %s", strerror(errno));
    }
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    sigaction(SIGINT, &ignore, &before);
    int64_t start_ns = eco_clock_mono_ns();
    int rc = spawn(words, ends[1], &pid, err);
    close(ends[1]);
    if (rc == 0) {
        pass_on(t, ends[0]);
        while (waitpid(pid, &raw, 0) < 0 && errno == EINTR) {
        }
        *time_s = (double)(eco_clock_mono_ns() - start_ns) * 1e-9;
        *status = WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
    }
    close(ends[0]);
    sigaction(SIGINT, &before, NULL);
    return rc;
}

/* ---- power ---------------------------------------------------------------------------------- */

/* A card that cannot be read beside others of its kind that can: it is not left out in silence. */
static bool is_missing(const struct track *t, const struct eco_power_source *s)
{
    for (size_t i = 0; i < t->n && !s->usable && s->wanted; i++) {
        if (t->source[i]->backend == s->backend) {
            return true;
        }
    }
    return false;
}

static void list_rows(struct track *t)
{
    for (size_t i = 0, k = 0; i < eco_power_count(t->set); i++) {
        struct eco_power_source *s = eco_power_at(t->set, i);
        bool read = k < t->n && t->source[k] == s;
        k += read;
        if (read || is_missing(t, s)) {
            t->row[t->rows++] = s;
        }
    }
}

static int open_power(struct track *t, const struct eco_args_track *a, const char *visible,
                      struct eco_err *err)
{
    const struct eco_power_options o = {.nvml_library = a->nvml_library,
                                        .sysfs = a->sysfs,
                                        .extra = a->source,
                                        .visible_devices = visible};
    const struct eco_meter_options m = {
        .rate_hz = a->rate, .gain = (double)NAN, .offset_w = (double)NAN};
    int rc = eco_power_open(&o, &t->set, err);
    for (size_t i = 0; rc == 0 && i < eco_power_count(t->set); i++) {
        struct eco_power_source *s = eco_power_at(t->set, i);
        if (s->selected && t->n < ECO_METER_MAX_SOURCES) {
            t->source[t->n++] = s;
            t->min_s = fmax(t->min_s, 5 * s->averaging_s[eco_meter_best_field(s)]);
        }
    }
    if (rc || t->n == 0) {
        return rc;
    }
    list_rows(t);
    rc = eco_meter_new(t->source, t->n, &m, &t->meter, err);
    rc = rc ? rc : eco_meter_start(t->meter, err);
    return rc ? rc : eco_meter_begin_fast(t->meter, &t->window, err);
}

/* Why no source is there: the first missing permission, else the first device, else words. */
static const char *why_none(struct eco_ctx *ctx, struct eco_power_set *set)
{
    struct eco_power_source *s[1];
    struct eco_err err = {0};
    return eco_power_choose(set, NULL, s, 1, &err)
               ? NULL
               : eco_arena_strdup(ctx->arena, err.message, strlen(err.message));
}

/* Why an energy is missing; what says nothing of one that is there is not said. */
static const char *why_missing(const struct eco_power_source *s, const struct eco_meter_energy *e)
{
    bool by_counter = isfinite(e->counter_j), by_integral = isfinite(e->integral_j);
    if (s->unrated && by_integral) {
        return s->note;
    }
    if (s->derived || (by_integral && !by_counter)) {
        return by_counter ? "" : e->counter_reason;
    }
    return e->integral_reason;
}

/* e: NULL for a card that could not be read */
static void fill_row(struct eco_ctx *ctx, const struct track *t, const struct eco_power_source *s,
                     const struct eco_meter_energy *e, double time_s, struct eco_res_track_row *row)
{
    *row = (struct eco_res_track_row){
        .name = s->name,
        .device = eco_arena_strdup(ctx->arena, s->device, strlen(s->device)),
        .boundary = eco_run_boundary_name(s->boundary)};
    if (!e) {
        row->reason = s->reason ? eco_arena_strdup(ctx->arena, s->reason, strlen(s->reason)) : NULL;
        return;
    }
    if (time_s < t->min_s) {
        row->reason =
            eco_step_fmt(ctx, "%.3g s are too short to measure: at least %g s", time_s, t->min_s);
        return;
    }
    bool by_counter = isfinite(e->counter_j);
    double energy_j = by_counter ? e->counter_j : e->integral_j;
    row->energy_j = opt(energy_j);
    row->uncertainty_j = opt(by_counter ? e->counter_uncertainty_j : e->uncertainty_j);
    row->mean_w = opt(by_counter ? energy_j / e->window_s : e->mean_w);
    row->peak_w = opt(e->peak_w);
    row->counter_j = opt(e->counter_j);
    row->integral_j = opt(e->integral_j);
    row->gap_pct = opt(100 * e->gap_frac);
    row->j_per_token = opt(energy_j / t->tokens);
    row->samples = e->samples;
    row->failed = e->failed;
    const char *why = why_missing(s, e);
    row->reason = why[0] ? eco_arena_strdup(ctx->arena, why, strlen(why)) : NULL;
}

/* " ± 12.3 J"; "" where an interval is not known. */
static const char *plus_minus(struct eco_ctx *ctx, double uncertainty_j)
{
    const char *text =
        isfinite(uncertainty_j) ? eco_step_fmt(ctx, " \xc2\xb1 %.1f J", uncertainty_j) : "";
    return text ? text : "";
}

/*
 * "1234.5 J ± 120.9 J (gpu-board, 7 of 8 devices) in 6.1 s": the first boundary; nothing is added
 * across. The devices' intervals add up fully: sensors of one kind may err alike.
 */
static const char *verdict(struct eco_ctx *ctx, const struct eco_res_track_row *rows, size_t n,
                           double time_s, const char *why)
{
    double sum_j = 0, uncertainty_j = 0;
    size_t devices = 0, all = 0;
    for (size_t i = 0; i < n; i++) {
        bool same = strcmp(rows[i].boundary, rows[0].boundary) == 0;
        all += same;
        if (same && rows[i].energy_j.have) {
            const struct eco_opt *u = &rows[i].uncertainty_j;
            sum_j += rows[i].energy_j.v;
            uncertainty_j += u->have ? u->v : (double)NAN;
            devices++;
        }
    }
    if (devices == 0) {
        return eco_step_fmt(ctx, "%.3f s; no energy: %s", time_s,
                            why              ? why
                            : rows[0].reason ? rows[0].reason
                                             : "nothing was read");
    }
    const char *of = devices < all ? eco_step_fmt(ctx, " of %zu", all) : "";
    bool simulated = strcmp(rows[0].boundary, eco_run_boundary_name(ECO_RUN_BOUNDARY_NONE)) == 0;
    return eco_step_fmt(ctx, "%.1f J%s (%s, %zu%s device%s) in %.2f s, mean %.1f W", sum_j,
                        plus_minus(ctx, uncertainty_j),
                        simulated ? "simulated: not a measurement" : rows[0].boundary, devices,
                        of ? of : "", all == 1 ? "" : "s", time_s, sum_j / time_s);
}

static int fill(struct eco_ctx *ctx, struct track *t, const struct eco_args_track *a, double time_s,
                int status, struct eco_res_track *out, struct eco_err *err)
{
    struct eco_res_track_row *rows = eco_arena_array(ctx->arena, t->rows + 1, sizeof(*rows));
    const char *why = t->n ? NULL : why_none(ctx, t->set);
    struct eco_buf words = ECO_BUF_INIT;
    if (!rows) {
        return no_memory(err);
    }
    for (size_t i = 0, k = 0; i < t->rows; i++) {
        bool read = k < t->n && t->source[k] == t->row[i];
        fill_row(ctx, t, t->row[i], read ? &t->energy[k] : NULL, time_s, &rows[i]);
        k += read;
    }
    for (size_t i = 0; i < a->command.n; i++) {
        eco_buf_printf(&words, "%s%s", i ? " " : "", a->command.v[i]);
    }
    out->command = eco_arena_strdup(ctx->arena, eco_buf_str(&words), words.len);
    eco_buf_done(&words);
    out->exit_status = status;
    out->time_s = time_s;
    out->tokens = opt(t->tokens);
    out->sources = (struct eco_list){rows, t->rows};
    out->verdict = verdict(ctx, rows, t->rows, time_s, why);
    if (why && ctx->warnings) {
        eco_buf_printf(ctx->warnings, "no energy was measured: %s\n", why);
    }
    return 0;
}

int eco_run_track(struct eco_ctx *ctx, const void *args, void *result, struct eco_err *err)
{
    const struct eco_args_track *a = args;
    struct track *t = eco_arena_alloc(ctx->arena, sizeof(*t));
    double time_s = 0;
    int status = 0;
    if (!t) {
        return no_memory(err);
    }
    t->tokens = (double)NAN;
    t->min_s = MIN_WINDOW_S;
    int rc = open_power(t, a, ctx->visible_devices, err);
    rc = rc ? rc : run_command(t, &a->command, &time_s, &status, err);
    if (rc == 0 && t->meter && time_s >= t->min_s) {
        rc = eco_meter_end(t->meter, t->window, t->energy, err);
    }
    if (rc == 0) {
        rc = fill(ctx, t, a, time_s, status, result, err);
    }
    eco_meter_free(t->meter);
    eco_power_close(t->set);
    return rc;
}

bool eco_track_says_no(const void *result)
{
    return ((const struct eco_res_track *)result)->exit_status != 0;
}
