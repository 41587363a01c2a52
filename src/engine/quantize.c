/* Writing a model as a GGUF file in another precision. */
#include "quantize_inside.h"

#include "base/clock.h"
#include "base/file.h"
#include "cpus.h"
#include "file_tensors.h"
#include "open_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_FLOATS (1 << 20) /* of all threads together, a row of each at least */

static int check_precision(enum eco_precision p, enum eco_format *format, uint32_t *file_type,
                           struct eco_err *err)
{
    static const struct {
        enum eco_precision p;
        enum eco_format format;
        uint32_t file_type;
    } known[] = {{ECO_PREC_FP32, ECO_FORMAT_F32, 0},
                 {ECO_PREC_FP16, ECO_FORMAT_F16, 1},
                 {ECO_PREC_GGUF_Q4_0, ECO_FORMAT_Q4_0, 2},
                 {ECO_PREC_GGUF_Q8_0, ECO_FORMAT_Q8_0, 7},
                 {ECO_PREC_BF16, ECO_FORMAT_BF16, 32}};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (known[i].p == p) {
            *format = known[i].format;
            *file_type = known[i].file_type;
            return 0;
        }
    }
    bool bits4 = p == ECO_PREC_NF4 || p == ECO_PREC_NF4_DQ || p == ECO_PREC_NF4_A8;
    bool bits8 = p == ECO_PREC_INT8_MIXED || p == ECO_PREC_INT8_PURE;
    return eco_err_set(err, ECO_E_UNSUPPORTED, "precision",
                       "GGUF has no type for %s: write %s; the engine makes %s itself while "
                       "loading (bench, generate, perplexity)",
                       eco_precision_name(p),
                       bits4   ? "Q4_0"
                       : bits8 ? "Q8_0"
                               : "Q8_0 or Q4_0",
                       bits4 || bits8 ? eco_precision_name(p) : "NF4 and INT8");
}

int eco_quantize_add(struct eco_quantize_run *q, const struct eco_quantize_tensor *t,
                     struct eco_err *err)
{
    uint64_t bytes = 0, constants = 0;
    if (q->n == q->cap) {
        size_t cap = q->cap ? 2 * q->cap : 256;
        struct eco_quantize_tensor *grown = realloc(q->tensors, cap * sizeof(*grown));
        if (!grown) {
            return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
        }
        q->tensors = grown;
        q->cap = cap;
    }
    int rows = t->rows > 0 ? t->rows : 1;
    if (!eco_engine_matrix_bytes(t->format, rows, t->cols, &bytes, &constants)) {
        return eco_err_set(err, ECO_E_UNSUPPORTED, "precision",
                           "%s has blocks of %d weights; a row of '%.80s' has %d: write F16",
                           eco_precision_name(q->precision), ECO_Q_BLOCK, t->name, t->cols);
    }
    q->tensors[q->n++] = *t;
    eco_gguf_put_tensor(&q->w, t->name, t->format, (uint64_t)t->rows, (uint64_t)t->cols, bytes);
    q->out->matrix_params += t->rows > 0 ? (uint64_t)t->rows * (uint64_t)t->cols : 0;
    return 0;
}

/* ---- the rows -------------------------------------------------------------------------------- */

struct chunk {
    const struct eco_quantize_run *q;
    const struct eco_quantize_tensor *t;
    int first; /* row of the file that codes[0] is */
    int *unsound;
};

/* Halves (i, i + d/2) of a head become neighbours (2i, 2i + 1): where place r comes from. */
static int paired(int d, int r)
{
    int in = r % d;
    return r - in + in / 2 + in % 2 * (d / 2);
}

/* Row r of the file's matrix as floats; `out` has room for two rows. */
static void fetch(const struct eco_quantize_run *q, const struct eco_quantize_tensor *t, int r,
                  float *out)
{
    if (t->data) {
        struct eco_matrix m = {
            .format = t->stored, .rows = t->rows, .cols = t->cols, .data = t->data};
        eco_engine_dequant(&m, r, 0, t->cols, out);
        return;
    }
    int part = 0;
    while (part + 1 < t->parts && r >= t->part[part].rows) {
        r -= t->part[part++].rows;
    }
    if (t->rows > 0 && t->pairs_of > 0) {
        r = paired(t->pairs_of, r);
    }
    float *x = t->rows == 0 && t->pairs_of > 0 ? out + t->cols : out;
    q->source->rows(q->source->ctx, &t->part[part], r, r + 1, x);
    for (int i = 0; x != out && i < t->cols; i++) {
        out[i] = x[paired(t->pairs_of, i)];
    }
}

static void work(const void *ctx, int begin, int end, int thread)
{
    const struct chunk *c = ctx;
    const struct eco_quantize_tensor *t = c->t;
    float *x = c->q->rows + (size_t)thread * 2 * (size_t)t->cols;
    size_t row_bytes = eco_engine_row_bytes(t->format, t->cols);
    for (int r = begin; r < end; r++) {
        float sum = 0.0f;
        struct eco_matrix m = {.format = t->format, .rows = 1, .cols = t->cols};
        m.data = c->q->codes + (size_t)r * row_bytes;
        fetch(c->q, t, c->first + r, x);
        for (int i = 0; i < t->cols; i++) {
            x[i] += t->plus;
            sum += x[i] * 0.0f; /* NaN unless all are finite */
        }
        if (sum != 0.0f) {
            __atomic_store_n(c->unsound, 1, __ATOMIC_RELAXED);
        }
        eco_engine_quantize_rows(&m, 0, 1, x);
    }
}

static int write_tensor(struct eco_quantize_run *q, const struct eco_quantize_tensor *t,
                        struct eco_err *err)
{
    int rows = t->rows > 0 ? t->rows : 1, step = CHUNK_FLOATS / t->cols, rc = 0, unsound = 0;
    step = step > 0 ? step : 1;
    size_t row_bytes = eco_engine_row_bytes(t->format, t->cols);
    for (int r = 0; r < rows && rc == 0; r += step) {
        int n = rows - r < step ? rows - r : step;
        struct chunk c = {q, t, r, &unsound};
        eco_engine_pool_run(q->pool, &(struct eco_job){work, &c, n, 8});
        rc = unsound ? eco_err_set(err, ECO_E_CONTENT, "model",
                                   "tensor '%.80s' holds values that are not finite", t->name)
                     : eco_gguf_data(&q->w, q->codes, (size_t)n * row_bytes, err);
    }
    return rc ? rc : eco_gguf_pad(&q->w, err);
}

static int write_all(struct eco_quantize_run *q, const char *to, bool force, int threads,
                     struct eco_err *err)
{
    int widest = 1;
    for (size_t i = 0; i < q->n; i++) {
        widest = q->tensors[i].cols > widest ? q->tensors[i].cols : widest;
    }
    size_t chunk = CHUNK_FLOATS > widest ? CHUNK_FLOATS : (size_t)widest;
    int rc = eco_engine_pool_new(threads > 0 ? threads : eco_engine_cpus(), false, &q->pool, err);
    if (rc) {
        return rc;
    }
    q->rows = malloc((size_t)eco_engine_pool_threads(q->pool) * 2 * (size_t)widest * sizeof(float));
    q->codes = malloc(4 * chunk); /* no format has more than 4 bytes a weight */
    rc = q->rows && q->codes ? eco_gguf_create(&q->w, to, force, err)
                             : eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    for (size_t i = 0; i < q->n && rc == 0; i++) {
        rc = write_tensor(q, &q->tensors[i], err);
    }
    q->out->tensors = (int)q->n;
    return rc ? rc : eco_gguf_commit(&q->w, &q->out->file_bytes, err);
}

/* ---- from a GGUF ----------------------------------------------------------------------------- */

static bool replaced(const struct eco_gguf_key *k)
{
    static const char *const names[] = {"general.file_type", "general.quantization_version",
                                        "general.alignment"};
    for (size_t i = 0; i < 3; i++) {
        if (k->len == strlen(names[i]) && memcmp(k->name, names[i], k->len) == 0) {
            return true;
        }
    }
    return false;
}

static int add_stored(struct eco_quantize_run *q, const struct eco_gguf_tensor *x,
                      struct eco_err *err)
{
    struct eco_quantize_tensor t = {.data = x->t.data, .stored = x->t.format};
    int rc = eco_gguf_usable(x, "model", err);
    if (rc) {
        return rc;
    }
    snprintf(t.name, sizeof(t.name), "%s", x->name);
    t.rows = x->dims > 1 ? (int)x->t.rows : 0;
    t.cols = (int)x->t.cols;
    t.format = x->dims > 1 ? q->format : ECO_FORMAT_F32;
    return eco_quantize_add(q, &t, err);
}

static int from_gguf(struct eco_quantize_run *q, struct eco_file_tensors *files, const char *path,
                     struct eco_err *err)
{
    struct eco_arena *arena = eco_engine_files_arena(files);
    struct eco_gguf_tensor *list = NULL;
    struct eco_mapped m;
    struct eco_gguf g;
    int rc = eco_engine_files_map(files, path, &m, err);
    rc = rc ? rc : eco_gguf_read(path, m.data, m.bytes, arena, &g, err);
    rc = rc ? rc : eco_gguf_tensors(&g, arena, &list, err);
    if (rc == 0 && g.n_tensors == 0) {
        return eco_err_set(err, ECO_E_CONTENT, path, "'%.160s' holds no tensors", path);
    }
    for (size_t i = 0; rc == 0 && i < g.n_keys; i++) {
        if (!replaced(&g.keys[i])) {
            eco_gguf_put_key(&q->w, &g.keys[i]);
        }
    }
    for (uint64_t i = 0; rc == 0 && i < g.n_tensors; i++) {
        rc = add_stored(q, &list[i], err);
    }
    return rc;
}

/* What to read and to write. A file of another ending would be written, and not opened again. */
static int check_names(const char *from, const char *to, struct eco_err *err)
{
    size_t len = strlen(to);
    if (strncmp(from, "synthetic:", strlen("synthetic:")) == 0) {
        return eco_err_set(err, ECO_E_NOT_FOUND, "model",
                           "'%.100s': quantize takes a Hugging Face folder or a .gguf file", from);
    }
    if (len < 5 || strcmp(to + len - 5, ".gguf") != 0) {
        return eco_err_set(err, ECO_E_INVALID, "out",
                           "'%.100s': the file to write must end with .gguf, or no program takes "
                           "it for one",
                           to);
    }
    return eco_engine_check_path(from, err);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int run(struct eco_quantize_run *q, const char *from, const char *to, uint32_t file_type,
               int threads, bool force, struct eco_err *err)
{
    struct eco_opened m = {0};
    struct eco_file_tensors *files = NULL;
    int rc = 0;
    if (eco_file_is_dir(from)) {
        rc = eco_engine_open_model(from, 0, true, &m, err);
        q->source = &m.source;
        rc = rc ? rc : eco_quantize_folder(q, from, &m.shape, err);
    } else {
        rc = eco_engine_files_new(&files, err);
        rc = rc ? rc : from_gguf(q, files, from, err);
    }
    if (rc == 0) {
        eco_gguf_put_u32(&q->w, "general.file_type", file_type);
        eco_gguf_put_u32(&q->w, "general.quantization_version", 2);
        rc = write_all(q, to, force, threads, err);
    }
    q->source = NULL;
    eco_engine_opened_done(&m);
    eco_engine_files_free(files);
    return rc;
}

int eco_engine_quantize(const char *from, const char *to, enum eco_precision p, int threads,
                        bool force, struct eco_quantized *out, struct eco_err *err)
{
    int64_t start = eco_clock_mono_ns();
    struct eco_quantize_run q = {.precision = p, .out = out};
    uint32_t file_type = 0;
    memset(out, 0, sizeof(*out));
    eco_gguf_writer_init(&q.w);
    int rc = check_precision(p, &q.format, &file_type, err);
    rc = rc ? rc : check_names(from, to, err);
    rc = rc ? rc : run(&q, from, to, file_type, threads, force, err);
    eco_gguf_writer_done(&q.w);
    eco_engine_pool_free(q.pool);
    free(q.rows);
    free(q.codes);
    free(q.tensors);
    free(q.rope_factors);
    out->seconds = (double)(eco_clock_mono_ns() - start) * 1e-9;
    return rc;
}
