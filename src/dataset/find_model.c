/* Models and regions by the names people use. */
#include "dataset/names.h"
#include "eco_data.h"

#include <string.h>

/* Endings and beginnings that name a variant of one shape, tried away one after the other. */
static const char *const model_endings[] = {"instruct", "chathf", "chat", "base", "hf",   "it",
                                            "2407",     "2410",   "2501", "2507", "v0.1", "v1.0"};
static const char *const model_beginnings[] = {"meta"};

static const char *last_part(const char *name, size_t *len)
{
    for (size_t i = *len; i > 0; i--) {
        if (name[i - 1] == '/') {
            const char *part = name + i;
            *len -= i;
            return part;
        }
    }
    return name;
}

static enum eco_match_kind match_model(size_t i, const char *key, size_t n)
{
    const struct eco_models_extra *x = &eco_data_models_extra[i];
    const char *name = eco_data_models[i].name;
    size_t len = strlen(name);

    if (eco_name_is(key, n, true, last_part(name, &len)) ||
        eco_name_is(key, n, true, x->short_name))
        return ECO_MATCH_EXACT;
    return eco_name_in(key, n, x->aliases) ? ECO_MATCH_ALIAS : ECO_MATCH_NONE;
}

static enum eco_match_kind search_models(const char *key, size_t n, size_t *index)
{
    enum eco_match_kind best = ECO_MATCH_NONE;

    for (size_t i = 0; i < eco_data_models_count; i++) {
        enum eco_match_kind kind = match_model(i, key, n);

        if (kind != ECO_MATCH_NONE && (best == ECO_MATCH_NONE || kind < best)) {
            best = kind;
            *index = i;
        }
    }
    return best;
}

/* Takes one known ending or beginning off key; false when there is none. */
static bool shorten(char *key, size_t *n)
{
    for (size_t i = 0; i < sizeof model_endings / sizeof model_endings[0]; i++) {
        size_t e = strlen(model_endings[i]);
        if (*n > e + 2 && memcmp(key + *n - e, model_endings[i], e) == 0) {
            *n -= e;
            key[*n] = '\0';
            return true;
        }
    }
    for (size_t i = 0; i < sizeof model_beginnings / sizeof model_beginnings[0]; i++) {
        size_t b = strlen(model_beginnings[i]);
        if (*n > b + 2 && memcmp(key, model_beginnings[i], b) == 0) {
            *n -= b;
            memmove(key, key + b, *n + 1);
            return true;
        }
    }
    return false;
}

int eco_dataset_match_model(const char *name, size_t len, struct eco_match *out,
                            struct eco_err *err)
{
    struct eco_match m = {0};
    struct eco_nearest near = {0};
    char full[ECO_NAME_MAX], key[ECO_NAME_MAX], hint[160];
    size_t part_len = len, n;
    const char *part = last_part(name, &part_len);

    near.len = eco_name_key(part, part_len, true, full);
    near.key = full;
    memcpy(key, full, sizeof key);
    n = near.len;
    do {
        m.kind = search_models(key, n, &m.index);
    } while (m.kind == ECO_MATCH_NONE && shorten(key, &n));
    if (m.kind != ECO_MATCH_NONE) {
        *out = m;
        return 0;
    }
    for (size_t i = 0; i < eco_data_models_count; i++)
        eco_nearest_try(&near, eco_data_models_extra[i].short_name,
                        eco_data_models_extra[i].short_name);
    eco_nearest_text(&near, hint, sizeof hint);
    return eco_err_set(err, ECO_E_UNKNOWN_NAME, "model", "unknown model '%.*s'%s",
                       len < 60 ? (int)len : 60, name, hint);
}

int eco_dataset_find_model(const char *name, size_t len, const struct eco_model **out,
                           struct eco_err *err)
{
    struct eco_match m;
    int rc = eco_dataset_match_model(name, len, &m, err);

    if (rc == 0)
        *out = &eco_data_models[m.index];
    return rc;
}

int eco_dataset_find_region(const char *name, size_t len, const struct eco_region **out,
                            struct eco_err *err)
{
    struct eco_nearest near = {0};
    char key[ECO_NAME_MAX], hint[160];

    for (size_t i = 0; i < eco_data_grid_count; i++) { /* mostly it is written as here */
        const char *known = eco_data_grid[i].name;

        if (len > 0 && known[0] == name[0] && strlen(known) == len &&
            memcmp(known, name, len) == 0) {
            *out = &eco_data_grid[i];
            return 0;
        }
    }
    near.key = key;
    near.len = eco_name_key(name, len, false, key);
    for (size_t i = 0; i < eco_data_grid_count; i++) {
        const struct eco_region *r = &eco_data_grid[i];

        if (eco_name_is(key, near.len, false, r->code) ||
            eco_name_is(key, near.len, false, r->name) || eco_name_in(key, near.len, r->aliases)) {
            *out = r;
            return 0;
        }
    }
    for (size_t i = 0; i < eco_data_grid_count; i++)
        eco_nearest_try(&near, eco_data_grid[i].name, eco_data_grid[i].name);
    eco_nearest_text(&near, hint, sizeof hint);
    return eco_err_set(err, ECO_E_UNKNOWN_NAME, "region", "unknown region '%.*s'%s",
                       len < 60 ? (int)len : 60, name, hint);
}
