/* Bytes as files of a model for the engine: what opens decodes two tokens, or says why not. */
#ifndef ECO_FUZZ_ENGINE_H
#define ECO_FUZZ_ENGINE_H

#include "engine/engine.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char fuzz_folder[256]; /* of this process, gone when it ends */

static void fuzz_clean(void)
{
    static const char *const names[] = {"model.gguf", "config.json", "model.safetensors"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char path[300];
        snprintf(path, sizeof(path), "%s/%s", fuzz_folder, names[i]);
        unlink(path);
    }
    rmdir(fuzz_folder);
}

static void fuzz_write(const char *name, const uint8_t *data, size_t size, char path[300])
{
    if (!fuzz_folder[0]) {
        const char *base = getenv("TMPDIR");
        snprintf(fuzz_folder, sizeof(fuzz_folder), "%s/eco-fuzz-XXXXXX", base ? base : P_tmpdir);
        if (!mkdtemp(fuzz_folder) || atexit(fuzz_clean) != 0) {
            abort();
        }
    }
    snprintf(path, 300, "%s/%s", fuzz_folder, name);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(data, 1, size, f) != size || fclose(f) != 0) {
        abort();
    }
}

static void fuzz_decode(const char *model)
{
    struct eco_engine_options o = {
        .model = model, .threads = 1, .context_tokens = 4, .memory_bytes = UINT64_C(32) << 20};
    struct eco_decoder *e = NULL;
    struct eco_err err = {0};
    const int prompt[2] = {0, 1};
    int ids[2];
    int rc = eco_engine_open(&o, &e, &err);
    rc = rc ? rc : eco_engine_generate(e, prompt, 2, 2, ids, NULL, NULL, &err);
    if (rc != 0 && (rc > 0 || err.code != rc || err.message[0] == '\0')) {
        abort(); /* an error says what it is */
    }
    eco_engine_close(e);
}

#endif
