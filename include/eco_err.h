/*
 * Errors of ecocompute: one enum, one struct, one table.
 *
 * Every fallible function returns 0 or a negative `enum eco_code`; the caller may pass a
 * `struct eco_err *` (or NULL) to learn what was wrong and where. The callee fills it, the caller
 * owns it, nothing is allocated. Codes map to an exit status, an HTTP status and a JSON-RPC code
 * in one X-macro. Threads: no shared state.
 */
#ifndef ECO_ERR_H
#define ECO_ERR_H

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, value, text, exit_status, http_status, jsonrpc_code) */
#define ECO_CODES(X)                                                                               \
    X(USAGE, -1, "usage", 2, 400, -32602) /* a command line that cannot be read */                 \
    X(MISSING, -2, "missing_parameter", 2, 400, -32602)                                            \
    X(UNKNOWN_PARAM, -3, "unknown_parameter", 2, 400, -32602)                                      \
    X(INVALID, -4, "invalid_parameter", 2, 400, -32602) /* right name, wrong kind of value */      \
    X(RANGE, -5, "out_of_range", 2, 400, -32602)                                                   \
    X(UNKNOWN_NAME, -6, "unknown_name", 2, 400, -32602) /* gpu, model, precision, region … */    \
    X(CONTENT, -7, "invalid_content", 3, 422, -32602)   /* a file or stream with wrong content */  \
    X(TOO_LARGE, -8, "too_large", 3, 413, -32602)       /* over a named limit */                   \
    X(NOT_FOUND, -9, "not_found", 2, 404, -32602)       /* a file or id that is not there */       \
    X(EXISTS, -10, "already_exists", 2, 409, -32602)    /* would write over; --force */            \
    X(DEVICE, -11, "device", 4, 503, -32000)            /* no device, or it failed */              \
    X(PERMISSION, -12, "permission", 4, 403, -32000)                                               \
    X(IO, -13, "io", 4, 500, -32000)                   /* read or write failed, disk full */       \
    X(UNSUPPORTED, -14, "unsupported", 2, 501, -32000) /* known, but not built in or no data */    \
    X(NO_MEMORY, -15, "no_memory", 70, 500, -32603)                                                \
    X(INTERNAL, -16, "internal", 70, 500, -32603)                                                  \
    X(ANSWER_NO, -17, "answer_is_no", 1, 200, 0)         /* done, and the answer is no */          \
    X(NO_FIT, -19, "does_not_fit", 4, 422, -32000)       /* what is wanted, into the memory */     \
    X(INTERRUPTED, -18, "interrupted", 130, 503, -32000) /* by a signal; what was done is kept */

enum eco_code {
    ECO_OK = 0,
#define X(name, value, text, exit_status, http_status, jsonrpc) ECO_E_##name = (value),
    ECO_CODES(X)
#undef X
};

struct eco_err {
    int code;          /* enum eco_code */
    char message[256]; /* lower case, no full stop, names the thing in 'quotes' */
    char arg[64];      /* the parameter, file or column it is about; may be empty */
    long line;         /* 1-based; 0: not about a line */
    long column;       /* 1-based column, or a byte offset for binary files; 0: none */
};

/** Fills `err` (may be NULL) and returns `code`, so that `return eco_err_set(...)` reads well. */
int eco_err_set(struct eco_err *err, int code, const char *arg, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/** As eco_err_set, with a position in a file. */
int eco_err_set_at(struct eco_err *err, int code, const char *arg, long line, long column,
                   const char *fmt, ...) __attribute__((format(printf, 6, 7)));

#ifdef __clang_analyzer__
/* The analyser reads one file at a time: tell it that what comes back is `code`, and not 0. */
#define eco_err_set(err, code, ...)                                                                \
    (eco_err_set((err), (code), __VA_ARGS__), (code) < 0 ? (code) : ECO_E_INTERNAL)
#define eco_err_set_at(err, code, ...)                                                             \
    (eco_err_set_at((err), (code), __VA_ARGS__), (code) < 0 ? (code) : ECO_E_INTERNAL)
#endif

const char *eco_err_text(int code); /* "out_of_range"; "ok" for 0; never NULL */
int eco_err_exit_status(int code);  /* 0 for ECO_OK, 70 for an unknown code */
int eco_err_http_status(int code);  /* 200 for ECO_OK */
int eco_err_jsonrpc(int code);      /* 0 for ECO_OK */

#ifdef __cplusplus
}
#endif
#endif
