/* Nightly builds by name: indexes, channels, wheels, dev versions of what sets the speed. */
#include "scan.h"

#include <ctype.h>
#include <string.h>

static const char *const packages[] = {"torch",
                                       "torchvision",
                                       "torchaudio",
                                       "torchao",
                                       "pytorch",
                                       "pytorch-triton",
                                       "triton",
                                       "transformers",
                                       "bitsandbytes",
                                       "vllm",
                                       "accelerate",
                                       "xformers",
                                       "flash-attn",
                                       "flash_attn",
                                       "deepspeed",
                                       "peft",
                                       "optimum",
                                       "auto-gptq",
                                       "auto_gptq",
                                       "autoawq",
                                       "gptqmodel",
                                       "sglang",
                                       "torchtune",
                                       "tensorrt",
                                       "tensorrt-llm",
                                       "tensorrt_llm",
                                       "flashinfer-python",
                                       "flashinfer",
                                       "llmcompressor",
                                       "compressed-tensors",
                                       "unsloth",
                                       "trl",
                                       "onnxruntime-gpu",
                                       "llama-cpp-python",
                                       "hqq",
                                       "optimum-quanto",
                                       "pytorch_triton",
                                       "torch-tensorrt",
                                       "exllamav2",
                                       "lmdeploy",
                                       "nunchaku"};

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '-' || c == '_' || c == '.';
}

static bool starts(const char *s, const char *end, const char *what)
{
    size_t n = strlen(what);
    return (size_t)(end - s) >= n && eco_str_ncasecmp(s, what, n) == 0;
}

static const char *copy(const char *from, const char *to, char *out, size_t cap)
{
    size_t n = (size_t)(to - from);
    n = n < cap - 1 ? n : cap - 1;
    memcpy(out, from, n);
    out[n] = '\0';
    return out;
}

/* After a package's name: the version, when it is a dev build; its end back, or NULL. */
static const char *dev_version(const char *p, const char *end)
{
    while (p < end && *p == '[') { /* extras */
        while (p < end && *p != ']') {
            p++;
        }
        p += p < end;
    }
    while (p < end && strchr(" \t\"'", *p)) {
        p++;
    }
    if (p < end && *p == '-') {
        p++; /* a wheel's file name */
    } else if (p < end && (*p == '=' || *p == '~' || *p == ':')) {
        while (p < end && strchr("=~: \t\"'{", *p)) {
            p++;
        }
        if (starts(p, end, "version")) {
            p += 7;
            while (p < end && strchr("= \t\"'", *p)) {
                p++;
            }
        }
    } else {
        return NULL;
    }
    if (p >= end || !isdigit((unsigned char)*p)) {
        return NULL;
    }
    const char *from = p;
    bool dev = false;
    while (p < end && (is_name(*p) || *p == '+' || *p == '!')) {
        dev |= p > from && starts(p, end, "dev") && p[-1] == '.' && p + 3 < end &&
               isdigit((unsigned char)p[3]);
        p++;
    }
    return dev ? p : NULL;
}

static const char *package_at(const char *p, const char *end)
{
    const char *stop = p;
    while (stop < end && (isalnum((unsigned char)*stop) || *stop == '-' || *stop == '_')) {
        stop++;
    }
    for (size_t i = 0; i < sizeof(packages) / sizeof(packages[0]); i++) {
        size_t n = strlen(packages[i]);
        bool whole = (size_t)(stop - p) == n;
        bool wheel = (size_t)(end - p) > n + 1 && (size_t)(stop - p) > n && p[n] == '-' &&
                     isdigit((unsigned char)p[n + 1]);
        if ((whole || wheel) && eco_str_ncasecmp(p, packages[i], n) == 0) {
            return p + n;
        }
    }
    return NULL;
}

/* A word that says nightly: an index, a channel, a package. */
static bool nightly_word(const char *from, const char *to)
{
    bool url = false, nightly = false, torch = false;
    for (const char *p = from; p < to; p++) {
        url |= *p == '/';
        nightly |= starts(p, to, "nightly") || starts(p, to, "continuous-release");
        torch |= starts(p, to, "torch") || starts(p, to, "vllm");
    }
    bool whole = starts(from, to, "nightly") && (size_t)(to - from) == 7;
    return nightly && !whole && (url || torch);
}

const char *eco_scan_nightly(const char *text, size_t len, char *name, size_t cap)
{
    const char *end = text + len, *p = text;
    while (p < end) {
        while (p < end && strchr(" \t\"'`,;()[]{}=", *p)) {
            p++;
        }
        const char *from = p;
        while (p < end && !strchr(" \t\"'`,;()[]{}=\r\n", *p)) {
            p++;
        }
        if (p == from) {
            p += p < end;
            continue;
        }
        if (nightly_word(from, p)) {
            return copy(from, p, name, cap);
        }
        const char *word = from; /* a wheel's name may close a path */
        for (const char *q = from; q < p; q++) {
            word = *q == '/' ? q + 1 : word;
        }
        const char *after = package_at(word, end), *stop = after ? dev_version(after, end) : NULL;
        if (stop) {
            return copy(word, stop, name, cap);
        }
    }
    return NULL;
}

bool eco_scan_loose_package(const char *text, size_t len, char *name, size_t cap)
{
    const char *end = text + len, *p = text;
    while (p < end) {
        while (p < end && strchr(" \t\"'", *p)) {
            p++;
        }
        const char *from = p;
        while (p < end && !strchr(" \t\"'\r\n", *p)) {
            p++;
        }
        const char *after = from < p ? package_at(from, p) : NULL;
        if (after && (after == p || *after == '[')) {
            copy(from, p, name, cap);
            return true;
        }
        p += p == from;
    }
    return false;
}
