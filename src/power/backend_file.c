/*
 * Files that an external meter's logger appends to: csv:FILE (a header with a power column) and
 * ptd:FILE (a PTDaemon log). Only rows written after opening are readings; the newest one holds
 * until the next, and counts as missing after five seconds.
 */
#include "backend.h"
#include "base/clock.h"
#include "base/num.h"
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#define LINE_BYTES 1024
#define STALE_NS ((int64_t)5000000000)

struct tail {
    int fd;
    int column; /* of a CSV; -1: PTDaemon */
    char line[LINE_BYTES];
    size_t len;
    double power_w;
    int64_t at_ns;
};

/* The n-th comma-separated cell. */
static const char *cell(const char *line, int n, size_t *len)
{
    for (; n > 0; n--) {
        line = strchr(line, ',');
        if (!line) {
            return NULL;
        }
        line++;
    }
    *len = strcspn(line, ",\r\n");
    return line;
}

static bool value_of(const struct tail *t, double *power_w)
{
    double t_s;
    size_t len = 0;
    if (t->column < 0) {
        return eco_record_ptd_line(t->line, strcspn(t->line, "\r"), &t_s, power_w) && *power_w >= 0;
    }
    const char *at = cell(t->line, t->column, &len);
    return at && eco_num_parse_lenient(at, len, power_w) == 0 && *power_w >= 0;
}

static void drain(struct tail *t)
{
    char bytes[LINE_BYTES];
    ssize_t got;
    while ((got = read(t->fd, bytes, sizeof(bytes))) > 0) {
        for (ssize_t i = 0; i < got; i++) {
            double w;
            if (bytes[i] != '\n') {
                if (t->len < LINE_BYTES - 1) {
                    t->line[t->len++] = bytes[i];
                }
                continue;
            }
            t->line[t->len] = '\0';
            if (value_of(t, &w)) {
                t->power_w = w;
                t->at_ns = eco_clock_mono_ns();
            }
            t->len = 0;
        }
    }
}

static void sample(struct eco_power_source *s, double power_w[ECO_POWER_FIELDS],
                   unsigned char status[ECO_POWER_FIELDS])
{
    struct tail *t = s->ctx;
    for (int f = 0; f < ECO_POWER_FIELDS; f++) {
        power_w[f] = (double)NAN;
        status[f] = ECO_POWER_ABSENT;
    }
    drain(t);
    bool fresh = t->at_ns && eco_clock_mono_ns() - t->at_ns < STALE_NS;
    status[ECO_POWER_DEFAULT] = fresh ? ECO_POWER_OK : ECO_POWER_FAILED;
    power_w[ECO_POWER_DEFAULT] = fresh ? t->power_w : (double)NAN;
}

static void close_source(struct eco_power_source *s)
{
    const struct tail *t = s->ctx;
    if (t && t->fd >= 0) {
        close(t->fd);
    }
}

/* Which column of the header is power; -1: none. */
static int power_column(int fd)
{
    char head[LINE_BYTES];
    ssize_t got = pread(fd, head, sizeof(head) - 1, 0);
    head[got > 0 ? got : 0] = '\0';
    head[strcspn(head, "\r\n")] = '\0';
    for (int i = 0;; i++) {
        size_t len;
        const char *at = cell(head, i, &len);
        if (!at) {
            return -1;
        }
        if (strncmp(at, "power", 5) == 0 || (len == 5 && strncmp(at, "watts", 5) == 0)) {
            return i;
        }
    }
}

static int add(struct eco_power_set *set, const struct eco_power_backend *b, const char *path,
               bool ptd, struct eco_err *err)
{
    /* the device's name goes into reports, and a path may hold a user's */
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    struct eco_power_source *s =
        eco_power_add(set, b, eco_arena_strdup(&set->arena, name, strlen(name)));
    struct tail *t = eco_arena_alloc(&set->arena, sizeof(*t));
    if (!s || !t) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    t->fd = open(path, O_RDONLY | O_CLOEXEC);
    s->ctx = t;
    s->external = true;
    if (t->fd < 0) {
        return eco_err_set(err, ECO_E_NOT_FOUND, "source", "cannot read '%.120s': %s", path,
                           strerror(errno));
    }
    t->column = ptd ? -1 : power_column(t->fd);
    if (!ptd && t->column < 0) {
        close(t->fd);
        t->fd = -1;
        return eco_err_set(err, ECO_E_CONTENT, "source",
                           "'%.120s' has no header with a 'power_w' column", path);
    }
    lseek(t->fd, 0, SEEK_END);
    eco_power_usable(s, 1u << ECO_POWER_DEFAULT, false);
    return 0;
}

static int find_csv(struct eco_power_set *set, const char *extra, struct eco_err *err)
{
    return add(set, &eco_power_csv, extra, false, err);
}

static int find_ptd(struct eco_power_set *set, const char *extra, struct eco_err *err)
{
    return add(set, &eco_power_ptd, extra, true, err);
}

const struct eco_power_backend eco_power_csv = {.name = "csv",
                                                .boundary = ECO_RUN_BOUNDARY_WALL,
                                                .find = find_csv,
                                                .sample = sample,
                                                .close = close_source};
const struct eco_power_backend eco_power_ptd = {.name = "ptd",
                                                .boundary = ECO_RUN_BOUNDARY_WALL,
                                                .find = find_ptd,
                                                .sample = sample,
                                                .close = close_source};
