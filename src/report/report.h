/*
 * The report (energy.json) and what is made of it: build, validate, show, Markdown, share link,
 * overlay. Bytes in, bytes out: no files, no clock, no environment, so it runs in the browser too.
 *
 * Errors: ECO_E_CONTENT for a document that is wrong (line and column, or arg = the JSON pointer),
 * ECO_E_TOO_LARGE over a named limit, ECO_E_NO_MEMORY. On failure outputs are untouched, but for
 * the findings of eco_report_validate. Threads: no shared state.
 */
#ifndef ECO_REPORT_H
#define ECO_REPORT_H

#include "base/arena.h"
#include "base/buf.h"
#include "eco_err.h"
#include "eco_published.h"
#include "eco_run.h"

#define ECO_REPORT_SCHEMA_VERSION "ecocompute-energy/1.1"
#define ECO_REPORT_VERSION 1
#define ECO_REPORT_MAX_BYTES (16u << 20)
#define ECO_REPORT_MAX_FINDINGS 64
#define ECO_REPORT_MAX_QUERY (64u << 10) /* of a share link */
#define ECO_REPORT_MAX_POINTS 256
/* Share links open on the published site; that is why it is the default. */
#define ECO_REPORT_SITE "https://quantenergy.tech"
#define ECO_REPORT_DATASET_DOI "10.5281/zenodo.19647290"
#define ECO_REPORT_DEEP_DIVE_DOI "10.5281/zenodo.22037483"

/** Appends the energy.json of `run->arms[arm]` and a newline; it is valid under our schema. */
int eco_report_build(const struct eco_run *run, size_t arm, struct eco_buf *out,
                     struct eco_err *err);

/* One thing a schema (error) or good sense (advice) has to say about a document. */
struct eco_report_finding {
    char pointer[160];   /* RFC 6901; "" is the whole document */
    const char *keyword; /* "required", "type", "enum", "const", "minimum" …; "advice"; static */
    char missing[64];    /* the absent key of "required"; else empty */
    char message[256];
};

struct eco_report_check {
    bool json;  /* the text is strict JSON */
    bool valid; /* and holds to the schema */
    bool ours;  /* report_version is there: our schema was applied, else the published rules */
    size_t error_count, advice_count; /* all of them; only the first ones are kept */
    struct eco_report_finding errors[ECO_REPORT_MAX_FINDINGS];
    struct eco_report_finding advice[ECO_REPORT_MAX_FINDINGS];
};

/**
 * Checks text[0..len) against our schema where `report_version` is present, else against the
 * published 1.1 rules. 0 when valid; ECO_E_CONTENT when not (err: first finding); `out` is filled
 * either way. ECO_E_TOO_LARGE over ECO_REPORT_MAX_BYTES.
 */
int eco_report_validate(const char *text, size_t len, struct eco_report_check *out,
                        struct eco_err *err);
/** {"valid", "schema", "errors": [{pointer, keyword, message}], "advice": [...]} */
void eco_report_check_json(const struct eco_report_check *check, struct eco_buf *out);
/** Our schema as JSON Schema draft 7, written from the same table that validates. */
void eco_report_schema_json(struct eco_buf *out);

/** The report as text for a terminal, `width` columns (0 = 80), colour when asked. */
struct eco_report_style {
    int width;
    bool color, ascii;
};
int eco_report_show(const char *text, size_t len, const struct eco_report_style *style,
                    struct eco_buf *out, struct eco_err *err);
/** summary.md: verdict, table, how it was obtained, limits, citation. */
int eco_report_markdown(const char *text, size_t len, struct eco_buf *out, struct eco_err *err);

/* A point for the published curves: from a share link or a report. Strings live in the arena. */
struct eco_report_point {
    const char *model;     /* "shared config" when the link names none */
    const char *gpu;       /* the card, else the architecture as written, else an em dash */
    const char *precision; /* as written; NF4 when the document names none, as published */
    const char *basis;     /* measured, interpolated, extrapolated, unavailable, or "unverified" */
    enum eco_arch arch;    /* of the text: a name, or a card's name; UNKNOWN when it names none */
    enum eco_precision prec;
    double params_b;  /* 1e9 parameters, within ECO_REPORT_{MIN,MAX}_PARAMS_B */
    double delta_pct; /* -100 <= delta <= ECO_REPORT_MAX_DELTA_PCT */
};
#define ECO_REPORT_MIN_PARAMS_B 1e-6
#define ECO_REPORT_MAX_PARAMS_B 1e6
#define ECO_REPORT_MAX_DELTA_PCT 1e4

struct eco_report_points {
    struct eco_arena arena;
    struct eco_report_point *items; /* in the arena */
    size_t count, refused;          /* refused: overlays that did not hold to the rules */
    char first_refusal[256];        /* why the first one was refused; empty */
};

/**
 * The link for a report's point, appended to `out`: SITE/?tab=run&overlay=BLOB, byte for byte as
 * the published encoder. `site` NULL = ECO_REPORT_SITE. Nothing is uploaded.
 * ECO_E_CONTENT when the report has no size, no change or a malformed field (err says which).
 */
int eco_report_share(const char *text, size_t len, const char *site, struct eco_buf *out,
                     struct eco_err *err);
/**
 * The points of a share link, of its query string, or of a bare blob. A bad overlay is counted in
 * `refused`, not an error. Init `points` with {0}; free with eco_report_points_done.
 */
int eco_report_overlay(const char *link, size_t len, struct eco_report_points *points,
                       struct eco_err *err);
/**
 * The one point of an energy.json, added to `points`. ECO_E_CONTENT with err.arg = not_json,
 * not_object, schema_version, no_size or no_delta.
 */
int eco_report_point(const char *text, size_t len, struct eco_report_points *points,
                     struct eco_err *err);
/** A report set against the published curve of its architecture and precision. */
struct eco_report_replication {
    const char *missing[6]; /* fields a replication should have and this one lacks; static */
    size_t missing_count;
    bool classified;         /* a curve exists: the fields below hold */
    enum eco_arch arch_used; /* ampere for hopper */
    double pred_pct, diff_pct;
    double band_pct;    /* max(1.96 rms of the curve, 5) */
    double outside_pct; /* how far beyond the band; 0 inside */
    bool agrees;
};
/** As eco_report_point, and compares with `curves`. */
int eco_report_replicate(const char *text, size_t len, const struct eco_published_curve *curves,
                         size_t n, struct eco_report_points *points,
                         struct eco_report_replication *out, struct eco_err *err);
void eco_report_points_done(struct eco_report_points *points);
/** The architecture as the published pages name it: NULL where no published curve exists. */
const char *eco_report_point_arch(const struct eco_report_point *p);
/** {"count", "points": [...], "refused"}: the published field names (N, dE, arch …) and ours. */
void eco_report_points_json(const struct eco_report_points *points, struct eco_buf *out);

#endif
