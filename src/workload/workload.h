/*
 * What can be measured: something that loads a model in one precision at a time and generates
 * tokens when asked. `worker` is a child process that speaks the line protocol of docs/workers.md;
 * `openai` is such a child of our own, in front of a server; `builtin` is the embedded engine. One
 * table of functions; the experiment sees nothing else.
 *
 * Life cycle: open -> (load -> warmup* -> window* -> perplexity? -> unload)* -> close. A workload
 * belongs to one thread. Errors: ECO_E_CONTENT for a worker that does not keep the protocol,
 * ECO_E_DEVICE for one that died, fell silent or said that it failed, or the code it named. After
 * such an error only close is allowed.
 */
#ifndef ECO_WORKLOAD_H
#define ECO_WORKLOAD_H

#include "base/buf.h"
#include "eco_err.h"
#include "eco_run.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ECO_WORKLOAD_MAX_PACKAGES 32
#define ECO_WORKLOAD_MAX_ITERATIONS 1000000
#define ECO_WORKER_PROTOCOL 1
#define ECO_WORKER_MAX_LINE (1u << 20)      /* bytes of one line of a worker */
#define ECO_WORKER_MAX_INTERVALS (1u << 20) /* token intervals kept of one window */

/* Called while a workload works, about ten times a second; borrowed until close. */
struct eco_workload_hooks {
    void (*tick)(void *ctx);
    bool (*stop)(void *ctx); /* true: end after the current iteration (asked once a tick) */
    /*
     * A window whose steady state begins (`end` false) or ends (true): with several streams only
     * that part counts, and the result is of it alone. May be NULL; never called where a window
     * counts whole.
     */
    void (*edge)(void *ctx, bool end);
    void *ctx;
};

/** What to load. Strings are borrowed for the call. */
struct eco_workload_arm {
    const char *model; /* as the user named it: an id, a folder, a file */
    enum eco_precision precision;
    int batch, prompt_tokens, gen_tokens; /* room needed: gen_tokens a sequence */
    uint64_t seed;
};

/** What was loaded; strings live until the next load or close. */
struct eco_workload_loaded {
    const char *engine;  /* "transformers", "builtin" */
    const char *weights; /* "real", "synthetic" */
    double memory_bytes; /* NAN: not said */
    const struct eco_run_package *packages;
    size_t package_count;
    const char *backend; /* what the embedded engine computes with: "ecocompute-cpu"; NULL */
};

struct eco_workload_window {
    int iterations, tokens; /* generations; tokens of each sequence */
};

/** What a window did. NAN and -1: not known. */
struct eco_workload_result {
    int iterations; /* whole generations */
    int64_t tokens, decode_tokens;
    double seconds; /* by the monotonic clock, from the first prompt to the last token */
    double ttft_s, tpot_mean_s, tpot_p50_s, tpot_p99_s;
    double others_cpu_frac; /* of its CPUs, used by other processes meanwhile; 0: or not known */
    bool stopped;           /* fewer iterations than asked: stop was true */
    bool steady; /* tokens, decode_tokens, seconds are of the steady state between two edges */
};

struct eco_workload_quality {
    double mean_nll;
    int64_t tokens, windows, seq_len;
};

struct eco_generator;

struct eco_generator_class {
    const char *name;
    int (*load)(struct eco_generator *w, const struct eco_workload_arm *arm,
                struct eco_workload_loaded *out, struct eco_err *err);
    int (*warmup)(struct eco_generator *w, const struct eco_workload_window *what,
                  struct eco_workload_result *out, struct eco_err *err);
    int (*window)(struct eco_generator *w, const struct eco_workload_window *what,
                  struct eco_workload_result *out, struct eco_err *err);
    /* ECO_E_UNSUPPORTED where a workload has none; never fatal */
    int (*perplexity)(struct eco_generator *w, const char *path, int seq_len,
                      struct eco_workload_quality *out, struct eco_err *err);
    int (*unload)(struct eco_generator *w, struct eco_err *err);
    void (*close)(struct eco_generator *w);
};

/** First member of every workload. */
struct eco_generator {
    const struct eco_generator_class *class;
};

struct eco_worker_options {
    const char *command; /* for /bin/sh -c */
    const char *log;     /* file its standard error is appended to; NULL: inherited */
    /* how long it may be silent: starting, loading, otherwise; 0: 300, 3600, 300 s */
    double ready_s, load_s, event_s;
    double grace_s; /* to end by itself after its input is closed, then it is killed; 0: 5 s */
    struct eco_workload_hooks hooks;
};

/** Starts the worker and waits until it is ready. Owned by the caller (eco_workload_close). */
int eco_workload_open_worker(const struct eco_worker_options *o, struct eco_generator **out,
                             struct eco_err *err);
/** The embedded engine. A model that is no path gets synthetic weights in its exact shape. */
int eco_workload_open_builtin(const struct eco_workload_hooks *hooks, struct eco_generator **out,
                              struct eco_err *err);
/** Bytes that it would take for this arm; loads nothing. */
int eco_workload_builtin_need(const struct eco_workload_arm *arm, double *bytes,
                              struct eco_err *err);
double eco_workload_builtin_free_bytes(void); /* memory it could take; NAN: not known */

/** How to reach an OpenAI-compatible server; strings borrowed. Lists: see workload/arm_list.h. */
struct eco_workload_openai {
    const char *url;          /* http://host:8000/v1, or one for each precision */
    const char *served_model; /* its name there, or one for each precision; NULL: the model's */
    const char *key_env;      /* environment variable with the API key; NULL: OPENAI_API_KEY */
};

/**
 * Checks the settings and writes "openai:ARGUMENTS" (for a shell) into `out`: what a journal keeps
 * of this workload, and what eco_workload_open_openai takes. ECO_E_INVALID, ECO_E_MISSING.
 */
int eco_workload_openai_text(const struct eco_workload_openai *o, const enum eco_precision *arms,
                             int arm_count, struct eco_buf *out, struct eco_err *err);
/**
 * Starts the helper program `ecocompute-openai` with `arguments` as a worker; o->command is not
 * looked at. ECO_E_NOT_FOUND when the helper is not built or installed.
 */
int eco_workload_open_openai(const char *arguments, const struct eco_worker_options *o,
                             struct eco_generator **out, struct eco_err *err);
void eco_workload_close(struct eco_generator *w); /* accepts NULL */

/** Mean, median and 99th percentile of token intervals; sorts `s` in place. n = 0: NAN. */
void eco_workload_intervals(double *s, size_t n, struct eco_workload_result *out);

#endif
