/* Folders and threads: lists the files, shares them out, puts the findings together. */
#include "base/file.h"
#include "needles.h"
#include "scan_file.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_NESTING 64 /* folders */

struct list {
    struct eco_arena *arena;
    const char **v; /* owned */
    size_t n, cap;
    bool failed;
};

static void push(struct list *l, const char *path)
{
    if (l->n == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 256;
        const char **v = cap <= ECO_AUDIT_MAX_FILES ? realloc(l->v, cap * sizeof(*v)) : NULL;
        if (!v) {
            l->failed = true;
            return;
        }
        l->v = v;
        l->cap = cap;
    }
    const char *copy = eco_arena_strdup(l->arena, path, strlen(path));
    l->failed |= !copy;
    if (copy) {
        l->v[l->n++] = copy;
    }
}

/* Folders that hold other people's or generated code. */
static bool passed_over(const char *name)
{
    static const char *const names[] = {"node_modules", "__pycache__", "site-packages", "venv"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return name[0] == '.' && strcmp(name, ".github") != 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void walk(struct list *l, struct eco_audit *a, const char *folder, int depth)
{
    DIR *d = opendir(folder);
    struct list names = {.arena = l->arena};
    if (!d) {
        eco_audit_skip(a, folder, strerror(errno));
        return;
    }
    for (struct dirent *e; (e = readdir(d));) {
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) {
            push(&names, e->d_name);
        }
    }
    closedir(d);
    if (names.n) {
        qsort(names.v, names.n, sizeof(*names.v), by_name);
    }
    for (size_t i = 0; i < names.n; i++) {
        bool slash = folder[0] && folder[strlen(folder) - 1] == '/';
        char *path = strcmp(folder, ".") == 0
                         ? eco_arena_printf(l->arena, "%s", names.v[i])
                         : eco_arena_printf(l->arena, slash ? "%s%s" : "%s/%s", folder, names.v[i]);
        struct stat st;
        if (!path || lstat(path, &st) != 0) {
            continue;
        }
        if (S_ISDIR(st.st_mode) && depth < MAX_NESTING && !passed_over(names.v[i])) {
            walk(l, a, path, depth + 1);
        } else if (S_ISREG(st.st_mode) && eco_audit_wants(path)) {
            push(l, path);
        }
    }
    l->failed |= names.failed;
    free(names.v);
}

static int add_path(struct list *l, struct eco_audit *a, const char *path, struct eco_err *err)
{
    struct stat st;
    if (strcmp(path, "-") == 0) {
        push(l, path);
        return 0;
    }
    if (stat(path, &st) != 0) {
        return eco_err_set(err, errno == ENOENT ? ECO_E_NOT_FOUND : ECO_E_IO, "paths",
                           "cannot read '%.180s': %s", path, strerror(errno));
    }
    if (S_ISDIR(st.st_mode)) {
        walk(l, a, path, 0);
    } else if (!eco_audit_wants(path)) {
        eco_audit_skip(a, path, "not a kind of file that is audited");
    } else {
        push(l, path);
    }
    return 0;
}

/* ---- sharing out ----------------------------------------------------------------------------- */

struct pool {
    const struct list *files;
    const struct eco_needles *needles;
    pthread_mutex_t lock;
    size_t next;
};

struct worker {
    struct pool *pool;
    struct eco_audit a;
    struct eco_err err;
    int rc;
    pthread_t thread;
    bool started;
};

static bool take(struct pool *p, size_t *i)
{
    pthread_mutex_lock(&p->lock);
    *i = p->next;
    bool got = p->next < p->files->n;
    p->next += got;
    pthread_mutex_unlock(&p->lock);
    return got;
}

static void scan_one(struct worker *w, const char *path, struct eco_buf *b)
{
    struct eco_err err = {0};
    eco_buf_clear(b);
    int rc = eco_file_read(path, ECO_AUDIT_MAX_FILE, b, &err);
    if (rc == ECO_E_TOO_LARGE) {
        w->a.files++;
        eco_audit_skip(&w->a, path, "larger than 8 MiB");
    } else if (rc) {
        eco_audit_skip(&w->a, path, err.message);
    } else {
        rc = eco_audit_scan_text(&w->a, w->pool->needles, path, eco_buf_str(b), b->len, &err);
        if (rc && !w->rc) {
            w->rc = rc;
            w->err = err;
        }
    }
}

static void *work(void *arg)
{
    struct worker *w = arg;
    struct eco_buf b = ECO_BUF_INIT;
    size_t i;
    while (w->rc == 0 && take(w->pool, &i)) {
        scan_one(w, w->pool->files->v[i], &b);
    }
    eco_buf_done(&b);
    return NULL;
}

static const char *keep(struct eco_audit *a, const char *s)
{
    const char *copy = s ? eco_arena_strdup(&a->arena, s, strlen(s)) : NULL;
    a->failed |= s && !copy;
    return copy;
}

/* Findings and skips of a worker, their texts copied. */
static void gather(struct eco_audit *a, const struct eco_audit *from)
{
    struct eco_audit_finding *f =
        from->n ? realloc(a->findings, (a->n + from->n) * sizeof(*f)) : NULL;
    if (from->n && !f) {
        a->failed = true;
        return;
    }
    if (f) {
        a->findings = f;
        a->cap = a->n + from->n;
    }
    for (size_t i = 0; i < from->n; i++) {
        struct eco_audit_finding *to = &a->findings[a->n++];
        *to = from->findings[i];
        to->file = keep(a, to->file);
        to->message = keep(a, to->message);
        to->model = keep(a, to->model);
        to->edit.text = keep(a, to->edit.text);
    }
    for (size_t i = 0; i < from->n_skipped; i++) {
        eco_audit_skip(a, from->skipped[i].file, from->skipped[i].reason);
    }
    a->files += from->files;
    a->parsed += from->parsed;
    a->suppressed += from->suppressed;
    a->bytes += from->bytes;
    a->failed |= from->failed;
}

static size_t thread_count(const struct eco_audit *a, size_t files)
{
    long cpus = a->threads > 0 ? a->threads : sysconf(_SC_NPROCESSORS_ONLN);
    size_t n = cpus < 1 ? 1 : (size_t)cpus;
    n = n > ECO_AUDIT_MAX_THREADS ? ECO_AUDIT_MAX_THREADS : n;
    return n > (files + 3) / 4 ? (files + 3) / 4 : n; /* a thread for fewer files costs more */
}

static int share_out(struct eco_audit *a, struct pool *pool, struct eco_err *err)
{
    struct worker *w = calloc(ECO_AUDIT_MAX_THREADS, sizeof(*w));
    size_t n = thread_count(a, pool->files->n);
    int rc = 0;
    if (!w) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    for (size_t i = 0; i < n; i++) {
        w[i].pool = pool;
        eco_audit_init(&w[i].a);
        w[i].a.crossover_b = a->crossover_b;
        w[i].a.card = a->card;
        w[i].a.card_gb = a->card_gb;
        w[i].started = i > 0 && pthread_create(&w[i].thread, NULL, work, &w[i]) == 0;
    }
    if (n) {
        work(&w[0]); /* this thread does its part, and all of it when no other starts */
    }
    for (size_t i = 0; i < n; i++) {
        if (w[i].started) {
            pthread_join(w[i].thread, NULL);
        }
        if (w[i].rc && !rc) {
            rc = eco_err_set(err, w[i].rc, w[i].err.arg, "%s", w[i].err.message);
        }
        gather(a, &w[i].a);
        eco_audit_done(&w[i].a);
    }
    free(w);
    return rc;
}

int eco_audit_paths(struct eco_audit *a, const char *const *paths, size_t n, struct eco_err *err)
{
    struct eco_arena names;
    eco_arena_init(&names, 0);
    struct list files = {.arena = &names};
    struct eco_needles *needles = malloc(sizeof(*needles));
    int rc = needles ? 0 : eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    for (size_t i = 0; rc == 0 && i < n; i++) {
        rc = add_path(&files, a, paths[i], err);
    }
    if (rc == 0) {
        struct pool pool = {.files = &files, .needles = needles};
        eco_needles_init(needles);
        pthread_mutex_init(&pool.lock, NULL);
        rc = share_out(a, &pool, err);
        pthread_mutex_destroy(&pool.lock);
    }
    if (rc == 0 && (a->failed || files.failed)) {
        rc = eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory, or too many files");
    }
    eco_audit_sort(a);
    free(needles);
    free(files.v);
    eco_arena_done(&names);
    return rc;
}
