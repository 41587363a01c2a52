#include "help.h"

#include "ops/args.h"
#include "ops/result.h"
#include "options.h"

#include <stdio.h>
#include <string.h>

static const char *value_word(const struct eco_param *p)
{
    switch (p->type) {
    case ECO_T_F64:
        return "NUMBER";
    case ECO_T_I64:
        return "N";
    case ECO_T_BOOL:
        return "";
    case ECO_T_LIST_F64:
        return "N,N,…";
    case ECO_T_LIST_STR:
        return "NAME,NAME,…";
    case ECO_T_STR:
        break;
    }
    return p->flags & ECO_PF_PATH ? "FILE" : "NAME";
}

/* "--max-latency-ms" from "max_latency_ms" */
static void option_name(const char *name, char out[64])
{
    size_t n = 0;
    for (; n < 63 && name[n]; n++) {
        out[n] = name[n] == '_' ? '-' : name[n];
    }
    out[n] = '\0';
}

static void range_words(const struct eco_op *op, const struct eco_param *p, struct eco_buf *out)
{
    if (p->lo != p->hi) {
        char lo[ECO_NUM_MAX], hi[ECO_NUM_MAX];
        eco_args_bound(p->lo, lo);
        eco_args_bound(p->hi, hi);
        eco_buf_printf(out, " [%s%s to %s%s%s]", p->flags & ECO_PF_LO_OPEN ? "above " : "", lo, hi,
                       p->unit[0] ? " " : "", p->unit);
        eco_buf_puts(out, eco_args_wide(op, p) ? " (--calibration published: any)" : "");
    }
    if (p->choices && p->choices[0] != '@') {
        eco_buf_printf(out, " [%s]", p->choices);
    }
    if (p->def) {
        eco_buf_printf(out, " (default %s)", p->def);
    }
}

/* Words of `text` after `column`, wrapped at `width`, later lines indented by `indent`. */
static void wrapped(struct eco_buf *out, const char *text, size_t column, size_t indent,
                    size_t width)
{
    for (const char *at = text; *at;) {
        at += strspn(at, " ");
        size_t n = strcspn(at, " ");
        size_t w = eco_str_width(at, n);
        if (n == 0) {
            break;
        }
        if (column + w + 1 > width && column > indent) {
            eco_buf_printf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            eco_buf_putc(out, ' ');
            column++;
        }
        eco_buf_put(out, at, n);
        column += w;
        at += n;
    }
    eco_buf_putc(out, '\n');
}

#define OPTION_COLUMN 28

static void option_line(const char *name, const char *value, const char *help, int width,
                        struct eco_buf *out)
{
    char left[96];
    snprintf(left, sizeof(left), "  %s%s%s", name, value[0] ? " " : "", value);
    size_t w = eco_str_width(left, strlen(left));
    eco_buf_puts(out, left);
    if (w >= OPTION_COLUMN) {
        eco_buf_printf(out, "\n%*s", OPTION_COLUMN, "");
    } else {
        eco_buf_printf(out, "%*s", (int)(OPTION_COLUMN - w), "");
    }
    wrapped(out, help, OPTION_COLUMN, OPTION_COLUMN, (size_t)width);
}

static void param_line(const struct eco_op *op, const struct eco_param *p, int width,
                       struct eco_buf *out)
{
    char name[80] = "--";
    struct eco_buf help = ECO_BUF_INIT;
    option_name(p->name, name + 2);
    eco_buf_puts(&help, p->help);
    range_words(op, p, &help);
    option_line(name, value_word(p), eco_buf_str(&help), width, out);
    eco_buf_done(&help);
}

static void usage_line(const struct eco_op *op, struct eco_buf *out)
{
    eco_buf_printf(out, "usage: ecocompute %s", op->name);
    for (size_t i = 0; i < op->n_params; i++) {
        const struct eco_param *p = &op->params[i];
        if (p->flags & ECO_PF_POSITIONAL) {
            bool must = p->flags & ECO_PF_REQUIRED;
            eco_buf_puts(out, must ? " " : " [");
            for (const char *c = p->name; *c; c++) {
                eco_buf_putc(out, *c >= 'a' && *c <= 'z' ? (char)(*c - 32) : *c);
            }
            eco_buf_puts(out, must ? "" : "]");
        }
    }
    eco_buf_puts(out, " [options]\n");
}

void cli_help_op(const struct eco_op *op, int width, struct eco_buf *out)
{
    eco_buf_printf(out, "ecocompute %s - %s\n\n", op->name, op->summary);
    usage_line(op, out);
    eco_buf_putc(out, '\n');
    wrapped(out, op->about, 0, 0, (size_t)width);
    eco_buf_puts(out, "\noptions:\n");
    for (size_t i = 0; i < op->n_params; i++) {
        param_line(op, &op->params[i], width, out);
    }
    eco_buf_puts(out, "\ncommon options:\n");
    for (size_t i = 0; i < cli_common_count; i++) {
        const struct cli_common *c = &cli_common_options[i];
        if (cli_common_applies(c, op)) {
            option_line(c->name, c->value ? c->value : "", c->help, width, out);
        }
    }
    eco_buf_puts(out, "\nexamples:\n");
    for (const char *e = op->examples; e && *e;) {
        size_t n = strcspn(e, "\n");
        eco_buf_printf(out, "  %.*s\n", (int)n, e);
        e += n + (e[n] == '\n');
    }
}

static const char exits[] =
    "exit status: 0 done, 1 the answer is no, 2 wrong command line, 3 wrong "
    "content of a file, 4 device, permission or does not fit, 70 internal";

void cli_help_all(struct eco_buf *out)
{
    eco_buf_puts(
        out, "ecocompute - does quantization lower the energy of LLM inference, or raise it?\n\n"
             "usage: ecocompute COMMAND [options]\n\n");
    for (size_t i = 0; i < eco_ops_count; i++) {
        eco_buf_printf(out, "  %-13s %s\n", eco_ops[i].name, eco_ops[i].summary);
    }
    eco_buf_printf(out, "  %-13s %s\n\n", "help",
                   "this text; help COMMAND, --man, --schema, --completion SHELL");
    eco_buf_printf(out, "%s\n", exits);
}

void cli_help_welcome(const struct eco_ctx *ctx, struct eco_buf *out)
{
    eco_buf_puts(
        out, "ecocompute: does quantization lower the energy of LLM inference, or raise it?\n\n");
    if (ctx->host_gpu) {
        eco_buf_printf(out, "  card here  %s (%s)\n", ctx->host_gpu_name, ctx->host_gpu->name);
    } else if (ctx->host_gpu_name) {
        eco_buf_printf(out, "  card here  %s, not in the card table\n", ctx->host_gpu_name);
    } else {
        eco_buf_puts(out, "  card here  none found; say --gpu NAME (ecocompute gpus lists them)\n");
    }
    const char *gpu = ctx->host_gpu ? "" : " rtx4090";
    eco_buf_printf(out, "\n  ecocompute estimate Qwen2.5-7B%s%s   # will quantization save here?\n",
                   gpu, gpu[0] ? " NF4" : "");
    eco_buf_printf(out, "  ecocompute optimize Qwen2.5-7B%s       # what should I deploy?\n", gpu);
    eco_buf_puts(out,
                 "  ecocompute doctor                            # what can be measured here?\n\n"
                 "All commands: ecocompute help\n");
}

void cli_help_schema(struct eco_buf *out)
{
    struct eco_json_writer w;
    eco_jw_init(&w, out, 0);
    eco_jw_array(&w);
    for (size_t i = 0; i < eco_ops_count; i++) {
        const struct eco_op *op = &eco_ops[i];
        eco_jw_object(&w);
        eco_jw_kv_str(&w, "name", op->name);
        eco_jw_kv_str(&w, "summary", op->summary);
        eco_jw_kv_str(&w, "path", op->path);
        eco_jw_kv_str(&w, "tool", op->tool);
        eco_jw_kv_bool(&w, "batch", op->batch);
        eco_jw_key(&w, "parameters");
        eco_params_schema(op, true, &w);
        eco_jw_key(&w, "result");
        eco_result_schema(op->result, &w);
        eco_jw_object_end(&w);
    }
    eco_jw_array_end(&w);
    eco_buf_putc(out, '\n');
}

/* ---- man page ------------------------------------------------------------------------------ */

/* A leading '.' or '\'' is a request in roff; '-', '\' and all but ASCII are escaped. */
static void roff(struct eco_buf *out, const char *text)
{
    if (*text == '.' || *text == '\'') {
        eco_buf_puts(out, "\\&");
    }
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c >= 0xe0 && c[1] && c[2]) { /* three bytes are all our texts need */
            unsigned u = (*c & 0x0fu) << 12 | (c[1] & 0x3fu) << 6 | (c[2] & 0x3fu);
            eco_buf_printf(out, "\\[u%04X]", u);
            c += 2;
        } else if (*c >= 0xc0 && c[1]) {
            eco_buf_printf(out, "\\[u%04X]", (*c & 0x1fu) << 6 | (c[1] & 0x3fu));
            c++;
        } else {
            eco_buf_puts(out, *c == '\\' || *c == '-' ? "\\" : "");
            eco_buf_putc(out, (char)*c);
            eco_buf_puts(out, *c == '|' ? "\\:" : ""); /* a long list of words may break here */
        }
    }
}

static void man_option(const char *name, const char *value, const char *help, struct eco_buf *out)
{
    eco_buf_puts(out, ".TP\n.B ");
    roff(out, name);
    if (value[0]) {
        eco_buf_puts(out, " \\fI");
        roff(out, value);
        eco_buf_puts(out, "\\fR");
    }
    eco_buf_putc(out, '\n');
    roff(out, help);
    eco_buf_putc(out, '\n');
}

static void man_op(const struct eco_op *op, struct eco_buf *out)
{
    eco_buf_printf(out, ".SS ecocompute %s\n", op->name);
    roff(out, op->summary);
    eco_buf_puts(out, "\n.PP\n");
    roff(out, op->about);
    eco_buf_putc(out, '\n');
    for (size_t i = 0; i < op->n_params; i++) {
        const struct eco_param *p = &op->params[i];
        char name[80] = "--";
        struct eco_buf help = ECO_BUF_INIT;
        option_name(p->name, name + 2);
        eco_buf_puts(&help, p->help);
        range_words(op, p, &help);
        man_option(name, value_word(p), eco_buf_str(&help), out);
        eco_buf_done(&help);
    }
    eco_buf_puts(out, ".PP\nExamples:\n.nf\n");
    for (const char *e = op->examples; e && *e;) {
        char line[256];
        size_t n = strcspn(e, "\n");
        snprintf(line, sizeof(line), "%.*s", (int)n, e);
        roff(out, line);
        eco_buf_putc(out, '\n');
        e += n + (e[n] == '\n');
    }
    eco_buf_puts(out, ".fi\n");
}

void cli_help_man(struct eco_buf *out)
{
    eco_buf_puts(
        out, ".TH ECOCOMPUTE 1 \"\" \"ecocompute " ECO_VERSION "\" \"User Commands\"\n"
             ".SH NAME\necocompute \\- energy of quantized LLM inference, predicted and measured\n"
             ".SH SYNOPSIS\n.B ecocompute\n.I COMMAND\n[\\fIoptions\\fR]\n.SH DESCRIPTION\n"
             "On this GPU, for this model, does quantization lower the energy per token or raise "
             "it?\nEvery number says how it is known, with its range and source.\n.SH VERBS\n");
    for (size_t i = 0; i < eco_ops_count; i++) {
        man_op(&eco_ops[i], out);
    }
    eco_buf_puts(out, ".SH COMMON OPTIONS\n");
    for (size_t i = 0; i < cli_common_count; i++) {
        const struct cli_common *c = &cli_common_options[i];
        man_option(c->name, c->value ? c->value : "", c->help, out);
    }
    eco_buf_puts(out, ".SH EXIT STATUS\n");
    roff(out, exits);
    eco_buf_puts(out, "\n.SH ENVIRONMENT\n.TP\n.B NO_COLOR\nno colours\n");
}
