/*
 * What an operation is: one row with its names, its parameters, its results and its function.
 * Everything an interface needs - command line, query string, JSON body, MCP tool, OpenAPI, man
 * page, completions - is read from these tables; ops.c holds the one array.
 * Parameters and results are plain structs made from .def lists (P rows and R rows below).
 */
#ifndef ECO_OPS_OP_H
#define ECO_OPS_OP_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "eco_err.h"
#include "eco_types.h"
#include "voice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- parameters ---------------------------------------------------------------------------- */

enum eco_param_type {
    ECO_T_F64,      /* double */
    ECO_T_I64,      /* int64_t; 8 and 8.0 are integers, 8.5 is refused */
    ECO_T_BOOL,     /* bool; on the command line the bare option */
    ECO_T_STR,      /* const char *, NUL-terminated */
    ECO_T_LIST_F64, /* struct eco_f64s; "1,8,32" on the command line */
    ECO_T_LIST_STR  /* struct eco_strs */
};

struct eco_str {
    const char *s; /* NUL-terminated */
    size_t len;
};
struct eco_f64s {
    const double *v;
    size_t n;
};
struct eco_strs {
    const char *const *v;
    size_t n;
};

typedef double eco_ctype_F64;
typedef int64_t eco_ctype_I64;
typedef bool eco_ctype_BOOL;
typedef const char *eco_ctype_STR;
typedef struct eco_f64s eco_ctype_LIST_F64;
typedef struct eco_strs eco_ctype_LIST_STR;

enum eco_param_flag {
    ECO_PF_REQUIRED = 1,
    ECO_PF_POSITIONAL = 2, /* may be given on the command line without its name, in table order */
    ECO_PF_LO_OPEN = 4,    /* lo itself is outside the range */
    ECO_PF_NATIVE = 8,     /* reads or writes files: command line only, never HTTP, MCP or page */
    ECO_PF_PATH = 16,      /* completes as a file name */
    ECO_PF_MANY = 32,      /* a positional that takes all remaining words (LIST_STR) */
    ECO_PF_WORDS = 64,     /* a positional that takes every bare word, options between (LIST_STR) */
    ECO_PF_LONG = 128,     /* text of up to 1 MiB, not 4096 bytes */
    ECO_PF_ZERO = 256,     /* zero is a value (F64): NaN until given */
    ECO_PF_WIDE = 512,     /* the published calibration takes any number up to ECO_ANY_MAX */
    ECO_PF_PROSE = 1024    /* a positional text that takes every bare word (STR) */
};

/** One parameter. `choices` is "a|b|c", or "@gpu", "@model", "@precision", "@region", "@arch". */
struct eco_param {
    const char *name; /* snake_case; the command line says --snake-case */
    enum eco_param_type type;
    const char *def; /* default as text, NULL: absent */
    double lo, hi;   /* range of numbers and of list members; lo == hi: no range */
    const char *unit;
    const char *choices;
    const char *alias; /* further names, blank-separated, or NULL */
    unsigned flags;
    const char *help;
    size_t offset; /* in the argument struct */
};

/** First member of every argument struct: bit i is set when parameter i was given. */
struct eco_args_head {
    uint64_t have;
};

/* ---- results ------------------------------------------------------------------------------- */

enum eco_field_type {
    ECO_F_NUM,    /* double, finite */
    ECO_F_OPT,    /* struct eco_opt: null when absent */
    ECO_F_I64,    /* int64_t */
    ECO_F_BOOL,   /* bool */
    ECO_F_STR,    /* const char *; NULL becomes null */
    ECO_F_SPAN,   /* struct eco_span: [lo, hi] or null */
    ECO_F_STRS,   /* struct eco_strs */
    ECO_F_OBJ,    /* an embedded struct, described by sub */
    ECO_F_MAYBE,  /* a pointer to a struct described by sub; NULL becomes null */
    ECO_F_LIST,   /* struct eco_list of structs described by sub */
    ECO_F_SPARSE, /* OBJ whose absent, false and empty members are left out */
    ECO_F_EXTRA,  /* MAYBE, sparse, and itself left out when NULL */
    ECO_F_ANY     /* struct eco_any: the result of another operation; null when absent */
};

struct eco_opt {
    double v;
    bool have;
};
struct eco_span {
    double lo, hi;
    bool have;
};
struct eco_list {
    const void *items;
    size_t n;
};

struct eco_op;
/** The result of an operation, with the operation that says how it reads. */
struct eco_any {
    const struct eco_op *op; /* NULL: absent */
    const void *result;
};

typedef double eco_rtype_NUM;
typedef struct eco_opt eco_rtype_OPT;
typedef int64_t eco_rtype_I64;
typedef bool eco_rtype_BOOL;
typedef const char *eco_rtype_STR;
typedef struct eco_span eco_rtype_SPAN;
typedef struct eco_strs eco_rtype_STRS;
typedef struct eco_list eco_rtype_LIST;

struct eco_record;

struct eco_field {
    const char *name;
    const char *key; /* ,"name": and its length */
    size_t key_len;
    enum eco_field_type type;
    size_t offset;
    const char *unit;
    const char *help;
    const struct eco_record *sub; /* OBJ, MAYBE, LIST */
};

/** The description of one result struct. */
struct eco_record {
    const char *name; /* schema name: "Estimate" */
    const struct eco_field *fields;
    size_t n_fields;
    size_t size;      /* sizeof the struct: also the stride in lists */
    const char *main; /* the list that CSV prints, or NULL: the scalars as one row */
};

/* ---- operations ---------------------------------------------------------------------------- */

struct eco_ctx;

/** What a run may use from outside. Pure operations see NULL hooks in the browser. */
struct eco_ctx {
    struct eco_arena *arena;        /* results live here until it is reset; borrowed */
    const struct eco_gpu *host_gpu; /* the card in this machine, or NULL */
    const char *host_gpu_name;      /* as the driver says it, or NULL */
    const char *visible_devices;    /* CUDA_VISIBLE_DEVICES as it is set, or NULL */
    /* Reads a model from a path; NULL where there are no files. */
    int (*open_model)(const char *path, struct eco_model *out, struct eco_err *err);
    /* Reads a whole file into the arena; NULL where there are no files. */
    int (*read_file)(struct eco_ctx *ctx, const char *path, struct eco_str *out,
                     struct eco_err *err);
    const char *last_file; /* read last, for messages about what is in it; NULL: none */
    /* Writes a whole file or nothing; NULL where there are no files. */
    int (*write_file)(const char *path, const void *bytes, size_t len, bool force,
                      struct eco_err *err);
    enum eco_lang lang;       /* of messages; set by a run from its parameters */
    enum eco_persona persona; /* of views; the same */
    /* Serves MCP over standard input and output; NULL: not in this program. */
    int (*serve_mcp)(struct eco_ctx *ctx, const void *args, struct eco_err *err);
    bool want_chart; /* views and --svg need chart data; JSON does not */
    int64_t now_unix_ms;
    void (*timestamp)(int64_t unix_ms, char out[32]); /* ISO 8601; NULL: the epoch is written */
    struct eco_buf *warnings;                         /* lines for stderr; NULL: dropped */
    void (*stream)(const char *text, size_t len);     /* shows text as it comes; NULL: later */
};

struct eco_doc;

struct eco_op {
    const char *name;    /* "estimate": CLI verb, also the id in OpenAPI */
    const char *summary; /* one line */
    const char *path;    /* "/v1/estimate", or NULL: no HTTP */
    const char *tool;    /* MCP tool name, or NULL */
    const struct eco_param *params;
    size_t n_params;
    size_t args_size;
    const struct eco_record *result;
    const char *examples; /* commands, one a line; every one is run by a test */
    const char *about;    /* a paragraph for help and the man page */
    bool batch;           /* accepts --batch-file */
    int (*check)(const void *args, struct eco_err *err); /* relations between parameters, or NULL */
    int (*run)(struct eco_ctx *ctx, const void *args, void *result, struct eco_err *err);
    void (*view)(struct eco_doc *doc, const void *result);
    bool (*says_no)(const void *result); /* done, and the answer is no: exit 1; NULL: never */
    bool (*no_fit)(const void *result);  /* what is wanted does not fit the card: exit 4 */
};

extern const struct eco_op eco_ops[];
extern const size_t eco_ops_count;

/** The operation with this verb, or NULL. */
const struct eco_op *eco_op_find(const char *name);

/* Rows of parameter lists become a struct and a table with these. */
#define ECO_PARAM_MEMBER(name, type, ...) eco_ctype_##type name;
#define ECO_PARAM_ROW(S, name, type, def, lo, hi, unit, choices, alias, flags, help)               \
    {                                                                                              \
#name, ECO_T_##type, def, lo, hi, unit, choices, alias, flags, help,                       \
            offsetof(struct S, name)                                                               \
    }
#define ECO_FIELD_NAME(name) #name, ",\"" #name "\":", sizeof(#name) + 3
#define ECO_COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif
