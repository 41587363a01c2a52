/*
 * Errors in another language. They are made in English, in core too, which has no texts; here the
 * finished message is matched against the formats of errors.def and told again. One table, no call
 * of eco_err_set knows of it. What the table lacks keeps its English behind the kind of the error.
 */
#include "base/buf.h"
#include "runs.h"
#include "voice.h"

#include <stdio.h>
#include <string.h>

#define MAX_PIECES 8
#define MAX_PIECE 256
#define MAX_DEPTH 3

static const struct {
    const char *en, *zh;
} errors[] = {
#define E(en, zh) {en, zh},
#include "errors.def"
#undef E
};

static const struct {
    int code;
    const char *zh;
} kinds[] = {{ECO_E_CONTENT, "内容有误"},
             {ECO_E_TOO_LARGE, "太大"},
             {ECO_E_NOT_FOUND, "没有找到"},
             {ECO_E_EXISTS, "已经存在"},
             {ECO_E_DEVICE, "设备错误"},
             {ECO_E_PERMISSION, "没有权限"},
             {ECO_E_IO, "读写错误"},
             {ECO_E_UNSUPPORTED, "不支持"},
             {ECO_E_NO_MEMORY, "内存不足"},
             {ECO_E_INTERNAL, "内部错误"},
             {ECO_E_NO_FIT, "放不下"},
             {ECO_E_INTERRUPTED, "已中断"},
             {ECO_E_UNKNOWN_NAME, "未知名称"},
             {ECO_E_RANGE, "超出范围"},
             {ECO_E_INVALID, "参数有误"},
             {ECO_E_MISSING, "缺少参数"},
             {ECO_E_UNKNOWN_PARAM, "未知参数"},
             {ECO_E_USAGE, "用法有误"}};

struct pieces {
    const char *at[MAX_PIECES];
    size_t len[MAX_PIECES];
    size_t n;
};

/* Past one conversion of a printf format. */
static const char *past_conversion(const char *p)
{
    p++;
    p += strspn(p, "0123456789.*");
    p += strspn(p, "lzh");
    return *p ? p + 1 : p;
}

/* The next run of plain text of the format at p, its length. */
static size_t literal(const char *p)
{
    size_t n = 0;
    while (p[n] && p[n] != '%') {
        n++;
    }
    return n;
}

static const char *find(const char *text, const char *what, size_t n)
{
    for (; *text; text++) {
        if (strncmp(text, what, n) == 0) {
            return text;
        }
    }
    return NULL;
}

/* Does the message have the form of `format`? Returns the bytes of its plain text + 1; 0: no. */
static size_t match(const char *format, const char *message, struct pieces *out)
{
    const char *p = format, *m = message;
    size_t n = literal(p), plain = n;
    out->n = 0;
    if (strncmp(p, m, n) != 0) {
        return 0;
    }
    p += n;
    m += n;
    while (*p) {
        while (*p == '%') {
            p = past_conversion(p);
        }
        n = literal(p);
        const char *end = n == 0 ? m + strlen(m) : find(m, p, n);
        if (n && !p[n]) { /* the last: at the end of the message */
            size_t left = strlen(m);
            end = left >= n && strcmp(m + left - n, p) == 0 ? m + left - n : NULL;
        }
        if (!end || out->n == MAX_PIECES) {
            return 0;
        }
        out->at[out->n] = m;
        out->len[out->n++] = (size_t)(end - m);
        m = end + n;
        p += n;
        plain += n;
    }
    return *m ? 0 : plain + 1;
}

static void tell(const char *message, int depth, struct eco_buf *out);

static void fill(const char *zh, const struct pieces *pieces, int depth, struct eco_buf *out)
{
    for (const char *p = zh; *p; p++) {
        size_t i = p[0] == '{' && p[1] >= '1' && p[1] <= '9' && p[2] == '}' ? (size_t)(p[1] - '1')
                                                                            : MAX_PIECES;
        if (i >= pieces->n) {
            eco_buf_putc(out, *p);
            continue;
        }
        char piece[MAX_PIECE];
        size_t n = pieces->len[i] < sizeof(piece) - 1 ? pieces->len[i] : sizeof(piece) - 1;
        memcpy(piece, pieces->at[i], n);
        piece[n] = '\0';
        bool quoted = p - zh >= 3 && memcmp(p - 3, "“", 3) == 0;
        tell(piece, quoted ? MAX_DEPTH : depth + 1, out); /* what is quoted is a name */
        p += 2;
    }
}

static bool best_match(const char *message, struct pieces *pieces, const char **zh)
{
    size_t best = 1; /* some plain text */
    for (size_t i = 0; i < ECO_COUNT(errors); i++) {
        struct pieces here;
        size_t n = match(errors[i].en, message, &here);
        if (n > best) {
            best = n;
            *pieces = here;
            *zh = errors[i].zh;
        }
    }
    return best > 1;
}

static void tell(const char *message, int depth, struct eco_buf *out)
{
    struct pieces pieces;
    const char *zh = NULL;
    if (message[0] && depth < MAX_DEPTH && best_match(message, &pieces, &zh)) {
        fill(zh, &pieces, depth, out);
    } else {
        eco_buf_puts(out, message); /* a name, a number: as it is */
    }
}

bool eco_error_known(const char *message)
{
    struct pieces pieces;
    const char *zh;
    return best_match(message, &pieces, &zh);
}

const char *eco_message_tell(struct eco_ctx *ctx, const char *message)
{
    struct eco_buf b = ECO_BUF_INIT;
    if (message && ctx->lang == ECO_LANG_ZH) {
        tell(message, 0, &b);
    } else if (message) {
        eco_buf_puts(&b, message);
    }
    const char *told =
        message && eco_buf_ok(&b) ? eco_arena_strdup(ctx->arena, eco_buf_str(&b), b.len) : NULL;
    eco_buf_done(&b);
    return told;
}

void eco_error_tell(enum eco_lang lang, struct eco_err *err)
{
    struct eco_buf b = ECO_BUF_INIT;
    if (lang != ECO_LANG_ZH || err->code == 0) {
        return;
    }
    if (eco_error_known(err->message)) {
        tell(err->message, 0, &b);
    } else {
        for (size_t i = 0; i < ECO_COUNT(kinds); i++) {
            if (kinds[i].code == err->code) {
                eco_buf_printf(&b, "%s：", kinds[i].zh);
            }
        }
        eco_buf_puts(&b, err->message);
    }
    if (eco_buf_ok(&b)) { /* eco_err_set cuts at a whole sign */
        long line = err->line, column = err->column;
        eco_err_set(err, err->code, err->arg, "%s", eco_buf_str(&b));
        err->line = line;
        err->column = column;
    }
    eco_buf_done(&b);
}
