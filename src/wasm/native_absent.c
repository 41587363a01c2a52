/*
 * The operations that need a device or a file: the one table of operations has their rows in the
 * page too, and there they answer with the command to run. A new native operation gets a line here;
 * without it the page does not link.
 */
#include "audit/audit.h"
#include "audit/changed.h"
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

int eco_check_serve(const void *args, struct eco_err *err)
{
    (void)args, (void)err;
    return 0;
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
