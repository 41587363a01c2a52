#include "options.h"

#include "ops/args.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

const struct cli_common cli_common_options[] = {
    {"--json", NULL, "the result as one JSON document"},
    {"--format", "table|json|csv|markdown|html", "how to print the result"},
    {"--batch-file", "FILE.jsonl",
     "one JSON request a line, one JSON result a line, errors in place"},
    {"--quiet", NULL, "the answer only: no next steps, no warnings"},
    {"--no-color", NULL, "no colours (also NO_COLOR)"},
    {"--ascii", NULL, "plain ASCII charts"},
    {"--lang", "en", "language of the texts"},
    {"--help", NULL, "this text"},
};
const size_t cli_common_count = ECO_COUNT(cli_common_options);

bool cli_common_applies(const struct cli_common *c, const struct eco_op *op)
{
    const char *name = c->name + 2;
    return strcmp(name, "batch-file") == 0 ? op->batch : !eco_args_find(op, name, strlen(name));
}

static int terminal_width(void)
{
    struct winsize size;
    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 &&
        size.ws_col >= 40) {
        return size.ws_col > 140 ? 140 : size.ws_col;
    }
    return 100;
}

static void defaults(struct cli_options *o)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    bool plain = (no_color && no_color[0]) || (term && strcmp(term, "dumb") == 0);
    *o = (struct cli_options){
        .format = CLI_TABLE, .color = isatty(STDOUT_FILENO) && !plain, .width = terminal_width()};
}

static const char *const formats[] = {"table", "json", "csv", "markdown", "html"};

static int set_format(struct cli_options *o, const char *v, struct eco_err *err)
{
    for (size_t i = 0; i < ECO_COUNT(formats); i++) {
        if (strcmp(v, formats[i]) == 0) {
            o->format = (enum cli_format)i;
            return 0;
        }
    }
    return eco_err_set(err, ECO_E_UNKNOWN_NAME, "format",
                       "unknown format '%.40s': table, json, csv, markdown or html", v);
}

/* A word "--name=value" or "--name value": where the name ends and what the value is. */
struct word {
    const char *name;
    size_t len;
    const char *inline_value; /* after '=', or NULL */
};

static struct word split(const char *arg)
{
    const char *name = arg + 2, *eq = strchr(name, '=');
    return (struct word){name, eq ? (size_t)(eq - name) : strlen(name), eq ? eq + 1 : NULL};
}

static bool is(const struct word *w, const char *name)
{
    return strlen(name) == w->len && strncmp(w->name, name, w->len) == 0;
}

static int value_of(const struct word *w, int argc, char **argv, int *i, const char **value,
                    struct eco_err *err)
{
    if (w->inline_value) {
        *value = w->inline_value;
        return 0;
    }
    if (*i + 1 >= argc || strncmp(argv[*i + 1], "--", 2) == 0) { /* --name=--value is a value */
        return eco_err_set(err, ECO_E_MISSING, "", "'--%.*s' needs a value", (int)w->len, w->name);
    }
    *value = argv[++*i];
    return 0;
}

/* A format that only this operation knows: --format sarif. */
static bool is_own_format(const struct word *w, int argc, char **argv, int i,
                          const struct eco_op *op)
{
    const char *v = w->inline_value ? w->inline_value : i + 1 < argc ? argv[i + 1] : "";
    bool common = false;
    for (size_t k = 0; k < ECO_COUNT(formats); k++) {
        common |= strcmp(v, formats[k]) == 0;
    }
    return !common && eco_args_find(op, "format", strlen("format")) != NULL;
}

/* 1: it was a common option, 0: it was not. */
static int common_option(const struct word *w, int argc, char **argv, int *i,
                         const struct eco_op *op, struct cli_options *o, struct eco_err *err)
{
    const char *v = NULL;
    int rc = 0;
    if (is(w, "json")) {
        o->format = CLI_JSON;
    } else if (is(w, "quiet")) {
        o->quiet = true;
    } else if (is(w, "no-color")) {
        o->color = false;
    } else if (is(w, "ascii")) {
        o->ascii = true;
    } else if (is(w, "help")) {
        o->help = true;
    } else if (is(w, "format") && is_own_format(w, argc, argv, *i, op)) {
        return 0;
    } else if (is(w, "format")) {
        rc = value_of(w, argc, argv, i, &v, err);
        rc = rc ? rc : set_format(o, v, err);
    } else if (is(w, "lang") && !eco_args_find(op, "lang", strlen("lang"))) {
        rc = value_of(w, argc, argv, i, &v, err);
        if (rc == 0 && strcmp(v, "en") != 0) {
            rc = eco_err_set(err, ECO_E_UNSUPPORTED, "lang",
                             "'%.20s': this command speaks English only", v);
        }
    } else if (is(w, "batch-file")) {
        rc = value_of(w, argc, argv, i, &o->batch_file, err);
        if (rc == 0 && !op->batch) {
            rc = eco_err_set(err, ECO_E_UNSUPPORTED, "batch_file", "'%s' takes no --batch-file",
                             op->name);
        }
    } else {
        return 0;
    }
    return rc ? rc : 1;
}

static int own_option(const struct eco_op *op, const struct word *w, int argc, char **argv, int *i,
                      void *args, struct eco_arena *arena, struct eco_err *err)
{
    const struct eco_param *p = eco_args_find(op, w->name, w->len);
    const char *v = "true";
    if (!p) {
        return eco_args_unknown(op, w->name, w->len, err);
    }
    int rc = 0;
    if (p->type != ECO_T_BOOL || w->inline_value) {
        rc = value_of(w, argc, argv, i, &v, err);
    }
    return rc ? rc : eco_args_set(op, args, arena, p, v, strlen(v), err);
}

/* A bare word: the next open place, or the place of its kind. */
static int positional(const struct eco_op *op, const char *word, void *args,
                      struct eco_arena *arena, struct eco_err *err)
{
    int rc;
    if (eco_args_append(op, args, arena, word, err, &rc)) {
        return rc;
    }
    const struct eco_param *p = eco_args_place(op, args, word);
    return p ? eco_args_set(op, args, arena, p, word, strlen(word), err)
             : eco_err_set(err, ECO_E_USAGE, "", "'%.60s' is one word too many", word);
}

/* The parameter that takes all remaining words (ECO_PF_MANY) and has none yet, or NULL. */
static const struct eco_param *takes_rest(const struct eco_op *op, const void *args)
{
    for (size_t i = 0; i < op->n_params; i++) {
        const struct eco_param *p = &op->params[i];
        if ((p->flags & ECO_PF_MANY) && !eco_args_have(op, args, p->offset)) {
            return p;
        }
    }
    return NULL;
}

static int take_rest(const struct eco_op *op, const struct eco_param *p, int n, char **words,
                     void *args, struct eco_arena *arena, struct eco_err *err)
{
    const char **copy = eco_arena_array(arena, (size_t)n, sizeof(*copy));
    for (int i = 0; copy && i < n; i++) {
        copy[i] = eco_arena_strdup(arena, words[i], strlen(words[i]));
        if (!copy[i]) {
            copy = NULL;
        }
    }
    if (!copy) {
        return eco_err_set(err, ECO_E_NO_MEMORY, p->name, "out of memory");
    }
    *(struct eco_strs *)((char *)args + p->offset) = (struct eco_strs){copy, (size_t)n};
    ((struct eco_args_head *)args)->have |= UINT64_C(1) << (unsigned)(p - op->params);
    return 0;
}

/* "-b": the first option that begins so is the likely one. */
static int short_option(const struct eco_op *op, const char *arg, struct eco_err *err)
{
    size_t n = strlen(arg + 1);
    for (size_t i = 0; i < op->n_params; i++) {
        const char *name = op->params[i].name;
        if (strlen(name) >= n && memcmp(name, arg + 1, n) == 0) {
            return eco_err_set(err, ECO_E_USAGE, "",
                               "unknown option '%.40s': options are --long, perhaps '--%s'", arg,
                               name);
        }
    }
    return eco_err_set(err, ECO_E_USAGE, "", "unknown option '%.40s': options are --long", arg);
}

int cli_options_read(const struct eco_op *op, int argc, char **argv, void *args,
                     struct eco_arena *arena, struct cli_options *out, struct eco_err *err)
{
    bool only_words = false;
    defaults(out);
    for (int i = 0; i < argc; i++) {
        const char *arg = argv[i];
        int rc = 0;
        if (!only_words && strcmp(arg, "--") == 0) {
            only_words = true;
        } else if (!only_words && strcmp(arg, "-h") == 0) {
            out->help = true;
        } else if (!only_words && strncmp(arg, "--", 2) == 0) {
            struct word w = split(arg);
            rc = common_option(&w, argc, argv, &i, op, out, err);
            rc = rc == 0 ? own_option(op, &w, argc, argv, &i, args, arena, err) : rc > 0 ? 0 : rc;
        } else if (!only_words && arg[0] == '-' && arg[1] && !(arg[1] >= '0' && arg[1] <= '9')) {
            rc = short_option(op, arg, err);
        } else if (takes_rest(op, args)) {
            return take_rest(op, takes_rest(op, args), argc - i, argv + i, args, arena, err);
        } else {
            rc = positional(op, arg, args, arena, err);
        }
        if (rc) {
            return rc;
        }
    }
    return 0;
}
