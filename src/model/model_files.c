#define _XOPEN_SOURCE 700 /* realpath */

/* The half of the module that reads from disk: headers only, regular files only. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "dataset/dataset.h"
#include "model.h"
#include "tensors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 4096
#define GGUF_FIRST ((size_t)1 << 20) /* doubled until the header is whole */

/** An open regular file. */
struct source {
    int fd;
    uint64_t bytes;
};

static int system_error(const char *path, int number, struct eco_err *err)
{
    char reason[96];
    int code = number == ENOENT || number == ENOTDIR ? ECO_E_NOT_FOUND
               : number == EACCES || number == EPERM ? ECO_E_PERMISSION
                                                     : ECO_E_IO;
    if (strerror_r(number, reason, sizeof reason) != 0) {
        snprintf(reason, sizeof reason, "error %d", number);
    }
    return eco_err_set(err, code, path, "cannot read '%.140s': %s", path, reason);
}

/** O_NONBLOCK: opening a FIFO must not wait for a writer. */
static int open_source(const char *path, struct source *s, struct eco_err *err)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        return system_error(path, errno, err);
    }
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return eco_err_set(err, ECO_E_INVALID, path, "'%.150s' is no regular file", path);
    }
    s->fd = fd;
    s->bytes = (uint64_t)st.st_size;
    return 0;
}

/** Up to `want` bytes from the start into *out (owned by caller); *got may be less at the end. */
static int read_head(const char *path, const struct source *s, size_t want, unsigned char **out,
                     size_t *got, struct eco_err *err)
{
    size_t n = 0;
    want = want > s->bytes ? (size_t)s->bytes : want;
    unsigned char *p = malloc(want > 0 ? want : 1);
    if (p == NULL) {
        return eco_err_set(err, ECO_E_NO_MEMORY, path, "out of memory for '%.120s'", path);
    }
    while (n < want) {
        ssize_t r = pread(s->fd, p + n, want - n, (off_t)n);
        if (r < 0 && errno == EINTR) {
            continue;
        }
        if (r < 0) {
            int number = errno;
            free(p);
            return system_error(path, number, err);
        }
        if (r == 0) {
            break; /* it shrank meanwhile */
        }
        n += (size_t)r;
    }
    *out = p;
    *got = n;
    return 0;
}

/** The whole of a small file. */
static int read_small(const char *path, size_t limit, unsigned char **out, size_t *len,
                      struct eco_err *err)
{
    struct source s = {-1, 0};
    int rc = open_source(path, &s, err);
    if (rc) {
        return rc;
    }
    if (s.bytes > limit) {
        rc = eco_err_set(err, ECO_E_TOO_LARGE, path, "'%.120s' has %llu bytes; at most %zu", path,
                         (unsigned long long)s.bytes, limit);
    } else {
        rc = read_head(path, &s, limit, out, len, err);
    }
    close(s.fd);
    return rc;
}

/** folder + '/' + name; false when it does not fit. */
static bool join(char out[PATH_BYTES], const char *folder, const char *name)
{
    int n = snprintf(out, PATH_BYTES, "%s/%s", folder, name);
    return n > 0 && n < PATH_BYTES;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static bool is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int read_config(const char *path, struct eco_config *c, struct eco_err *err)
{
    unsigned char *text = NULL;
    size_t len = 0;
    int rc = read_small(path, ECO_MODEL_MAX_CONFIG, &text, &len, err);
    if (rc == 0) {
        rc = eco_config_parse(path, (const char *)text, len, c, err);
    }
    free(text);
    return rc;
}

static int add_safetensors(const char *path, const struct eco_tensor_filter *filter,
                           struct eco_tally *t, struct eco_err *err)
{
    struct source s = {-1, 0};
    unsigned char *bytes = NULL;
    size_t got = 0, head = 8;
    int rc = open_source(path, &s, err);
    if (rc) {
        return rc;
    }
    rc = read_head(path, &s, 8, &bytes, &got, err);
    if (rc == 0 && got == 8) {
        rc = eco_safetensors_header(path, bytes, s.bytes, &head, err);
        free(bytes);
        bytes = NULL;
        if (rc == 0) {
            rc = read_head(path, &s, head, &bytes, &got, err);
        }
    }
    if (rc == 0) {
        rc = eco_safetensors_read(path, bytes, got, s.bytes, filter, t, err);
    }
    free(bytes);
    close(s.fd);
    return rc;
}

/* --- sharded checkpoints ------------------------------------------------------------------ */

struct index {
    const struct eco_json **entries; /* of weight_map, sorted by tensor name */
    size_t n;
    const char *shard; /* the one being read */
    size_t seen;
};

static int by_key(const void *a, const void *b)
{
    const struct eco_json *const *x = a, *const *y = b;
    return strcmp((*x)->key, (*y)->key);
}

static int by_shard(const void *a, const void *b)
{
    const struct eco_json *const *x = a, *const *y = b;
    return strcmp((*x)->str, (*y)->str);
}

/** A tensor counts where the index says that it lies; what else a shard holds does not. */
static bool listed_here(void *ctx, const char *name)
{
    struct index *ix = ctx;
    size_t lo = 0, hi = ix->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        int d = strcmp(name, ix->entries[mid]->key);
        if (d == 0) {
            bool here = strcmp(ix->entries[mid]->str, ix->shard) == 0;
            ix->seen += here;
            return here;
        }
        if (d < 0) {
            hi = mid;
        } else {
            lo = mid + 1;
        }
    }
    return false;
}

/** A plain file name that ends in .safetensors: an index must not reach out of its folder. */
static bool plain_name(const struct eco_json *v)
{
    static const char tail[] = ".safetensors";
    return v->type == ECO_JSON_STRING && v->len == strlen(v->str) && v->len > sizeof tail &&
           v->len < 256 && v->str[0] != '.' && strpbrk(v->str, "/\\") == NULL &&
           strcmp(v->str + v->len - (sizeof tail - 1), tail) == 0;
}

static int read_index(const char *path, const struct eco_json_doc *doc, struct eco_arena *arena,
                      struct index *ix, struct eco_err *err)
{
    const struct eco_json *map = eco_json_get(doc->root, "weight_map");
    if (map == NULL || map->type != ECO_JSON_OBJECT || map->count == 0) {
        return eco_err_set(err, ECO_E_CONTENT, path, "'%.140s' has no 'weight_map'", path);
    }
    ix->entries = eco_arena_array(arena, map->count, sizeof *ix->entries);
    if (ix->entries == NULL) {
        return eco_err_set(err, ECO_E_NO_MEMORY, path, "out of memory");
    }
    for (const struct eco_json *v = map->child; v != NULL; v = v->next) {
        if (!plain_name(v)) {
            return eco_err_set_at(err, ECO_E_CONTENT, path, v->line, v->column,
                                  "'%.80s' line %ld column %ld: the shard of '%.60s' must be a "
                                  ".safetensors file in this folder",
                                  path, v->line, v->column, v->key);
        }
        ix->entries[ix->n++] = v;
    }
    return 0;
}

static int add_shards(const char *folder, struct index *ix, struct eco_arena *arena,
                      struct eco_tally *t, struct eco_err *err)
{
    char path[PATH_BYTES];
    const struct eco_json **shards = eco_arena_array(arena, ix->n, sizeof *shards);
    const struct eco_tensor_filter filter = {listed_here, ix};
    size_t files = 0;
    if (shards == NULL) {
        return eco_err_set(err, ECO_E_NO_MEMORY, folder, "out of memory");
    }
    memcpy(shards, ix->entries, ix->n * sizeof *shards);
    qsort(shards, ix->n, sizeof *shards, by_shard);
    qsort(ix->entries, ix->n, sizeof *ix->entries, by_key);
    for (size_t i = 0; i < ix->n; i++) {
        if (i > 0 && strcmp(shards[i]->str, shards[i - 1]->str) == 0) {
            continue;
        }
        if (++files > ECO_MODEL_MAX_SHARDS || !join(path, folder, shards[i]->str)) {
            return eco_err_set(err, ECO_E_TOO_LARGE, folder, "'%.140s' has more than %d shards",
                               folder, ECO_MODEL_MAX_SHARDS);
        }
        ix->shard = shards[i]->str;
        int rc = add_safetensors(path, &filter, t, err);
        if (rc) {
            return rc;
        }
    }
    if (ix->seen != ix->n) {
        return eco_err_set(err, ECO_E_CONTENT, folder,
                           "'%.100s': the index lists %zu tensors, the shards have %zu of them",
                           folder, ix->n, ix->seen);
    }
    return 0;
}

static int add_index(const char *folder, const char *path, struct eco_tally *t, struct eco_err *err)
{
    unsigned char *text = NULL;
    size_t len = 0;
    struct eco_json_doc doc = {{0}, NULL};
    struct eco_arena arena;
    struct index ix = {0};
    struct eco_err inner = {0};
    eco_arena_init(&arena, 0);
    int rc = read_small(path, ECO_MODEL_MAX_INDEX, &text, &len, err);
    if (rc == 0) {
        rc = eco_json_reparse(&doc, (const char *)text, len, &inner);
        if (rc) {
            eco_err_set_at(err, rc, path, inner.line, inner.column, "'%.80s' is not json: %.120s",
                           path, inner.message);
        }
    }
    if (rc == 0) {
        rc = read_index(path, &doc, &arena, &ix, err);
    }
    if (rc == 0) {
        rc = add_shards(folder, &ix, &arena, t, err);
    }
    eco_arena_done(&arena);
    eco_json_done(&doc);
    free(text);
    return rc;
}

/* --- what a path can be ------------------------------------------------------------------- */

static int finish(const char *path, struct eco_tally *t, const struct eco_config *c,
                  const char *name, struct eco_model *out, struct eco_model_info *info,
                  struct eco_err *err)
{
    struct eco_model m;
    memset(&m, 0, sizeof m);
    int rc = eco_tally_finish(path, t, c, &m, err);
    if (rc) {
        return rc;
    }
    eco_model_set_name(&m, name);
    m.source = "safetensors";
    *out = m;
    if (info != NULL) {
        *info = t->info;
    }
    return 0;
}

static int open_config(const char *path, const char *name, struct eco_model *out,
                       struct eco_model_info *info, struct eco_err *err)
{
    unsigned char *text = NULL;
    size_t len = 0;
    int rc = read_small(path, ECO_MODEL_MAX_CONFIG, &text, &len, err);
    if (rc == 0) {
        rc = eco_model_from_config(path, name, (const char *)text, len, out, info, err);
    }
    free(text);
    return rc;
}

/** config.json and its tensors: the index when there is one, else the single file, else none. */
static int open_folder(const char *folder, struct eco_model *out, struct eco_model_info *info,
                       struct eco_err *err)
{
    char config[PATH_BYTES], index[PATH_BYTES], single[PATH_BYTES], real[PATH_BYTES];
    struct eco_config c;
    struct eco_tally t;
    const char *name = folder;
    if (!join(config, folder, "config.json") ||
        !join(index, folder, "model.safetensors.index.json") ||
        !join(single, folder, "model.safetensors")) {
        return eco_err_set(err, ECO_E_INVALID, "model", "the path is too long");
    }
    const char *tail = last_part(folder);
    if ((*tail == '\0' || *tail == '.') && realpath(folder, real) != NULL) {
        name = real; /* "." and ".." are no names */
    }
    int rc = read_config(config, &c, err);
    if (rc) {
        return rc;
    }
    eco_tally_init(&t, &c);
    if (is_file(index)) {
        rc = add_index(folder, index, &t, err);
    } else if (is_file(single)) {
        rc = add_safetensors(single, NULL, &t, err);
    } else {
        return open_config(config, name, out, info, err);
    }
    return rc ? rc : finish(config, &t, &c, name, out, info, err);
}

static int open_safetensors(const char *path, struct eco_model *out, struct eco_model_info *info,
                            struct eco_err *err)
{
    char config[PATH_BYTES];
    struct eco_config c;
    struct eco_tally t;
    size_t folder = (size_t)(last_part(path) - path);
    bool beside = folder + sizeof "config.json" <= sizeof config;
    if (beside) {
        memcpy(config, path, folder);
        memcpy(config + folder, "config.json", sizeof "config.json");
        beside = is_file(config);
    }
    int rc = beside ? read_config(config, &c, err) : 0;
    if (rc) {
        return rc;
    }
    eco_tally_init(&t, beside ? &c : NULL);
    rc = add_safetensors(path, NULL, &t, err);
    return rc ? rc : finish(path, &t, beside ? &c : NULL, path, out, info, err);
}

static int open_gguf(const char *path, struct eco_model *out, struct eco_model_info *info,
                     struct eco_err *err)
{
    struct source s = {-1, 0};
    int rc = open_source(path, &s, err);
    if (rc) {
        return rc;
    }
    if (s.bytes == 0) {
        rc = eco_err_set(err, ECO_E_CONTENT, path, "'%.150s' is empty", path);
    }
    for (size_t want = GGUF_FIRST; rc == 0; want *= 2) {
        unsigned char *bytes = NULL;
        size_t got = 0;
        rc = read_head(path, &s, want, &bytes, &got, err);
        if (rc == 0) {
            rc = eco_model_from_gguf(path, path, bytes, got, s.bytes, out, info, err);
            free(bytes);
            if (rc == 0) {
                break;
            }
            rc = rc == 1 ? 0 : rc;
        }
        if (rc == 0 && want >= ECO_MODEL_MAX_GGUF_HEADER) {
            rc = eco_err_set(err, ECO_E_TOO_LARGE, path, "'%.120s' has a header over %u bytes",
                             path, ECO_MODEL_MAX_GGUF_HEADER);
        }
    }
    close(s.fd);
    return rc;
}

static bool ends_with(const char *s, const char *tail)
{
    size_t n = strlen(s), t = strlen(tail);
    return n > t && eco_str_casecmp(s + n - t, tail) == 0;
}

static bool has_config(const char *folder)
{
    char path[PATH_BYTES];
    return is_folder(folder) && join(path, folder, "config.json") && is_file(path);
}

/** A leading '.', '/' or '~', or the ending of a model file: never a known name. */
static bool looks_like_path(const char *spec)
{
    return spec[0] == '/' || spec[0] == '.' || spec[0] == '~' || ends_with(spec, ".gguf") ||
           ends_with(spec, ".safetensors") || ends_with(spec, ".json");
}

static int open_path(const char *path, struct eco_model *out, struct eco_model_info *info,
                     struct eco_err *err)
{
    if (is_folder(path)) {
        return open_folder(path, out, info, err);
    }
    if (ends_with(path, ".gguf")) {
        return open_gguf(path, out, info, err);
    }
    if (ends_with(path, ".safetensors")) {
        return open_safetensors(path, out, info, err);
    }
    if (ends_with(path, ".json")) {
        char folder[PATH_BYTES];
        snprintf(folder, sizeof folder, "%s", path);
        char *slash = strrchr(folder, '/');
        if (slash != NULL && slash != folder) {
            *slash = '\0';
            return open_config(path, folder, out, info, err);
        }
        return open_config(path, NULL, out, info, err);
    }
    if (access(path, F_OK) != 0) {
        return system_error(path, errno, err);
    }
    return eco_err_set(err, ECO_E_UNSUPPORTED, path,
                       "'%.120s' is no folder, .gguf, .safetensors or config.json", path);
}

int eco_model_inspect(const char *spec, struct eco_model *out, struct eco_model_info *info,
                      struct eco_err *err)
{
    if (spec == NULL || spec[0] == '\0') {
        return eco_err_set(err, ECO_E_MISSING, "model", "the model's name is empty");
    }
    if (strlen(spec) >= PATH_BYTES) {
        return eco_err_set(err, ECO_E_INVALID, "model", "the model's name is too long");
    }
    if (looks_like_path(spec) || has_config(spec)) {
        return open_path(spec, out, info, err);
    }
    const struct eco_model *known;
    int rc = eco_dataset_find_model(spec, strlen(spec), &known, err);
    if (rc && (is_file(spec) || is_folder(spec))) {
        return open_path(spec, out, info, err);
    }
    if (rc) {
        return rc;
    }
    *out = *known;
    if (info != NULL) {
        memset(info, 0, sizeof *info);
        info->class_params[ECO_TENSOR_EMBEDDING] = known->params_embedding;
        info->class_params[ECO_TENSOR_LM_HEAD] = known->params_lm_head;
        info->class_params[ECO_TENSOR_NORM] = known->params_norm;
        info->class_params[ECO_TENSOR_LINEAR] = known->params_linear;
    }
    return 0;
}

int eco_model_open(const char *spec, struct eco_model *out, struct eco_err *err)
{
    return eco_model_inspect(spec, out, NULL, err);
}
