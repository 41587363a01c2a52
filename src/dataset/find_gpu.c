/* Cards by the names people and drivers use. */
#include "dataset/names.h"
#include "eco_data.h"

#include <string.h>

/* Words that say who made a card, not which; left out before names are compared. */
static const char *const brand_words[] = {"nvidia",   "corporation", "geforce", "tesla",     "amd",
                                          "radeon",   "instinct",    "intel",   "r",         "tm",
                                          "graphics", "gpu",         "card",    "generation"};

static bool is_brand(const char *word, size_t len)
{
    for (size_t i = 0; i < sizeof brand_words / sizeof brand_words[0]; i++) {
        const char *brand = brand_words[i];
        if (brand[0] == word[0] && strncmp(brand, word, len) == 0 && brand[len] == '\0')
            return true;
    }
    return false;
}

static bool is_word_char(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* "24gb" -> 24, else 0. */
static int memory_size(const char *word)
{
    int gb = 0;

    for (; *word >= '0' && *word <= '9' && gb < 10000; word++)
        gb = gb * 10 + (*word - '0');
    return strcmp(word, "gb") == 0 ? gb : 0;
}

/* The name without brand words, as a key. `*gb` gets a memory size the name ends with, or 0. */
static size_t card_key(const char *name, size_t len, char key[ECO_NAME_MAX], int *gb)
{
    size_t n = 0;

    *gb = 0;
    for (size_t i = 0; i < len;) {
        size_t end = i, w;
        char word[ECO_NAME_MAX];

        while (end < len && is_word_char(name[end]))
            end++;
        w = eco_name_key(name + i, end - i, false, word);
        if (w > 0 && !is_brand(word, w) && n + w < ECO_NAME_MAX) {
            *gb = n > 0 ? memory_size(word) : 0;
            memcpy(key + n, word, w);
            n += w;
        }
        i = end + 1;
    }
    key[n] = '\0';
    return n;
}

static enum eco_match_kind match_entry(size_t i, const char *key, size_t n)
{
    const struct eco_hardware_extra *x = &eco_data_hardware_extra[i];

    if (eco_name_is(key, n, false, eco_data_hardware[i].name) ||
        eco_name_is(key, n, false, x->short_name))
        return ECO_MATCH_EXACT;
    if (eco_name_in(key, n, x->aliases))
        return ECO_MATCH_ALIAS;
    return eco_name_in(key, n, x->default_of) ? ECO_MATCH_DEFAULT : ECO_MATCH_NONE;
}

static enum eco_match_kind match_key(const char *key, size_t n, size_t *index)
{
    enum eco_match_kind best = ECO_MATCH_NONE;

    for (size_t i = 0; i < eco_data_hardware_count; i++) {
        enum eco_match_kind kind = match_entry(i, key, n);

        if (kind != ECO_MATCH_NONE && (best == ECO_MATCH_NONE || kind < best)) {
            best = kind;
            *index = i;
        }
    }
    return best;
}

/* "RTX 3090 24GB": the same card when the size is its memory. */
static enum eco_match_kind match_without_size(const char *key, size_t n, int gb, size_t *index)
{
    enum eco_match_kind kind;

    if (gb == 0 || n < 3 || memcmp(key + n - 2, "gb", 2) != 0)
        return ECO_MATCH_NONE;
    for (n -= 2; n > 0 && key[n - 1] >= '0' && key[n - 1] <= '9' && gb > 0; gb /= 10)
        n--;
    if (gb != 0)
        return ECO_MATCH_NONE;
    kind = match_key(key, n, index);
    return kind == ECO_MATCH_NONE ? kind : ECO_MATCH_ALIAS;
}

/* The other cards whose name begins as the asked one does, for the note of a default. */
static void note_default(struct eco_match *m, const char *name, size_t len, const char *key,
                         size_t n)
{
    size_t others = 0;

    m->note[0] = '\0';
    eco_name_adds(m->note, sizeof m->note, "'");
    eco_name_add(m->note, sizeof m->note, name, len < 32 ? len : 32);
    eco_name_adds(m->note, sizeof m->note, "' is taken as ");
    eco_name_adds(m->note, sizeof m->note, eco_data_hardware[m->index].name);
    for (size_t i = 0; i < eco_data_hardware_count && others < 3; i++) {
        char other[ECO_NAME_MAX];
        const char *text = eco_data_hardware[i].name;
        size_t o = eco_name_key(text, strlen(text), false, other);

        if (i == m->index || o <= n || memcmp(other, key, n) != 0)
            continue;
        eco_name_adds(m->note, sizeof m->note, others++ == 0 ? " (also: " : ", ");
        eco_name_adds(m->note, sizeof m->note, text);
    }
    eco_name_adds(m->note, sizeof m->note, others > 0 ? ")" : "");
}

static int unknown_gpu(const char *name, size_t len, const char *key, size_t n, struct eco_err *err)
{
    struct eco_nearest near = {.key = key, .len = n};
    enum eco_arch arch = eco_dataset_detect_any_arch(name, len, NULL);
    char hint[128];

    for (size_t i = 0; i < eco_data_hardware_count; i++)
        eco_nearest_try(&near, eco_data_hardware_extra[i].short_name,
                        eco_data_hardware_extra[i].short_name);
    eco_nearest_text(&near, hint, sizeof hint);
    if (arch != ECO_ARCH_UNKNOWN && near.count == 0) {
        eco_name_adds(hint, sizeof hint, ": the name says ");
        eco_name_adds(hint, sizeof hint, eco_arch_name(arch));
        eco_name_adds(hint, sizeof hint, ", but hardware.csv has no such card");
    }
    return eco_err_set(err, ECO_E_UNKNOWN_NAME, "gpu", "unknown gpu '%.*s'%s",
                       len < 60 ? (int)len : 60, name, hint);
}

bool eco_dataset_try_gpu(const char *name, size_t len, struct eco_match *out)
{
    struct eco_match m = {0};
    char key[ECO_NAME_MAX];
    int gb;
    size_t n = card_key(name, len, key, &gb);

    m.kind = match_key(key, n, &m.index);
    if (m.kind == ECO_MATCH_NONE) {
        m.kind = match_without_size(key, n, gb, &m.index);
        if (m.kind != ECO_MATCH_NONE && eco_data_hardware[m.index].vram_gb != gb)
            return false;
    }
    if (m.kind == ECO_MATCH_NONE)
        return false;
    if (m.kind == ECO_MATCH_DEFAULT)
        note_default(&m, name, len, key, n);
    *out = m;
    return true;
}

int eco_dataset_match_gpu(const char *name, size_t len, struct eco_match *out, struct eco_err *err)
{
    char key[ECO_NAME_MAX];
    int gb;
    size_t n;

    if (eco_dataset_try_gpu(name, len, out))
        return 0;
    n = card_key(name, len, key, &gb);
    return unknown_gpu(name, len, key, n, err);
}

int eco_dataset_find_gpu(const char *name, size_t len, const struct eco_gpu **out,
                         struct eco_err *err)
{
    struct eco_match m = {0};
    int rc = eco_dataset_match_gpu(name, len, &m, err);

    if (rc == 0)
        *out = &eco_data_hardware[m.index];
    return rc;
}
