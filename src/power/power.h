/*
 * Power sources: what can be read on this machine, and reading it. One ordered const table of
 * backends; every device of every backend becomes a source, usable or with the reason it is not
 * and, where a permission is missing, the command that grants it. A bad card never silences the
 * others, absent is never 0, and nothing here guesses a number.
 *
 * Life cycle: open -> count/at/choose -> read (or give sources to meter.h) -> close. The set owns
 * its sources and all strings. Threads: one reader per source, NVML excepted (it locks itself);
 * meter.h keeps that rule. Libraries are loaded by dlopen; nothing reads the environment: the
 * value of CUDA_VISIBLE_DEVICES is an option.
 */
#ifndef ECO_POWER_POWER_H
#define ECO_POWER_POWER_H

#include "base/arena.h"
#include "eco_err.h"
#include "eco_run.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ECO_POWER_MAX_SOURCES 64

/* The driver's "power" is several instruments (NVML field 186, 185, nvmlDeviceGetPowerUsage). */
enum eco_power_field {
    ECO_POWER_DEFAULT, /* what the plain call returns: protocol v1 integrates this one */
    ECO_POWER_AVERAGE, /* 1 s average */
    ECO_POWER_INSTANT,
    ECO_POWER_FIELDS
};

/* What one read said. Only OK carries a value. */
enum eco_power_status {
    ECO_POWER_OK,
    ECO_POWER_ABSENT,   /* the device has no such instrument: not an error, and not zero */
    ECO_POWER_FAILED,   /* this read failed; the next may not */
    ECO_POWER_LOST,     /* the device is gone */
    ECO_POWER_DENIED,   /* no permission */
    ECO_POWER_SENTINEL, /* a value that cannot be true: over twice the limit, >= 2^63 - 65536 */
    ECO_POWER_ENDED     /* a recorded source has no more samples */
};

/** Where to look; NULL members mean the system's own places. Strings are borrowed until close. */
struct eco_power_options {
    const char *nvml_library;    /* "libnvidia-ml.so.1" */
    const char *sysfs;           /* "/sys" */
    const char *amd_library;     /* "libamd_smi.so", then "librocm_smi64.so" */
    const char *ipmitool;        /* "ipmitool"; "" = do not run it */
    const char *visible_devices; /* the value of CUDA_VISIBLE_DEVICES; NULL: all */
    const char *extra;           /* "exec:CMD", "csv:FILE", "ptd:FILE", "sim:WAVE"; NULL: none */
    bool probe_only;             /* doctor: also list devices that visible_devices leaves out */
};

struct eco_power_set; /* all sources of this machine */

/** One instrument (or the several fields of one device). Read-only for callers. */
struct eco_power_source {
    const struct eco_power_backend *backend;
    const char *name;    /* "nvml" */
    const char *device;  /* "GPU 0: NVIDIA GeForce RTX 4090"; never NULL */
    const char *uuid;    /* NULL: none */
    const char *driver;  /* "535.104.05"; NULL */
    const char *reason;  /* why it cannot be used and what to do; NULL: usable */
    const char *command; /* grants the missing permission; NULL */
    const char *note;    /* what to know when it is used ("board power, shared by MIG"); NULL */
    enum eco_run_boundary boundary;
    int index;              /* of the device in its backend; -1 */
    bool usable, selected;  /* selected: usable and among visible_devices */
    bool wanted;            /* a card among visible_devices, usable or not */
    bool external;          /* a meter outside the device: quality level L3 */
    bool unrated;           /* nobody says how far its watts may be off: no interval */
    unsigned fields;        /* bit (1u << eco_power_field): that power field reads */
    bool counter;           /* has an energy counter */
    bool derived;           /* its power comes from its own counter: no independent integral */
    bool mig, shared;       /* cannot be attributed to one user of the card */
    bool module;            /* GH200: the module's power, CPU included */
    double resolution_j;    /* one count of the counter; NAN */
    double wrap_j;          /* the counter starts again there; NAN: 64 bits, never */
    double wrap_s;          /* shortest time to wrap at the power limit; NAN */
    double limit_w;         /* power limit; NAN */
    double read_cost_s;     /* median of one power read at opening; NAN */
    double counter_cost_s;  /* of one counter read; NAN */
    int cc_major, cc_minor; /* CUDA compute capability; 0: not known */
    enum eco_arch arch;     /* ECO_ARCH_UNKNOWN where it is not known */
    double memory_bytes;    /* NAN */
    double refresh_s[ECO_POWER_FIELDS];   /* by the sensor table or detection; NAN: not known */
    double averaging_s[ECO_POWER_FIELDS]; /* likewise; what one reading averages over */
    bool duty[ECO_POWER_FIELDS];          /* reads averaging_s of every refresh_s only */
    void *ctx;                            /* the backend's */
};

/** The device as it is now; NAN, -1 or NULL: the device does not say. */
struct eco_power_state {
    double temp_c, clock_sm_mhz, clock_mem_mhz, limit_w;
    double memory_total_bytes, memory_free_bytes;
    uint64_t throttle_bits; /* as the driver gives them */
    bool throttled;         /* by heat, the power brake or a hardware slowdown */
    const char *throttle; /* "thermal", "power cap" (not counted as throttled) …; static; NULL */
    int persistence, ecc; /* 0, 1, -1 */
    enum eco_power_status status; /* OK, or LOST / FAILED */
};

struct eco_power_process {
    int64_t pid;
    double memory_bytes; /* NAN */
};

/** Finds everything. Fails only without memory or for an `extra` that cannot be used. */
int eco_power_open(const struct eco_power_options *o, struct eco_power_set **out,
                   struct eco_err *err);
void eco_power_close(struct eco_power_set *set); /* accepts NULL */
size_t eco_power_count(const struct eco_power_set *set);
struct eco_power_source *eco_power_at(const struct eco_power_set *set, size_t i);
/**
 * The sources to measure with, best first: `extra` when it was given, else the selected GPUs, else
 * other usable sources of one boundary. `name` ("nvml", "rapl" …) restricts to one backend; NULL:
 * the best there is. Returns how many (<= cap); 0 with ECO_E_DEVICE or ECO_E_PERMISSION and the
 * reasons (the grant command included) in `err`. Sources that cannot be told apart from other
 * users of the card (MIG, shared) are refused here with the reason.
 */
size_t eco_power_choose(struct eco_power_set *set, const char *name, struct eco_power_source **out,
                        size_t cap, struct eco_err *err);
/** "nvml, amd, …, exec:COMMAND, csv:FILE or ptd:FILE": what `name` and `extra` may be. */
const char *eco_power_names(char *out, size_t cap);
/** 0 for the name of a backend or of a meter ("exec:…"); ECO_E_UNKNOWN_NAME with all names. */
int eco_power_check_name(const char *name, struct eco_err *err);
/** Fills a report's row; strings are borrowed from the set. `used`: status "used". */
void eco_power_describe(const struct eco_power_source *s, bool used, struct eco_run_source *out);

/** Watts of one field now. */
enum eco_power_status eco_power_read(struct eco_power_source *s, enum eco_power_field field,
                                     double *power_w);
/** All fields in one go; a value is NAN unless its status is OK. */
void eco_power_read_all(struct eco_power_source *s, double power_w[ECO_POWER_FIELDS],
                        unsigned char status[ECO_POWER_FIELDS]);
/** Several threads may read it at once. */
bool eco_power_parallel(const struct eco_power_source *s);
/** Joules since an arbitrary start, wraps taken out. Up to 2.4 ms on some drivers. */
enum eco_power_status eco_power_read_counter(struct eco_power_source *s, double *energy_j);
/** Temperature, clocks, throttling, memory. For once a second. */
void eco_power_read_state(struct eco_power_source *s, struct eco_power_state *out);
/** Processes with memory on the device; returns how many there are (may be over cap). */
size_t eco_power_processes(struct eco_power_source *s, struct eco_power_process *out, size_t cap);
/** Sets the power limit (0: the default again) and reads it back; ECO_E_PERMISSION says how. */
int eco_power_set_limit_w(struct eco_power_source *s, double limit_w, struct eco_err *err);
/** Locks the SM clock (0: unlock). */
int eco_power_lock_clock_mhz(struct eco_power_source *s, double clock_mhz, struct eco_err *err);
/**
 * A simulated device, for tests and demonstrations: what its power truly is, and how its driver
 * would report it. Functions get `ctx`; times are of its own clock.
 */
struct eco_power_sim {
    double (*power_w)(void *ctx, double t_s);  /* true power at t_s */
    double (*energy_j)(void *ctx, double t_s); /* its integral from 0 to t_s */
    int64_t (*now_ns)(void *ctx);              /* NULL: CLOCK_MONOTONIC since adding */
    void *ctx;
    double refresh_s;   /* a new reading this often; 0: always fresh */
    double averaging_s; /* each reading is the mean of the last averaging_s; 0: instant */
    double tick_s;      /* the counter advances this often; 0: always */
    double count_j;     /* the counter's resolution; 0: exact */
    bool duty, no_counter;
};
/** Adds it to a set as a usable "sim" source; NULL when the set is full. `sim` is copied. */
struct eco_power_source *eco_power_add_sim(struct eco_power_set *set, const char *device,
                                           const struct eco_power_sim *sim);
const char *eco_power_status_name(enum eco_power_status s); /* "ok", "absent" … */

/** Opens, describes and closes: all sources with state and reason. Strings go to `arena`. */
size_t eco_power_probe_all(const struct eco_power_options *o, struct eco_arena *arena,
                           struct eco_run_source *out, size_t cap);
/** The first NVIDIA GPU's name as the driver says it, or NULL. Reads /proc, loads no library. */
const char *eco_power_gpu_name(struct eco_arena *arena);

#endif
