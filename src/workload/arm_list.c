#include "workload/arm_list.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The precision before '=' at `item`, or NONE. */
static enum eco_precision key_of(const char *item, size_t *len)
{
    *len = strcspn(item, "=,:/");
    return item[*len] == '=' ? eco_precision_parse(item, *len) : ECO_PREC_NONE;
}

static bool is_list(const char *text)
{
    size_t len;
    return key_of(text, &len) != ECO_PREC_NONE;
}

int eco_arm_list_check(const char *text, const char *arg, struct eco_err *err)
{
    uint64_t seen = 0;
    if (!*text) {
        return eco_err_set(err, ECO_E_INVALID, arg, "'%s' is empty", arg);
    }
    while (is_list(text)) {
        size_t key;
        enum eco_precision p = key_of(text, &key);
        size_t value = strcspn(text + key + 1, ",");
        if (value == 0 || (seen >> p) & 1) {
            return eco_err_set(err, ECO_E_INVALID, arg, "'%s' %s %s", arg,
                               value ? "names twice:" : "has no value for", eco_precision_name(p));
        }
        seen |= UINT64_C(1) << p;
        text += key + 1 + value;
        if (!*text) {
            return 0;
        }
        text++;
        if (!is_list(text)) {
            return eco_err_set(err, ECO_E_INVALID, arg,
                               "'%s': '%.60s' does not begin with a precision and '='", arg, text);
        }
    }
    return 0;
}

int eco_arm_list_get(const char *text, const char *arg, enum eco_precision arm, char *out,
                     size_t size, struct eco_err *err)
{
    size_t len = strlen(text);
    if (is_list(text)) {
        size_t key;
        while (*text && key_of(text, &key) != arm) {
            text += strcspn(text, ",");
            text += *text == ',';
        }
        if (!*text) {
            return eco_err_set(err, ECO_E_MISSING, arg, "'%s' has no value for %s", arg,
                               eco_precision_name(arm));
        }
        text += key + 1;
        len = strcspn(text, ",");
    }
    if (len >= size) {
        return eco_err_set(err, ECO_E_TOO_LARGE, arg, "'%s' is longer than %zu bytes", arg,
                           size - 1);
    }
    snprintf(out, size, "%.*s", (int)len, text);
    return 0;
}
