#include "measure_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_NOTES 64

struct eco_guard {
    pid_t pid;
    int fd;
};

/* Fixed size, written in one go: a pipe takes it whole or not at all. */
struct note {
    char name[16]; /* "nvml"; "done" ends without restoring */
    int index;
    double limit_w; /* 0: the clocks */
};

static void restore(const struct eco_power_options *o, const struct note *notes, size_t n)
{
    struct eco_power_set *set = NULL;
    struct eco_err err;
    if (n == 0 || eco_power_open(o, &set, &err)) {
        return;
    }
    for (size_t i = 0; i < eco_power_count(set); i++) {
        struct eco_power_source *s = eco_power_at(set, i);
        for (size_t k = 0; k < n; k++) {
            if (strcmp(s->name, notes[k].name) != 0 || s->index != notes[k].index) {
                continue;
            }
            if (notes[k].limit_w > 0) {
                eco_power_set_limit_w(s, notes[k].limit_w, &err);
            } else {
                eco_power_lock_clock_mhz(s, 0, &err);
            }
        }
    }
    eco_power_close(set);
}

static bool next(int fd, struct note *out)
{
    size_t done = 0;
    while (done < sizeof(*out)) {
        ssize_t n = read(fd, (char *)out + done, sizeof(*out) - done);
        if (n == 0 || (n < 0 && errno != EINTR)) {
            return false;
        }
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* The other process: deaf to what ends its parent, silent, and gone when that says "done". */
static void guard(int fd, const struct eco_power_options *o)
{
    static const int deaf[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
    struct note notes[MAX_NOTES];
    size_t n = 0;
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    for (size_t i = 0; i < sizeof(deaf) / sizeof(deaf[0]); i++) {
        sigaction(deaf[i], &ignore, NULL);
    }
    setsid();
    int null = open("/dev/null", O_RDWR);
    for (int i = 0; null >= 0 && i <= STDERR_FILENO; i++) {
        dup2(null, i); /* a pipe that the parent's reader waits on must not stay open here */
    }
    while (n < MAX_NOTES && next(fd, &notes[n])) {
        if (strcmp(notes[n].name, "done") == 0) {
            _exit(0);
        }
        n++;
    }
    restore(o, notes, n);
    _exit(0);
}

int eco_guard_start(const struct eco_power_options *o, struct eco_guard **out, struct eco_err *err)
{
    struct eco_guard *g = calloc(1, sizeof(*g));
    int ends[2];
    if (!g) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    if (pipe(ends)) {
        free(g);
        return eco_err_set(err, ECO_E_IO, "", "cannot make a pipe: %s", strerror(errno));
    }
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    g->pid = fork();
    if (g->pid == 0) {
        close(ends[1]);
        guard(ends[0], o);
    }
    close(ends[0]);
    g->fd = ends[1];
    if (g->pid < 0) {
        int number = errno;
        close(g->fd);
        free(g);
        return eco_err_set(err, ECO_E_IO, "", "cannot start the guard: %s", strerror(number));
    }
    *out = g;
    return 0;
}

static int tell(const struct eco_guard *g, const struct note *n)
{
    ssize_t put;
    do {
        put = write(g->fd, n, sizeof(*n));
    } while (put < 0 && errno == EINTR);
    return put == (ssize_t)sizeof(*n) ? 0 : -1;
}

int eco_guard_note(struct eco_guard *g, const struct eco_power_source *s, double limit_w,
                   struct eco_err *err)
{
    struct note n = {.index = s->index, .limit_w = limit_w};
    snprintf(n.name, sizeof(n.name), "%s", s->name);
    return tell(g, &n) == 0 ? 0
                            : eco_err_set(err, ECO_E_IO, "power_limits",
                                          "the guard that would put settings back is gone");
}

void eco_guard_done(struct eco_guard *g)
{
    struct note n = {.name = "done"};
    if (!g) {
        return;
    }
    tell(g, &n);
    close(g->fd);
    while (waitpid(g->pid, NULL, 0) < 0 && errno == EINTR) {
    }
    free(g);
}
