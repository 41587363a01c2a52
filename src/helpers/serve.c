/* ecocompute-serve: the program behind `ecocompute serve`. */
#include "base/clock.h"
#include "base/file.h"
#include "engine/engine.h"
#include "ops/args.h"
#include "ops/power_export.h"
#include "serve_parts.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define PEM_LIMIT ((size_t)1 << 20)
#define MOST_THREADS 8 /* unless --threads says more */
#define MIN_TOKEN 16
#define LARGE_BLOCK (128 << 10)

static int fail(const struct eco_err *err)
{
    fprintf(stderr, "ecocompute: %s\n", err->message);
    return eco_err_exit_status(err->code);
}

/* "--name=value" words, as the main program writes them. */
static int read_words(const struct eco_op *op, int argc, char **argv, void *args,
                      struct eco_arena *arena, struct eco_err *err)
{
    int rc = eco_args_init(op, args, arena, err);
    for (int i = 1; rc == 0 && i < argc; i++) {
        const char *name = argv[i] + (strncmp(argv[i], "--", 2) == 0 ? 2 : 0);
        size_t len = strcspn(name, "=");
        const struct eco_param *p = eco_args_find(op, name, len);
        if (!p) {
            rc = eco_args_unknown(op, name, len, err);
        } else if (name[len] != '=') {
            rc = eco_err_set(err, ECO_E_USAGE, p->name, "write --%s=VALUE", p->name);
        } else {
            rc = eco_args_set(op, args, arena, p, name + len + 1, strlen(name + len + 1), err);
        }
    }
    return rc ? rc : eco_args_finish(op, args, err);
}

/* A file as text of the arena. */
static int read_text(struct eco_arena *arena, const char *path, const char **out,
                     struct eco_err *err)
{
    struct eco_buf b = ECO_BUF_INIT;
    if (!path) {
        *out = NULL;
        return 0;
    }
    int rc = eco_file_read(path, PEM_LIMIT, &b, err);
    if (rc == 0) {
        *out = eco_arena_strdup(arena, eco_buf_str(&b), b.len);
        rc = *out ? 0 : eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    eco_buf_done(&b);
    return rc;
}

/* The file's first line; a short one could be guessed. */
static int read_token(struct eco_arena *arena, const char *path, const char **out,
                      struct eco_err *err)
{
    const char *text = NULL;
    int rc = read_text(arena, path, &text, err);
    if (rc || !text) {
        return rc;
    }
    struct stat st;
    if (stat(path, &st) == 0 && st.st_mode & S_IRWXO) {
        fprintf(stderr, "ecocompute-serve: warning: every user may read '%s', the owner's token\n",
                path);
    }
    size_t n = strcspn(text, "\r\n");
    if (n < MIN_TOKEN) {
        return eco_err_set(err, ECO_E_CONTENT, "token_file",
                           "the first line of '%.120s' must be a token of %d characters or more",
                           path, MIN_TOKEN);
    }
    *out = eco_arena_strdup(arena, text, n);
    return *out ? 0 : eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
}

static void raise_file_limit(int64_t connections)
{
    struct rlimit l;
    rlim_t want = (rlim_t)connections + 64;
    if (getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_cur < want) {
        l.rlim_cur = want < l.rlim_max ? want : l.rlim_max;
        setrlimit(RLIMIT_NOFILE, &l);
    }
}

static void end_signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGHUP);
}

static void tick(struct serve *s)
{
    serve_conns_sweep(&s->conns, eco_clock_mono_ns());
    eco_server_gauge(s->server, atomic_load(&s->conns.open), atomic_load(&s->busy));
    serve_log_flush(&s->log);
}

/* Until SIGTERM, SIGINT or SIGHUP: true. After `until_ns` (0: never) or when nothing is busy in
 * the `idle_ends` mode: false. */
static bool wait_for_end(struct serve *s, int64_t until_ns, bool idle_ends)
{
    sigset_t set;
    const struct timespec pause = {0, SERVE_TICK_MS * 1000000L};
    int quiet = 0;
    end_signals(&set);
    for (;;) {
        int number = sigtimedwait(&set, NULL, &pause);
        tick(s);
        if (number > 0) {
            return true;
        }
        quiet = atomic_load(&s->busy) == 0 ? quiet + 1 : 0;
        if ((idle_ends && quiet >= 2) || (until_ns && eco_clock_mono_ns() > until_ns)) {
            return false;
        }
    }
}

/* No new connections, "Connection: close" on what is answered, then the end. */
static void drain(struct serve *s, struct serve_http *h, int listen_fd)
{
    atomic_store(&s->draining, true);
    fprintf(stderr, "ecocompute-serve: ending; %ld requests may finish\n", atomic_load(&s->busy));
    serve_http_quiesce(h);
    shutdown(listen_fd, SHUT_RDWR); /* whoever comes now is refused at once; closed at the end */
    wait_for_end(s, eco_clock_mono_ns() + (int64_t)(s->args->drain * 1e9), true);
}

static int serve(struct serve *s, const char *cert, const char *key, struct eco_err *err)
{
    struct serve_http *h = NULL;
    int fd = -1, port = 0;
    int rc = serve_log_open(&s->log, s->args->access_log, s->args->log_query, err);
    rc = rc ? rc : serve_listen(s->args->bind, (int)s->args->port, &fd, &port, err);
    rc = rc ? rc : serve_http_start(s, fd, cert, key, &h, err);
    if (rc == 0) {
        bool v6 = strchr(s->args->bind, ':') != NULL;
        fprintf(stderr, "ecocompute-serve: listening on http%s://%s%s%s:%d\n", cert ? "s" : "",
                v6 ? "[" : "", s->args->bind, v6 ? "]" : "", port);
        wait_for_end(s, 0, false);
        drain(s, h, fd);
    }
    serve_http_stop(h);
    if (fd >= 0) {
        close(fd);
    }
    serve_log_close(&s->log);
    return rc;
}

static int run(const struct eco_args_serve *args, struct eco_arena *arena, struct eco_err *err)
{
    struct serve s = {.args = args, .timeout_ns = (int64_t)(args->timeout * 1e9)};
    const char *cert = NULL, *key = NULL, *token = NULL;
    int cpus = args->threads ? 0 : eco_engine_cpus();
    s.threads = args->threads ? args->threads : cpus < MOST_THREADS ? cpus : MOST_THREADS;
    int rc = read_text(arena, args->tls_cert, &cert, err);
    rc = rc ? rc : read_token(arena, args->token_file, &token, err);
    rc = rc ? rc : read_text(arena, args->tls_key, &key, err);
    struct eco_power_export *power = NULL;
    if (rc == 0 && args->export_power) {
        rc = eco_power_export_new(args->nvml_library, args->sysfs, getenv("CUDA_VISIBLE_DEVICES"),
                                  &power, err);
    }
    struct eco_server_store store = {0};
    if (rc == 0 && args->store) {
        rc = serve_store_open(args, &store, err);
    }
    const struct eco_server_options o = {.rate_per_min = args->rate_limit,
                                         .trust_proxy = args->trust_proxy,
                                         .web_dir = args->web,
                                         .token = token,
                                         .origins = args->origins.v,
                                         .n_origins = args->origins.n,
                                         .store = store.to ? &store : NULL,
                                         .more_metrics = power ? eco_power_export_text : NULL,
                                         .more_metrics_to = power};
    rc = rc ? rc : eco_server_new(&o, &s.server, err);
    if (rc == 0) {
        serve_conns_init(&s.conns);
        pthread_mutex_init(&s.workers_lock, NULL);
        raise_file_limit(args->connections);
        rc = serve(&s, cert, key, err);
        serve_workers_done(&s);
        serve_conns_done(&s.conns);
    }
    eco_server_free(s.server);
    serve_store_close(&store);
    eco_power_export_free(power);
    return rc;
}

int main(int argc, char **argv)
{
    const struct eco_op *op = eco_op_find("serve");
    struct eco_arena arena;
    struct eco_args_serve args;
    struct eco_err err = {0};
    sigset_t set;
    end_signals(&set);
    sigprocmask(SIG_BLOCK, &set, NULL); /* before any thread: the main one waits for them */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file over its limit is an error of that write */
#ifdef M_MMAP_THRESHOLD
    mallopt(M_MMAP_THRESHOLD,
            LARGE_BLOCK); /* fixed: a large block is given back when it is freed */
#endif
    eco_arena_init(&arena, 0);
    int rc = read_words(op, argc, argv, &args, &arena, &err);
    rc = rc ? rc : run(&args, &arena, &err);
    int status = rc ? fail(&err) : 0;
    eco_arena_done(&arena);
    return status;
}
