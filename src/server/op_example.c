#include "op_example.h"

#include "ops/args.h"

#include <string.h>

/* The next word of a command line, quotes taken off; NULL at its end. */
static char *next_word(struct eco_arena *arena, const char **at, const char *end)
{
    while (*at < end && **at == ' ') {
        (*at)++;
    }
    if (*at >= end) {
        return NULL;
    }
    char *word = eco_arena_alloc(arena, (size_t)(end - *at) + 1);
    size_t n = 0;
    char quote = 0;
    for (; word && *at < end && (quote || **at != ' '); (*at)++) {
        if (quote ? **at == quote : **at == '"' || **at == '\'') {
            quote = quote ? (char)0 : **at;
        } else {
            word[n++] = **at;
        }
    }
    return word;
}

/* Options of the command line that say how to print, not what to compute. */
static bool is_common(const char *word)
{
    return strcmp(word, "--json") == 0;
}

static bool take(const struct eco_op *op, struct eco_ctx *ctx, struct eco_example *x,
                 const struct eco_param *p, const char *text)
{
    if (!p || !text || (p->flags & ECO_PF_NATIVE) || x->n == ECO_EXAMPLE_MAX) {
        return false;
    }
    x->param[x->n] = p;
    x->text[x->n++] = text;
    return eco_args_set(op, x->args, ctx->arena, p, text, strlen(text), NULL) == 0;
}

static bool parse_line(const struct eco_op *op, struct eco_ctx *ctx, const char *line, size_t len,
                       struct eco_example *x)
{
    const char *at = line, *end = line + len;
    next_word(ctx->arena, &at, end); /* the program */
    next_word(ctx->arena, &at, end); /* the verb */
    for (char *word; (word = next_word(ctx->arena, &at, end)) != NULL;) {
        bool ok = true;
        if (is_common(word)) {
            continue;
        }
        if (strncmp(word, "--", 2) == 0) {
            const struct eco_param *p = eco_args_find(op, word + 2, strlen(word + 2));
            ok = p && take(op, ctx, x, p,
                           p->type == ECO_T_BOOL ? "true" : next_word(ctx->arena, &at, end));
        } else {
            ok = take(op, ctx, x, eco_args_place(op, x->args, word), word);
        }
        if (!ok) {
            return false;
        }
    }
    return true;
}

bool eco_example_of(const struct eco_op *op, struct eco_ctx *ctx, struct eco_example *out)
{
    for (const char *line = op->examples; line && *line;) {
        size_t len = strcspn(line, "\n");
        *out = (struct eco_example){.args = eco_arena_alloc(ctx->arena, op->args_size),
                                    .result = eco_arena_alloc(ctx->arena, op->result->size)};
        if (out->args && out->result && eco_args_init(op, out->args, ctx->arena, NULL) == 0 &&
            parse_line(op, ctx, line, len, out) && eco_args_finish(op, out->args, NULL) == 0 &&
            op->run(ctx, out->args, out->result, NULL) == 0) {
            return true;
        }
        line += len + (line[len] == '\n');
    }
    return false;
}

/* Text of a list, "a,b", as an array. */
static void list_json(const struct eco_param *p, const char *text, struct eco_json_writer *w)
{
    eco_jw_array(w);
    for (const char *at = text; *at;) {
        size_t n = strcspn(at, ",");
        if (p->type == ECO_T_LIST_F64) {
            eco_jw_raw(w, at, n);
        } else {
            eco_jw_strn(w, at, n);
        }
        at += n + (at[n] == ',');
    }
    eco_jw_array_end(w);
}

void eco_example_json(const struct eco_example *x, struct eco_json_writer *w)
{
    eco_jw_object(w);
    for (size_t i = 0; i < x->n; i++) {
        const struct eco_param *p = x->param[i];
        eco_jw_key(w, p->name);
        switch (p->type) {
        case ECO_T_STR:
            eco_jw_str(w, x->text[i]);
            break;
        case ECO_T_F64:
        case ECO_T_I64:
        case ECO_T_BOOL:
            eco_jw_raw(w, x->text[i], strlen(x->text[i]));
            break;
        case ECO_T_LIST_F64:
        case ECO_T_LIST_STR:
            list_json(p, x->text[i], w);
            break;
        }
    }
    eco_jw_object_end(w);
}
