/* Mapped files and their tensors. */
#include "file_tensors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_NAME 128

/* Where a slot's rows begin. */
struct place {
    const unsigned char *data;
    enum eco_format format;
};

struct eco_file_tensors {
    struct eco_arena arena;
    struct eco_mapped maps[ECO_FILE_MAX_MAPS];
    int n_maps;
    struct eco_file_tensor *tensors;
    size_t n, cap;
    struct place *places; /* [layers + 1][ECO_ROLE_COUNT] */
};

int eco_engine_files_new(struct eco_file_tensors **out, struct eco_err *err)
{
    struct eco_file_tensors *f = calloc(1, sizeof(*f));
    if (!f) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    eco_arena_init(&f->arena, 0);
    *out = f;
    return 0;
}

void eco_engine_files_free(struct eco_file_tensors *f)
{
    if (!f) {
        return;
    }
    for (int i = 0; i < f->n_maps; i++) {
        munmap((void *)(uintptr_t)f->maps[i].data, f->maps[i].bytes);
    }
    free(f->tensors);
    free(f->places);
    eco_arena_done(&f->arena);
    free(f);
}

struct eco_arena *eco_engine_files_arena(struct eco_file_tensors *f)
{
    return &f->arena;
}

int eco_engine_files_map(struct eco_file_tensors *f, const char *path, struct eco_mapped *out,
                         struct eco_err *err)
{
    struct stat st;
    if (f->n_maps == ECO_FILE_MAX_MAPS) {
        return eco_err_set(err, ECO_E_TOO_LARGE, path, "more than %d files", ECO_FILE_MAX_MAPS);
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        int code = errno == EACCES ? ECO_E_PERMISSION : ECO_E_NOT_FOUND;
        if (fd >= 0) {
            close(fd);
        }
        return eco_err_set(err, code, path, "'%.160s' cannot be read as a file", path);
    }
    *out = (struct eco_mapped){NULL, (size_t)st.st_size};
    if (st.st_size > 0) {
        void *at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
        if (at == MAP_FAILED) {
            close(fd);
            return eco_err_set(err, ECO_E_IO, path, "'%.160s' cannot be mapped", path);
        }
        out->data = at;
        f->maps[f->n_maps++] = *out;
    }
    close(fd);
    return 0;
}

int eco_engine_files_add(struct eco_file_tensors *f, const struct eco_file_tensor *t,
                         struct eco_err *err)
{
    if (f->n == f->cap) {
        size_t cap = f->cap ? 2 * f->cap : 256;
        struct eco_file_tensor *grown =
            cap <= ECO_MODEL_MAX_TENSORS ? realloc(f->tensors, cap * sizeof(*grown)) : NULL;
        if (!grown) {
            return eco_err_set(err, ECO_E_TOO_LARGE, t->name, "too many tensors");
        }
        f->tensors = grown;
        f->cap = cap;
    }
    f->tensors[f->n] = *t;
    f->tensors[f->n].name = eco_arena_strdup(&f->arena, t->name, strlen(t->name));
    if (!f->tensors[f->n].name) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    f->n++;
    return 0;
}

static int by_name(const void *a, const void *b)
{
    const struct eco_file_tensor *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static int by_data(const void *a, const void *b)
{
    const struct eco_file_tensor *x = a, *y = b;
    uintptr_t p = (uintptr_t)x->data, q = (uintptr_t)y->data;
    return p < q ? -1 : p > q;
}

int eco_engine_files_sort(struct eco_file_tensors *f, const char *file, struct eco_err *err)
{
    if (f->n == 0) {
        return eco_err_set(err, ECO_E_CONTENT, file, "'%.160s' holds no tensors", file);
    }
    qsort(f->tensors, f->n, sizeof(*f->tensors), by_data);
    for (size_t i = 1; i < f->n; i++) {
        const struct eco_file_tensor *a = &f->tensors[i - 1], *b = &f->tensors[i];
        if ((uintptr_t)a->data + a->bytes > (uintptr_t)b->data) {
            return eco_err_set(err, ECO_E_CONTENT, file, "tensors '%.60s' and '%.60s' overlap",
                               a->name, b->name);
        }
    }
    qsort(f->tensors, f->n, sizeof(*f->tensors), by_name);
    for (size_t i = 1; i < f->n; i++) {
        if (strcmp(f->tensors[i - 1].name, f->tensors[i].name) == 0) {
            return eco_err_set(err, ECO_E_CONTENT, file, "tensor '%.60s' is there twice",
                               f->tensors[i].name);
        }
    }
    return 0;
}

static struct eco_file_tensor *find(const struct eco_file_tensors *f, const char *name)
{
    struct eco_file_tensor key = {.name = name};
    return f->n > 0 ? bsearch(&key, f->tensors, f->n, sizeof(key), by_name) : NULL;
}

const struct eco_file_tensor *eco_engine_files_find(const struct eco_file_tensors *f,
                                                    const char *name)
{
    return find(f, name);
}

/* ---- a shape's slots in the files ------------------------------------------------------------ */

/* The pattern's one %d, if it has one, becomes the layer. */
static void tensor_name(char out[MAX_NAME], const char *pattern, int layer)
{
    const char *d = strstr(pattern, "%d");
    if (d) {
        snprintf(out, MAX_NAME, "%.*s%d%s", (int)(d - pattern), pattern, layer, d + 2);
    } else {
        snprintf(out, MAX_NAME, "%s", pattern);
    }
}

/* The fused name of a role and the row where its part begins. */
static const char *fused_name(const struct eco_shape *s, const struct eco_names *names,
                              const struct eco_slot *t, uint64_t *first, uint64_t *rows)
{
    uint64_t q = (uint64_t)s->heads * (uint64_t)s->head_dim;
    uint64_t kv = (uint64_t)s->kv_heads * (uint64_t)s->head_dim;
    uint64_t inner = (uint64_t)s->intermediate;
    bool k = t->role == ECO_ROLE_K || t->role == ECO_ROLE_K_BIAS;
    bool v = t->role == ECO_ROLE_V || t->role == ECO_ROLE_V_BIAS;
    switch (t->role) {
    case ECO_ROLE_Q:
    case ECO_ROLE_K:
    case ECO_ROLE_V:
    case ECO_ROLE_Q_BIAS:
    case ECO_ROLE_K_BIAS:
    case ECO_ROLE_V_BIAS:
        *first = k ? q : v ? q + kv : 0;
        *rows = q + 2 * kv;
        return t->role < ECO_ROLE_MATRICES ? names->qkv : names->qkv_bias;
    case ECO_ROLE_GATE:
    case ECO_ROLE_UP:
        *first = t->role == ECO_ROLE_UP ? inner : 0;
        *rows = 2 * inner;
        return names->gate_up;
    default:
        return NULL;
    }
}

static int place_slot(struct eco_file_tensors *f, const char *file, const struct eco_shape *s,
                      const struct eco_names *names, const struct eco_slot *t, struct eco_err *err)
{
    char name[MAX_NAME] = "";
    uint64_t first = 0, rows = (uint64_t)t->rows, cols = (uint64_t)t->cols;
    const char *fused = s->fused ? fused_name(s, names, t, &first, &rows) : NULL;
    const char *pattern = fused ? fused : names->role[t->role];
    if (!pattern) {
        return eco_err_set(err, ECO_E_UNSUPPORTED, file, "this kind of file has no such tensor");
    }
    tensor_name(name, pattern, t->layer);
    struct eco_file_tensor *x = find(f, name);
    if (!x) {
        return eco_err_set(err, ECO_E_CONTENT, file, "tensor '%.100s' is missing", name);
    }
    if (x->unread) {
        return eco_err_set(
            err, ECO_E_UNSUPPORTED, file,
            "tensor '%.80s' is of type %.20s or no matrix: the engine takes F32, F16, "
            "BF16",
            name, x->unread);
    }
    bool vector = t->role >= ECO_ROLE_MATRICES;
    cols = vector && fused ? rows : cols;
    rows = vector ? 1 : rows;
    if (x->rows != rows || x->cols != cols) {
        return eco_err_set(err, ECO_E_CONTENT, file,
                           "tensor '%.80s' is %llu x %llu, wanted %llu x %llu", name,
                           (unsigned long long)x->rows, (unsigned long long)x->cols,
                           (unsigned long long)rows, (unsigned long long)cols);
    }
    x->placed = true;
    size_t row_bytes = eco_engine_row_bytes(x->format, vector ? 1 : t->cols);
    f->places[(t->layer + 1) * ECO_ROLE_COUNT + (int)t->role] =
        (struct place){x->data + first * row_bytes, x->format};
    return 0;
}

static void rows_of(void *ctx, const struct eco_slot *t, int begin, int end, float *out)
{
    const struct eco_file_tensors *f = ctx;
    const struct place *p = &f->places[(t->layer + 1) * ECO_ROLE_COUNT + (int)t->role];
    const struct eco_matrix m = {
        .format = p->format, .rows = t->rows, .cols = t->cols, .data = p->data};
    for (int r = begin; r < end; r++, out += t->cols) {
        eco_engine_dequant(&m, r, 0, t->cols, out);
    }
}

static const void *stored(void *ctx, const struct eco_slot *t, enum eco_format *format)
{
    const struct eco_file_tensors *f = ctx;
    const struct place *p = &f->places[(t->layer + 1) * ECO_ROLE_COUNT + (int)t->role];
    *format = p->format;
    return p->data;
}

static void close_files(void *ctx)
{
    eco_engine_files_free(ctx);
}

/* A tensor that the forward pass has no use for belongs to another model than the one it runs. */
static int none_left(const struct eco_file_tensors *f, const char *file, const struct eco_shape *s,
                     const char *layers, struct eco_err *err)
{
    for (size_t i = 0; layers && i < f->n; i++) {
        const struct eco_file_tensor *x = &f->tensors[i];
        bool inside = strncmp(x->name, layers, strlen(layers)) == 0;
        if (inside && !x->placed && !strstr(x->name, "rot_embd")) { /* computed, not read */
            return eco_err_set(err, ECO_E_UNSUPPORTED, file,
                               "tensor '%.80s' has no place in '%s' with %d layers as the engine "
                               "runs it",
                               x->name, s->architecture, s->layers);
        }
    }
    return 0;
}

int eco_engine_files_source(struct eco_file_tensors *f, const char *file, const struct eco_shape *s,
                            const struct eco_names *names, struct eco_source *out,
                            struct eco_err *err)
{
    f->places = calloc((size_t)(s->layers + 1) * ECO_ROLE_COUNT, sizeof(*f->places));
    if (!f->places) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    for (int layer = -1; layer < s->layers; layer++) {
        for (int r = 0; r < ECO_ROLE_COUNT; r++) {
            bool outside = r == ECO_ROLE_EMBED || r == ECO_ROLE_HEAD || r == ECO_ROLE_OUT_NORM;
            struct eco_slot t = eco_engine_slot(s, (enum eco_role)r, layer);
            int rc =
                t.rows > 0 && outside == (layer < 0) ? place_slot(f, file, s, names, &t, err) : 0;
            if (rc) {
                return rc;
            }
        }
    }
    int left = none_left(f, file, s, names->layers, err);
    if (left) {
        return left;
    }
    *out = (struct eco_source){.ctx = f, .rows = rows_of, .stored = stored, .close = close_files};
    return 0;
}
