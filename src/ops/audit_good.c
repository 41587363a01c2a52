/* What code already does well: marks that a reader would nod at, looked for line by line. */
#include "audit_good.h"

#include "voice.h"

#include <string.h>

#define MAX_FILES 64
#define MAX_LINE 512

static const struct {
    const char *mark;       /* without blanks */
    const char *not_before; /* the mark does not count when this follows it; "" none */
    const char *text;
} practices[] = {
    {"llm_int8_threshold=0.0", "", "the outlier split of LLM.int8() is off"},
    {"torch.compile(", "", "the model is compiled"},
    {"padding=True", "", "inputs are padded, so that they can be batched"},
    {"use_cache=True", "", "the KV cache is on"},
    {"dtype=torch.bfloat16", "", "weights are loaded in 16 bit"},
    {"dtype=torch.float16", "", "weights are loaded in 16 bit"},
    {"bnb_4bit_use_double_quant=False", "", "double quantization is off"},
    {"device_map=", "", "the model is placed on a device"},
    {"attn_implementation=\"flash_attention", "", "attention runs in a fused kernel"},
    {"torch.inference_mode(", "", "no gradients are kept while generating"},
    {"torch.no_grad(", "", "no gradients are kept while generating"},
    {"max_num_seqs=", "1,)", "the server batches requests"},
    {"vllmserve", "", "an engine with continuous batching serves"},
    {"fromvllmimport", "", "an engine with continuous batching serves"},
};

struct look {
    struct eco_ctx *ctx;
    const char *file;
    struct eco_res_practice *rows;
    size_t n, cap;
};

/* The line without blanks and without what is a comment; false: nothing is left. */
static bool bare(const char *line, size_t len, char out[MAX_LINE])
{
    size_t n = 0;
    for (size_t i = 0; i < len && n + 1 < MAX_LINE && line[i] != '#'; i++) {
        if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r') {
            out[n++] = line[i];
        }
    }
    out[n] = '\0';
    return n > 0;
}

static bool is_seen(const struct look *l, const char *text)
{
    for (size_t i = 0; i < l->n; i++) {
        if (strcmp(l->rows[i].file, l->file) == 0 && l->rows[i].text == text) {
            return true;
        }
    }
    return false;
}

static void look_at_line(struct look *l, const char *line, size_t len, int64_t number)
{
    char text[MAX_LINE];
    if (!bare(line, len, text)) {
        return;
    }
    for (size_t i = 0; i < ECO_COUNT(practices); i++) {
        const char *at = strstr(text, practices[i].mark);
        const char *after = at ? at + strlen(practices[i].mark) : NULL;
        const char *said = eco_word(l->ctx->lang, practices[i].text);
        bool one = after && practices[i].not_before[0] && after[0] == practices[i].not_before[0] &&
                   strchr(practices[i].not_before + 1, after[1]);
        if (at && !one && l->n < l->cap && !is_seen(l, said)) {
            l->rows[l->n++] = (struct eco_res_practice){l->file, number, said};
        }
    }
}

static bool has_finding(const struct eco_list *findings, const char *file, int64_t line)
{
    const struct eco_res_audit_finding *f = findings->items;
    for (size_t i = 0; i < findings->n; i++) {
        if (strcmp(f[i].file, file) == 0 && line >= f[i].line && line <= f[i].end_line) {
            return true;
        }
    }
    return false;
}

static void look_at_text(struct look *l, const char *s, const struct eco_list *findings)
{
    int64_t number = 1;
    for (const char *line = s; *line; number++) {
        size_t n = strcspn(line, "\n");
        if (!has_finding(findings, l->file, number)) {
            look_at_line(l, line, n, number);
        }
        line += n + (line[n] == '\n');
    }
}

static void look_at_file(struct look *l, const char *file, const struct eco_list *findings)
{
    struct eco_str text;
    if (strcmp(file, "-") != 0 && l->ctx->read_file &&
        l->ctx->read_file(l->ctx, file, &text, NULL) == 0) {
        l->file = file;
        look_at_text(l, text.s, findings);
    }
}

struct eco_list eco_audit_good(struct eco_ctx *ctx, const struct eco_args_audit *args,
                               const struct eco_list *findings)
{
    size_t cap = ECO_COUNT(practices) * 4;
    struct look l = {.ctx = ctx, .cap = cap};
    l.rows = eco_arena_array(ctx->arena, cap, sizeof(*l.rows));
    const struct eco_res_audit_finding *f = findings->items;
    if (!l.rows) {
        return (struct eco_list){NULL, 0};
    }
    if (args->text) {
        l.file = args->name;
        look_at_text(&l, args->text, findings);
    }
    size_t files = 0;
    for (size_t i = 0; !args->text && i < args->paths.n && files < MAX_FILES; i++) {
        const char *dot = strrchr(args->paths.v[i], '.');
        if (dot && !strchr(dot, '/')) { /* folders have no text of their own */
            look_at_file(&l, args->paths.v[i], findings);
            files++;
        }
    }
    for (size_t i = 0; !args->text && i < findings->n && files < MAX_FILES; i++) {
        bool named = i > 0 && strcmp(f[i].file, f[i - 1].file) == 0;
        for (size_t k = 0; k < args->paths.n; k++) {
            named |= strcmp(args->paths.v[k], f[i].file) == 0;
        }
        if (!named) {
            look_at_file(&l, f[i].file, findings);
            files++;
        }
    }
    return (struct eco_list){l.rows, l.n};
}
