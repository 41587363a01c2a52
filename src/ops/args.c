#include "args.h"

#include "base/num.h"
#include "choices.h"
#include "eco_limits.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Limits on what a caller may send in one value. */
#define MAX_TEXT 4096
#define MAX_LONG_TEXT ((size_t)1 << 20) /* of ECO_PF_LONG */
#define MAX_LIST 256
#define MAX_WORDS 65536 /* of ECO_PF_WORDS */

static const char *type_word(const struct eco_param *p)
{
    switch (p->type) {
    case ECO_T_F64:
        return "a number";
    case ECO_T_I64:
        return "a whole number";
    case ECO_T_BOOL:
        return "true or false";
    case ECO_T_LIST_F64:
        return "a list of numbers";
    case ECO_T_LIST_STR:
        return "a list of names";
    case ECO_T_STR:
        break;
    }
    return "text";
}

void eco_args_bound(double v, char out[ECO_NUM_MAX])
{
    if (v >= 1e9) { /* 1e+15 reads better than fifteen zeros */
        snprintf(out, ECO_NUM_MAX, "%g", v);
    } else {
        eco_num_format(v, out);
    }
}

/* "0.1 to 2000 GB", or "" where there is no range. */
static void range_text(const struct eco_param *p, char out[96])
{
    char lo[ECO_NUM_MAX], hi[ECO_NUM_MAX];
    out[0] = '\0';
    if (p->lo == p->hi) {
        return;
    }
    eco_args_bound(p->lo, lo);
    eco_args_bound(p->hi, hi);
    snprintf(out, 96, "%s%s to %s%s%s", p->flags & ECO_PF_LO_OPEN ? "above " : "", lo, hi,
             p->unit[0] ? " " : "", p->unit);
}

static int bad_kind(const struct eco_param *p, const char *text, size_t len, struct eco_err *err)
{
    char range[96];
    range_text(p, range);
    int shown = len > 40 ? 40 : (int)len;
    return eco_err_set(err, ECO_E_INVALID, p->name, "'%s' must be %s%s%s, not '%.*s'%s", p->name,
                       type_word(p), range[0] ? " from " : "", range, shown, text,
                       len > 40 ? "…" : "");
}

static bool in_range(const struct eco_param *p, double v)
{
    bool low = p->flags & ECO_PF_LO_OPEN ? v <= p->lo : v < p->lo;
    return !low && v <= p->hi;
}

static int out_of_range(const struct eco_param *p, double v, struct eco_err *err);

static int check_range(const struct eco_param *p, double v, struct eco_err *err)
{
    if (p->lo == p->hi) {
        return 0;
    }
    if (in_range(p, v) || (p->flags & ECO_PF_WIDE && v > 0 && v <= ECO_ANY_MAX)) {
        return 0; /* a wide one is checked again when the calibration is known */
    }
    return out_of_range(p, v, err);
}

static int out_of_range(const struct eco_param *p, double v, struct eco_err *err)
{
    char range[96], shown[ECO_NUM_MAX];
    range_text(p, range);
    eco_num_format(v, shown);
    return eco_err_set(err, ECO_E_RANGE, p->name, "'%s' must be from %s, not %s", p->name, range,
                       shown);
}

static int check_choice(const struct eco_param *p, const char *text, size_t len,
                        struct eco_err *err)
{
    if (!p->choices || p->choices[0] == '@') {
        return 0; /* names of cards and models are looked up by the operation itself */
    }
    for (const char *c = p->choices; *c;) {
        size_t n = strcspn(c, "|");
        if (n == len && eco_str_ncasecmp(c, text, n) == 0) {
            return 0;
        }
        c += n + (c[n] == '|');
    }
    const char *best = NULL;
    size_t best_len = 0;
    int best_distance = 1000;
    for (const char *c = p->choices; *c;) {
        size_t n = strcspn(c, "|");
        int d = eco_str_distance(text, len, c, n, 8);
        if (d < best_distance) {
            best = c, best_len = n, best_distance = d;
        }
        c += n + (c[n] == '|');
    }
    int shown = len > 40 ? 40 : (int)len;
    if (best && best_distance <= eco_args_near(len)) {
        return eco_err_set(err, ECO_E_UNKNOWN_NAME, p->name,
                           "unknown %s '%.*s': did you mean %.*s?", p->name, shown, text,
                           (int)best_len, best);
    }
    return eco_err_set(err, ECO_E_UNKNOWN_NAME, p->name, "unknown %s '%.*s': one of %s", p->name,
                       shown, text, p->choices);
}

static void *member(void *args, const struct eco_param *p)
{
    return (char *)args + p->offset;
}

static uint64_t bit_of(const struct eco_op *op, const struct eco_param *p)
{
    return UINT64_C(1) << (unsigned)(p - op->params);
}

static int set_number(const struct eco_param *p, void *to, double v, const char *text, size_t len,
                      struct eco_err *err)
{
    if (p->type == ECO_T_I64 && (v != floor(v) || fabs(v) > 9007199254740992.0)) {
        return bad_kind(p, text, len, err);
    }
    int rc = check_range(p, v, err);
    if (rc) {
        return rc;
    }
    if (p->type == ECO_T_I64) {
        *(int64_t *)to = (int64_t)v;
    } else {
        *(double *)to = v;
    }
    return 0;
}

static int set_text(const struct eco_param *p, void *to, struct eco_arena *arena, const char *text,
                    size_t len, struct eco_err *err)
{
    if (len == 0) {
        return eco_err_set(err, ECO_E_INVALID, p->name, "'%s' is empty", p->name);
    }
    size_t limit = p->flags & ECO_PF_LONG ? MAX_LONG_TEXT : MAX_TEXT;
    if (len > limit) {
        return eco_err_set(err, ECO_E_TOO_LARGE, p->name, "'%s' is longer than %zu bytes", p->name,
                           limit);
    }
    if (memchr(text, '\0', len) || !eco_str_is_utf8(text, len)) {
        return eco_err_set(err, ECO_E_INVALID, p->name, "'%s' is not valid text", p->name);
    }
    int rc = check_choice(p, text, len, err);
    if (rc) {
        return rc;
    }
    char *copy = eco_arena_strdup(arena, text, len);
    if (!copy) {
        return eco_err_set(err, ECO_E_NO_MEMORY, p->name, "out of memory");
    }
    *(const char **)to = copy;
    return 0;
}

static int set_bool(const struct eco_param *p, void *to, const char *text, size_t len,
                    struct eco_err *err)
{
    if (eco_str_ieq(text, len, "true") || eco_str_ieq(text, len, "1") ||
        eco_str_ieq(text, len, "yes")) {
        *(bool *)to = true;
    } else if (eco_str_ieq(text, len, "false") || eco_str_ieq(text, len, "0") ||
               eco_str_ieq(text, len, "no")) {
        *(bool *)to = false;
    } else {
        return bad_kind(p, text, len, err);
    }
    return 0;
}

/* One list member from text, appended at index i of the arena array. */
static int set_list_item(const struct eco_param *p, void *items, size_t i, struct eco_arena *arena,
                         const char *text, size_t len, struct eco_err *err)
{
    if (p->type == ECO_T_LIST_STR) {
        return set_text(p, (const char **)items + i, arena, text, len, err);
    }
    double v;
    if (eco_num_parse_lenient(text, len, &v)) {
        return bad_kind(p, text, len, err);
    }
    int rc = check_range(p, v, err);
    if (rc == 0) {
        ((double *)items)[i] = v;
    }
    return rc;
}

static int keep_list(const struct eco_param *p, void *to, const void *items, size_t n)
{
    if (p->type == ECO_T_LIST_F64) {
        *(struct eco_f64s *)to = (struct eco_f64s){items, n};
    } else {
        *(struct eco_strs *)to = (struct eco_strs){items, n};
    }
    return 0;
}

static int set_list(const struct eco_param *p, void *to, struct eco_arena *arena, const char *text,
                    size_t len, struct eco_err *err)
{
    size_t n = 1;
    for (size_t i = 0; i < len; i++) {
        n += text[i] == ',';
    }
    if (n > MAX_LIST) {
        return eco_err_set(err, ECO_E_TOO_LARGE, p->name, "'%s' has over %d members", p->name,
                           MAX_LIST);
    }
    void *items = eco_arena_array(arena, n, sizeof(double));
    if (!items) {
        return eco_err_set(err, ECO_E_NO_MEMORY, p->name, "out of memory");
    }
    const char *at = text, *end = text + len;
    for (size_t i = 0; i < n; i++) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma ? comma : end;
        int rc = set_list_item(p, items, i, arena, at, (size_t)(stop - at), err);
        if (rc) {
            return rc;
        }
        at = stop + 1;
    }
    return keep_list(p, to, items, n);
}

static int set_value(const struct eco_param *p, void *to, struct eco_arena *arena, const char *text,
                     size_t len, struct eco_err *err)
{
    double v;
    switch (p->type) {
    case ECO_T_F64:
    case ECO_T_I64:
        if (eco_num_parse_lenient(text, len, &v)) {
            return bad_kind(p, text, len, err);
        }
        return set_number(p, to, v, text, len, err);
    case ECO_T_BOOL:
        return set_bool(p, to, text, len, err);
    case ECO_T_STR:
        return set_text(p, to, arena, text, len, err);
    case ECO_T_LIST_F64:
    case ECO_T_LIST_STR:
        return set_list(p, to, arena, text, len, err);
    }
    return eco_err_set(err, ECO_E_INTERNAL, p->name, "parameter of no type");
}

int eco_args_init(const struct eco_op *op, void *args, struct eco_arena *arena, struct eco_err *err)
{
    memset(args, 0, op->args_size);
    for (size_t i = 0; i < op->n_params; i++) {
        const struct eco_param *p = &op->params[i];
        if (p->def) {
            int rc = set_value(p, member(args, p), arena, p->def, strlen(p->def), err);
            if (rc) {
                return rc;
            }
        } else if (p->flags & ECO_PF_ZERO) {
            *(double *)member(args, p) = (double)NAN;
        }
    }
    return 0;
}

/* '-' counts as '_', letter case counts (N is the size, n is not). */
static bool same_name(const char *known, size_t known_len, const char *name, size_t len)
{
    if (known_len != len) {
        return false;
    }
    for (size_t i = 0; i < len; i++) {
        if ((name[i] == '-' ? '_' : name[i]) != known[i]) {
            return false;
        }
    }
    return true;
}

const struct eco_param *eco_args_find(const struct eco_op *op, const char *name, size_t len)
{
    for (size_t i = 0; i < op->n_params; i++) {
        const char *known = op->params[i].name;
        if (len > 0 && known[0] == name[0] && same_name(known, strlen(known), name, len)) {
            return &op->params[i]; /* no name starts with '_' */
        }
    }
    for (size_t i = 0; i < op->n_params; i++) {
        for (const char *a = op->params[i].alias; a && *a;) {
            size_t n = strcspn(a, " ");
            if (same_name(a, n, name, len)) {
                return &op->params[i];
            }
            a += n + (a[n] == ' ');
        }
    }
    return NULL;
}

int eco_args_near(size_t len)
{
    return len <= 1 ? 0 : len <= 3 ? 1 : len <= 6 ? 2 : 3;
}

struct eco_nearest eco_nearest_start(const char *word, size_t len)
{
    return (struct eco_nearest){word, len, eco_args_near(len) + 1, NULL};
}

void eco_nearest_offer(struct eco_nearest *n, const char *known)
{
    int d = eco_str_distance(n->word, n->len, known, strlen(known), 3);
    if (d < n->distance) {
        n->best = known, n->distance = d;
    }
}

/* "model, gpu, arch …": the first that a request may have. */
static void first_names(const struct eco_op *op, char *out, size_t size)
{
    size_t n = 0;
    out[0] = '\0';
    for (size_t i = 0; i < op->n_params; i++) {
        const char *name = op->params[i].name;
        if (op->params[i].flags & ECO_PF_NATIVE) {
            continue;
        }
        if (n + strlen(name) + sizeof ",  …" > size) {
            snprintf(out + n, size - n, " …");
            return;
        }
        n += (size_t)snprintf(out + n, size - n, "%s%s", n ? ", " : "", name);
    }
}

int eco_args_unknown(const struct eco_op *op, const char *name, size_t len, struct eco_err *err)
{
    struct eco_nearest near = eco_nearest_start(name, len);
    char arg[64], known[96];
    int shown = len > 60 ? 60 : (int)len;
    for (size_t i = 0; i < op->n_params; i++) {
        eco_nearest_offer(&near, op->params[i].name);
    }
    snprintf(arg, sizeof(arg), "%.*s", shown, name);
    if (near.best) {
        return eco_err_set(err, ECO_E_UNKNOWN_PARAM, arg,
                           "unknown parameter '%s': did you mean '%s'?", arg, near.best);
    }
    first_names(op, known, sizeof known);
    return eco_err_set(err, ECO_E_UNKNOWN_PARAM, arg, "unknown parameter '%s' of %s: it takes %s",
                       arg, op->name, known);
}

int eco_args_set(const struct eco_op *op, void *args, struct eco_arena *arena,
                 const struct eco_param *p, const char *text, size_t len, struct eco_err *err)
{
    struct eco_args_head *head = args;
    if (head->have & bit_of(op, p)) {
        return eco_err_set(err, ECO_E_INVALID, p->name, "'%s' is given twice", p->name);
    }
    int rc = set_value(p, member(args, p), arena, text, len, err);
    if (rc == 0) {
        head->have |= bit_of(op, p);
    }
    return rc;
}

static int json_list(const struct eco_param *p, void *to, struct eco_arena *arena,
                     const struct eco_json *v, struct eco_err *err)
{
    if (v->count == 0 || v->count > MAX_LIST) {
        return eco_err_set(err, ECO_E_INVALID, p->name, "'%s' must have 1 to %d members", p->name,
                           MAX_LIST);
    }
    void *items = eco_arena_array(arena, v->count, sizeof(double));
    if (!items) {
        return eco_err_set(err, ECO_E_NO_MEMORY, p->name, "out of memory");
    }
    enum eco_json_type want = p->type == ECO_T_LIST_F64 ? ECO_JSON_NUMBER : ECO_JSON_STRING;
    size_t i = 0;
    for (const struct eco_json *m = v->child; m; m = m->next, i++) {
        if (m->type != want) {
            return eco_err_set(err, ECO_E_INVALID, p->name, "'%s' must be %s, member %zu is %s",
                               p->name, type_word(p), i, eco_json_type_name(m->type));
        }
        int rc = set_list_item(p, items, i, arena, m->str, m->len, err);
        if (rc) {
            return rc;
        }
    }
    return keep_list(p, to, items, v->count);
}

/* No coercion beyond a string that is exactly a number. */
static int json_value(const struct eco_param *p, void *to, struct eco_arena *arena,
                      const struct eco_json *v, struct eco_err *err)
{
    bool list = p->type == ECO_T_LIST_F64 || p->type == ECO_T_LIST_STR;
    bool number = p->type == ECO_T_F64 || p->type == ECO_T_I64;
    if (number && v->type == ECO_JSON_NUMBER) {
        return set_number(p, to, v->num, v->str, v->len, err);
    }
    if (number && v->type == ECO_JSON_STRING) { /* published clients send "8192"; "8k" is refused */
        return set_value(p, to, arena, v->str, v->len, err);
    }
    if (p->type == ECO_T_STR && v->type == ECO_JSON_STRING) {
        return set_text(p, to, arena, v->str, v->len, err);
    }
    if (p->type == ECO_T_BOOL && (v->type == ECO_JSON_TRUE || v->type == ECO_JSON_FALSE)) {
        *(bool *)to = v->type == ECO_JSON_TRUE;
        return 0;
    }
    if (list && v->type == ECO_JSON_ARRAY) {
        return json_list(p, to, arena, v, err);
    }
    char range[96];
    range_text(p, range);
    return eco_err_set(err, ECO_E_INVALID, p->name, "'%s' must be %s%s%s, not %s", p->name,
                       type_word(p), range[0] ? " from " : "", range, eco_json_type_name(v->type));
}

static const struct eco_param *first_with(const struct eco_op *op, unsigned flag)
{
    for (size_t i = 0; i < op->n_params; i++) {
        if (op->params[i].flags & flag) {
            return &op->params[i];
        }
    }
    return NULL;
}

/* A question without quotation marks: its words, one space between. */
static int append_prose(const struct eco_param *p, void *args, struct eco_arena *arena,
                        const char *word, struct eco_err *err)
{
    const char **text = member(args, p);
    const char *joined = *text ? eco_arena_printf(arena, "%s %s", *text, word) : word;
    return joined ? set_text(p, text, arena, joined, strlen(joined), err)
                  : eco_err_set(err, ECO_E_NO_MEMORY, p->name, "out of memory");
}

static int append_word(const struct eco_param *p, void *args, struct eco_arena *arena,
                       const char *word, struct eco_err *err)
{
    struct eco_strs *list = member(args, p);
    bool full = (list->n & (list->n - 1)) == 0; /* room doubles at 1, 2, 4 … */
    const char **v = full ? eco_arena_array(arena, list->n ? list->n * 2 : 1, sizeof(*v))
                          : (const char **)(uintptr_t)list->v;
    if (!v || list->n >= MAX_WORDS) {
        return eco_err_set(err, v ? ECO_E_TOO_LARGE : ECO_E_NO_MEMORY, p->name, "too many words");
    }
    if (full && list->n) {
        memcpy(v, list->v, list->n * sizeof(*v));
    }
    int rc = set_text(p, &v[list->n], arena, word, strlen(word), err);
    if (rc == 0) {
        *list = (struct eco_strs){v, list->n + 1};
    }
    return rc;
}

bool eco_args_append(const struct eco_op *op, void *args, struct eco_arena *arena, const char *word,
                     struct eco_err *err, int *rc)
{
    const struct eco_param *p = first_with(op, ECO_PF_WORDS | ECO_PF_PROSE);
    if (!p) {
        return false;
    }
    *rc = p->flags & ECO_PF_PROSE ? append_prose(p, args, arena, word, err)
                                  : append_word(p, args, arena, word, err);
    if (*rc == 0) {
        ((struct eco_args_head *)args)->have |= bit_of(op, p);
    }
    return true;
}

int eco_args_set_json(const struct eco_op *op, void *args, struct eco_arena *arena,
                      const struct eco_json *object, bool native, struct eco_err *err)
{
    struct eco_args_head *head = args;
    if (!object || object->type != ECO_JSON_OBJECT) {
        return eco_err_set(err, ECO_E_INVALID, "", "the request must be a JSON object, not %s",
                           object ? eco_json_type_name(object->type) : "nothing");
    }
    for (const struct eco_json *v = object->child; v; v = v->next) {
        const struct eco_param *p = eco_args_find(op, v->key, v->key_len);
        if (!p) {
            return eco_args_unknown(op, v->key, v->key_len, err);
        }
        if (!native && (p->flags & ECO_PF_NATIVE)) {
            return eco_err_set(
                err, ECO_E_UNKNOWN_PARAM, p->name,
                "'%s' reads or writes files: the command line has it, requests do not", p->name);
        }
        if (v->type == ECO_JSON_NULL) {
            continue;
        }
        if (head->have & bit_of(op, p)) {
            return eco_err_set(err, ECO_E_INVALID, p->name, "'%s' is given twice", p->name);
        }
        int rc = json_value(p, member(args, p), arena, v, err);
        if (rc) {
            return rc;
        }
        head->have |= bit_of(op, p);
    }
    return 0;
}

bool eco_args_wide(const struct eco_op *op, const struct eco_param *p)
{
    return p->flags & ECO_PF_WIDE && eco_args_find(op, "calibration", strlen("calibration"));
}

static bool is_published(const struct eco_op *op, void *args)
{
    const struct eco_param *p = eco_args_find(op, "calibration", strlen("calibration"));
    const char *v = p ? *(const char **)member(args, p) : NULL;
    return v && eco_str_ieq(v, strlen(v), "published");
}

/* What only the published calibration takes: any size, batch and context. */
static int check_wide(const struct eco_op *op, void *args, struct eco_err *err)
{
    const struct eco_args_head *head = args;
    for (size_t i = 0; i < op->n_params; i++) {
        const struct eco_param *p = &op->params[i];
        if (!(p->flags & ECO_PF_WIDE) || !(head->have & bit_of(op, p))) {
            continue;
        }
        double v = p->type == ECO_T_I64   ? (double)*(int64_t *)member(args, p)
                   : p->type == ECO_T_F64 ? *(double *)member(args, p)
                                          : 0;
        if (!in_range(p, v) && !is_published(op, args)) {
            return out_of_range(p, v, err);
        }
    }
    return 0;
}

int eco_args_finish(const struct eco_op *op, void *args, struct eco_err *err)
{
    const struct eco_args_head *head = args;
    int wide = check_wide(op, args, err);
    if (wide) {
        return wide;
    }
    for (size_t i = 0; i < op->n_params; i++) {
        const struct eco_param *p = &op->params[i];
        if ((p->flags & ECO_PF_REQUIRED) && !(head->have & bit_of(op, p))) {
            return eco_err_set(err, ECO_E_MISSING, p->name, "'%s' is missing: %s", p->name,
                               p->help);
        }
    }
    return op->check ? op->check(args, err) : 0;
}

bool eco_args_have(const struct eco_op *op, const void *args, size_t offset)
{
    const struct eco_args_head *head = args;
    for (size_t i = 0; i < op->n_params; i++) {
        if (op->params[i].offset == offset) {
            return head->have >> i & 1;
        }
    }
    return false;
}

static const struct eco_param *open_place(const struct eco_op *op, const void *args,
                                          const char *choices)
{
    for (size_t i = 0; i < op->n_params; i++) {
        const struct eco_param *p = &op->params[i];
        bool fits = !choices || (p->choices && strcmp(p->choices, choices) == 0);
        if ((p->flags & ECO_PF_POSITIONAL) && fits && !eco_args_have(op, args, p->offset)) {
            return p;
        }
    }
    return NULL;
}

const struct eco_param *eco_args_place(const struct eco_op *op, const void *args, const char *word)
{
    const char *kind = eco_choices_kind(word);
    const struct eco_param *first = open_place(op, args, NULL);
    if (!kind || !first || (first->choices && first->choices[0] != '@')) {
        return first;
    }
    const struct eco_param *meant = open_place(op, args, kind);
    return meant ? meant : first;
}

void eco_args_each_choice(const struct eco_param *p, void (*each)(void *to, const char *choice),
                          void *to)
{
    if (!p->choices) {
        return;
    }
    if (p->choices[0] == '@') {
        eco_choices_each(p->choices, each, to);
        return;
    }
    char one[64];
    for (const char *c = p->choices; *c;) {
        size_t n = strcspn(c, "|");
        snprintf(one, sizeof(one), "%.*s", (int)n, c);
        each(to, one);
        c += n + (c[n] == '|');
    }
}
