/* The name tables of eco_types.h: text to enum and back, one X-macro each. */
#include "eco_types.h"

#include <string.h>

static char fold(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* a[0..alen) equals b[0..blen), case-folded. */
static bool same(const char *a, size_t alen, const char *b, size_t blen)
{
    if (alen != blen)
        return false;
    for (size_t i = 0; i < alen; i++) {
        if (fold(a[i]) != fold(b[i]))
            return false;
    }
    return true;
}

static const struct {
    const char *name, *vendor;
} archs[] = {[ECO_ARCH_UNKNOWN] = {"unknown", ""},
#define X(name, text, vendor) [ECO_ARCH_##name] = {text, vendor},
             ECO_ARCHS(X)
#undef X
};

const char *eco_arch_name(enum eco_arch arch)
{
    return archs[(unsigned)arch < ECO_ARCH_COUNT ? arch : ECO_ARCH_UNKNOWN].name;
}

const char *eco_arch_vendor(enum eco_arch arch)
{
    return archs[(unsigned)arch < ECO_ARCH_COUNT ? arch : ECO_ARCH_UNKNOWN].vendor;
}

enum eco_arch eco_arch_parse(const char *text, size_t len)
{
    for (int i = ECO_ARCH_UNKNOWN + 1; i < ECO_ARCH_COUNT; i++) {
        if (same(text, len, archs[i].name, strlen(archs[i].name)))
            return (enum eco_arch)i;
    }
    return ECO_ARCH_UNKNOWN;
}

static const struct {
    const char *name, *aliases;
    double bits;
    enum eco_precision_family family;
    enum eco_published_class published;
} precisions[] = {[ECO_PREC_NONE] = {"none", "", 0, ECO_FAM_NONE, ECO_PUB_NONE},
#define X(name, text, published, bits, family, aliases)                                            \
    [ECO_PREC_##name] = {text, aliases, bits, ECO_FAM_##family, ECO_PUB_##published},
                  ECO_PRECISIONS(X)
#undef X
};

static enum eco_precision known_precision(enum eco_precision p)
{
    return (unsigned)p < ECO_PREC_COUNT ? p : ECO_PREC_NONE;
}

const char *eco_precision_name(enum eco_precision p)
{
    return precisions[known_precision(p)].name;
}

double eco_precision_bits(enum eco_precision p)
{
    return precisions[known_precision(p)].bits;
}

enum eco_precision_family eco_precision_family(enum eco_precision p)
{
    return precisions[known_precision(p)].family;
}

enum eco_published_class eco_precision_published(enum eco_precision p)
{
    return precisions[known_precision(p)].published;
}

/* One of the words of `list`, which are separated by single blanks. */
static bool in_words(const char *text, size_t len, const char *list)
{
    while (*list) {
        size_t word = strcspn(list, " ");
        if (same(text, len, list, word))
            return true;
        list += word;
        list += *list == ' ';
    }
    return false;
}

enum eco_precision eco_precision_parse(const char *text, size_t len)
{
    for (int i = ECO_PREC_NONE + 1; i < ECO_PREC_COUNT; i++) {
        if (same(text, len, precisions[i].name, strlen(precisions[i].name)) ||
            in_words(text, len, precisions[i].aliases))
            return (enum eco_precision)i;
    }
    return ECO_PREC_NONE;
}

const char *eco_published_name(enum eco_published_class c)
{
    static const char *const names[] = {"none", "FP16", "NF4", "INT8"};
    return names[(unsigned)c < sizeof(names) / sizeof(names[0]) ? c : ECO_PUB_NONE];
}

const char *eco_basis_name(enum eco_basis b)
{
    static const char *const names[] = {"unavailable", "measured", "interpolated", "extrapolated",
                                        "estimated",   "modelled", "computed"};
    return names[(unsigned)b < sizeof(names) / sizeof(names[0]) ? b : ECO_BASIS_UNAVAILABLE];
}

const char *eco_confidence_name(enum eco_confidence c)
{
    static const char *const names[] = {"none", "low", "medium", "high"};
    return names[(unsigned)c < sizeof(names) / sizeof(names[0]) ? c : ECO_CONF_NONE];
}

const char *eco_recommendation_name(enum eco_recommendation r)
{
    static const char *const names[] = {"none", "quantize", "do_not_quantize", "depends",
                                        "baseline"};
    return names[(unsigned)r < sizeof(names) / sizeof(names[0]) ? r : ECO_REC_NONE];
}

static const char *const engines[] = {"unknown",      "transformers", "vllm",   "llama.cpp",
                                      "tensorrt-llm", "deepspeed",    "sglang", "builtin"};

const char *eco_engine_name(enum eco_engine e)
{
    return engines[(unsigned)e < ECO_ENGINE_COUNT ? e : ECO_ENGINE_UNKNOWN];
}

enum eco_engine eco_engine_parse(const char *text, size_t len)
{
    static const struct {
        const char *prefix;
        enum eco_engine engine;
    } others[] = {{"bitsandbytes", ECO_ENGINE_TRANSFORMERS}, {"pytorch", ECO_ENGINE_TRANSFORMERS},
                  {"torch", ECO_ENGINE_TRANSFORMERS},        {"hf", ECO_ENGINE_TRANSFORMERS},
                  {"llamacpp", ECO_ENGINE_LLAMACPP},         {"llama-cpp", ECO_ENGINE_LLAMACPP},
                  {"tensorrt", ECO_ENGINE_TENSORRT_LLM},     {"trt-llm", ECO_ENGINE_TENSORRT_LLM}};
    for (int i = ECO_ENGINE_UNKNOWN + 1; i < ECO_ENGINE_COUNT; i++) {
        size_t n = strlen(engines[i]);
        if (len >= n && same(text, n, engines[i], n))
            return (enum eco_engine)i;
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        size_t n = strlen(others[i].prefix);
        if (len >= n && same(text, n, others[i].prefix, n))
            return others[i].engine;
    }
    return ECO_ENGINE_UNKNOWN;
}

char eco_grade_letter(enum eco_grade g)
{
    return (unsigned)g <= ECO_GRADE_D ? "-ABCD"[g] : '-';
}
