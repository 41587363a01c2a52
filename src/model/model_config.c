/* config.json as numbers. Any type but the right one is an error with line and column. */
#include "model_config.h"

#include "base/buf.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum kind { KIND_INT, KIND_BOOL };

struct key {
    const char *names; /* separated by blanks */
    size_t offset;
    enum kind kind;
    int64_t lo, hi;
};

static const struct key keys[] = {
#define X(field, names, lo, hi) {names, offsetof(struct eco_config, field), KIND_INT, lo, hi},
    ECO_CONFIG_INTS(X)
#undef X
#define X(field, names) {names, offsetof(struct eco_config, field), KIND_BOOL, 0, 1},
        ECO_CONFIG_BOOLS(X)
#undef X
};

struct reader {
    const char *file;
    struct eco_err *err;
};

static int wrong(const struct reader *r, const struct eco_json *v, const char *wanted)
{
    return eco_err_set_at(r->err, ECO_E_CONTENT, r->file, v->line, v->column,
                          "'%.80s' line %ld column %ld: '%.60s' must be %s", r->file, v->line,
                          v->column, v->key ? v->key : "", wanted);
}

/** The first of `names` that is there and not null. */
static const struct eco_json *first_of(const struct eco_json *object, const char *names)
{
    char name[64];
    while (*names) {
        size_t n = strcspn(names, " ");
        if (n < sizeof name) {
            memcpy(name, names, n);
            name[n] = '\0';
            const struct eco_json *v = eco_json_get(object, name);
            if (v != NULL && v->type != ECO_JSON_NULL) {
                return v;
            }
        }
        names += n + (names[n] == ' ');
    }
    return NULL;
}

static int read_key(const struct reader *r, const struct eco_json *object, const struct key *k,
                    struct eco_config *c)
{
    const struct eco_json *v = first_of(object, k->names);
    unsigned char *field = (unsigned char *)c + k->offset;
    if (v == NULL) {
        return 0;
    }
    if (k->kind == KIND_BOOL) {
        signed char b = v->type == ECO_JSON_TRUE;
        if (v->type != ECO_JSON_TRUE && v->type != ECO_JSON_FALSE) {
            return wrong(r, v, "true or false");
        }
        memcpy(field, &b, sizeof b);
        return 0;
    }
    if (v->type != ECO_JSON_NUMBER || !v->is_integer || v->i64 < k->lo || v->i64 > k->hi) {
        char wanted[80];
        snprintf(wanted, sizeof wanted, "a whole number from %lld to %lld", (long long)k->lo,
                 (long long)k->hi);
        return wrong(r, v, wanted);
    }
    int i = (int)v->i64;
    memcpy(field, &i, sizeof i);
    return 0;
}

static bool is_windowed(const struct eco_json *v)
{
    return v->type == ECO_JSON_STRING && v->len >= 7 && memcmp(v->str, "sliding", 7) == 0;
}

/** Lists whose length counts: layer_types, mlp_only_layers. */
static int read_lists(const struct reader *r, const struct eco_json *object, struct eco_config *c)
{
    const struct eco_json *types = first_of(object, "layer_types");
    if (types != NULL) {
        if (types->type != ECO_JSON_ARRAY) {
            return wrong(r, types, "a list");
        }
        c->layer_types = (int)types->count;
        c->window_types = 0;
        for (const struct eco_json *v = types->child; v != NULL; v = v->next) {
            c->window_types += is_windowed(v);
        }
        if (c->layers > 0 && c->layer_types != c->layers) {
            return wrong(r, types, "as long as the model has layers");
        }
    }
    const struct eco_json *dense = first_of(object, "mlp_only_layers");
    if (dense != NULL) {
        if (dense->type != ECO_JSON_ARRAY || dense->count > 4096) {
            return wrong(r, dense, "a list of layers");
        }
        c->dense_list = (int)dense->count;
    }
    /* null says that there is no window; leaving it out means the family's own */
    const struct eco_json *window = eco_json_get(object, "sliding_window");
    if (window != NULL && window->type == ECO_JSON_NULL) {
        c->window = 0;
    }
    return 0;
}

static int read_vision(const struct reader *r, const struct eco_json *root, struct eco_config *c)
{
    static const struct {
        const char *names;
        int standard; /* of SigLIP in Gemma 3 */
        size_t offset;
        int64_t hi;
    } fields[] = {
        {"hidden_size", 1152, offsetof(struct eco_vision, hidden), 1 << 16},
        {"num_hidden_layers", 27, offsetof(struct eco_vision, layers), 1024},
        {"intermediate_size", 4304, offsetof(struct eco_vision, intermediate), 1 << 20},
        {"patch_size", 14, offsetof(struct eco_vision, patch), 1024},
        {"image_size", 896, offsetof(struct eco_vision, image), 1 << 14},
        {"num_channels", 3, offsetof(struct eco_vision, channels), 64},
    };
    const struct eco_json *vision = first_of(root, "vision_config");
    if (vision == NULL || vision->type != ECO_JSON_OBJECT) {
        return 0;
    }
    c->has_vision = true;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        const struct eco_json *v = first_of(vision, fields[i].names);
        int64_t n = v != NULL && v->is_integer ? v->i64 : fields[i].standard;
        if (n < 1 || n > fields[i].hi) {
            return wrong(r, v, "a whole number in range");
        }
        int value = (int)n;
        memcpy((unsigned char *)&c->vision + fields[i].offset, &value, sizeof value);
    }
    return 0;
}

/** model_type, else the class name of "architectures" ("LlamaForCausalLM"), in small letters. */
static void read_type(const struct eco_json *root, const struct eco_json *text,
                      struct eco_config *c)
{
    const struct eco_json *v = first_of(text, "model_type");
    if (v == NULL) {
        v = first_of(root, "model_type");
    }
    if (v == NULL) {
        const struct eco_json *list = first_of(root, "architectures");
        v = list != NULL && list->type == ECO_JSON_ARRAY ? list->child : NULL;
    }
    if (v == NULL || v->type != ECO_JSON_STRING) {
        return;
    }
    size_t n = strlen(v->str); /* an embedded NUL ends the name */
    const char *tail = strstr(v->str, "For");
    if (tail != NULL && tail != v->str) {
        n = (size_t)(tail - v->str);
    }
    n = n < sizeof c->type - 1 ? n : sizeof c->type - 1;
    for (size_t i = 0; i < n; i++) {
        char a = v->str[i];
        c->type[i] = (char)(a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a);
    }
    c->type[n] = '\0';
}

static void clear(struct eco_config *c)
{
    memset(c, 0, sizeof *c);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        unsigned char *field = (unsigned char *)c + keys[i].offset;
        if (keys[i].kind == KIND_INT) {
            memcpy(field, &(int){-1}, sizeof(int));
        } else {
            memcpy(field, &(signed char){-1}, 1);
        }
    }
    c->layer_types = c->window_types = -1;
}

static int read_all(const struct reader *r, const struct eco_json *root, struct eco_config *c)
{
    if (root->type != ECO_JSON_OBJECT) {
        return wrong(r, root, "an object");
    }
    const struct eco_json *text = eco_json_get(root, "text_config");
    c->multimodal = text != NULL && text->type == ECO_JSON_OBJECT;
    if (!c->multimodal) {
        text = root;
    }
    read_type(root, text, c);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        int rc = read_key(r, text, &keys[i], c);
        if (rc) {
            return rc;
        }
    }
    const struct eco_json *tied = eco_json_get(root, "tie_word_embeddings");
    if (c->tied < 0 && tied != NULL && tied->type == ECO_JSON_TRUE) {
        c->tied = 1;
    }
    const struct eco_json *name = eco_json_get(root, "_name_or_path");
    if (name != NULL && name->type == ECO_JSON_STRING) {
        snprintf(c->name, sizeof c->name, "%.127s", name->str);
    }
    eco_config_precision(root, text, c);
    int rc = read_lists(r, text, c);
    return rc ? rc : read_vision(r, root, c);
}

int eco_config_parse(const char *file, const char *text, size_t len, struct eco_config *out,
                     struct eco_err *err)
{
    struct reader r = {file, err};
    struct eco_config c;
    struct eco_json_doc doc;
    if (len > ECO_MODEL_MAX_CONFIG) {
        return eco_err_set(err, ECO_E_TOO_LARGE, file, "'%.100s' has %zu bytes; at most %u", file,
                           len, ECO_MODEL_MAX_CONFIG);
    }
    struct eco_err inner = {0};
    int rc = eco_json_parse(&doc, text, len, &inner);
    if (rc) {
        return eco_err_set_at(err, rc, file, inner.line, inner.column,
                              "'%.80s' is not json: %.150s", file, inner.message);
    }
    clear(&c);
    rc = read_all(&r, doc.root, &c);
    eco_json_done(&doc);
    if (rc) {
        return rc;
    }
    c.family = eco_family_find(c.type);
    if (c.family != NULL && c.family->defaults != NULL) {
        c.family->defaults(&c);
    }
    *out = c;
    return 0;
}

int eco_model_from_config(const char *file, const char *name, const char *text, size_t len,
                          struct eco_model *out, struct eco_model_info *info, struct eco_err *err)
{
    struct eco_config c;
    struct eco_model m;
    struct eco_model_info counted;
    memset(&m, 0, sizeof m);
    memset(&counted, 0, sizeof counted);
    int rc = eco_config_parse(file, text, len, &c, err);
    if (rc == 0) {
        rc = eco_config_shape(file, &c, &m, err);
    }
    if (rc == 0) {
        rc = eco_config_count(file, &c, &m, &counted, err);
    }
    if (rc) {
        return rc;
    }
    eco_model_set_name(&m, name != NULL ? name : c.name[0] ? c.name : file);
    m.source = "config.json";
    m.shape_basis = ECO_BASIS_COMPUTED;
    counted.files = 1;
    *out = m;
    if (info != NULL) {
        *info = counted;
    }
    return 0;
}
