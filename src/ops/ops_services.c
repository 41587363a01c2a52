/*
 * The services: `serve` hands its checked parameters to the helper program that links the network
 * library, as words of a command line, and becomes it.
 */
#include "args.h"
#include "base/libexec.h"
#include "runs.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define MAX_PATH 4096

/* A list of names as "a,b". */
static const char *joined(struct eco_ctx *ctx, const struct eco_strs *list)
{
    struct eco_buf b = ECO_BUF_INIT;
    for (size_t i = 0; i < list->n; i++) {
        eco_buf_printf(&b, "%s%s", i ? "," : "", list->v[i]);
    }
    const char *s = eco_buf_ok(&b) ? eco_arena_strdup(ctx->arena, eco_buf_str(&b), b.len) : NULL;
    eco_buf_done(&b);
    return s;
}

static const char *value_text(struct eco_ctx *ctx, const struct eco_param *p, const void *value)
{
    char number[ECO_NUM_MAX];
    switch (p->type) {
    case ECO_T_F64:
        eco_num_format(*(const double *)value, number);
        return eco_arena_strdup(ctx->arena, number, strlen(number));
    case ECO_T_I64:
        return eco_step_fmt(ctx, "%lld", (long long)*(const int64_t *)value);
    case ECO_T_BOOL:
        return *(const bool *)value ? "true" : "false";
    case ECO_T_STR:
        return *(const char *const *)value;
    case ECO_T_LIST_STR:
        return joined(ctx, value);
    case ECO_T_LIST_F64:
        break;
    }
    return NULL;
}

/* The parameters that were given, as "--name=value", NULL at the end. */
static char **words_of(struct eco_ctx *ctx, const struct eco_op *op, const void *args,
                       char *program)
{
    char **words = eco_arena_array(ctx->arena, op->n_params + 2, sizeof(*words));
    size_t n = 0;
    if (words) {
        words[n++] = program;
    }
    for (size_t i = 0; words && i < op->n_params; i++) {
        const struct eco_param *p = &op->params[i];
        if (eco_args_have(op, args, p->offset)) {
            const char *v = value_text(ctx, p, (const char *)args + p->offset);
            words[n] = v ? eco_step_fmt(ctx, "--%s=%s", p->name, v) : NULL;
            if (!words[n++]) {
                return NULL;
            }
        }
    }
    return words;
}

static int check_serve(struct eco_ctx *ctx, const struct eco_args_serve *a, const char *program,
                       struct eco_res_serve *out, struct eco_err *err)
{
    const char **notes = eco_arena_array(ctx->arena, 3, sizeof(*notes));
    size_t n = 0;
    bool v6 = strchr(a->bind, ':') != NULL;
    bool local = strcmp(a->bind, "127.0.0.1") == 0 || strcmp(a->bind, "::1") == 0;
    if (!notes) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    if (!program) {
        notes[n++] = "this build has no 'ecocompute-serve': it needs libmicrohttpd "
                     "(scripts/setup.sh test, then build again)";
    }
    if (!local) {
        notes[n++] = "other machines can reach it";
    }
    if (!local && !a->tls_cert) {
        notes[n++] = "without TLS: put a proxy before it, or give --tls-cert and --tls-key";
    }
    out->url = eco_step_fmt(ctx, "http%s://%s%s%s:%lld/", a->tls_cert ? "s" : "", v6 ? "[" : "",
                            a->bind, v6 ? "]" : "", (long long)a->port);
    out->program = program ? eco_step_fmt(ctx, "%s", strrchr(program, '/') + 1) : NULL;
    for (size_t i = 0; i < eco_ops_count; i++) {
        out->operations += eco_ops[i].path != NULL;
    }
    out->notes = (struct eco_strs){notes, n};
    return 0;
}

int eco_run_serve(struct eco_ctx *ctx, const void *args, void *result, struct eco_err *err)
{
    const struct eco_args_serve *a = args;
    char *program = eco_arena_alloc(ctx->arena, MAX_PATH);
    if (!program) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    int rc = eco_libexec_find("serve", program, MAX_PATH, err);
    if (a->check) {
        return check_serve(ctx, a, rc ? NULL : program, result, err);
    }
    if (rc) {
        return rc;
    }
    char **words = words_of(ctx, eco_op_find("serve"), args, program);
    if (!words) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    execv(program, words);
    return eco_err_set(err, ECO_E_IO, "", "cannot start '%.120s': %s", program, strerror(errno));
}

bool eco_serve_says_no(const void *result)
{
    return !((const struct eco_res_serve *)result)->program;
}

/* What relates parameters of `serve`. */
int eco_check_serve(const void *args, struct eco_err *err)
{
    const struct eco_args_serve *a = args;
    if (!a->tls_cert != !a->tls_key) {
        const char *missing = a->tls_cert ? "tls_key" : "tls_cert";
        return eco_err_set(err, ECO_E_MISSING, missing, "'tls_cert' and 'tls_key' go together");
    }
    return 0;
}
