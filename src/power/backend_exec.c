/*
 * Meters outside the device: a command that prints watts (exec:CMD), and IPMI DCMI through
 * ipmitool, which is such a command run once a second. The child writes into a pipe that is read
 * without waiting, so a slow meter never holds up the sampler.
 */
#include "backend.h"
#include "base/clock.h"
#include "base/num.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINE_BYTES 512
#define FIRST_LINE_MS 5000
#define STALE_NS ((int64_t)5000000000) /* a reading older than this is none */
#define AGAIN_NS ((int64_t)1000000000) /* a command that ended is run again after this */

extern char **environ;

struct child {
    const char *command;
    bool (*parse)(const char *line, double *power_w);
    pid_t pid; /* 0: not running */
    int fd;    /* -1 */
    char line[LINE_BYTES];
    size_t len;
    double power_w;
    int64_t at_ns, spawned_ns; /* 0: no reading yet */
};

/* The first number of a line: "231.5", "231.5 W", "watts=231.5". */
static bool parse_number(const char *line, double *power_w)
{
    const char *at = line + strcspn(line, "0123456789.-");
    size_t len = strspn(at, "0123456789.-+eE");
    return len > 0 && eco_num_parse_lenient(at, len, power_w) == 0 && *power_w >= 0;
}

static bool parse_dcmi(const char *line, double *power_w)
{
    const char *at = strstr(line, "Instantaneous power reading:");
    return at && parse_number(at, power_w);
}

static void reap(struct child *c)
{
    if (c->fd >= 0) {
        close(c->fd);
        c->fd = -1;
    }
    if (c->pid > 0) {
        kill(-c->pid, SIGTERM);
        waitpid(c->pid, NULL, 0);
        c->pid = 0;
    }
}

static int spawn(struct child *c)
{
    char *argv[] = {"sh", "-c", (char *)(uintptr_t)c->command, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    int ends[2];
    if (pipe(ends) != 0) {
        return errno;
    }
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP);
    int rc = posix_spawn(&c->pid, "/bin/sh", &files, &attr, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attr);
    close(ends[1]);
    c->len = 0;
    c->spawned_ns = eco_clock_mono_ns();
    if (rc) {
        close(ends[0]);
        c->pid = 0;
        return rc;
    }
    c->fd = ends[0];
    return 0;
}

static void take(struct child *c, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double w;
        if (bytes[i] != '\n') {
            if (c->len < LINE_BYTES - 1) {
                c->line[c->len++] = bytes[i];
            }
            continue;
        }
        c->line[c->len] = '\0';
        if (c->parse(c->line, &w)) {
            c->power_w = w;
            c->at_ns = eco_clock_mono_ns();
        }
        c->len = 0;
    }
}

/* Takes what the child has written; starts it again when it has ended. */
static void drain(struct child *c)
{
    char bytes[LINE_BYTES];
    if (c->fd < 0) {
        if (eco_clock_mono_ns() - c->spawned_ns >= AGAIN_NS) {
            spawn(c);
        }
        return;
    }
    for (;;) {
        ssize_t got = read(c->fd, bytes, sizeof(bytes));
        if (got > 0) {
            take(c, bytes, (size_t)got);
        } else if (got == 0) {
            take(c, "\n", 1);
            reap(c);
            return;
        } else {
            return; /* nothing now */
        }
    }
}

static void sample(struct eco_power_source *s, double power_w[ECO_POWER_FIELDS],
                   unsigned char status[ECO_POWER_FIELDS])
{
    struct child *c = s->ctx;
    for (int f = 0; f < ECO_POWER_FIELDS; f++) {
        power_w[f] = (double)NAN;
        status[f] = ECO_POWER_ABSENT;
    }
    drain(c);
    bool fresh = c->at_ns && eco_clock_mono_ns() - c->at_ns < STALE_NS;
    status[ECO_POWER_DEFAULT] = fresh ? ECO_POWER_OK : ECO_POWER_FAILED;
    power_w[ECO_POWER_DEFAULT] = fresh ? c->power_w : (double)NAN;
}

static void close_source(struct eco_power_source *s)
{
    if (s->ctx) {
        reap(s->ctx);
    }
}

static void add(struct eco_power_set *set, const struct eco_power_backend *b, const char *command,
                bool (*parse)(const char *, double *))
{
    /* the device's name goes into reports, and a command may hold a password */
    struct eco_power_source *s = eco_power_add(set, b, "external meter (command)");
    struct child *c = eco_arena_alloc(&set->arena, sizeof(*c));
    const char *kept = eco_arena_strdup(&set->arena, command, strlen(command));
    if (!s || !c || !kept) {
        return;
    }
    *c = (struct child){.command = kept, .parse = parse, .fd = -1};
    s->ctx = c;
    s->unrated = true; /* a command's watts: nobody says what meter they come from */
    s->note = "how far off its watts may be is not known: no interval";
    int rc = spawn(c);
    int64_t until_ns = eco_clock_mono_ns() + (int64_t)FIRST_LINE_MS * 1000000;
    while (rc == 0 && !c->at_ns && c->fd >= 0 && eco_clock_mono_ns() < until_ns) {
        struct pollfd p = {.fd = c->fd, .events = POLLIN};
        poll(&p, 1, 100);
        drain(c);
    }
    if (c->at_ns) {
        eco_power_usable(s, 1u << ECO_POWER_DEFAULT, false);
    } else {
        s->reason = rc ? eco_arena_printf(&set->arena, "cannot run it: %s", strerror(rc))
                       : "the command printed no number of watts";
    }
}

static int find_exec(struct eco_power_set *set, const char *extra, struct eco_err *err)
{
    (void)err;
    add(set, &eco_power_exec, extra, parse_number);
    return 0;
}

static int find_ipmi(struct eco_power_set *set, const char *extra, struct eco_err *err)
{
    const char *tool = set->options.ipmitool;
    (void)extra;
    (void)err;
    bool device = access("/dev/ipmi0", F_OK) == 0 || access("/dev/ipmi/0", F_OK) == 0 ||
                  access("/dev/ipmidev/0", F_OK) == 0;
    if (!tool && !device) {
        eco_power_add_absent(set, &eco_power_ipmi, NULL,
                             "no management controller (no /dev/ipmi0)");
    } else if (!tool && access("/dev/ipmi0", R_OK | W_OK) != 0 && errno == EACCES) {
        struct eco_power_source *s = eco_power_add(set, &eco_power_ipmi, NULL);
        if (s) {
            s->command = "sudo chmod a+rw /dev/ipmi0";
            s->reason = "no permission; run: sudo chmod a+rw /dev/ipmi0";
        }
    } else if (tool && !tool[0]) {
        eco_power_add_absent(set, &eco_power_ipmi, NULL, "ipmitool was not asked");
    } else {
        char *command = eco_arena_printf(&set->arena, "%s dcmi power reading 2>/dev/null",
                                         tool ? tool : "ipmitool");
        if (command) {
            add(set, &eco_power_ipmi, command, parse_dcmi);
        }
    }
    return 0;
}

const struct eco_power_backend eco_power_exec = {.name = "exec",
                                                 .boundary = ECO_RUN_BOUNDARY_WALL,
                                                 .find = find_exec,
                                                 .sample = sample,
                                                 .close = close_source};
const struct eco_power_backend eco_power_ipmi = {.name = "ipmi",
                                                 .boundary = ECO_RUN_BOUNDARY_WALL,
                                                 .find = find_ipmi,
                                                 .sample = sample,
                                                 .close = close_source};
