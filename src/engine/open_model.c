/* Which kind of model a name means. */
#include "open_model.h"

#include "base/file.h"
#include "dataset/dataset.h"
#include "file_tensors.h"

#include <string.h>

#define SYNTHETIC "synthetic:"

static int open_synthetic(const char *name, uint64_t seed, bool with_source, struct eco_opened *out,
                          struct eco_err *err)
{
    const struct eco_model *m = NULL;
    struct eco_opened o = {.synthetic = true, .stored = ECO_PREC_FP16};
    int rc = eco_dataset_find_model(name, strlen(name), &m, err);
    if (rc == 0) {
        o.model = *m;
        rc = eco_engine_shape_from_model(m, &o.shape, err);
    }
    if (rc == 0 && with_source) {
        rc = eco_engine_synthetic(&o.shape, seed, &o.source, err);
    }
    if (rc == 0) {
        *out = o;
    }
    return rc;
}

static enum eco_precision stored_precision(const struct eco_file_tensors *f, const char *name)
{
    const struct eco_file_tensor *t = eco_engine_files_find(f, name);
    enum eco_format format = t ? t->format : ECO_FORMAT_F16;
    return format == ECO_FORMAT_F32    ? ECO_PREC_FP32
           : format == ECO_FORMAT_BF16 ? ECO_PREC_BF16
                                       : ECO_PREC_FP16;
}

static int open_files(const char *path, bool folder, struct eco_opened *out, struct eco_err *err)
{
    struct eco_opened o = {0};
    struct eco_file_tensors *files = NULL;
    const struct eco_names *names = &eco_engine_gguf_names;
    int rc = eco_model_open(path, &o.model, err);
    if (rc == 0 && folder) {
        rc = eco_engine_open_folder(path, &o.shape, &files, err);
        names = o.shape.post_norms ? &eco_engine_hf_names_gemma2 : &eco_engine_hf_names;
    } else if (rc == 0) {
        rc = eco_engine_open_gguf(path, &o.shape, &files, err);
    }
    if (rc) {
        return rc;
    }
    o.stored = folder ? stored_precision(files, "model.embed_tokens.weight") : o.model.stored;
    rc = eco_engine_files_source(files, path, &o.shape, names, &o.source, err);
    if (rc) {
        eco_engine_files_free(files);
        return rc;
    }
    *out = o;
    return 0;
}

/* ".safetensors" or ".json" at the end of a file's name: a part of a folder's model. */
static bool part_of_folder(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && (strcmp(dot, ".safetensors") == 0 || strcmp(dot, ".json") == 0);
}

int eco_engine_check_path(const char *path, struct eco_err *err)
{
    const char *slash = strrchr(path, '/');
    const struct eco_model *known = NULL;
    bool there = eco_file_exists(path);
    if (!there && !slash && eco_dataset_find_model(path, strlen(path), &known, NULL) == 0) {
        return eco_err_set(err, ECO_E_NOT_FOUND, "model",
                           "no file or folder '%.100s'; seeded weights in that model's shape are "
                           "'synthetic:%.100s'",
                           path, path);
    }
    if (!there) {
        return eco_err_set(err, ECO_E_NOT_FOUND, "model",
                           "no file or folder '%.100s': the engine takes synthetic:NAME, a Hugging "
                           "Face folder or a .gguf file",
                           path);
    }
    if (!eco_file_is_dir(path) && part_of_folder(path)) {
        return eco_err_set(err, ECO_E_UNSUPPORTED, "model",
                           "'%.100s' is one file of a model: give its folder, '%.*s'", path,
                           slash ? (int)(slash - path) + (slash == path) : 1, slash ? path : ".");
    }
    return 0;
}

int eco_engine_open_model(const char *spec, uint64_t seed, bool with_source, struct eco_opened *out,
                          struct eco_err *err)
{
    if (!spec || !spec[0]) {
        return eco_err_set(err, ECO_E_MISSING, "model", "say which model");
    }
    if (strncmp(spec, SYNTHETIC, sizeof(SYNTHETIC) - 1) == 0) {
        return open_synthetic(spec + sizeof(SYNTHETIC) - 1, seed, with_source, out, err);
    }
    int rc = eco_engine_check_path(spec, err);
    return rc ? rc : open_files(spec, eco_file_is_dir(spec), out, err);
}

void eco_engine_opened_done(struct eco_opened *o)
{
    if (o && o->source.close) {
        o->source.close(o->source.ctx);
        o->source.close = NULL;
    }
}
