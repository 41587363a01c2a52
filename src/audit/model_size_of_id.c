/* How large a model is, by its id: the table of known models first, then what the name says. */
#include "audit.h"
#include "base/num.h"
#include "dataset/dataset.h"

#include <ctype.h>
#include <string.h>

/* Families whose names say no number. Billions of parameters, as published. Longest first. */
static const struct {
    const char *part;
    double b;
} families[] = {
    {"phi-3-medium", 14.0},
    {"phi-3-small", 7.4},
    {"phi-3-mini", 3.82},
    {"phi-3.5-mini", 3.82},
    {"phi-3.5-moe", 41.9},
    {"phi-3-vision", 4.15},
    {"phi-3.5-vision", 4.15},
    {"phi-4-mini", 3.84},
    {"phi-4-multimodal", 5.57},
    {"phi-4", 14.7},
    {"phi-2", 2.78},
    {"phi-1_5", 1.42},
    {"phi-1.5", 1.42},
    {"phi-1", 1.42},
    {"distilgpt2", 0.082},
    {"gpt2-xl", 1.56},
    {"gpt2-large", 0.774},
    {"gpt2-medium", 0.355},
    {"gpt2", 0.124},
    {"dialogpt-small", 0.124},
    {"dialogpt-medium", 0.355},
    {"dialogpt-large", 0.774},
    {"mistral-nemo", 12.2},
    {"mistral-small", 23.6},
    {"mistral-large", 123.0},
    {"deepseek-v2-lite", 15.7},
    {"deepseek-v2", 236.0},
    {"deepseek-v3", 671.0},
    {"command-r-plus", 104.0},
    {"command-r", 35.0},
    {"dbrx", 132.0},
    {"grok-1", 314.0},
    {"santacoder", 1.1},
    {"starcoderbase", 15.5},
    {"starcoder", 15.5},
    {"flan-t5-xxl", 11.3},
    {"flan-t5-xl", 2.85},
    {"flan-t5-large", 0.783},
    {"flan-t5-base", 0.248},
    {"flan-t5-small", 0.077},
    {"t5-small", 0.061},
    {"t5-base", 0.223},
    {"t5-large", 0.738},
    {"bloomz", 176.0},
    {"replit-code-v1", 2.7},
    {"c4ai-command-r", 35.0},
    {"gpt-neox", 20.6},
    {"minicpm3", 4.07},
};

static bool is_word(char c)
{
    return isalnum((unsigned char)c) != 0;
}

/* "7b", "1.5B", "350m", "1_6b" at `at`, standing as a word; the size in *b, its end back. */
static size_t number_at(const char *s, size_t len, size_t at, double *b)
{
    size_t i = at;
    char digits[16];
    size_t n = 0;
    while (i < len && n < sizeof(digits) - 1 && isdigit((unsigned char)s[i])) {
        digits[n++] = s[i++];
    }
    if (i + 1 < len && n && (s[i] == '.' || s[i] == '_' || s[i] == 'p') &&
        isdigit((unsigned char)s[i + 1])) {
        digits[n++] = '.';
        i++;
        while (i < len && n < sizeof(digits) - 1 && isdigit((unsigned char)s[i])) {
            digits[n++] = s[i++];
        }
    }
    if (n == 0 || i >= len) {
        return 0;
    }
    char unit = (char)tolower((unsigned char)s[i]);
    double scale = unit == 'b' ? 1 : unit == 'm' ? 1e-3 : unit == 't' ? 1e3 : 0, v;
    i++;
    if (scale == 0 || (i < len && is_word(s[i])) || eco_num_parse_lenient(digits, n, &v) ||
        v <= 0) {
        return 0;
    }
    *b = v * scale;
    return i;
}

/* "8x7b": the experts are all in memory, and are all quantized. Shared layers are in once. */
static bool experts_at(const char *s, size_t len, size_t at, double *b)
{
    size_t x = at;
    while (x < len && isdigit((unsigned char)s[x])) {
        x++;
    }
    double n, each;
    if (x == at || x - at > 3 || x >= len || (s[x] != 'x' && s[x] != 'X') ||
        !number_at(s, len, x + 1, &each) || eco_num_parse_lenient(s + at, x - at, &n)) {
        return false;
    }
    *b = n * each * 0.83; /* Mixtral-8x7B has 46.7 billion, 8x22B 141 */
    return true;
}

static double size_in_name(const char *s, size_t len)
{
    double best = 0;
    for (size_t i = 0; i < len; i++) {
        bool starts = isdigit((unsigned char)s[i]) && (i == 0 || !isdigit((unsigned char)s[i - 1]));
        if (!starts || (i > 1 && s[i - 1] == '.' && isdigit((unsigned char)s[i - 2]))) {
            continue;
        }
        double b;
        if (experts_at(s, len, i, &b)) {
            return b;
        }
        bool active = i > 0 && (s[i - 1] == 'a' || s[i - 1] == 'A'); /* 30B-A3B: 3 active */
        if (number_at(s, len, i, &b) && !active && b < 5000 && b >= 0.005 && best == 0) {
            best = b;
        }
    }
    return best;
}

static bool contains(const char *s, size_t len, const char *part)
{
    size_t n = strlen(part);
    for (size_t i = 0; i + n <= len; i++) {
        bool whole = (i == 0 || !is_word(s[i - 1])) && (i + n == len || !is_word(s[i + n]));
        if (whole && eco_str_ncasecmp(s + i, part, n) == 0) {
            return true;
        }
    }
    return false;
}

double eco_audit_model_size(const char *id, size_t len)
{
    struct eco_match match;
    while (len && (id[len - 1] == '/' || id[len - 1] == ' ')) {
        len--;
    }
    size_t slash = len;
    while (slash > 0 && id[slash - 1] != '/') {
        slash--;
    }
    const char *name = id + slash;
    size_t n = len - slash;
    if (n == 0 || n > 200) {
        return 0;
    }
    double b = size_in_name(name, n);
    if (b > 0) {
        return b;
    }
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
        if (contains(name, n, families[i].part)) {
            return families[i].b;
        }
    }
    if (eco_dataset_match_model(id, len, &match, NULL) == 0 && match.kind != ECO_MATCH_DEFAULT) {
        return eco_dataset_model(match.index)->params_b;
    }
    return slash ? size_in_name(id, slash) : 0; /* "models/qwen-1.5b/final" */
}
