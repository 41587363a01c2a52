/*
 * Files of other tools as reports: llama-bench (JSON, JSON lines), CodeCarbon (emissions.csv),
 * ML.ENERGY (per-configuration JSON, leaderboard JSON, results.json). What such a file does not say
 * is not known here either, with the reason; nothing is guessed, and numbers that cannot be true
 * are refused. Formats as their sources write them: llama.cpp tools/llama-bench, codecarbon
 * output_methods/emissions_data.py, ml-energy leaderboard public/data and benchmark results.
 *
 * Life cycle: read (runs in an arena) -> pick -> fill a struct eco_run -> eco_report_build.
 * Errors: ECO_E_CONTENT with line or row, ECO_E_TOO_LARGE, ECO_E_MISSING for what the caller must
 * add. Pure, no state; the texts of a run live in the arena.
 */
#ifndef ECO_REPORT_IMPORT_H
#define ECO_REPORT_IMPORT_H

#include "base/arena.h"
#include "eco_err.h"
#include "eco_run.h"

#define ECO_IMPORT_MAX_BYTES ((size_t)64 << 20)
#define ECO_IMPORT_MAX_RUNS 100000
#define ECO_IMPORT_MAX_NOTES 8

enum eco_import_kind {
    ECO_IMPORT_UNKNOWN = 0,
    ECO_IMPORT_LLAMA_BENCH,
    ECO_IMPORT_CODECARBON,
    ECO_IMPORT_ML_ENERGY,
    ECO_IMPORT_KIND_COUNT
};

/* One run of a file. Texts NULL, numbers NAN, integers -1: the file does not say it. */
struct eco_import_run {
    const char *what; /* the run in words, for a list */
    const char *tool, *version, *model, *gpu, *cpu, *engine, *at, *host;
    enum eco_precision precision; /* NONE: not said, or not one we know */
    const char *precision_text;   /* as the file has it */
    enum eco_run_boundary boundary;
    double params_b;
    int64_t params_total;
    int gpus, batch, prompt_tokens, generated_tokens;
    double duration_s, energy_j, j_per_token, power_w, tokens_per_s;
    double ttft_s, tpot_mean_s, tpot_p50_s, tpot_p99_s;
    int64_t tokens;
    const char *energy_reason; /* why there is no energy; NULL: there is */
    const char *notes[ECO_IMPORT_MAX_NOTES];
    int note_count;
    bool preferred; /* generates tokens, or has energy: what is taken without --row */
};

struct eco_import {
    enum eco_import_kind kind;
    struct eco_import_run *runs; /* in the arena */
    size_t count, room;
};

const char *eco_import_kind_name(enum eco_import_kind kind); /* "llama-bench"; "unknown" */
enum eco_import_kind eco_import_kind_parse(const char *name);
/** By content; UNKNOWN when it is none of them. */
enum eco_import_kind eco_import_detect(const char *text, size_t len);
/** `kind` UNKNOWN: detected. */
int eco_import_read(enum eco_import_kind kind, const char *text, size_t len,
                    struct eco_arena *arena, struct eco_import *out, struct eco_err *err);

/* What the caller adds where the file is mute; it never overrules the file. */
struct eco_import_more {
    size_t row; /* from 1; 0: the first preferred one, else the first */
    enum eco_precision precision;
    const char *model, *gpu;
    double params_b;
    int64_t tokens; /* 0: not known */
};

/** Index of the run that is taken. ECO_E_RANGE: no such row. */
int eco_import_pick(const struct eco_import *im, const struct eco_import_more *more, size_t *index,
                    struct eco_err *err);
/**
 * Fills run->arms[0] and the rest of `run` (tool_version and timestamp_utc are the caller's, set
 * after). ECO_E_MISSING: precision or card are not known and not given.
 */
int eco_import_fill(const struct eco_import *im, size_t index, const struct eco_import_more *more,
                    struct eco_arena *arena, struct eco_run *run, struct eco_err *err);

#endif
