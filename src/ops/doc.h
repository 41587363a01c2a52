/*
 * A document that is shown three ways: a terminal screen, Markdown, HTML. Views say what there
 * is (a verdict, a heading, a table); this module decides how it looks. Pure; output goes to a
 * buffer. All text is UTF-8.
 */
#ifndef ECO_OPS_DOC_H
#define ECO_OPS_DOC_H

#include "base/arena.h"
#include "base/buf.h"
#include "voice.h"

#include <stdbool.h>
#include <stddef.h>

enum eco_doc_kind { ECO_DOC_TEXT, ECO_DOC_MARKDOWN, ECO_DOC_HTML };
enum eco_tone { ECO_TONE_PLAIN, ECO_TONE_GOOD, ECO_TONE_WARN, ECO_TONE_BAD, ECO_TONE_QUIET };

#define ECO_DOC_MAX_COLUMNS 16

struct eco_doc {
    enum eco_doc_kind kind;
    struct eco_buf *out;     /* borrowed */
    struct eco_arena *arena; /* borrowed; scratch for tables */
    int width;               /* terminal columns */
    bool color, ascii;
    bool quiet; /* no next steps, no citation */
    enum eco_lang lang;
    enum eco_persona persona;
    /* what `ask` says before the verdict in the lobster's voice; NULL: nothing */
    void (*preface)(struct eco_doc *d, const void *data);
    const void *preface_data;
    /* the open table */
    size_t n_columns, n_rows, cap_rows;
    const char *header[ECO_DOC_MAX_COLUMNS];
    bool right[ECO_DOC_MAX_COLUMNS], extra[ECO_DOC_MAX_COLUMNS];
    const char **cells;
    bool blank; /* the last thing written was a blank line */
    bool in_list;
};

void eco_doc_init(struct eco_doc *d, enum eco_doc_kind kind, struct eco_buf *out,
                  struct eco_arena *arena, int width);
void eco_doc_end(struct eco_doc *d);

/** The answer, first and alone on its line. */
void eco_doc_verdict(struct eco_doc *d, enum eco_tone tone, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void eco_doc_heading(struct eco_doc *d, const char *text);
void eco_doc_text(struct eco_doc *d, enum eco_tone tone, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void eco_doc_item(struct eco_doc *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/** "key   value" lines, aligned. */
void eco_doc_kv(struct eco_doc *d, const char *key, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/**
 * columns: "name|>number column|~extra|~>…": '>' aligns right, '~' marks what a narrow terminal may
 * leave out (the last one first; a line says how many, Markdown and HTML keep all).
 */
void eco_doc_table(struct eco_doc *d, const char *columns);
void eco_doc_cell(struct eco_doc *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void eco_doc_table_end(struct eco_doc *d);
/** Preformatted lines (a chart). May hold ANSI colours when kind is TEXT and color is on. */
void eco_doc_pre(struct eco_doc *d, const char *text);
/** A number with `significant` digits and never an exponent; lives in the document's arena. */
const char *eco_doc_num(struct eco_doc *d, double v, int significant);
/** The same with its sign, "+3760" or "−12". */
const char *eco_doc_signed(struct eco_doc *d, double v, int significant);
/** Bytes as they are: a document that is its own format. */
void eco_doc_raw(struct eco_doc *d, const char *text);
/** A command to type next, with what it gives. */
void eco_doc_next(struct eco_doc *d, const char *command, const char *why);

#endif
