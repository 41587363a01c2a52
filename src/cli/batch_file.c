#include "batch_file.h"

#include "ops/args.h"
#include "ops/result.h"
#include "ops/voice.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LINE_MAX_BYTES (1u << 20)
#define FLUSH_BYTES (64u << 10)
#define READ_BYTES (64u << 10)

struct batch {
    const struct eco_op *op;
    struct eco_ctx *ctx;
    struct eco_arena arena; /* of one request */
    struct eco_json_doc doc;
    struct eco_buf out;
    const void *defaults;
    enum eco_lang lang;
};

static int flush_out(struct eco_buf *out, struct eco_err *err)
{
    if (!eco_buf_ok(out) || fwrite(eco_buf_str(out), 1, out->len, stdout) != out->len) {
        return eco_err_set(err, ECO_E_IO, "", "cannot write the output: %s", strerror(errno));
    }
    eco_buf_clear(out);
    return 0;
}

static int answer(struct batch *b, const char *line, size_t len, struct eco_json_writer *w,
                  struct eco_err *err)
{
    void *args = eco_arena_alloc(&b->arena, b->op->args_size);
    void *result = eco_arena_alloc(&b->arena, b->op->result->size);
    if (!args || !result) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    memcpy(args, b->defaults, b->op->args_size);
    ((struct eco_args_head *)args)->have = 0;
    int rc = eco_json_reparse(&b->doc, line, len, err);
    rc = rc ? rc : eco_args_set_json(b->op, args, &b->arena, b->doc.root, false, err);
    rc = rc ? rc : eco_args_finish(b->op, args, err);
    rc = rc ? rc : b->op->run(b->ctx, args, result, err);
    if (rc == 0) {
        eco_result_json(b->op->result, result, w);
    }
    return rc;
}

static int one_line(struct batch *b, const char *line, size_t len, struct eco_err *err)
{
    struct eco_json_writer w;
    struct eco_err why = {0};
    size_t mark = b->out.len;
    if (len && line[len - 1] == '\r') {
        len--;
    }
    eco_jw_init(&w, &b->out, 0);
    if (answer(b, line, len, &w, &why)) {
        const struct eco_json *said =
            b->doc.root && why.code != ECO_E_CONTENT ? eco_json_get(b->doc.root, "lang") : NULL;
        bool zh = said && said->type == ECO_JSON_STRING ? strcmp(said->str, "zh") == 0
                                                        : b->lang == ECO_LANG_ZH;
        eco_error_tell(zh ? ECO_LANG_ZH : ECO_LANG_EN, &why);
        b->out.len = mark;
        eco_jw_init(&w, &b->out, 0);
        eco_error_json(&why, &w);
    }
    eco_buf_putc(&b->out, '\n');
    eco_arena_reset(&b->arena);
    return b->out.len >= FLUSH_BYTES ? flush_out(&b->out, err) : 0;
}

/* Lines from the stream; what is left without a newline at the end is a line too. */
static int all_lines(struct batch *b, FILE *in, struct eco_buf *text, struct eco_err *err)
{
    long number = 0;
    for (;;) {
        if (!eco_buf_reserve(text, READ_BYTES)) {
            return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
        }
        size_t got = fread(text->data + text->len, 1, READ_BYTES, in);
        text->len += got;
        size_t done = 0;
        for (char *nl; (nl = memchr(text->data + done, '\n', text->len - done));) {
            int rc = one_line(b, text->data + done, (size_t)(nl - text->data) - done, err);
            number++;
            if (rc) {
                return rc;
            }
            done = (size_t)(nl - text->data) + 1;
        }
        memmove(text->data, text->data + done, text->len - done);
        text->len -= done;
        if (text->len > LINE_MAX_BYTES) {
            return eco_err_set_at(err, ECO_E_TOO_LARGE, "batch_file", number + 1, 1,
                                  "a line is longer than %u bytes", LINE_MAX_BYTES);
        }
        if (got == 0) {
            return text->len ? one_line(b, text->data, text->len, err) : 0;
        }
    }
}

int cli_batch_run(const struct eco_op *op, struct eco_ctx *ctx, const void *defaults,
                  const char *path, enum eco_lang lang, struct eco_err *err)
{
    FILE *in = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    if (!in) {
        return eco_err_set(err, ECO_E_NOT_FOUND, "batch_file", "cannot read '%.120s': %s", path,
                           strerror(errno));
    }
    struct batch b = {.op = op, .ctx = ctx, .defaults = defaults, .lang = lang};
    struct eco_buf text = ECO_BUF_INIT;
    struct eco_arena *outer = ctx->arena;
    eco_arena_init(&b.arena, 0);
    ctx->arena = &b.arena;
    int rc = all_lines(&b, in, &text, err);
    if (rc == 0 && ferror(in)) {
        rc = eco_err_set(err, ECO_E_IO, "batch_file", "cannot read '%.120s': %s", path,
                         strerror(errno));
    }
    rc = rc ? rc : flush_out(&b.out, err);
    if (rc == 0 && fflush(stdout) != 0) {
        rc = eco_err_set(err, ECO_E_IO, "", "cannot write the output: %s", strerror(errno));
    }
    ctx->arena = outer;
    eco_arena_done(&b.arena);
    eco_json_done(&b.doc);
    eco_buf_done(&b.out);
    eco_buf_done(&text);
    if (in != stdin) {
        fclose(in);
    }
    return rc;
}
