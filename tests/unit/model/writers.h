/* Writers of tiny model files for the tests: safetensors and GGUF, whole and broken. */
#ifndef ECO_TEST_MODEL_WRITERS_H
#define ECO_TEST_MODEL_WRITERS_H

#include "base/buf.h"
#include "eco_test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static inline void put_little(struct eco_buf *b, uint64_t v, int n)
{
    for (int i = 0; i < n; i++) {
        eco_buf_putc(b, (char)(v >> (8 * i)));
    }
}

/* --- safetensors ---- */
struct st_writer {
    struct eco_buf json;
    uint64_t at;
};

static inline void st_add(struct st_writer *w, const char *name, const char *dtype, int bits, int n,
                          const uint64_t *dims)
{
    uint64_t elements = 1;
    eco_buf_printf(&w->json, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[", w->json.len ? "," : "{",
                   name, dtype);
    for (int i = 0; i < n; i++) {
        eco_buf_printf(&w->json, "%s%llu", i ? "," : "", (unsigned long long)dims[i]);
        elements *= dims[i];
    }
    uint64_t end = w->at + elements * (uint64_t)bits / 8;
    eco_buf_printf(&w->json, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long)w->at,
                   (unsigned long long)end);
    w->at = end;
}

#define ST1(w, name, type, bits, a) st_add(w, name, type, bits, 1, (const uint64_t[]){a})
#define ST2(w, name, type, bits, a, b) st_add(w, name, type, bits, 2, (const uint64_t[]){a, b})
#define ST4(w, name, type, bits, a, b, c, d)                                                       \
    st_add(w, name, type, bits, 4, (const uint64_t[]){a, b, c, d})

/* Length and header into `out`; the data is *bytes more. The writer is done. */
static inline void st_finish(struct st_writer *w, struct eco_buf *out, uint64_t *bytes)
{
    eco_buf_puts(&w->json, w->json.len ? "}" : "{}");
    while (w->json.len % 8) {
        eco_buf_putc(&w->json, ' ');
    }
    put_little(out, w->json.len, 8);
    eco_buf_put(out, w->json.data, w->json.len);
    *bytes = out->len + w->at;
    eco_buf_done(&w->json);
    w->at = 0;
}

/* A raw header text as a file's head. */
static inline void st_raw(struct eco_buf *out, const char *json)
{
    put_little(out, strlen(json), 8);
    eco_buf_puts(out, json);
}

/* --- GGUF ---- */
struct gguf_writer {
    struct eco_buf pairs, infos;
    uint64_t n_pairs, n_infos, at;
};

static inline void gguf_text(struct eco_buf *b, const char *s)
{
    put_little(b, strlen(s), 8);
    eco_buf_puts(b, s);
}

static inline void gguf_u32(struct gguf_writer *w, const char *key, uint32_t v)
{
    gguf_text(&w->pairs, key);
    put_little(&w->pairs, 4, 4);
    put_little(&w->pairs, v, 4);
    w->n_pairs++;
}

static inline void gguf_string(struct gguf_writer *w, const char *key, const char *v)
{
    gguf_text(&w->pairs, key);
    put_little(&w->pairs, 8, 4);
    gguf_text(&w->pairs, v);
    w->n_pairs++;
}

static inline void gguf_strings(struct gguf_writer *w, const char *key, uint64_t n)
{
    gguf_text(&w->pairs, key);
    put_little(&w->pairs, 9, 4);
    put_little(&w->pairs, 8, 4);
    put_little(&w->pairs, n, 8);
    for (uint64_t i = 0; i < n; i++) {
        gguf_text(&w->pairs, "a token of words");
    }
    w->n_pairs++;
}

static inline void gguf_i32s(struct gguf_writer *w, const char *key, int n, const int32_t *v)
{
    gguf_text(&w->pairs, key);
    put_little(&w->pairs, 9, 4);
    put_little(&w->pairs, 5, 4);
    put_little(&w->pairs, (uint64_t)n, 8);
    for (int i = 0; i < n; i++) {
        put_little(&w->pairs, (uint32_t)v[i], 4);
    }
    w->n_pairs++;
}

/* Dimensions innermost first, as the file has them. */
static inline void gguf_tensor(struct gguf_writer *w, const char *name, uint32_t type,
                               uint64_t weights, uint64_t bytes, int n, const uint64_t *dims)
{
    uint64_t elements = 1;
    gguf_text(&w->infos, name);
    put_little(&w->infos, (uint64_t)n, 4);
    for (int i = 0; i < n; i++) {
        put_little(&w->infos, dims[i], 8);
        elements *= dims[i];
    }
    put_little(&w->infos, type, 4);
    put_little(&w->infos, w->at, 8);
    w->at += elements / weights * bytes;
    w->at = (w->at + 31) / 32 * 32;
    w->n_infos++;
}

#define GG1(w, name, type, weights, bytes, a)                                                      \
    gguf_tensor(w, name, type, weights, bytes, 1, (const uint64_t[]){a})
#define GG2(w, name, type, weights, bytes, a, b)                                                   \
    gguf_tensor(w, name, type, weights, bytes, 2, (const uint64_t[]){a, b})
#define GG3(w, name, type, weights, bytes, a, b, c)                                                \
    gguf_tensor(w, name, type, weights, bytes, 3, (const uint64_t[]){a, b, c})

static inline void gguf_finish(struct gguf_writer *w, struct eco_buf *out, uint64_t *bytes)
{
    eco_buf_puts(out, "GGUF");
    put_little(out, 3, 4);
    put_little(out, w->n_infos, 8);
    put_little(out, w->n_pairs, 8);
    eco_buf_put(out, w->pairs.data ? w->pairs.data : "", w->pairs.len);
    eco_buf_put(out, w->infos.data ? w->infos.data : "", w->infos.len);
    *bytes = (out->len + 31) / 32 * 32 + w->at;
    eco_buf_done(&w->pairs);
    eco_buf_done(&w->infos);
    memset(w, 0, sizeof *w);
}

/* --- files ---- */
static inline void write_file(const char *path, const void *bytes, size_t len, uint64_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_true(write(fd, bytes, len) == (ssize_t)len);
    if (size > len) { /* the tensors are a hole: nobody reads them */
        assert_int_equal(ftruncate(fd, (off_t)size), 0);
    }
    close(fd);
}

/* A small generator for mutations: splitmix64. */
static inline uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

#endif
