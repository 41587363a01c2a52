/* A Hugging Face folder: config.json, model.safetensors or the shards of its index, mapped. */
#include "file_tensors.h"

#include "base/file.h"
#include "base/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HF_LAYER "model.layers.%d."
#define HF_COMMON                                                                                  \
    [ECO_ROLE_EMBED] = "model.embed_tokens.weight", [ECO_ROLE_HEAD] = "lm_head.weight",            \
    [ECO_ROLE_OUT_NORM] = "model.norm.weight", [ECO_ROLE_Q] = HF_LAYER "self_attn.q_proj.weight",  \
    [ECO_ROLE_K] = HF_LAYER "self_attn.k_proj.weight",                                             \
    [ECO_ROLE_V] = HF_LAYER "self_attn.v_proj.weight",                                             \
    [ECO_ROLE_O] = HF_LAYER "self_attn.o_proj.weight",                                             \
    [ECO_ROLE_GATE] = HF_LAYER "mlp.gate_proj.weight",                                             \
    [ECO_ROLE_UP] = HF_LAYER "mlp.up_proj.weight",                                                 \
    [ECO_ROLE_DOWN] = HF_LAYER "mlp.down_proj.weight",                                             \
    [ECO_ROLE_ATTN_NORM] = HF_LAYER "input_layernorm.weight",                                      \
    [ECO_ROLE_Q_BIAS] = HF_LAYER "self_attn.q_proj.bias",                                          \
    [ECO_ROLE_K_BIAS] = HF_LAYER "self_attn.k_proj.bias",                                          \
    [ECO_ROLE_V_BIAS] = HF_LAYER "self_attn.v_proj.bias",                                          \
    [ECO_ROLE_O_BIAS] = HF_LAYER "self_attn.o_proj.bias",                                          \
    [ECO_ROLE_Q_NORM] = HF_LAYER "self_attn.q_norm.weight",                                        \
    [ECO_ROLE_K_NORM] = HF_LAYER "self_attn.k_norm.weight"

const struct eco_names eco_engine_hf_names = {
    .role = {HF_COMMON, [ECO_ROLE_FFN_NORM] = HF_LAYER "post_attention_layernorm.weight"},
    .qkv = HF_LAYER "self_attn.qkv_proj.weight",
    .qkv_bias = HF_LAYER "self_attn.qkv_proj.bias",
    .gate_up = HF_LAYER "mlp.gate_up_proj.weight",
};

const struct eco_names eco_engine_hf_names_gemma2 = {
    .role = {HF_COMMON, [ECO_ROLE_FFN_NORM] = HF_LAYER "pre_feedforward_layernorm.weight",
             [ECO_ROLE_POST_ATTN_NORM] = HF_LAYER "post_attention_layernorm.weight",
             [ECO_ROLE_POST_FFN_NORM] = HF_LAYER "post_feedforward_layernorm.weight"},
};

static int bad(const char *file, const char *tensor, const char *what, struct eco_err *err)
{
    return eco_err_set(err, ECO_E_CONTENT, file, "tensor '%.80s': %s", tensor, what);
}

static bool whole(const struct eco_json *v, uint64_t *out)
{
    if (!v || v->type != ECO_JSON_NUMBER || !v->is_integer || v->i64 < 0) {
        return false;
    }
    *out = (uint64_t)v->i64;
    return true;
}

/* Rows and columns of a list of one or two extents. */
static bool extents(const struct eco_json *shape, struct eco_file_tensor *t)
{
    uint64_t d[2] = {1, 1};
    if (!shape || shape->type != ECO_JSON_ARRAY || shape->count < 1 || shape->count > 2) {
        return false;
    }
    const struct eco_json *v = shape->child;
    for (uint32_t i = 2 - shape->count; i < 2; i++, v = v->next) {
        if (!whole(v, &d[i]) || d[i] == 0 || d[i] > 1u << 30) {
            return false;
        }
    }
    t->rows = d[0];
    t->cols = d[1];
    return true;
}

static bool float_format(const struct eco_json *dtype, enum eco_format *out)
{
    static const struct {
        const char *name;
        enum eco_format format;
    } known[] = {{"F32", ECO_FORMAT_F32}, {"F16", ECO_FORMAT_F16}, {"BF16", ECO_FORMAT_BF16}};
    for (size_t i = 0; i < 3 && dtype && dtype->type == ECO_JSON_STRING; i++) {
        if (strcmp(dtype->str, known[i].name) == 0) {
            *out = known[i].format;
            return true;
        }
    }
    return false;
}

/* Tensors that the engine cannot use (masks, other dtypes) are known by name only. */
static int add_unread(struct eco_file_tensors *f, const struct eco_json *entry, struct eco_err *err)
{
    const struct eco_json *dtype = eco_json_get(entry, "dtype");
    const char *name = dtype && dtype->type == ECO_JSON_STRING ? dtype->str : "unknown";
    struct eco_file_tensor t = {.name = entry->key};
    t.unread = eco_arena_strdup(eco_engine_files_arena(f), name, strlen(name));
    return t.unread ? eco_engine_files_add(f, &t, err)
                    : eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
}

static int add_tensor(struct eco_file_tensors *f, const char *file, const struct eco_json *entry,
                      const unsigned char *data, uint64_t data_bytes, struct eco_err *err)
{
    struct eco_file_tensor t = {.name = entry->key};
    uint64_t begin = 0, end = 0;
    const struct eco_json *at = eco_json_get(entry, "data_offsets");
    if (!float_format(eco_json_get(entry, "dtype"), &t.format) ||
        !extents(eco_json_get(entry, "shape"), &t)) {
        return add_unread(f, entry, err);
    }
    if (!at || at->type != ECO_JSON_ARRAY || at->count != 2 || !whole(at->child, &begin) ||
        !whole(at->child->next, &end) || begin > end || end > data_bytes) {
        return bad(file, entry->key, "its bytes do not lie in the file", err);
    }
    t.bytes = t.rows * t.cols * (t.format == ECO_FORMAT_F32 ? 4 : 2);
    if (end - begin != t.bytes) {
        return bad(file, entry->key, "its bytes do not fit its shape", err);
    }
    t.data = data + begin;
    return eco_engine_files_add(f, &t, err);
}

static int add_file(struct eco_file_tensors *f, const char *path, struct eco_err *err)
{
    struct eco_mapped m;
    struct eco_json_doc doc;
    uint64_t head = 0;
    int rc = eco_engine_files_map(f, path, &m, err);
    if (rc) {
        return rc;
    }
    for (int i = 7; i >= 0 && m.bytes >= 8; i--) {
        head = head << 8 | m.data[i];
    }
    if (m.bytes < 8 || head > ECO_MODEL_MAX_ST_HEADER || head > m.bytes - 8) {
        return eco_err_set(err, ECO_E_CONTENT, path, "'%.160s' is no safetensors file", path);
    }
    rc = eco_json_parse(&doc, (const char *)m.data + 8, (size_t)head, err);
    if (rc) {
        return rc;
    }
    const struct eco_json *v = doc.root->type == ECO_JSON_OBJECT ? doc.root->child : NULL;
    for (; v && rc == 0; v = v->next) {
        if (v->type == ECO_JSON_OBJECT && strcmp(v->key, "__metadata__") != 0) {
            rc = add_tensor(f, path, v, m.data + 8 + head, m.bytes - 8 - head, err);
        }
    }
    eco_json_done(&doc);
    return rc;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The shards that the index names, each once. */
static int add_shards(struct eco_file_tensors *f, const char *folder, const struct eco_json *map,
                      struct eco_err *err)
{
    struct eco_arena *arena = eco_engine_files_arena(f);
    const char **names = map && map->type == ECO_JSON_OBJECT
                             ? eco_arena_array(arena, (size_t)map->count + 1, sizeof(*names))
                             : NULL;
    size_t n = 0;
    int rc = 0;
    for (const struct eco_json *v = names ? map->child : NULL; v; v = v->next) {
        if (v->type != ECO_JSON_STRING || strchr(v->str, '/') || strlen(v->str) != v->len) {
            return eco_err_set(err, ECO_E_CONTENT, "model.safetensors.index.json",
                               "a shard's name is no file name");
        }
        names[n++] = v->str;
    }
    if (n == 0) {
        return eco_err_set(err, ECO_E_CONTENT, "model.safetensors.index.json", "no weight_map");
    }
    qsort(names, n, sizeof(*names), by_text);
    for (size_t i = 0; i < n && rc == 0; i++) {
        if (i == 0 || strcmp(names[i], names[i - 1]) != 0) {
            const char *path = eco_arena_printf(arena, "%s/%s", folder, names[i]);
            rc = path ? add_file(f, path, err) : ECO_E_NO_MEMORY;
        }
    }
    return rc;
}

static int add_tensors(struct eco_file_tensors *f, const char *folder, struct eco_err *err)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/model.safetensors", folder);
    if (eco_file_exists(path)) {
        return add_file(f, path, err);
    }
    struct eco_buf text = ECO_BUF_INIT;
    struct eco_json_doc doc;
    snprintf(path, sizeof(path), "%s/model.safetensors.index.json", folder);
    if (!eco_file_exists(path)) {
        return eco_err_set(err, ECO_E_NOT_FOUND, folder,
                           "no weights in '%.160s': neither model.safetensors nor its index",
                           folder);
    }
    int rc = eco_file_read(path, ECO_MODEL_MAX_INDEX, &text, err);
    rc = rc ? rc : eco_json_parse(&doc, eco_buf_str(&text), text.len, err);
    if (rc == 0) {
        rc = add_shards(f, folder, eco_json_get(doc.root, "weight_map"), err);
        eco_json_done(&doc);
    }
    eco_buf_done(&text);
    return rc;
}

static int read_config(const char *folder, struct eco_shape *shape, struct eco_err *err)
{
    char path[4096];
    struct eco_buf text = ECO_BUF_INIT;
    struct eco_json_doc doc;
    snprintf(path, sizeof(path), "%s/config.json", folder);
    int rc = eco_file_read(path, ECO_MODEL_MAX_CONFIG, &text, err);
    rc = rc ? rc : eco_json_parse(&doc, eco_buf_str(&text), text.len, err);
    if (rc == 0) {
        rc = eco_engine_shape_from_config("config.json", doc.root, shape, err);
        eco_json_done(&doc);
    }
    eco_buf_done(&text);
    return rc;
}

int eco_engine_open_folder(const char *path, struct eco_shape *shape,
                           struct eco_file_tensors **files, struct eco_err *err)
{
    struct eco_file_tensors *f = NULL;
    int rc = read_config(path, shape, err);
    rc = rc ? rc : eco_engine_files_new(&f, err);
    rc = rc ? rc : add_tensors(f, path, err);
    rc = rc ? rc : eco_engine_files_sort(f, path, err);
    if (rc) {
        eco_engine_files_free(f);
        return rc;
    }
    *files = f;
    return 0;
}
