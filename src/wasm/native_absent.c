/*
 * The operations that need a device or a file: the one table of operations has their rows in the
 * page too, and there they answer with the command to run. A new native operation gets a line here;
 * without it the page does not link.
 */
#include "audit/audit.h"
#include "audit/changed.h"
#include "ops/report_actions.h"
#include "ops/runs.h"

#define ABSENT(name)                                                                               \
    int eco_run_##name(struct eco_ctx *ctx, const void *args, void *result, struct eco_err *err)   \
    {                                                                                              \
        (void)ctx, (void)args, (void)result;                                                       \
        return eco_err_set(err, ECO_E_UNSUPPORTED, #name,                                          \
                           "a page cannot do this; on your machine: ecocompute %s", #name);        \
    }

ABSENT(measure)
ABSENT(engine)
ABSENT(doctor)
ABSENT(replay)
ABSENT(track)
ABSENT(serve)
ABSENT(mcp)

/* Hooks of those rows; their operations never come to them. */
#define NEVER_NO(name)                                                                             \
    bool eco_##name##_says_no(const void *result)                                                  \
    {                                                                                              \
        (void)result;                                                                              \
        return false;                                                                              \
    }

NEVER_NO(track)
NEVER_NO(serve)
NEVER_NO(replay)

int eco_check_serve(const void *args, struct eco_err *err)
{
    (void)args, (void)err;
    return 0;
}

/* Keys and signatures: libsodium is not in the page. */
static int no_keys(struct eco_err *err)
{
    return eco_err_set(err, ECO_E_UNSUPPORTED, "action",
                       "a page holds no keys; on your machine: ecocompute report sign FILE, or "
                       "verify FILE");
}

int eco_report_do_sign(struct eco_ctx *ctx, const struct eco_args_report *a,
                       const struct eco_str *text, struct eco_res_report *out, struct eco_err *err)
{
    (void)ctx, (void)a, (void)text, (void)out;
    return no_keys(err);
}

int eco_report_do_verify(struct eco_ctx *ctx, const struct eco_args_report *a,
                         const struct eco_str *text, struct eco_res_report *out,
                         struct eco_err *err)
{
    (void)ctx, (void)a, (void)text, (void)out;
    return no_keys(err);
}

int eco_report_do_keygen(struct eco_ctx *ctx, const struct eco_args_report *a,
                         struct eco_res_report *out, struct eco_err *err)
{
    (void)ctx, (void)a, (void)out;
    return no_keys(err);
}

int eco_audit_paths(struct eco_audit *a, const char *const *paths, size_t n, struct eco_err *err)
{
    (void)a, (void)paths, (void)n;
    return eco_err_set(err, ECO_E_MISSING, "text", "give the code itself as 'text'");
}

int eco_audit_git_diff(const char *base, struct eco_buf *out, struct eco_err *err)
{
    (void)base, (void)out;
    return eco_err_set(err, ECO_E_UNSUPPORTED, "diff", "there is no git in a page");
}
