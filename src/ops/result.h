/* Results as JSON, CSV and JSON Schema, from their tables alone. */
#ifndef ECO_OPS_RESULT_H
#define ECO_OPS_RESULT_H

#include "op.h"

void eco_result_json(const struct eco_record *rec, const void *result, struct eco_json_writer *w);
void eco_result_csv(const struct eco_record *rec, const void *result, struct eco_buf *out);
/** JSON Schema (2020-12) of the record, sub-records inline. */
void eco_result_schema(const struct eco_record *rec, struct eco_json_writer *w);
/** JSON Schema of an operation's parameters (what an MCP inputSchema and a JSON body take). */
void eco_params_schema(const struct eco_op *op, bool native, struct eco_json_writer *w);
/** The same of the parameters that `want` takes. */
void eco_params_schema_of(const struct eco_op *op, bool (*want)(const struct eco_param *p),
                          struct eco_json_writer *w);
/** The error document: {"error": {"code", "message", "param"}}. */
void eco_error_json(const struct eco_err *err, struct eco_json_writer *w);
/** The same under a code that is none of eco_err.h: a transport's own. */
void eco_error_json_as(const char *code, const struct eco_err *err, struct eco_json_writer *w);

#endif
