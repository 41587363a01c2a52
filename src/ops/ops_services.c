/*
 * The services: `serve` hands its checked parameters to the helper program that links the network
 * library, as words of a command line, and becomes it. `mcp` is a hook of the program around us.
 */
#include "args_words.h"
#include "base/libexec.h"
#include "runs.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define MAX_PATH 4096

static int check_serve(struct eco_ctx *ctx, const struct eco_args_serve *a, const char *program,
                       struct eco_res_serve *out, struct eco_err *err)
{
    const char **notes = eco_arena_array(ctx->arena, 4, sizeof(*notes));
    size_t n = 0;
    bool v6 = strchr(a->bind, ':') != NULL;
    bool local = strcmp(a->bind, "127.0.0.1") == 0 || strcmp(a->bind, "::1") == 0;
    if (!notes) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    if (!program) {
        notes[n++] = "this build has no 'ecocompute-serve': it needs libmicrohttpd-dev "
                     "(install that, then build again)";
    }
    if (!local) {
        notes[n++] = "other machines can reach it";
    }
    if (!local && !a->tls_cert) {
        notes[n++] = "without TLS: put a proxy before it, or give --tls-cert and --tls-key";
    }
    if (!local && a->store && !a->token_file) {
        notes[n++] = "whoever reaches it may store reports: --token-file closes that";
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
    const char *first[] = {program};
    char **words = eco_args_words(eco_op_find("serve"), args, ctx->arena, first, 1, err);
    if (!words) {
        return err->code;
    }
    execv(program, words);
    return eco_err_set(err, ECO_E_IO, "", "cannot start '%.120s': %s", program, strerror(errno));
}

bool eco_serve_says_no(const void *result)
{
    return !((const struct eco_res_serve *)result)->program;
}

/* "https://example.org:8443", as browsers send it; anything else would never be met. */
static bool is_origin(const char *text)
{
    bool web = strncmp(text, "http://", 7) == 0 || strncmp(text, "https://", 8) == 0;
    const char *host = web ? strstr(text, "://") + 3 : "";
    return host[0] && !host[strcspn(host, "/?# ")];
}

/* What relates parameters of `serve`. */
int eco_check_serve(const void *args, struct eco_err *err)
{
    const struct eco_args_serve *a = args;
    for (size_t i = 0; i < a->origins.n; i++) {
        if (!is_origin(a->origins.v[i])) {
            return eco_err_set(err, ECO_E_INVALID, "origins",
                               "'%.60s' is no origin: https://example.org, without a path",
                               a->origins.v[i]);
        }
    }
    if (!a->tls_cert != !a->tls_key) {
        const char *missing = a->tls_cert ? "tls_key" : "tls_cert";
        return eco_err_set(err, ECO_E_MISSING, missing, "'tls_cert' and 'tls_key' go together");
    }
    return 0;
}

int eco_run_mcp(struct eco_ctx *ctx, const void *args, void *result, struct eco_err *err)
{
    const struct eco_args_mcp *a = args;
    struct eco_res_mcp *out = result;
    const char **tools = eco_arena_array(ctx->arena, eco_ops_count, sizeof(*tools));
    size_t n = 0;
    if (!tools) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    for (size_t i = 0; i < eco_ops_count; i++) {
        if (eco_ops[i].tool && (eco_ops[i].path || a->allow_measure)) {
            tools[n++] = eco_ops[i].tool;
        }
    }
    out->tools = (struct eco_strs){tools, n};
    if (a->check) {
        return 0;
    }
    out->served = true;
    return ctx->serve_mcp ? ctx->serve_mcp(ctx, args, err)
                          : eco_err_set(err, ECO_E_UNSUPPORTED, "", "'mcp' is a command");
}
