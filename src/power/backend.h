/*
 * What a backend is, for sources.c and the backend_*.c files only; everybody else sees power.h.
 * A backend's `find` adds every device it sees to the set, with the reason where one cannot be
 * used, and at least one entry. `s->ctx` is the backend's and freed by its `close`.
 */
#ifndef ECO_POWER_BACKEND_H
#define ECO_POWER_BACKEND_H

#include "power.h"

struct eco_power_backend {
    const char *name; /* "nvml" */
    enum eco_run_boundary boundary;
    bool gpu;      /* its sources are accelerators */
    bool parallel; /* reads may come from several threads at once */
    /* extra: what follows "exec:" … in options.extra, NULL for the others. < 0: cannot be used. */
    int (*find)(struct eco_power_set *set, const char *extra, struct eco_err *err);
    /* All fields in one go: power_w and status of each; NULL: a counter only */
    void (*sample)(struct eco_power_source *s, double power_w[ECO_POWER_FIELDS],
                   unsigned char status[ECO_POWER_FIELDS]);
    enum eco_power_status (*counter)(struct eco_power_source *s, double *energy_j); /* or NULL */
    void (*state)(struct eco_power_source *s, struct eco_power_state *out);         /* or NULL */
    size_t (*processes)(struct eco_power_source *s, struct eco_power_process *out, size_t cap);
    int (*set_limit_w)(struct eco_power_source *s, double limit_w, struct eco_err *err);
    int (*lock_clock_mhz)(struct eco_power_source *s, double clock_mhz, struct eco_err *err);
    void (*close)(struct eco_power_source *s);                  /* one source; or NULL */
    void (*close_all)(struct eco_power_set *set, void *shared); /* after the sources */
};

struct eco_power_set {
    struct eco_arena arena;
    struct eco_power_options options;
    struct eco_power_source sources[ECO_POWER_MAX_SOURCES];
    size_t count;
    struct { /* what a backend keeps for all its sources, in the order of the table */
        const struct eco_power_backend *backend;
        void *ctx;
    } shared[16];
    size_t shared_count;
};

extern const struct eco_power_backend eco_power_nvml, eco_power_amd, eco_power_amdgpu,
    eco_power_intel, eco_power_rapl, eco_power_hwmon, eco_power_ipmi, eco_power_exec, eco_power_csv,
    eco_power_ptd, eco_power_sim;

/** A new source with everything "not known"; NULL when the set is full. */
struct eco_power_source *eco_power_add(struct eco_power_set *set, const struct eco_power_backend *b,
                                       const char *device);
/** Adds one that cannot be used. */
void eco_power_add_absent(struct eco_power_set *set, const struct eco_power_backend *b,
                          const char *device, const char *reason);
/** Marks a source as usable with these fields and, when it has one, its counter. */
void eco_power_usable(struct eco_power_source *s, unsigned fields, bool counter);
/** errno of a failed open or read of `path` as the source's reason and grant command. */
void eco_power_blame_file(struct eco_power_set *set, struct eco_power_source *s, const char *path,
                          int error);

/** First line of a small file without its newline; false: errno says why. */
bool eco_power_first_line(const char *path, char *out, size_t cap);
/** The whole text of a small file as an unsigned number; 0, or an errno. */
int eco_power_read_u64(const char *path, uint64_t *out);
/** Likewise from a file that stays open (pread from its start). */
int eco_power_pread_u64(int fd, uint64_t *out);

/* A counter that starts again: RAPL, i915. All in the counter's own units. */
struct eco_power_wrap {
    uint64_t max; /* largest value it shows; 0: never wraps */
    double step;  /* between neighbouring counts, added when it wraps */
    double sum;   /* of what has passed */
    uint64_t last;
    bool started;
};
/** The count since the first call, wraps taken out: delta = cur >= prev ? cur - prev
 * : max - prev + cur + step, exact within one count as long as polled before it wraps twice. */
double eco_power_unwrap(struct eco_power_wrap *w, uint64_t now);

#endif
