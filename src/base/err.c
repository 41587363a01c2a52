#include "eco_err.h"

#undef eco_err_set /* defined here; see the header */
#undef eco_err_set_at

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct code_row {
    int code;
    const char *text;
    int exit_status, http_status, jsonrpc;
};

static const struct code_row codes[] = {{ECO_OK, "ok", 0, 200, 0},
#define X(name, value, text, exit_status, http_status, jsonrpc)                                    \
    {ECO_E_##name, text, exit_status, http_status, jsonrpc},
                                        ECO_CODES(X)
#undef X
};

static const struct code_row *find(int code)
{
    static const struct code_row unknown = {0, "unknown_code", 70, 500, -32603};

    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        if (codes[i].code == code) {
            return &codes[i];
        }
    }
    return &unknown;
}

/* A text that was cut must not end inside a UTF-8 sequence: messages travel in JSON. */
static void trim_utf8(char *s, size_t size)
{
    size_t len = strlen(s);
    size_t back = 0;

    if (len + 1 < size) {
        return;
    }
    while (back < 3 && back < len && ((unsigned char)s[len - 1 - back] & 0xC0) == 0x80) {
        back++;
    }
    if (back < len) {
        unsigned lead = (unsigned char)s[len - 1 - back];
        size_t want = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : 0;
        if (want > back) {
            s[len - 1 - back] = '\0';
        }
    }
}

static void set(struct eco_err *err, int code, const char *arg, long line, long column,
                const char *fmt, va_list ap) __attribute__((format(printf, 6, 0)));

static void set(struct eco_err *err, int code, const char *arg, long line, long column,
                const char *fmt, va_list ap)
{
    char message[sizeof err->message] = "";

    /* Formatted aside: the arguments may point into `err` itself (an error wrapped in another). */
    if (vsnprintf(message, sizeof message, fmt, ap) < 0) {
        message[0] = '\0';
    }
    trim_utf8(message, sizeof message);
    if (arg == NULL) {
        err->arg[0] = '\0';
    } else {
        size_t len = strlen(arg);
        if (len >= sizeof err->arg) {
            len = sizeof err->arg - 1;
        }
        memmove(err->arg, arg, len);
        err->arg[len] = '\0';
        trim_utf8(err->arg, sizeof err->arg);
    }
    memcpy(err->message, message, sizeof message);
    err->code = code;
    err->line = line;
    err->column = column;
}

int eco_err_set(struct eco_err *err, int code, const char *arg, const char *fmt, ...)
{
    if (err != NULL) {
        va_list ap;
        va_start(ap, fmt);
        set(err, code, arg, 0, 0, fmt, ap);
        va_end(ap);
    }
    return code;
}

int eco_err_set_at(struct eco_err *err, int code, const char *arg, long line, long column,
                   const char *fmt, ...)
{
    if (err != NULL) {
        va_list ap;
        va_start(ap, fmt);
        set(err, code, arg, line, column, fmt, ap);
        va_end(ap);
    }
    return code;
}

const char *eco_err_text(int code)
{
    return find(code)->text;
}

int eco_err_exit_status(int code)
{
    return find(code)->exit_status;
}

int eco_err_http_status(int code)
{
    return find(code)->http_status;
}

int eco_err_jsonrpc(int code)
{
    return find(code)->jsonrpc;
}
