/*
 * A report as sentences and rows, which show and Markdown only lay out. Every number in them stands
 * in the document, rounded; nothing is computed here, so that no view can disagree with its file.
 */
#ifndef ECO_REPORT_VIEW_H
#define ECO_REPORT_VIEW_H

#include "base/arena.h"
#include "base/json.h"
#include "eco_err.h"

#define ECO_VIEW_MAX_ROWS 32
#define ECO_VIEW_MAX_NOTES 32

struct eco_view_row {
    const char *label, *value;
};

struct eco_view {
    struct eco_arena arena; /* owns every text below */
    const char *title;      /* "NF4 on RTX 4090, Qwen2-7B" */
    const char *verdict;    /* "cannot tell: …" */
    const char *basis;      /* "not measured: interpolated …" */
    char kind;              /* s saves, c costs, ? cannot tell or unavailable */
    bool measured;
    struct eco_view_row rows[ECO_VIEW_MAX_ROWS];
    size_t row_count;
    const char *how[ECO_VIEW_MAX_NOTES]; /* how it was obtained */
    size_t how_count;
    const char *limits[ECO_VIEW_MAX_NOTES];
    size_t limit_count;
    const char *citation;
};

/** Reads a report that need not be valid: what is absent is left out. Free with done. */
int eco_report_view(const char *text, size_t len, struct eco_view *out, struct eco_err *err);
void eco_report_view_done(struct eco_view *v);

#endif
