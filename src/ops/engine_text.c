/* Text in and out of the engine operation. */
#include "engine_text.h"

#include "args.h"
#include "steps.h"

#include <stdio.h>
#include <string.h>

#define TEXT_TOKENS 128 /* of a generated text, where the length is not given */

static int ids_of(const struct eco_args_engine *a, struct eco_ids *ids, struct eco_err *err)
{
    for (size_t i = 0; i < a->ids.n; i++) {
        double v = a->ids.v[i];
        if (v != (double)(int)v) {
            return eco_err_set(err, ECO_E_INVALID, "ids", "ids: '%g' is no token id", v);
        }
        int rc = eco_ids_add(ids, (int)v, err);
        if (rc) {
            return rc;
        }
    }
    return 0;
}

static int text_of(struct eco_ctx *ctx, const struct eco_args_engine *a,
                   struct eco_engine_input *in, struct eco_err *err)
{
    struct eco_str text = {a->prompt, a->prompt ? strlen(a->prompt) : 0};
    unsigned flags = ECO_TOK_WITH_ENDS | ECO_TOK_WITH_SPECIAL;
    int rc = eco_tokenizer_open(a->model, &in->tok, err);
    if (rc == 0 && a->corpus) {
        flags = ECO_TOK_WITH_ENDS;
        rc = ctx->read_file ? ctx->read_file(ctx, a->corpus, &text, err)
                            : eco_err_set(err, ECO_E_UNSUPPORTED, "corpus", "no files here");
    }
    rc = rc ? rc : eco_tokenizer_encode(in->tok, text.s, text.len, flags, &in->ids, err);
    if (rc == 0 && in->ids.n == 0) {
        return eco_err_set(err, ECO_E_INVALID, a->corpus ? "corpus" : "prompt",
                           "the text is empty, and this model begins with no token of its own");
    }
    return rc;
}

static int check(const struct eco_args_engine *a, struct eco_err *err)
{
    bool generate = strcmp(a->action, "generate") == 0;
    bool score = strcmp(a->action, "perplexity") == 0;
    bool text = a->prompt || a->corpus;
    if ((a->prompt && !generate) || (a->corpus && !score)) {
        return eco_err_set(err, ECO_E_INVALID, a->prompt ? "prompt" : "corpus",
                           "--prompt is for generate, --corpus for perplexity, not for %s",
                           a->action);
    }
    if (a->out && strcmp(a->action, "quantize") != 0) {
        return eco_err_set(err, ECO_E_INVALID, "out",
                           "'%.100s': only quantize writes a file, not %s", a->out, a->action);
    }
    if (text && a->ids.n > 0) {
        return eco_err_set(err, ECO_E_INVALID, "ids", "give a text or --ids, not both");
    }
    if (text && strncmp(a->model, "synthetic:", 10) == 0) {
        return eco_err_set(err, ECO_E_UNSUPPORTED, a->prompt ? "prompt" : "corpus",
                           "synthetic weights have no tokenizer and no language: give --ids, or "
                           "nothing for a seeded prompt");
    }
    return 0;
}

int eco_engine_input(struct eco_ctx *ctx, const struct eco_args_engine *a,
                     struct eco_engine_input *in, struct eco_err *err)
{
    bool given =
        eco_args_have(eco_op_find("engine"), a, offsetof(struct eco_args_engine, gen_tokens));
    in->gen = a->prompt && !given ? TEXT_TOKENS : (int)a->gen_tokens;
    int rc = check(a, err);
    if (rc == 0 && a->ids.n > 0) {
        rc = ids_of(a, &in->ids, err);
    } else if (rc == 0 && (a->prompt || a->corpus)) {
        rc = text_of(ctx, a, in, err);
    }
    return rc;
}

void eco_engine_input_done(struct eco_engine_input *in)
{
    eco_ids_done(&in->ids);
    eco_tokenizer_free(in->tok);
    in->tok = NULL;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* The texts of all sequences as their tokens come. */
struct writing {
    const struct eco_tokenizer *tok;
    void (*show)(const char *text, size_t len); /* NULL: nobody watches */
    bool go_on;                                 /* behind end tokens */
    struct eco_tok_stream stream[ECO_ENGINE_MAX_BATCH];
    struct eco_buf text[ECO_ENGINE_MAX_BATCH], ids[ECO_ENGINE_MAX_BATCH];
    bool ended[ECO_ENGINE_MAX_BATCH];
    int64_t made;
};

static int take_step(void *ctx, const int *ids, int batch, int index)
{
    struct writing *w = ctx;
    int open = 0;
    (void)index;
    for (int b = 0; b < batch; b++) {
        if (w->ended[b]) {
            continue;
        }
        size_t shown = w->text[b].len;
        w->made++;
        eco_buf_printf(&w->ids[b], "%s%d", w->ids[b].len > 0 ? " " : "", ids[b]);
        w->ended[b] = !w->go_on && eco_tokenizer_stops(w->tok, ids[b]);
        if (!w->ended[b]) {
            eco_tok_stream_put(w->tok, &w->stream[b], ids[b], &w->text[b]);
            open++;
        }
        if (w->show && b == 0) {
            w->show(eco_buf_str(&w->text[b]) + shown, w->text[b].len - shown);
        }
    }
    return open == 0;
}

/* Texts or id lists of all sequences, one behind the other. */
static const char *joined(struct eco_ctx *ctx, const struct eco_buf *b, int64_t n)
{
    struct eco_buf all = ECO_BUF_INIT;
    for (int64_t i = 0; i < n; i++) {
        eco_buf_puts(&all, i > 0 ? "\n" : "");
        eco_buf_put(&all, eco_buf_str(&b[i]), b[i].len);
    }
    const char *s =
        eco_buf_ok(&all) ? eco_arena_strdup(ctx->arena, eco_buf_str(&all), all.len) : NULL;
    eco_buf_done(&all);
    return s;
}

static void say_speed(struct eco_ctx *ctx, const struct eco_engine_info *i,
                      const struct eco_engine_timing *t, const struct eco_res_engine_arm *arm)
{
    if (!ctx->warnings) {
        return;
    }
    eco_buf_printf(ctx->warnings, "%s, %s, %s, %d threads: %lld prompt tokens in %.2f s; ",
                   i->model.name, eco_precision_name(i->precision), i->isa, i->threads,
                   (long long)t->prompt_tokens, t->ttft_s);
    eco_buf_printf(ctx->warnings, "%lld tokens at %.1f tok/s, ended by %s\n",
                   (long long)arm->generated_tokens, t->decode_tokens_per_s,
                   strcmp(arm->stop, "end") == 0 ? "the model" : "--gen-tokens");
}

static void fill(struct eco_ctx *ctx, const struct writing *w, int64_t batch,
                 const struct eco_engine_timing *t, struct eco_res_engine_arm *out)
{
    bool ended = true;
    for (int64_t b = 0; b < batch; b++) {
        ended = ended && w->ended[b];
    }
    out->ids = joined(ctx, w->ids, batch);
    out->text = joined(ctx, w->text, batch);
    out->stop = ended ? "end" : "length";
    out->prompt_tokens = t->prompt_tokens;
    out->generated_tokens = w->made;
    out->ttft_ms = (struct eco_opt){t->ttft_s * 1e3, true};
    out->tpot_ms = (struct eco_opt){t->tpot_s * 1e3, t->tpot_s > 0.0};
    out->tokens_per_s = (struct eco_opt){t->decode_tokens_per_s, t->tpot_s > 0.0};
    out->prefill_tokens_per_s = (struct eco_opt){t->prefill_tokens_per_s, t->ttft_s > 0.0};
}

int eco_engine_write(struct eco_ctx *ctx, const struct eco_args_engine *a, struct eco_decoder *e,
                     const struct eco_engine_input *in, const int *prompt,
                     struct eco_res_engine_arm *out, struct eco_err *err)
{
    struct writing *w = eco_arena_alloc(ctx->arena, sizeof(*w));
    struct eco_engine_timing t;
    struct eco_sampling how = {a->temperature, a->top_p, (int)a->top_k, (uint64_t)a->seed};
    if (!w) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    bool watched = ctx->stream && a->batch == 1 && a->precision.n < 2;
    w->tok = in->tok;
    w->go_on = a->ignore_end;
    w->show = watched ? ctx->stream : NULL;
    struct eco_engine_sink sink = {take_step, w};
    int rc = eco_engine_sample(e, &how, prompt, (int)in->ids.n, in->gen, NULL, &sink, &t, err);
    for (int64_t b = 0; b < a->batch; b++) {
        size_t shown = w->text[b].len;
        eco_tok_stream_end(&w->stream[b], &w->text[b]);
        if (w->show) {
            w->show(eco_buf_str(&w->text[b]) + shown, w->text[b].len - shown);
        }
    }
    if (rc == 0) {
        fill(ctx, w, a->batch, &t, out);
        say_speed(ctx, eco_engine_info(e), &t, out);
        rc = out->ids && out->text ? 0 : eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    if (w->show) {
        w->show("\n", 1);
        out->text = out->ids = NULL; /* it has been seen */
    }
    for (int64_t b = 0; b < a->batch; b++) {
        eco_buf_done(&w->text[b]);
        eco_buf_done(&w->ids[b]);
    }
    return rc;
}
