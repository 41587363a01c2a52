/*
 * The command line: argv -> an operation's arguments -> run -> table, JSON, CSV, Markdown or HTML.
 * Everything it knows about operations it reads from the table in ops/ops.c.
 */
#include "base/buf.h"
#include "base/clock.h"
#include "batch_file.h"
#include "complete.h"
#include "help.h"
#include "mcp_hook.h"
#include "ops/args.h"
#include "ops/doc.h"
#include "ops/native_host.h"
#include "ops/result.h"
#include "ops/runs.h"
#include "ops/voice.h"
#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ARENA_LIMIT ((size_t)256 << 20)

/* Everything printed goes through here: a full disk or a closed pipe is an error, not silence. */
static int put_out(const struct eco_buf *b)
{
    if (!eco_buf_ok(b)) {
        fputs("ecocompute: out of memory\n", stderr);
        return 70;
    }
    if (fwrite(eco_buf_str(b), 1, b->len, stdout) != b->len || fflush(stdout) != 0) {
        if (errno != EPIPE) {
            fprintf(stderr, "ecocompute: cannot write the output: %s\n", strerror(errno));
        }
        return 4;
    }
    return 0;
}

/* --lang zh, wherever it stands: errors of the command line itself are told in it too. */
static enum eco_lang told_in;

static void read_lang(int argc, char **argv)
{
    for (int i = 1; i < argc && argv[i] && strcmp(argv[i], "--") != 0; i++) {
        bool pair = strcmp(argv[i], "--lang") == 0 && i + 1 < argc;
        const char *v = pair                                  ? argv[i + 1]
                        : strncmp(argv[i], "--lang=", 7) == 0 ? argv[i] + 7
                                                              : NULL;
        if (v) {
            told_in = strcmp(v, "zh") == 0 ? ECO_LANG_ZH : ECO_LANG_EN;
        }
    }
}

static const char *say(const char *en, const char *zh)
{
    return told_in == ECO_LANG_ZH ? zh : en;
}

/* Where the names that nothing came near to are listed. */
static const char *list_of(const char *param)
{
    static const char *const lists[][3] = {
        {"gpu", "ecocompute gpus"},
        {"gpus", "ecocompute gpus"},
        {"model", "ecocompute models, or say a size: 7B, --params-b 7",
         "ecocompute models，或给出参数量：7B、--params-b 7"},
        {"name", "ecocompute models"},
        {"arch", "ecocompute architectures"},
        {"region", "a country's name or code (France, DEU), or 'US average'",
         "国家的英文名或代码（France、DEU），或 'US average'"}};
    for (size_t i = 0; i < ECO_COUNT(lists); i++) {
        if (strcmp(lists[i][0], param) == 0) {
            return lists[i][2] ? say(lists[i][1], lists[i][2]) : lists[i][1];
        }
    }
    return NULL;
}

/* What a user typed comes back without the codes that would change his terminal. */
static void put_plain(const char *text)
{
    for (; *text; text++) {
        fputc((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text, stderr);
    }
}

/* What there is to say besides: a mistake in JSON tells its line, but not of which file. */
static void way_on(const struct eco_err *err, const char *verb, const struct eco_ctx *ctx)
{
    int code = err->code;
    if (code == ECO_E_UNKNOWN_NAME && !strstr(err->message, "did you mean") && list_of(err->arg)) {
        fprintf(stderr, "%s%s\n", say("see: ", "参见："), list_of(err->arg));
    }
    if (ctx->last_file && strncmp(err->message, "json line ", 10) == 0) {
        fputs(say("in: ", "文件："), stderr);
        put_plain(ctx->last_file);
        fputc('\n', stderr);
    }
    if (code == ECO_E_UNKNOWN_PARAM || code == ECO_E_MISSING || code == ECO_E_USAGE ||
        strstr(err->message, "' is empty")) {
        fprintf(stderr, "%secocompute %s --help\n", say("see: ", "参见："), verb);
    }
}

static int fail(const struct eco_err *err, const char *verb, const struct eco_ctx *ctx)
{
    int code = err->code;
    bool placed = err->line > 0 && !strstr(err->message, "line ");
    struct eco_err told = *err;
    eco_error_tell(told_in, &told);
    fputs("ecocompute: ", stderr);
    put_plain(told.message);
    if (placed) {
        fputs(say(" (line ", "（第 "), stderr);
        fprintf(stderr, "%ld", err->line);
        fputs(say(", column ", " 行，第 "), stderr);
        fprintf(stderr, "%ld", err->column);
        fputs(say(")", " 列）"), stderr);
    }
    if (code == ECO_E_EXISTS) {
        fputs(say("; --force writes over it", "；--force 可覆盖"), stderr);
    }
    fputc('\n', stderr);
    way_on(err, verb, ctx);
    return eco_err_exit_status(code);
}

/* --ascii: the signs that texts use, spelled; anything else that is not ASCII and no
 * Chinese text becomes '?'. */
static void to_ascii(struct eco_buf *b)
{
    static const char *const signs[][2] = {
        {"−", "-"},  {"•", "*"},  {"▲", "!"},  {"…", "..."}, {"★", "*"}, {"×", "x"}, {"≥", ">="},
        {"≤", "<="}, {"“", "\""}, {"”", "\""}, {"–", "-"},   {"—", "-"}, {"µ", "u"}};
    struct eco_buf out = ECO_BUF_INIT;
    for (const char *at = eco_buf_str(b); *at;) {
        size_t i = 0;
        while (i < ECO_COUNT(signs) && strncmp(at, signs[i][0], strlen(signs[i][0])) != 0) {
            i++;
        }
        if (i < ECO_COUNT(signs)) {
            eco_buf_puts(&out, signs[i][1]);
            at += strlen(signs[i][0]);
        } else if ((unsigned char)*at < 0x80) {
            eco_buf_putc(&out, *at++);
        } else {
            size_t n = 1;
            while (((unsigned char)at[n] & 0xc0) == 0x80) {
                n++;
            }
            if (eco_str_width(at, n) == 2) { /* a letter of the text, not a sign of ours */
                eco_buf_put(&out, at, n);
            } else {
                eco_buf_putc(&out, '?');
            }
            at += n;
        }
    }
    eco_buf_done(b);
    *b = out;
}

static const char html_style[] =
    "<style>:root{color-scheme:light dark}body{font:16px/1.55 system-ui,sans-serif;max-width:68rem;"
    "margin:2rem auto;padding:0 1rem;color:CanvasText;background:Canvas}h2{font-size:1.1rem;"
    "margin:1.6rem 0 .4rem;border-bottom:1px solid color-mix(in srgb,CanvasText 20%,Canvas)}"
    "p{margin:.35rem 0}ul{margin:.2rem 0;padding-left:1.1rem}li{margin:.15rem 0}.verdict{font-size:"
    "1.12rem;margin:.8rem 0 .3rem}table{border-collapse:collapse;font-size:.92rem;margin:.4rem 0;"
    "display:block;overflow-x:auto}td,th{padding:.25rem .7rem;text-align:left;border-bottom:1px "
    "solid color-mix(in srgb,CanvasText 15%,Canvas);white-space:nowrap}td.num,th.num{text-align:"
    "right}.key{font-weight:600;margin-right:.4rem}.good{color:light-dark(#0a6640,#5fd39b)}"
    ".warn{color:light-dark(#8a5a00,#f0b34a)}.bad{color:light-dark(#a11,#ff8a80)}.quiet{color:"
    "light-dark(#555,#aaa)}pre{overflow:auto;line-height:1.2}code{overflow-wrap:anywhere}</style>";

static void html_head(enum eco_lang lang, struct eco_buf *out)
{
    eco_buf_printf(out,
                   "<!doctype html>\n<html lang=\"%s\"><head><meta charset=\"utf-8\">"
                   "<meta name=\"viewport\" content=\"width=device-width\">"
                   "<title>ecocompute</title>\n%s</head><body>\n",
                   lang == ECO_LANG_ZH ? "zh" : "en", html_style);
}

static void render(const struct eco_op *op, const void *result, const struct cli_options *o,
                   const struct eco_ctx *ctx, struct eco_buf *out)
{
    struct eco_arena *arena = ctx->arena;
    struct eco_doc doc;
    struct eco_json_writer w;
    switch (o->format) {
    case CLI_JSON:
        eco_jw_init(&w, out, isatty(STDOUT_FILENO) ? 2 : 0);
        eco_result_json(op->result, result, &w);
        eco_buf_putc(out, '\n');
        return;
    case CLI_CSV:
        eco_result_csv(op->result, result, out);
        return;
    case CLI_TABLE:
        eco_doc_init(&doc, ECO_DOC_TEXT, out, arena, o->width);
        break;
    case CLI_MARKDOWN:
        eco_doc_init(&doc, ECO_DOC_MARKDOWN, out, arena, o->width);
        break;
    case CLI_HTML:
        html_head(ctx->lang, out);
        eco_doc_init(&doc, ECO_DOC_HTML, out, arena, o->width);
        break;
    }
    doc.color = o->color;
    doc.ascii = o->ascii;
    doc.quiet = o->quiet;
    doc.lang = ctx->lang;
    doc.persona = ctx->persona;
    op->view(&doc, result);
    eco_doc_end(&doc);
    if (o->format == CLI_HTML) {
        eco_buf_puts(out, "</body></html>\n");
    }
    if (o->ascii && o->format == CLI_TABLE) {
        to_ascii(out);
    }
}

/* Text as it comes; a terminal gets no control characters of a model's making. */
static void show(const char *text, size_t len)
{
    bool terminal = isatty(STDOUT_FILENO);
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        bool control = (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
        putchar(terminal && control ? '?' : c);
    }
    fflush(stdout);
}

/* One run: arguments are set, results printed, warnings on stderr. */
static int run_once(const struct eco_op *op, struct eco_ctx *ctx, const void *args,
                    const struct cli_options *o)
{
    struct eco_err err = {0};
    struct eco_buf out = ECO_BUF_INIT, warnings = ECO_BUF_INIT;
    void *result = eco_arena_alloc(ctx->arena, op->result->size);
    struct eco_ctx here = *ctx; /* this run's own: it points at locals */
    here.warnings = &warnings;
    here.stream = o->format == CLI_TABLE ? show : NULL;
    here.want_chart = o->format == CLI_TABLE || o->format == CLI_MARKDOWN || o->format == CLI_HTML;
    int rc = result ? op->run(&here, args, result, &err)
                    : eco_err_set(&err, ECO_E_NO_MEMORY, "", "out of memory");
    int status = 0;
    if (rc) {
        status = fail(&err, op->name, &here);
    } else {
        render(op, result, o, &here, &out);
        status = put_out(&out);
        status = status ? status : eco_op_status(op, result);
    }
    if (warnings.len && !o->quiet) {
        fputs(eco_buf_str(&warnings), stderr);
    }
    eco_buf_done(&warnings);
    eco_buf_done(&out);
    return status;
}

static int run_op(const struct eco_op *op, int argc, char **argv, struct eco_ctx *ctx)
{
    struct eco_err err = {0};
    struct cli_options o;
    void *args = eco_arena_alloc(ctx->arena, op->args_size);
    int rc = args ? eco_args_init(op, args, ctx->arena, &err)
                  : eco_err_set(&err, ECO_E_NO_MEMORY, "", "out of memory");
    if (rc == 0) {
        rc = cli_options_read(op, argc, argv, args, ctx->arena, &o, &err);
    }
    if (rc) {
        return fail(&err, op->name, ctx);
    }
    if (o.help) {
        struct eco_buf out = ECO_BUF_INIT;
        cli_help_op(op, o.width, &out);
        int status = put_out(&out);
        eco_buf_done(&out);
        return status;
    }
    if (o.batch_file) {
        rc = cli_batch_run(op, ctx, args, o.batch_file, told_in, &err);
        return rc ? fail(&err, op->name, ctx) : 0;
    }
    rc = eco_args_finish(op, args, &err);
    return rc ? fail(&err, op->name, ctx) : run_once(op, ctx, args, &o);
}

static int unknown_verb(const char *verb)
{
    if (verb[0] == '-') {
        fprintf(stderr, "ecocompute: %s'%.40s'%secocompute help\n",
                say("a command comes first, not ", "先写命令，不能是 "), verb,
                say("; see: ", "；参见："));
        return 2;
    }
    for (const char *c = verb; *c; c++) {
        if (*c == ' ' || (unsigned char)*c >= 0x80) { /* no command's name has these */
            fprintf(stderr, "ecocompute: %s\n",
                    say("that is no command; for a question in words: ecocompute ask \"QUESTION\"",
                        "这不是命令；用一句话提问：ecocompute ask \"问题\""));
            return 2;
        }
    }
    struct eco_nearest near = eco_nearest_start(verb, strlen(verb));
    for (size_t i = 0; i < eco_ops_count; i++) {
        eco_nearest_offer(&near, eco_ops[i].name);
    }
    fprintf(stderr, "ecocompute: %s'%.40s'", say("no command ", "没有命令 "), verb);
    if (near.best) {
        fprintf(stderr, "%s'%s'%s\n", say(": did you mean ", "：是否指 "), near.best,
                say("?", "？"));
    } else {
        fprintf(stderr, "%secocompute help\n", say("; see: ", "；参见："));
    }
    return 2;
}

/* `help [VERB]`, `help --man|--schema|--completion SHELL`: text about the table itself. */
static int run_help(int argc, char **argv)
{
    struct eco_buf out = ECO_BUF_INIT;
    int status = 0;
    if (argc > 0 && strcmp(argv[0], "--man") == 0) {
        cli_help_man(&out);
    } else if (argc > 0 && strcmp(argv[0], "--schema") == 0) {
        cli_help_schema(&out);
    } else if (argc > 1 && strcmp(argv[0], "--completion") == 0) {
        status = cli_complete(argv[1], &out);
    } else if (argc > 0) {
        const struct eco_op *op = eco_op_find(argv[0]);
        if (!op) {
            return unknown_verb(argv[0]);
        }
        cli_help_op(op, 80, &out);
    } else {
        cli_help_all(&out);
    }
    status = status ? status : put_out(&out);
    eco_buf_done(&out);
    return status;
}

static int dispatch(int argc, char **argv, struct eco_ctx *ctx)
{
    const char *verb = argc > 1 ? argv[1] : NULL;
    if (!verb) {
        struct eco_buf out = ECO_BUF_INIT;
        cli_help_welcome(ctx, &out);
        int status = put_out(&out);
        eco_buf_done(&out);
        return status;
    }
    if (strcmp(verb, "help") == 0 || strcmp(verb, "--help") == 0 || strcmp(verb, "-h") == 0) {
        return run_help(argc - 2, argv + 2);
    }
    if (strcmp(verb, "--version") == 0) {
        verb = "version";
    }
    const struct eco_op *op = eco_op_find(verb);
    return op ? run_op(op, argc - 2, argv + 2, ctx) : unknown_verb(verb);
}

int main(int argc, char **argv)
{
    struct eco_arena arena;
    struct eco_ctx ctx;
    eco_arena_init(&arena, ARENA_LIMIT);
    eco_host_init(&ctx, &arena);
    ctx.serve_mcp = cli_mcp;
    read_lang(argc, argv);
    int status = dispatch(argc, argv, &ctx);
    eco_arena_done(&arena);
    return status;
}
