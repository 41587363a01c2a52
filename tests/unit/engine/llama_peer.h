/*
 * libllama of the npm package @node-llama-cpp/linux-x64 as a judge, by dlopen. The package has no
 * header; what is called here is declared in our own words. Parameter structs go through as they
 * come from llama's own defaults, so their members need not be known: on x86-64 a large struct is
 * returned and passed in memory, and a larger box than needed does no harm.
 */
#ifndef ECO_TEST_LLAMA_PEER_H
#define ECO_TEST_LLAMA_PEER_H

#include <dlfcn.h>
#include <glob.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct peer_box {
    uint64_t words[64];
};

struct peer {
    struct peer_box (*model_defaults)(void);
    struct peer_box (*context_defaults)(void);
    void *(*load)(const char *path, struct peer_box params);
    void (*free_model)(void *model);
    void *(*open)(void *model, struct peer_box params);
    void (*close)(void *context);
    void (*set_threads)(void *context, int32_t one_token, int32_t many);
    struct peer_box (*batch)(int32_t *tokens, int32_t n);
    int32_t (*decode)(void *context, struct peer_box batch);
    float *(*logits)(void *context, int32_t i);
    const void *(*vocab)(const void *model);
    int32_t (*tokenize)(const void *vocab, const char *text, int32_t len, int32_t *ids, int32_t max,
                        bool add_special, bool parse_special);
    struct peer_box (*quantize_defaults)(void);
    uint32_t (*quantize)(const char *from, const char *to, const struct peer_box *params);
    void (*log)(void (*to)(int level, const char *text, void *ctx), void *ctx);
};

static inline void peer_quiet(int level, const char *text, void *ctx)
{
    (void)ctx;
    if (level == 4 || getenv("ECO_PEER_LOG")) { /* an error */
        fputs(text, stderr);
    }
}

static inline void *peer_library(const char *pattern)
{
    char path[1024];
    glob_t g;
    void *lib = NULL;
    snprintf(path, sizeof(path), "%s/node_modules/@node-llama-cpp/linux-x64/bins/linux-x64/%s",
             ECO_SOURCE_DIR, pattern);
    if (glob(path, 0, NULL, &g) == 0) {
        lib = dlopen(g.gl_pathv[0], RTLD_NOW | RTLD_GLOBAL);
        if (!lib) {
            fprintf(stderr, "%s\n", dlerror());
        }
        globfree(&g);
    }
    return lib;
}

/* False, and a loud line, where there is no such library. */
static inline bool peer_open(struct peer *p)
{
#if defined(__x86_64__)
    void *base = peer_library("libggml-base.so"), *ggml = peer_library("libggml.v*.so");
    void *llama = base && ggml ? peer_library("libllama.v*.so") : NULL;
    void (*load_backends)(const char *folder) = NULL;
    void (*init)(void) = NULL;
    char folder[1024];
    if (llama) {
        const struct {
            const char *name;
            void *at;
        } calls[] = {{"llama_model_default_params", &p->model_defaults},
                     {"llama_context_default_params", &p->context_defaults},
                     {"llama_model_load_from_file", &p->load},
                     {"llama_model_free", &p->free_model},
                     {"llama_init_from_model", &p->open},
                     {"llama_free", &p->close},
                     {"llama_set_n_threads", &p->set_threads},
                     {"llama_batch_get_one", &p->batch},
                     {"llama_decode", &p->decode},
                     {"llama_get_logits_ith", &p->logits},
                     {"llama_model_get_vocab", &p->vocab},
                     {"llama_tokenize", &p->tokenize},
                     {"llama_model_quantize_default_params", &p->quantize_defaults},
                     {"llama_model_quantize", &p->quantize},
                     {"llama_log_set", &p->log},
                     {"llama_backend_init", &init}};
        bool all = true;
        for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
            void *f = dlsym(llama, calls[i].name);
            all = all && f;
            memcpy(calls[i].at, &f, sizeof(f)); /* C has no cast from object to function */
        }
        void *f = dlsym(ggml, "ggml_backend_load_all_from_path");
        memcpy(&load_backends, &f, sizeof(f));
        if (all && f) {
            snprintf(folder, sizeof(folder),
                     "%s/node_modules/@node-llama-cpp/linux-x64/bins/linux-x64", ECO_SOURCE_DIR);
            p->log(peer_quiet, NULL);
            load_backends(folder);
            init();
            return true;
        }
    }
#else
    (void)p;
    (void)peer_quiet;
    (void)peer_library;
#endif
    fprintf(stderr, "SKIPPED: llama.cpp's library is not there: npm ci brings it, on x86-64\n");
    return false;
}

#endif
