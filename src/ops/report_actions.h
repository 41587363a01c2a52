/* The actions of `report` that have files of their own; ops_report.c chooses among them. */
#ifndef ECO_OPS_REPORT_ACTIONS_H
#define ECO_OPS_REPORT_ACTIONS_H

#include "steps.h"

/** Moves a text into the request's arena and frees the buffer. */
int eco_report_keep(struct eco_ctx *ctx, struct eco_buf *b, const char **out, struct eco_err *err);

/* ops_report_keys.c */
int eco_report_do_sign(struct eco_ctx *ctx, const struct eco_args_report *a,
                       const struct eco_str *text, struct eco_res_report *out, struct eco_err *err);
int eco_report_do_verify(struct eco_ctx *ctx, const struct eco_args_report *a,
                         const struct eco_str *text, struct eco_res_report *out,
                         struct eco_err *err);
int eco_report_do_keygen(struct eco_ctx *ctx, const struct eco_args_report *a,
                         struct eco_res_report *out, struct eco_err *err);
/* ops_report_compare.c */
int eco_report_do_compare(struct eco_ctx *ctx, const struct eco_args_report *a,
                          const struct eco_str *text, struct eco_res_report *out,
                          struct eco_err *err);
/* ops_report_import.c */
int eco_report_do_import(struct eco_ctx *ctx, const struct eco_args_report *a,
                         const struct eco_str *text, struct eco_res_report *out,
                         struct eco_err *err);

#endif
