/*
 * The code audit: finds energy traps in Python (tree-sitter), notebooks, requirement files,
 * Dockerfiles, YAML, TOML and shell. Rules are a const table; a finding says where, why, and how
 * to mend it. Effects in joules are the caller's to compute (ops), per finding.
 *
 * A `struct eco_audit` owns its findings and their texts (arena); zero-initialise, eco_audit_done.
 * Threads: eco_audit_paths uses some of its own; one `struct eco_audit` per calling thread.
 * Errors: ECO_E_UNSUPPORTED built without the grammar, ECO_E_NOT_FOUND, ECO_E_IO, ECO_E_NO_MEMORY.
 */
#ifndef ECO_AUDIT_H
#define ECO_AUDIT_H

#include "base/arena.h"
#include "base/buf.h"
#include "eco_alerts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ECO_AUDIT_CROSSOVER_B 5.2              /* the largest published 4-bit crossover */
#define ECO_AUDIT_MAX_FILE ((size_t)8 << 20)   /* bytes; larger files are named, not read */
#define ECO_AUDIT_MAX_FILES ((size_t)1 << 20)  /* in one tree */
#define ECO_AUDIT_MAX_FINDINGS 500             /* of one file */
#define ECO_AUDIT_MAX_MEMORY ((size_t)1 << 28) /* of the analysis of one file */
#define ECO_AUDIT_MAX_THREADS 16
/* Plain NF4 takes 4.5 bits a weight; a fifth of the card is left for cache and activations. */
#define ECO_AUDIT_DQ_FITS_B(card_gb) ((card_gb)*0.8 * 8.0 / 4.5)

/* X(NAME, "id", severity, "short name", "why") */
#define ECO_AUDIT_RULES(X)                                                                         \
    X(INT8_DEFAULT, "int8-default", CRITICAL, "default LLM.int8() decomposition",                  \
      "load_in_8bit with the default threshold splits every multiplication in two: slower and "    \
      "hungrier than 16 bit on every measured card")                                               \
    X(MIXED_BITS, "mixed-bits", CRITICAL, "8 bit and 4 bit at once",                               \
      "load_in_8bit and load_in_4bit are both on: the library refuses or takes one of them")       \
    X(FP8_EAGER, "fp8-eager", CRITICAL, "FP8 without a compiled graph",                            \
      "FP8 run eagerly converts every layer in its own kernels; without torch.compile it costs "   \
      "more energy than 16 bit")                                                                   \
    X(SMALL_4BIT, "4bit-small", WARNING, "4 bit on a small model",                                 \
      "below the crossover size, unpacking 4-bit weights costs more than the saved traffic")       \
    X(BS1_LOOP, "bs1-loop", WARNING, "one request at a time",                                      \
      "the loop generates for one input at a time; a batch shares every weight read")              \
    X(NIGHTLY_PIN, "nightly-pin", WARNING, "nightly or development build",                         \
      "a nightly build changes from day to day: no measurement holds for it")                      \
    X(NO_DEVICE_MAP, "no-device-map", INFO, "no device named",                                     \
      "the model is loaded without device_map and never moved: it may run on the CPU")             \
    X(REDUNDANT_PARAM, "redundant-param", INFO, "setting without effect",                          \
      "the setting belongs to another bit width and does nothing here")                            \
    X(DOUBLE_QUANT, "double-quant", INFO, "double quantization",                                   \
      "double quantization saves under half a bit per weight and unpacks twice; the model fits "   \
      "without it")                                                                                \
    X(CPU_OFFLOAD, "cpu-offload", WARNING, "weights outside the card",                             \
      "weights are kept in main memory and cross the bus for every token")                         \
    X(KV_CACHE_OFF, "kv-cache-off", WARNING, "key-value cache off",                                \
      "without the cache every new token computes the whole text again")                           \
    X(FP8_NO_COMPILE, "fp8-no-compile", WARNING, "FP8 compiled by an eager back end",              \
      "the FP8 model is 'compiled' by a back end that still runs eagerly")                         \
    X(UNPADDED_LOOP, "unpadded-loop", INFO, "batch cut without padding",                           \
      "a batch of texts is tokenized without padding: unequal lengths fail, and so people go "     \
      "back to one at a time")                                                                     \
    X(VLLM_EAGER, "vllm-eager", WARNING, "vLLM without CUDA graphs",                               \
      "enforce_eager turns the captured graphs off: more launches and more idle watts per token")  \
    X(VLLM_ONE_SEQ, "vllm-one-seq", WARNING, "vLLM with one sequence",                             \
      "max_num_seqs of 1 turns continuous batching off: every weight read serves one token")

enum eco_audit_rule {
#define X(name, id, severity, title, why) ECO_AUDIT_##name,
    ECO_AUDIT_RULES(X)
#undef X
        ECO_AUDIT_RULES_COUNT
};

struct eco_audit_rule_info {
    const char *id;
    enum eco_severity severity;
    const char *title, *why;
};
const struct eco_audit_rule_info *eco_audit_rule(enum eco_audit_rule rule);
const char *eco_audit_rule_fix(enum eco_audit_rule rule); /* in words */
/** By id; -1 when there is no such rule. */
int eco_audit_rule_find(const char *id, size_t len);

/** Replace bytes [start, end) of the file by `text`. */
struct eco_audit_edit {
    size_t start, end;
    const char *text; /* NULL: no edit */
};

struct eco_audit_finding {
    enum eco_audit_rule rule;
    enum eco_severity severity;
    const char *file;                /* as given or found */
    uint32_t line, end_line, column; /* from 1; the column counts bytes */
    const char *message;             /* what is wrong here */
    const char *model;               /* model id where known, else NULL */
    double params_b;                 /* its size in billions, 0: not known */
    struct eco_audit_edit edit;
    bool safe;          /* the edit changes no result */
    char print[17];     /* fingerprint: rule, file name and the line's text */
    const char *effect; /* the caller's: computed for size and card */
    double effect_pct;
    bool in_baseline; /* known before: not counted */
};

/** A file that was not looked into, and why. */
struct eco_audit_skip {
    const char *file, *reason;
};

struct eco_audit {
    double crossover_b; /* 0: ECO_AUDIT_CROSSOVER_B */
    const char *card;   /* named in messages; NULL: none */
    double card_gb;     /* its memory; 0: not known */
    int threads;        /* 0: as many as there are processors, at most ECO_AUDIT_MAX_THREADS */
    struct eco_arena arena;
    struct eco_audit_finding *findings; /* sorted by file and line; owned */
    size_t n, cap;
    struct eco_audit_skip *skipped; /* owned */
    size_t n_skipped, cap_skipped;
    size_t files, parsed, suppressed; /* looked at, parsed as Python, silenced by comments */
    uint64_t bytes;
    bool failed; /* out of memory somewhere */
};

void eco_audit_init(struct eco_audit *a);
void eco_audit_done(struct eco_audit *a); /* accepts NULL */

/** Can this program audit at all? */
bool eco_audit_available(void);
/** Is a file of this name looked at? */
bool eco_audit_wants(const char *path);
/** One text under a file name that says its kind. */
int eco_audit_text(struct eco_audit *a, const char *path, const char *text, size_t len,
                   struct eco_err *err);
/** Files and folders (walked, sorted; hidden ones and build folders are passed over). */
int eco_audit_paths(struct eco_audit *a, const char *const *paths, size_t n, struct eco_err *err);
/** Sorts what several texts gave; eco_audit_paths does it itself. */
void eco_audit_sort(struct eco_audit *a);

/* ---- size of a model from its id ------------------------------------------------------------- */
/** Billions of parameters of "Qwen/Qwen2.5-7B-Instruct"; 0: the id does not say. */
double eco_audit_model_size(const char *id, size_t len);

/* ---- writers: bytes out ---------------------------------------------------------------------- */
void eco_audit_sarif(const struct eco_audit *a, struct eco_buf *out);
void eco_audit_github(const struct eco_audit *a, struct eco_buf *out);
void eco_audit_markdown(const struct eco_audit *a, struct eco_buf *out);

/* ---- fixes, baseline, changed lines ---------------------------------------------------------- */
/** "@@ -3 +3 @@\n-old\n+new\n" of the finding's edit, in the arena of `a`; NULL: no edit. */
const char *eco_audit_patch(struct eco_audit *a, const struct eco_audit_finding *f,
                            const char *text, size_t len);
/** `text` with the edits of the n findings (all of one file) applied; returns how many. */
size_t eco_audit_apply(const struct eco_audit_finding *f, size_t n, bool unsafe, const char *text,
                       size_t len, struct eco_buf *out);
/** Marks findings whose fingerprint is in a baseline document. */
int eco_audit_baseline_read(struct eco_audit *a, const char *text, size_t len, struct eco_err *err);
void eco_audit_baseline_write(const struct eco_audit *a, struct eco_buf *out);
/** Keeps findings on lines that a unified diff adds or changes (paths as in its +++ lines). */
void eco_audit_keep_changed(struct eco_audit *a, const char *diff, size_t len);

#endif
