/* Look-ups of the question parser over the data set. */
#include "ask.h"
#include "dataset/dataset.h"

#include <math.h>
#include <string.h>

static void copy(char out[ECO_QUERY_NAME], const char *s)
{
    size_t n = strlen(s);
    n = n < ECO_QUERY_NAME ? n : 0;
    memcpy(out, s, n);
    out[n] = '\0';
}

static void copy_part(char out[ECO_QUERY_NAME], const char *s, size_t len)
{
    len = len < ECO_QUERY_NAME ? len : 0;
    memcpy(out, s, len);
    out[len] = '\0';
}

/* "A100 80G": the table writes GB. */
static bool match(const char *text, size_t len, struct eco_match *m)
{
    char longer[ECO_QUERY_NAME];
    if (eco_dataset_match_gpu(text, len, m, NULL) == 0) {
        return true;
    }
    bool g = len >= 2 && len + 1 < sizeof(longer) &&
             (text[len - 1] == 'G' || text[len - 1] == 'g') && text[len - 2] >= '0' &&
             text[len - 2] <= '9';
    if (!g) {
        return false;
    }
    memcpy(longer, text, len);
    longer[len] = 'B';
    return eco_dataset_match_gpu(longer, len + 1, m, NULL) == 0;
}

/* A default choice ("a100" of several) keeps the name as said: the operation prints the note. */
static bool card(void *self, const char *text, size_t len, struct eco_query_card *out)
{
    struct eco_match m;
    (void)self;
    out->arch = eco_dataset_detect_any_arch(text, len, NULL);
    if (match(text, len, &m)) {
        out->arch = eco_dataset_gpu(m.index)->arch;
        if (m.kind == ECO_MATCH_DEFAULT) {
            copy_part(out->name, text, len);
        } else {
            copy(out->name, eco_dataset_gpu_short(m.index));
        }
    }
    return out->arch != ECO_ARCH_UNKNOWN;
}

static bool says_size(const char *text, size_t len)
{
    for (size_t i = 1; i < len; i++) {
        char c = text[i];
        bool unit = c == 'b' || c == 'B' || c == 'm' || c == 'M';
        if (unit && text[i - 1] >= '0' && text[i - 1] <= '9') {
            return true;
        }
    }
    return false;
}

/* Whether other models of this beginning have another size: "llama3" names three. */
static bool ambiguous(const struct eco_model *m, const char *text, size_t len)
{
    char key[ECO_QUERY_NAME];
    size_t n = 0;
    for (size_t i = 0; i < len && n < sizeof(key); i++) {
        char c = text[i];
        c = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.') {
            key[n++] = c;
        }
    }
    for (size_t i = 0; i < eco_dataset_model_count(); i++) {
        const char *s = eco_dataset_model_short(i);
        size_t k = 0;
        for (; *s && k < n; s++) {
            if (*s == '-') {
                continue;
            }
            if (*s != key[k]) {
                break;
            }
            k++;
        }
        if (k == n && fabs(log(eco_dataset_model(i)->params_b / m->params_b)) > 0.1) {
            return true;
        }
    }
    return false;
}

static bool model(void *self, const char *text, size_t len, struct eco_query_model *out)
{
    struct eco_match m;
    (void)self;
    if (eco_dataset_match_model(text, len, &m, NULL)) {
        return false;
    }
    const struct eco_model *found = eco_dataset_model(m.index);
    if (!says_size(text, len) && m.kind != ECO_MATCH_EXACT && ambiguous(found, text, len)) {
        return false;
    }
    copy(out->name, eco_dataset_model_short(m.index));
    out->params_b = found->params_b;
    out->moe = found->experts > 0 && found->params_b > 1.5; /* "8x22B" is no sum */
    return true;
}

static bool region(void *self, const char *text, size_t len, char out[ECO_QUERY_NAME])
{
    /* Places by their Chinese names; the table has English ones. */
    static const char *const chinese[][2] = {
        {"中国", "China"},         {"美国", "United States"},  {"德国", "Germany"},
        {"法国", "France"},        {"英国", "United Kingdom"}, {"日本", "Japan"},
        {"韩国", "South Korea"},   {"印度", "India"},          {"加拿大", "Canada"},
        {"挪威", "Norway"},        {"瑞典", "Sweden"},         {"新加坡", "Singapore"},
        {"澳大利亚", "Australia"}, {"巴西", "Brazil"}};
    const struct eco_region *r;
    (void)self;
    for (size_t i = 0; i < ECO_COUNT(chinese); i++) {
        if (strlen(chinese[i][0]) == len && memcmp(chinese[i][0], text, len) == 0) {
            text = chinese[i][1];
            len = strlen(text);
            break;
        }
    }
    /* short words are rather words than codes, unless in capitals */
    bool capitals =
        len >= 2 && text[0] >= 'A' && text[0] <= 'Z' && text[1] >= 'A' && text[1] <= 'Z';
    if ((len < 4 && !capitals) || eco_dataset_find_region(text, len, &r, NULL)) {
        return false;
    }
    copy(out, r->name);
    return true;
}

const struct eco_query_names eco_ask_names = {NULL, card, model, region};
