#include "workload/worker_process.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define READ_STEP 65536

extern char **environ;

/* A pipe whose ends are above the standard ones and closed in programs we start. */
static int make_pipe(int ends[2])
{
    int raw[2];
    if (pipe(raw)) {
        return -1;
    }
    for (int i = 0; i < 2; i++) {
        ends[i] = fcntl(raw[i], F_DUPFD_CLOEXEC, 3);
        close(raw[i]);
    }
    return ends[0] < 0 || ends[1] < 0 ? -1 : 0;
}

static int spawn_shell(pid_t *pid, const char *command, const char *log, int in, int out)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none, plain;
    char shell[] = "sh", flag[] = "-c";
    char *const argv[] = {shell, flag, (char *)(uintptr_t)command, NULL};
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&how);
    posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    if (log) {
        posix_spawn_file_actions_addopen(&files, STDERR_FILENO, log, O_WRONLY | O_CREAT | O_APPEND,
                                         0666);
    }
    sigemptyset(&none);
    sigemptyset(&plain);
    sigaddset(&plain, SIGINT);
    sigaddset(&plain, SIGTERM);
    sigaddset(&plain, SIGPIPE);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                       POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&how, 0);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setsigdefault(&how, &plain);
    int number = posix_spawn(pid, "/bin/sh", &files, &how, argv, environ);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    return number;
}

int eco_worker_spawn(struct eco_worker_process *p, const char *command, const char *log,
                     struct eco_err *err)
{
    int to[2] = {-1, -1}, from[2] = {-1, -1};
    *p = (struct eco_worker_process){.to = -1, .from = -1, .input = ECO_BUF_INIT};
    int number = make_pipe(to) || make_pipe(from) ? errno : 0;
    if (number == 0) {
        number = spawn_shell(&p->pid, command, log, to[0], from[1]);
    }
    if (to[0] >= 0) {
        close(to[0]);
    }
    if (from[1] >= 0) {
        close(from[1]);
    }
    p->to = to[1];
    p->from = from[0];
    if (number) {
        p->pid = 0;
        eco_worker_end(p, 0);
        return eco_err_set(err, ECO_E_DEVICE, "workload", "cannot start the worker '%.120s': %s",
                           command, strerror(number));
    }
    return 0;
}

/* Writes; a child that is gone must not end us by SIGPIPE, nor change the program's handler. */
bool eco_worker_send(struct eco_worker_process *p, const char *line, size_t len)
{
    const struct timespec now = {0, 0};
    sigset_t broken, before;
    bool ok = p->to >= 0;
    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken, &before);
    while (ok && len) {
        ssize_t n = write(p->to, line, len);
        if (n > 0) {
            line += n;
            len -= (size_t)n;
        } else if (n < 0 && errno != EINTR) {
            if (errno == EPIPE) {
                sigtimedwait(&broken, NULL, &now);
            }
            ok = false;
        }
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return ok;
}

static bool take_line(struct eco_worker_process *p, const char **line, size_t *len)
{
    if (!p->input.data) { /* nothing came yet */
        return false;
    }
    char *start = p->input.data + p->taken;
    size_t have = p->input.len - p->taken;
    char *newline = have ? memchr(start, '\n', have) : NULL;
    if (!newline) {
        return false;
    }
    *newline = '\0';
    *line = start;
    *len = (size_t)(newline - start);
    p->taken += *len + 1;
    return true;
}

/* What was taken makes room for what comes. */
static void compact(struct eco_worker_process *p)
{
    if (p->taken) {
        memmove(p->input.data, p->input.data + p->taken, p->input.len - p->taken);
        p->input.len -= p->taken;
        p->taken = 0;
    }
}

static void read_some(struct eco_worker_process *p)
{
    if (!eco_buf_reserve(&p->input, READ_STEP)) {
        p->ended = true;
        return;
    }
    ssize_t n = read(p->from, p->input.data + p->input.len, READ_STEP);
    if (n > 0) {
        p->input.len += (size_t)n;
        p->input.data[p->input.len] = '\0';
    } else if (n == 0 || errno != EINTR) {
        p->ended = true;
    }
}

enum eco_worker_line eco_worker_receive(struct eco_worker_process *p, int64_t until_mono_ns,
                                        size_t limit, const char **line, size_t *len)
{
    for (;;) {
        if (take_line(p, line, len)) {
            return *len > limit ? ECO_LINE_TOO_LONG : ECO_LINE_READY;
        }
        if (p->input.len - p->taken > limit) {
            return ECO_LINE_TOO_LONG;
        }
        if (p->ended || p->from < 0) {
            return ECO_LINE_END;
        }
        int64_t left_ns = until_mono_ns - eco_clock_mono_ns();
        if (left_ns <= 0) {
            return ECO_LINE_TIMEOUT;
        }
        struct pollfd fd = {.fd = p->from, .events = POLLIN};
        int64_t left_ms = (left_ns + 999999) / 1000000;
        int n = poll(&fd, 1, left_ms > 60000 ? 60000 : (int)left_ms);
        if (n < 0 && errno == EINTR) {
            return ECO_LINE_TIMEOUT; /* a signal: let the caller look at its flags */
        }
        if (n > 0) {
            compact(p);
            read_some(p);
        }
    }
}

/* true: it has ended. */
static bool reaped(struct eco_worker_process *p, int *status)
{
    pid_t got = waitpid(p->pid, status, WNOHANG);
    if (got == p->pid || (got < 0 && errno == ECHILD)) {
        p->pid = 0;
        return true;
    }
    return false;
}

int eco_worker_end(struct eco_worker_process *p, double grace_s)
{
    const struct timespec nap = {0, 10000000};
    int status = -1;
    pid_t group = p->pid;
    if (p->to >= 0) {
        close(p->to);
        p->to = -1;
    }
    int64_t until_ns = eco_clock_mono_ns() + (int64_t)(grace_s * 1e9);
    while (p->pid && !reaped(p, &status) && eco_clock_mono_ns() < until_ns) {
        nanosleep(&nap, NULL);
    }
    if (group > 0) {
        kill(-group, SIGKILL); /* also what it left running */
    }
    while (p->pid && waitpid(p->pid, &status, 0) < 0 && errno == EINTR) {
    }
    p->pid = 0;
    if (p->from >= 0) {
        close(p->from);
        p->from = -1;
    }
    eco_buf_done(&p->input);
    return status;
}
