/* Which files of a model hold its tokenizer, and what they say about beginnings and ends. */
#include "base/file.h"
#include "base/json.h"
#include "file_tensors.h"
#include "tok_inside.h"

#include <stdio.h>
#include <string.h>

#define MAX_PATH 4096
#define MAX_SIDE_FILE (16u << 20)

static bool ends_in(const char *path, const char *end)
{
    size_t n = strlen(path), m = strlen(end);
    return n >= m && eco_str_ieq(path + n - m, m, end);
}

static int open_gguf(const char *path, struct eco_tokenizer **out, struct eco_err *err)
{
    struct eco_file_tensors *files = NULL;
    struct eco_mapped m;
    int rc = eco_engine_files_new(&files, err);
    rc = rc ? rc : eco_engine_files_map(files, path, &m, err);
    rc = rc ? rc : eco_tokenizer_from_gguf(path, m.data, m.bytes, out, err);
    eco_engine_files_free(files);
    return rc;
}

static int open_file(const char *path, struct eco_tokenizer **out, struct eco_err *err)
{
    if (ends_in(path, ".gguf")) {
        return open_gguf(path, out, err);
    }
    struct eco_buf text = ECO_BUF_INIT;
    int rc = eco_file_read(path, ECO_TOK_MAX_FILE, &text, err);
    if (rc == 0) {
        rc = ends_in(path, ".json")
                 ? eco_tokenizer_from_json(path, eco_buf_str(&text), text.len, out, err)
                 : eco_tokenizer_from_spm(path, eco_buf_str(&text), text.len, out, err);
    }
    eco_buf_done(&text);
    return rc;
}

/* A JSON file beside the model; false when it is not there or is none. */
static bool side_file(const char *folder, const char *name, struct eco_json_doc *doc)
{
    char path[MAX_PATH];
    struct eco_buf text = ECO_BUF_INIT;
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    bool ok = eco_file_exists(path) && eco_file_read(path, MAX_SIDE_FILE, &text, NULL) == 0 &&
              eco_json_parse(doc, eco_buf_str(&text), text.len, NULL) == 0;
    eco_buf_done(&text);
    return ok;
}

static void add_stops(struct eco_tokenizer *t, const struct eco_json *v)
{
    if (v && v->type == ECO_JSON_NUMBER && v->is_integer && v->i64 >= 0 && v->i64 < t->n) {
        eco_tokenizer_add_stop(t, (int)v->i64);
    } else if (v && v->type == ECO_JSON_ARRAY) {
        for (const struct eco_json *x = v->child; x; x = x->next) {
            if (x->type == ECO_JSON_NUMBER && x->is_integer && x->i64 >= 0 && x->i64 < t->n) {
                eco_tokenizer_add_stop(t, (int)x->i64);
            }
        }
    }
}

/* "<s>", or an added token's object with its content */
static int named(const struct eco_tokenizer *t, const struct eco_json *v)
{
    v = v && v->type == ECO_JSON_OBJECT ? eco_json_get(v, "content") : v;
    return v && v->type == ECO_JSON_STRING ? eco_tokenizer_find(t, v->str, v->len) : -1;
}

static void read_side_files(struct eco_tokenizer *t, const char *folder, bool json)
{
    static const char *const stops[] = {"generation_config.json", "config.json"};
    struct eco_json_doc doc;
    for (size_t i = 0; i < 2; i++) {
        if (side_file(folder, stops[i], &doc)) {
            add_stops(t, eco_json_get(doc.root, "eos_token_id"));
            eco_json_done(&doc);
        }
    }
    if (!side_file(folder, "tokenizer_config.json", &doc)) {
        return;
    }
    eco_tokenizer_add_stop(t, named(t, eco_json_get(doc.root, "eos_token")));
    const struct eco_json *bos = eco_json_get(doc.root, "add_bos_token");
    const struct eco_json *eos = eco_json_get(doc.root, "add_eos_token");
    if (!json && bos && bos->type == ECO_JSON_FALSE) { /* tokenizer.json says it itself */
        t->n_first = 0;
    }
    int id = named(t, eco_json_get(doc.root, "eos_token"));
    if (!json && eos && eos->type == ECO_JSON_TRUE && id >= 0) {
        t->last[0] = id;
        t->n_last = 1;
    }
    eco_json_done(&doc);
}

static int open_folder(const char *folder, struct eco_tokenizer **out, struct eco_err *err)
{
    static const char *const names[] = {"tokenizer.json", "tokenizer.model"};
    char path[MAX_PATH];
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        if (eco_file_exists(path)) {
            int rc = open_file(path, out, err);
            if (rc == 0) {
                read_side_files(*out, folder, i == 0);
            }
            return rc;
        }
    }
    return eco_err_set(err, ECO_E_NOT_FOUND, "model",
                       "'%.120s' has no tokenizer.json and no tokenizer.model: give --ids", folder);
}

int eco_tokenizer_open(const char *path, struct eco_tokenizer **out, struct eco_err *err)
{
    return eco_file_is_dir(path) ? open_folder(path, out, err) : open_file(path, out, err);
}
