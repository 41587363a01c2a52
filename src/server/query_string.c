/*
 * Query strings, strictly: every pair names a known parameter once, %XX are two hexadecimal
 * digits, '+' is a blank. Nothing is repaired and nothing has a silent default.
 */
#include "ops/args.h"
#include "server_parts.h"

#include <string.h>

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

char *eco_query_decode(struct eco_arena *arena, const char *text, size_t len, bool plus,
                       size_t *out_len, struct eco_err *err)
{
    char *out = eco_arena_alloc(arena, len + 1);
    size_t n = 0;
    if (!out) {
        eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
        return NULL;
    }
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '%') {
            int hi = i + 2 < len ? hex_digit(text[i + 1]) : -1;
            int lo = i + 2 < len ? hex_digit(text[i + 2]) : -1;
            if (hi < 0 || lo < 0) {
                eco_err_set(err, ECO_E_INVALID, "",
                            "a '%%' must be followed by two hexadecimal "
                            "digits");
                return NULL;
            }
            out[n++] = (char)(hi * 16 + lo);
            i += 2;
        } else {
            out[n++] = plus && text[i] == '+' ? ' ' : text[i];
        }
    }
    out[n] = '\0';
    *out_len = n;
    return out;
}

static int set_pair(const struct eco_op *op, void *args, struct eco_arena *arena, const char *pair,
                    size_t len, struct eco_err *err)
{
    const char *eq = memchr(pair, '=', len);
    size_t name_len = eq ? (size_t)(eq - pair) : len, value_len = 0;
    char *name = eco_query_decode(arena, pair, name_len, true, &name_len, err);
    if (!name) {
        return err->code;
    }
    const struct eco_param *p = eco_args_find(op, name, name_len);
    if (!p) {
        return eco_args_unknown(op, name, name_len, err);
    }
    if (p->flags & ECO_PF_NATIVE) {
        return eco_err_set(err, ECO_E_UNKNOWN_PARAM, p->name,
                           "'%s' reads or writes files: the command line has it, requests do not",
                           p->name);
    }
    if (!eq) {
        return eco_err_set(err, ECO_E_INVALID, p->name, "'%s' has no value", p->name);
    }
    char *value =
        eco_query_decode(arena, eq + 1, len - (size_t)(eq + 1 - pair), true, &value_len, err);
    if (!value) { /* the message is about its parameter */
        char why[sizeof err->message];
        memcpy(why, err->message, sizeof why);
        return eco_err_set(err, err->code, p->name, "'%s': %.180s", p->name, why);
    }
    return eco_args_set(op, args, arena, p, value, value_len, err);
}

int eco_query_args(const struct eco_op *op, void *args, struct eco_arena *arena, const char *query,
                   size_t len, struct eco_err *err)
{
    const char *at = query, *end = query + len;
    for (size_t n = 0; at < end; n++) {
        const char *amp = memchr(at, '&', (size_t)(end - at));
        size_t pair = (size_t)((amp ? amp : end) - at);
        if (n == ECO_HTTP_MAX_PAIRS) {
            return eco_err_set(err, ECO_E_TOO_LARGE, "", "over %d parameters", ECO_HTTP_MAX_PAIRS);
        }
        int rc = pair ? set_pair(op, args, arena, at, pair, err) : 0; /* "a=1&&b=2" is two */
        if (rc) {
            return rc;
        }
        at += pair + (amp != NULL);
    }
    return 0;
}

const char *eco_query_value(struct eco_arena *arena, const char *target, const char *name,
                            size_t *len)
{
    const char *query;
    size_t left;
    eco_target_split(target, &query, &left);
    while (query && left) {
        const char *amp = memchr(query, '&', left), *eq = memchr(query, '=', left);
        size_t pair = amp ? (size_t)(amp - query) : left, n = 0;
        if (eq && (size_t)(eq - query) < pair) {
            const char *key = eco_query_decode(arena, query, (size_t)(eq - query), true, &n, NULL);
            if (key && eco_str_ieq(key, n, name)) {
                return eco_query_decode(arena, eq + 1, pair - (size_t)(eq + 1 - query), true, len,
                                        NULL);
            }
        }
        query += pair + (amp != NULL);
        left -= pair + (amp != NULL);
    }
    return NULL;
}

size_t eco_target_split(const char *target, const char **query, size_t *query_len)
{
    size_t path = strcspn(target, "?#");
    size_t rest = target[path] == '?' ? strcspn(target + path + 1, "#") : 0;
    *query = target[path] == '?' ? target + path + 1 : NULL;
    *query_len = rest;
    return path;
}
