/* llama-bench -o json: throughput by test; it measures no energy, and the report says so. */
#include "import_parts.h"

#include "base/buf.h"
#include "dataset/dataset.h"

#include <math.h>
#include <string.h>

static const char *member_text(struct eco_arena *arena, const struct eco_json *o, const char *key)
{
    return eco_import_text(arena, eco_json_get(o, key));
}

/* "models/Qwen2.5-7B-Instruct-Q4_K_M.gguf" -> "Qwen2.5-7B-Instruct-Q4_K_M.gguf" */
static const char *last_part(const char *path)
{
    const char *at = path ? strrchr(path, '/') : NULL;
    const char *back = path ? strrchr(path, '\\') : NULL;
    at = at > back ? at : back;
    return at && at[1] ? at + 1 : path;
}

/* "qwen2 7B Q4_K - Medium", "llama 7B mostly Q4_0", "llama 1B F16": the word after the size. */
static void read_precision(struct eco_import_run *r, struct eco_arena *arena, const char *type)
{
    static const char *const sizes[][2] = {
        {" - Small", "_S"}, {" - Medium", "_M"}, {" - Large", "_L"}};
    if (!type)
        return;
    size_t len = strlen(type);
    const char *suffix = "";
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        size_t n = strlen(sizes[i][0]);
        if (len > n && strcmp(type + len - n, sizes[i][0]) == 0) {
            suffix = sizes[i][1];
            len -= n;
        }
    }
    size_t start = len;
    while (start && type[start - 1] != ' ')
        start--;
    r->precision_text = eco_arena_printf(arena, "%.*s%s", (int)(len - start), type + start, suffix);
    if (r->precision_text)
        r->precision = eco_precision_parse(r->precision_text, strlen(r->precision_text));
}

static int read_numbers(const struct eco_json *o, size_t row, struct eco_import_run *r,
                        double *spread, int64_t *depth, struct eco_err *err)
{
    int64_t prompt, generated, parameters, build;
    double ns;
    int rc = eco_import_int(o, "n_prompt", 1 << 24, row, &prompt, err);
    rc = rc ? rc : eco_import_int(o, "n_gen", 1 << 24, row, &generated, err);
    rc = rc ? rc : eco_import_int(o, "n_depth", 1 << 24, row, depth, err);
    rc = rc ? rc : eco_import_int(o, "model_n_params", (int64_t)1e15, row, &parameters, err);
    rc = rc ? rc : eco_import_int(o, "build_number", 1 << 30, row, &build, err);
    rc = rc ? rc : eco_import_num(o, "avg_ns", 0, 1e18, row, &ns, err);
    rc = rc ? rc : eco_import_num(o, "avg_ts", 0, 1e9, row, &r->tokens_per_s, err);
    rc = rc ? rc : eco_import_num(o, "stddev_ts", 0, 1e9, row, spread, err);
    if (rc != 0)
        return rc;
    r->prompt_tokens = (int)prompt;
    r->generated_tokens = (int)generated;
    r->params_total = parameters;
    r->params_b = parameters > 0 ? (double)parameters / 1e9 : (double)NAN;
    r->duration_s = ns / 1e9;
    r->preferred = generated > 0;
    return 0;
}

static int read_test(const struct eco_json *o, size_t row, struct eco_arena *arena,
                     struct eco_import *out, struct eco_err *err)
{
    struct eco_import_run *r = eco_import_add(out, arena, err);
    double spread;
    int64_t depth;
    if (!r)
        return err && err->code ? err->code : ECO_E_NO_MEMORY;
    if (o->type != ECO_JSON_OBJECT || !eco_json_get(o, "model_filename"))
        return eco_err_set_at(err, ECO_E_CONTENT, "file", o->line, o->column,
                              "run %zu is no test of llama-bench", row);
    int rc = read_numbers(o, row, r, &spread, &depth, err);
    if (rc != 0)
        return rc;
    const char *commit = member_text(arena, o, "build_commit");
    const char *type = member_text(arena, o, "model_type");
    r->tool = "llama-bench";
    r->version = commit ? eco_arena_printf(arena, "llama.cpp %s", commit) : NULL;
    r->engine = "llama.cpp";
    r->model = last_part(member_text(arena, o, "model_filename"));
    r->gpu = member_text(arena, o, "gpu_info");
    r->cpu = member_text(arena, o, "cpu_info");
    r->at = member_text(arena, o, "test_time");
    r->batch = 1;
    r->energy_reason = "llama-bench measures time, not energy";
    read_precision(r, arena, type);
    const struct eco_json *samples = eco_json_get(o, "samples_ns");
    unsigned repeats = samples && samples->type == ECO_JSON_ARRAY ? samples->count : 0;
    r->what =
        eco_arena_printf(arena, "%s%s, prompt %d, generated %d%s", r->model,
                         r->precision ? "" : " (precision not known)", r->prompt_tokens,
                         r->generated_tokens, r->generated_tokens > 0 ? "" : " (prefill only)");
    if (!isnan(spread) && repeats > 1)
        eco_import_note(r, eco_arena_printf(arena,
                                            "throughput is the mean of %u repetitions in one "
                                            "process, standard deviation %.4g tokens/s",
                                            repeats, spread));
    if (r->generated_tokens == 0)
        eco_import_note(r,
                        "this test only reads a prompt: its tokens/s are prefill, not generation");
    if (depth > 0)
        eco_import_note(
            r, eco_arena_printf(arena, "with %lld tokens already in the cache", (long long)depth));
    return r->what ? 0 : eco_err_set(err, ECO_E_NO_MEMORY, NULL, "out of memory");
}

int eco_import_llama_bench(const struct eco_json *root, struct eco_arena *arena,
                           struct eco_import *out, struct eco_err *err)
{
    size_t row = 0;
    int rc = 0;
    if (root->type == ECO_JSON_OBJECT)
        return read_test(root, 1, arena, out, err);
    if (root->type != ECO_JSON_ARRAY)
        return eco_err_set(err, ECO_E_CONTENT, "file", "a llama-bench file is a list of tests");
    for (const struct eco_json *o = root->child; rc == 0 && o; o = o->next)
        rc = read_test(o, ++row, arena, out, err);
    return rc;
}
