#include "choices.h"

#include "dataset/dataset.h"
#include "eco_types.h"

#include <string.h>

/* "NF4", or several with commas between. */
static bool precisions(const char *words)
{
    for (const char *at = words;; at++) {
        size_t len = strcspn(at, ",");
        if (eco_precision_parse(at, len) == ECO_PREC_NONE) {
            return false;
        }
        at += len;
        if (!*at) {
            return true;
        }
    }
}

const char *eco_choices_kind(const char *word)
{
    struct eco_match match;
    if (precisions(word)) {
        return "@precision";
    }
    return eco_dataset_match_gpu(word, strlen(word), &match, NULL) == 0 ? "@gpu" : NULL;
}

void eco_choices_each(const char *list, void (*each)(void *to, const char *choice), void *to)
{
    if (strcmp(list, "@gpu") == 0) {
        for (size_t i = 0; i < eco_dataset_gpu_count(); i++) {
            each(to, eco_dataset_gpu_short(i));
        }
    } else if (strcmp(list, "@model") == 0) {
        for (size_t i = 0; i < eco_dataset_model_count(); i++) {
            each(to, eco_dataset_model(i)->name);
        }
    } else if (strcmp(list, "@precision") == 0) {
        for (int p = 1; p < ECO_PREC_COUNT; p++) {
            each(to, eco_precision_name((enum eco_precision)p));
        }
    } else if (strcmp(list, "@region") == 0) {
        for (size_t i = 0; i < eco_dataset_region_count(); i++) {
            each(to, eco_dataset_region(i)->name);
        }
    } else if (strcmp(list, "@arch") == 0) {
        for (int a = 1; a < ECO_ARCH_COUNT; a++) {
            each(to, eco_arch_name((enum eco_arch)a));
        }
    }
}
