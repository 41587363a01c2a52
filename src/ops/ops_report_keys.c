/* report sign, verify, keygen. */
#include "report/report_files.h"
#include "report/sign.h"
#include "report_actions.h"

#include <string.h>

static int no_keys(const struct eco_args_report *a, struct eco_err *err)
{
    return eco_err_set(err, ECO_E_UNSUPPORTED, "action",
                       "'%s' reads a key's file: the command line has it, requests do not",
                       a->action);
}

int eco_report_do_sign(struct eco_ctx *ctx, const struct eco_args_report *a,
                       const struct eco_str *text, struct eco_res_report *out, struct eco_err *err)
{
    struct eco_sign_key key = {0};
    struct eco_str pem;
    struct eco_buf b = ECO_BUF_INIT;
    char name[64];
    if (!ctx->read_file) {
        return no_keys(a, err);
    }
    if (!a->key) {
        return eco_err_set(err, ECO_E_MISSING, "key",
                           "say with which key: report sign FILE --key KEYFILE (report keygen "
                           "KEYFILE makes one)");
    }
    int rc = ctx->read_file(ctx, a->key, &pem, err);
    rc = rc ? rc : eco_sign_key_read(pem.s, pem.len, &key, err);
    rc = rc ? rc : eco_report_sign(text->s, text->len, &key, &b, err);
    if (rc == 0 && eco_sign_complete(&key, err) == 0) {
        eco_sign_key_name(key.public_key, name);
        out->public_key = eco_arena_strdup(ctx->arena, name, strlen(name));
    }
    eco_sign_key_done(&key);
    if (rc) {
        eco_buf_done(&b);
        return rc;
    }
    out->valid = true;
    return eco_report_keep(ctx, &b, &out->document, err);
}

/* --public: a key as text, else a file that holds one. */
static int expected_key(struct eco_ctx *ctx, const char *public_key, struct eco_sign_key *out,
                        struct eco_err *err)
{
    struct eco_str text = {public_key, strlen(public_key)};
    if (eco_sign_key_read(text.s, text.len, out, err) == 0) {
        return 0;
    }
    if (!ctx->read_file) {
        return eco_err_set(err, ECO_E_INVALID, "public",
                           "'public' is no key: 43 base64url characters, or a PEM text");
    }
    int rc = ctx->read_file(ctx, public_key, &text, err);
    rc = rc ? rc : eco_sign_key_read(text.s, text.len, out, err);
    return rc || !out->secret ? rc : eco_sign_complete(out, err);
}

int eco_report_do_verify(struct eco_ctx *ctx, const struct eco_args_report *a,
                         const struct eco_str *text, struct eco_res_report *out,
                         struct eco_err *err)
{
    struct eco_sign_key expected = {0};
    struct eco_sign_check check;
    int rc = a->public ? expected_key(ctx, a->public, &expected, err) : 0;
    rc = rc ? rc
            : eco_report_verify(text->s, text->len, a->public ? expected.public_key : NULL, &check,
                                err);
    eco_sign_key_done(&expected);
    if (rc) {
        return rc;
    }
    out->valid = true;
    out->public_key = eco_step_fmt(ctx, "%s", check.key);
    out->verdict = a->public ? eco_step_fmt(ctx, "good: unchanged since the expected key signed it")
                             : eco_step_fmt(ctx,
                                            "unchanged since key %s signed it; whose key that is, "
                                            "the file cannot say (--public KEY checks it)",
                                            check.key);
    return 0;
}

int eco_report_do_keygen(struct eco_ctx *ctx, const struct eco_args_report *a,
                         struct eco_res_report *out, struct eco_err *err)
{
    struct eco_sign_key key = {0};
    char name[64];
    if (!ctx->write_file) {
        return no_keys(a, err);
    }
    if (!a->file) {
        return eco_err_set(err, ECO_E_MISSING, "file",
                           "say where the key goes: report keygen KEYFILE");
    }
    int rc = eco_sign_keygen(&key, err);
    rc = rc ? rc : eco_sign_key_save(&key, a->file, err);
    eco_sign_key_name(key.public_key, name);
    eco_sign_key_done(&key);
    if (rc) {
        return rc;
    }
    out->valid = true;
    out->public_key = eco_step_fmt(ctx, "%s", name);
    out->verdict = eco_step_fmt(ctx,
                                "wrote the secret key %s (keep it) and the public key %s.pub "
                                "(give it away)",
                                a->file, a->file);
    return 0;
}
