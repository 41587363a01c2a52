/*
 * The operations on the store of reports, for a server that has one. The store itself is behind
 * hooks: this module sees no database. Results live in the request's arena. Threads: the hooks
 * may be called from several.
 */
#ifndef ECO_SERVER_STORE_OPS_H
#define ECO_SERVER_STORE_OPS_H

#include "ops/op.h"

#define P(name, type, ...) eco_ctype_##type name;
#define R(name, type, ...) eco_rtype_##type name;
#define RL(name, ...) struct eco_list name;
struct eco_args_replications {
    struct eco_args_head head;
#include "args_replications.def"
};
struct eco_args_submissions {
    struct eco_args_head head;
#include "args_submissions.def"
};
struct eco_args_withdrawals {
    struct eco_args_head head;
#include "args_withdrawals.def"
};
struct eco_args_moderations {
    struct eco_args_head head;
#include "args_moderations.def"
};
struct eco_res_replication {
#include "rec_replication.def"
};
struct eco_res_replications {
#include "rec_replications.def"
};
struct eco_res_receipt {
#include "rec_receipt.def"
};
struct eco_res_changed {
#include "rec_changed.def"
};
#undef P
#undef R
#undef RL

struct eco_server_store {
    void *to; /* first argument of each hook */
    int (*list)(void *to, struct eco_ctx *ctx, const struct eco_args_replications *a,
                struct eco_res_replications *out, struct eco_err *err);
    /* Every row that matches, whatever the page; `csv` false: a JSON list. */
    int (*export_all)(void *to, const struct eco_args_replications *a, bool csv,
                      struct eco_buf *out, struct eco_err *err);
    int (*submit)(void *to, struct eco_ctx *ctx, const struct eco_args_submissions *a,
                  struct eco_res_receipt *out, struct eco_err *err);
    int (*withdraw)(void *to, const struct eco_args_withdrawals *a, struct eco_err *err);
    int (*moderate)(void *to, const struct eco_args_moderations *a, struct eco_err *err);
    int (*ready)(void *to, struct eco_err *err); /* could a report be taken now? */
};

/* The context of a request; operations of the store find it behind the plain one. */
struct eco_server_ctx {
    struct eco_ctx plain;                 /* first */
    const struct eco_server_store *store; /* NULL: the server keeps nothing */
    bool owner;                           /* the request carries the owner's token */
    bool created;                         /* set by a run that stored something: 201 */
};

enum { ECO_STORE_LIST, ECO_STORE_SUBMIT, ECO_STORE_WITHDRAW, ECO_STORE_MODERATE, ECO_STORE_OPS };
/** ECO_E_PERMISSION for a state that only the owner sees. */
int eco_store_may_list(const struct eco_server_ctx *ctx, const struct eco_args_replications *a,
                       struct eco_err *err);

extern const struct eco_op eco_store_ops[ECO_STORE_OPS];

#endif
