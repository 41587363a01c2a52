/*
 * run.jsonl: one JSON object a line, written whole and synced as a trial ends, so that a crash at
 * any moment loses at most the trial that was running. A last line without its end, or that is not
 * JSON, was torn by the crash and is cut off when the run is resumed.
 */
#ifndef ECO_EXPERIMENT_JOURNAL_H
#define ECO_EXPERIMENT_JOURNAL_H

#include "experiment/experiment.h"

#define ECO_JOURNAL_VERSION 2
#define ECO_JOURNAL_MAX_BYTES ((size_t)64 << 20)

/* What an idle arm draws: kept so that a resumed run waits for the same level. */
struct eco_journal_idle {
    int arm;
    double mean_w, sd_w, temp_c; /* NAN: not known */
};

/* Perplexity of an arm, or why there is none. */
struct eco_journal_quality {
    bool done;
    int arm;
    double mean_nll; /* NAN */
    int64_t tokens, windows, seq_len;
    char error[160]; /* "": it was measured */
};

int eco_journal_write_plan(const char *path, const struct eco_exp_plan *plan, struct eco_err *err);
int eco_journal_append_trial(const char *path, const struct eco_exp_trial *t, struct eco_err *err);
int eco_journal_append_idle(const char *path, const struct eco_journal_idle *idle,
                            struct eco_err *err);
int eco_journal_append_rest(const char *path, const struct eco_exp_rest *rest, struct eco_err *err);
/** What an arm's first load said of itself. */
int eco_journal_append_loaded(const char *path, int arm, const struct eco_workload_loaded *loaded,
                              struct eco_err *err);
int eco_journal_append_quality(const char *path, const struct eco_journal_quality *quality,
                               struct eco_err *err);

/* Called in the order of the lines; an error of theirs ends the reading. */
struct eco_journal_reader {
    int (*plan)(void *self, const struct eco_exp_plan *plan, struct eco_err *err);
    int (*trial)(void *self, const struct eco_exp_trial *t, struct eco_err *err);
    int (*idle)(void *self, const struct eco_journal_idle *idle, struct eco_err *err);
    int (*rest)(void *self, const struct eco_exp_rest *rest, struct eco_err *err);
    int (*quality)(void *self, const struct eco_journal_quality *q, struct eco_err *err);
    /* strings and packages live in the reader's arena */
    int (*loaded)(void *self, int arm, const struct eco_workload_loaded *l, struct eco_err *err);
    void *self;
};

/**
 * Reads all whole lines; `arena` takes the strings of the plan. `*whole_bytes` is where a torn
 * last line starts, or the size. ECO_E_CONTENT with the line for anything else that is wrong.
 */
int eco_journal_read(const char *path, const struct eco_journal_reader *reader,
                     struct eco_arena *arena, size_t *whole_bytes, struct eco_err *err);
/** Cuts to `bytes`; `*torn`: there was more. */
int eco_journal_cut(const char *path, size_t bytes, bool *torn, struct eco_err *err);

#endif
