#include "result.h"

#include "args.h"
#include "eco_limits.h"

#include "base/csv.h"
#include "base/num.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const void *at(const void *result, const struct eco_field *f)
{
    return (const char *)result + f->offset;
}

static void field_json(const struct eco_field *f, const void *p, struct eco_json_writer *w);

void eco_result_json(const struct eco_record *rec, const void *result, struct eco_json_writer *w)
{
    eco_jw_object(w);
    for (size_t i = 0; i < rec->n_fields; i++) {
        const struct eco_field *f = &rec->fields[i];
        if (f->type == ECO_F_EXTRA && !*(const void *const *)at(result, f)) {
            continue;
        }
        eco_jw_token(w, f->key, f->key_len);
        field_json(f, at(result, f), w);
    }
    eco_jw_object_end(w);
}

/* Absent, false or empty: what a sparse object leaves out. */
static bool is_empty(const struct eco_field *f, const void *p)
{
    switch (f->type) {
    case ECO_F_OPT:
        return !((const struct eco_opt *)p)->have;
    case ECO_F_STR:
        return *(const char *const *)p == NULL;
    case ECO_F_BOOL:
        return !*(const bool *)p;
    case ECO_F_STRS:
        return ((const struct eco_strs *)p)->n == 0;
    case ECO_F_LIST:
        return ((const struct eco_list *)p)->n == 0;
    case ECO_F_SPAN:
        return !((const struct eco_span *)p)->have;
    case ECO_F_MAYBE:
    case ECO_F_EXTRA:
        return *(const void *const *)p == NULL;
    case ECO_F_NUM:
    case ECO_F_I64:
    case ECO_F_OBJ:
    case ECO_F_SPARSE:
    case ECO_F_ANY:
        break;
    }
    return false;
}

static void sparse_json(const struct eco_record *rec, const void *result, struct eco_json_writer *w)
{
    eco_jw_object(w);
    for (size_t i = 0; i < rec->n_fields; i++) {
        if (!is_empty(&rec->fields[i], at(result, &rec->fields[i]))) {
            eco_jw_token(w, rec->fields[i].key, rec->fields[i].key_len);
            field_json(&rec->fields[i], at(result, &rec->fields[i]), w);
        }
    }
    eco_jw_object_end(w);
}

static void any_json(const struct eco_any *any, struct eco_json_writer *w)
{
    if (any->op) {
        eco_result_json(any->op->result, any->result, w);
    } else {
        eco_jw_null(w);
    }
}

static void list_json(const struct eco_record *sub, const struct eco_list *list,
                      struct eco_json_writer *w)
{
    eco_jw_array(w);
    for (size_t i = 0; i < list->n; i++) {
        eco_result_json(sub, (const char *)list->items + i * sub->size, w);
    }
    eco_jw_array_end(w);
}

static void span_json(const struct eco_span *p, struct eco_json_writer *w)
{
    if (!p->have) {
        eco_jw_null(w);
        return;
    }
    eco_jw_array(w);
    eco_jw_num(w, p->lo);
    eco_jw_num(w, p->hi);
    eco_jw_array_end(w);
}

static void field_json(const struct eco_field *f, const void *p, struct eco_json_writer *w)
{
    switch (f->type) {
    case ECO_F_NUM:
        eco_jw_num(w, *(const double *)p);
        break;
    case ECO_F_OPT:
        if (((const struct eco_opt *)p)->have) {
            eco_jw_num(w, ((const struct eco_opt *)p)->v);
        } else {
            eco_jw_null(w);
        }
        break;
    case ECO_F_I64:
        eco_jw_i64(w, *(const int64_t *)p);
        break;
    case ECO_F_BOOL:
        eco_jw_bool(w, *(const bool *)p);
        break;
    case ECO_F_STR:
        eco_jw_str(w, *(const char *const *)p);
        break;
    case ECO_F_SPAN:
        span_json(p, w);
        break;
    case ECO_F_STRS: {
        const struct eco_strs *s = p;
        eco_jw_array(w);
        for (size_t i = 0; i < s->n; i++) {
            eco_jw_str(w, s->v[i]);
        }
        eco_jw_array_end(w);
        break;
    }
    case ECO_F_OBJ:
        eco_result_json(f->sub, p, w);
        break;
    case ECO_F_MAYBE:
        if (*(const void *const *)p) {
            eco_result_json(f->sub, *(const void *const *)p, w);
        } else {
            eco_jw_null(w);
        }
        break;
    case ECO_F_LIST:
        list_json(f->sub, p, w);
        break;
    case ECO_F_SPARSE:
        sparse_json(f->sub, p, w);
        break;
    case ECO_F_EXTRA:
        sparse_json(f->sub, *(const void *const *)p, w);
        break;
    case ECO_F_ANY:
        any_json(p, w);
        break;
    }
}

/* ---- CSV: one list of records, or the scalars of the record as one row ---------------------- */

static bool is_scalar(const struct eco_field *f)
{
    return f->type != ECO_F_OBJ && f->type != ECO_F_MAYBE && f->type != ECO_F_LIST &&
           f->type != ECO_F_SPARSE && f->type != ECO_F_EXTRA && f->type != ECO_F_ANY;
}

static void num_csv(double v, struct eco_buf *out)
{
    if (isfinite(v)) {
        eco_buf_put_num(out, v);
    }
}

static void field_csv(const struct eco_field *f, const void *p, struct eco_buf *out)
{
    const struct eco_opt *opt = p;
    const struct eco_span *span = p;
    const struct eco_strs *strs = p;
    const char *text = f->type == ECO_F_STR ? *(const char *const *)p : NULL;
    switch (f->type) {
    case ECO_F_NUM:
        num_csv(*(const double *)p, out);
        break;
    case ECO_F_OPT:
        num_csv(opt->have ? opt->v : (double)NAN, out);
        break;
    case ECO_F_I64:
        eco_buf_printf(out, "%lld", (long long)*(const int64_t *)p);
        break;
    case ECO_F_BOOL:
        eco_buf_puts(out, *(const bool *)p ? "true" : "false");
        break;
    case ECO_F_STR:
        if (text) {
            eco_csv_put(out, text, strlen(text));
        }
        break;
    case ECO_F_SPAN:
        if (span->have) {
            num_csv(span->lo, out);
            eco_buf_putc(out, ';');
            num_csv(span->hi, out);
        }
        break;
    case ECO_F_STRS: {
        struct eco_buf joined = ECO_BUF_INIT;
        for (size_t i = 0; i < strs->n; i++) {
            eco_buf_printf(&joined, "%s%s", i ? "; " : "", strs->v[i]);
        }
        eco_csv_put(out, eco_buf_str(&joined), joined.len);
        eco_buf_done(&joined);
        break;
    }
    case ECO_F_OBJ:
    case ECO_F_MAYBE:
    case ECO_F_LIST:
    case ECO_F_SPARSE:
    case ECO_F_EXTRA:
    case ECO_F_ANY:
        break;
    }
}

static void row_csv(const struct eco_record *rec, const void *row, struct eco_buf *out)
{
    bool first = true;
    for (size_t i = 0; i < rec->n_fields; i++) {
        if (is_scalar(&rec->fields[i])) {
            if (!first) {
                eco_buf_putc(out, ',');
            }
            field_csv(&rec->fields[i], at(row, &rec->fields[i]), out);
            first = false;
        }
    }
    eco_buf_putc(out, '\n');
}

static void header_csv(const struct eco_record *rec, struct eco_buf *out)
{
    bool first = true;
    for (size_t i = 0; i < rec->n_fields; i++) {
        if (is_scalar(&rec->fields[i])) {
            eco_buf_printf(out, "%s%s", first ? "" : ",", rec->fields[i].name);
            first = false;
        }
    }
    eco_buf_putc(out, '\n');
}

void eco_result_csv(const struct eco_record *rec, const void *result, struct eco_buf *out)
{
    for (size_t i = 0; rec->main && i < rec->n_fields; i++) {
        const struct eco_field *f = &rec->fields[i];
        if (f->type == ECO_F_LIST && strcmp(f->name, rec->main) == 0) {
            const struct eco_list *list = at(result, f);
            header_csv(f->sub, out);
            for (size_t k = 0; k < list->n; k++) {
                row_csv(f->sub, (const char *)list->items + k * f->sub->size, out);
            }
            return;
        }
    }
    header_csv(rec, out);
    row_csv(rec, result, out);
}

/* ---- schemas ------------------------------------------------------------------------------- */

static void type_or_null(struct eco_json_writer *w, const char *type)
{
    eco_jw_key(w, "type");
    eco_jw_array(w);
    eco_jw_str(w, type);
    eco_jw_str(w, "null");
    eco_jw_array_end(w);
}

static void record_members(const struct eco_record *rec, struct eco_json_writer *w);
static void sparse_members(const struct eco_record *rec, struct eco_json_writer *w);

static void span_members(struct eco_json_writer *w)
{
    type_or_null(w, "array");
    eco_jw_key(w, "items");
    eco_jw_object(w);
    eco_jw_kv_str(w, "type", "number");
    eco_jw_object_end(w);
    eco_jw_kv_i64(w, "minItems", 2);
    eco_jw_kv_i64(w, "maxItems", 2);
}

static void strings_members(struct eco_json_writer *w)
{
    eco_jw_kv_str(w, "type", "array");
    eco_jw_key(w, "items");
    eco_jw_object(w);
    eco_jw_kv_str(w, "type", "string");
    eco_jw_object_end(w);
}

static void field_schema(const struct eco_field *f, struct eco_json_writer *w)
{
    eco_jw_object(w);
    switch (f->type) {
    case ECO_F_NUM:
        eco_jw_kv_str(w, "type", "number");
        break;
    case ECO_F_OPT:
        type_or_null(w, "number");
        break;
    case ECO_F_I64:
        eco_jw_kv_str(w, "type", "integer");
        break;
    case ECO_F_BOOL:
        eco_jw_kv_str(w, "type", "boolean");
        break;
    case ECO_F_STR:
        type_or_null(w, "string");
        break;
    case ECO_F_SPAN:
        span_members(w);
        break;
    case ECO_F_STRS:
        strings_members(w);
        break;
    case ECO_F_OBJ:
        eco_jw_kv_str(w, "type", "object");
        record_members(f->sub, w);
        break;
    case ECO_F_SPARSE:
    case ECO_F_EXTRA:
        eco_jw_kv_str(w, "type", "object");
        sparse_members(f->sub, w);
        break;
    case ECO_F_ANY:
        type_or_null(w, "object");
        break;
    case ECO_F_MAYBE:
        type_or_null(w, "object");
        record_members(f->sub, w);
        break;
    case ECO_F_LIST:
        eco_jw_kv_str(w, "type", "array");
        eco_jw_key(w, "items");
        eco_result_schema(f->sub, w);
        break;
    }
    if (f->unit[0]) {
        eco_jw_kv_str(w, "x-unit", f->unit);
    }
    eco_jw_kv_str(w, "description", f->help);
    eco_jw_object_end(w);
}

/* Title, properties, and nothing else allowed: no member has to be there. */
static void sparse_members(const struct eco_record *rec, struct eco_json_writer *w)
{
    eco_jw_kv_str(w, "title", rec->name);
    eco_jw_key(w, "properties");
    eco_jw_object(w);
    for (size_t i = 0; i < rec->n_fields; i++) {
        eco_jw_key(w, rec->fields[i].name);
        field_schema(&rec->fields[i], w);
    }
    eco_jw_object_end(w);
    eco_jw_kv_bool(w, "additionalProperties", false);
}

static void record_members(const struct eco_record *rec, struct eco_json_writer *w)
{
    sparse_members(rec, w);
    eco_jw_key(w, "required");
    eco_jw_array(w);
    for (size_t i = 0; i < rec->n_fields; i++) {
        if (rec->fields[i].type != ECO_F_EXTRA) {
            eco_jw_str(w, rec->fields[i].name);
        }
    }
    eco_jw_array_end(w);
}

void eco_result_schema(const struct eco_record *rec, struct eco_json_writer *w)
{
    eco_jw_object(w);
    eco_jw_kv_str(w, "type", "object");
    record_members(rec, w);
    eco_jw_object_end(w);
}

static const char *json_type(enum eco_param_type t)
{
    switch (t) {
    case ECO_T_F64:
        return "number";
    case ECO_T_I64:
        return "integer";
    case ECO_T_BOOL:
        return "boolean";
    case ECO_T_STR:
        return "string";
    case ECO_T_LIST_F64:
    case ECO_T_LIST_STR:
        break;
    }
    return "array";
}

static void range_members(const struct eco_op *op, const struct eco_param *p,
                          struct eco_json_writer *w)
{
    if (p->lo == p->hi) {
        return;
    }
    if (eco_args_wide(op, p)) {
        eco_jw_kv_num(w, "exclusiveMinimum", 0);
        eco_jw_kv_num(w, "maximum", ECO_ANY_MAX);
        return;
    }
    eco_jw_kv_num(w, p->flags & ECO_PF_LO_OPEN ? "exclusiveMinimum" : "minimum", p->lo);
    eco_jw_kv_num(w, "maximum", p->hi);
}

static void enum_members(const struct eco_param *p, struct eco_json_writer *w)
{
    if (!p->choices || p->choices[0] == '@') {
        return;
    }
    eco_jw_key(w, "enum");
    eco_jw_array(w);
    for (const char *c = p->choices; *c;) {
        size_t n = strcspn(c, "|");
        eco_jw_strn(w, c, n);
        c += n + (c[n] == '|');
    }
    eco_jw_array_end(w);
}

static void default_member(const struct eco_param *p, struct eco_json_writer *w)
{
    if (!p->def || p->type == ECO_T_LIST_F64 || p->type == ECO_T_LIST_STR) {
        return;
    }
    eco_jw_key(w, "default");
    if (p->type == ECO_T_STR) {
        eco_jw_str(w, p->def);
    } else {
        eco_jw_raw(w, p->def, strlen(p->def));
    }
}

/* The help; what JSON Schema cannot say, a range that hangs on another parameter, behind it. */
static void description(const struct eco_op *op, const struct eco_param *p,
                        struct eco_json_writer *w)
{
    char lo[ECO_NUM_MAX], hi[ECO_NUM_MAX], text[512];
    eco_args_bound(p->lo, lo);
    eco_args_bound(p->hi, hi);
    snprintf(text, sizeof(text), "%s; %s to %s (calibration published: any)", p->help, lo, hi);
    eco_jw_kv_str(w, "description", eco_args_wide(op, p) ? text : p->help);
}

static void param_schema(const struct eco_op *op, const struct eco_param *p,
                         struct eco_json_writer *w)
{
    bool list = p->type == ECO_T_LIST_F64 || p->type == ECO_T_LIST_STR;
    eco_jw_object(w);
    eco_jw_kv_str(w, "type", json_type(p->type));
    if (list) {
        eco_jw_key(w, "items");
        eco_jw_object(w);
        eco_jw_kv_str(w, "type", p->type == ECO_T_LIST_F64 ? "number" : "string");
    }
    range_members(op, p, w);
    enum_members(p, w);
    if (list) {
        eco_jw_object_end(w);
    }
    default_member(p, w);
    if (p->unit[0]) {
        eco_jw_kv_str(w, "x-unit", p->unit);
    }
    description(op, p, w);
    eco_jw_object_end(w);
}

void eco_params_schema_of(const struct eco_op *op, bool (*want)(const struct eco_param *p),
                          struct eco_json_writer *w)
{
    eco_jw_object(w);
    eco_jw_kv_str(w, "type", "object");
    eco_jw_key(w, "properties");
    eco_jw_object(w);
    for (size_t i = 0; i < op->n_params; i++) {
        if (want(&op->params[i])) {
            eco_jw_key(w, op->params[i].name);
            param_schema(op, &op->params[i], w);
        }
    }
    eco_jw_object_end(w);
    eco_jw_key(w, "required");
    eco_jw_array(w);
    for (size_t i = 0; i < op->n_params; i++) {
        if ((op->params[i].flags & ECO_PF_REQUIRED) && want(&op->params[i])) {
            eco_jw_str(w, op->params[i].name);
        }
    }
    eco_jw_array_end(w);
    eco_jw_kv_bool(w, "additionalProperties", false);
    eco_jw_object_end(w);
}

static bool any_param(const struct eco_param *p)
{
    (void)p;
    return true;
}

static bool request_param(const struct eco_param *p)
{
    return !(p->flags & ECO_PF_NATIVE);
}

void eco_params_schema(const struct eco_op *op, bool native, struct eco_json_writer *w)
{
    eco_params_schema_of(op, native ? any_param : request_param, w);
}

void eco_error_json(const struct eco_err *err, struct eco_json_writer *w)
{
    eco_error_json_as(eco_err_text(err->code), err, w);
}

void eco_error_json_as(const char *code, const struct eco_err *err, struct eco_json_writer *w)
{
    eco_jw_object(w);
    eco_jw_key(w, "error");
    eco_jw_object(w);
    eco_jw_kv_str(w, "code", code);
    eco_jw_kv_str(w, "message", err->message);
    eco_jw_kv_str(w, "param", err->arg[0] ? err->arg : NULL);
    if (err->line) {
        eco_jw_kv_i64(w, "line", err->line);
        eco_jw_kv_i64(w, "column", err->column);
    }
    eco_jw_object_end(w);
    eco_jw_object_end(w);
}
