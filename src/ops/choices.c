#include "choices.h"

#include "dataset/dataset.h"
#include "eco_types.h"

#include <string.h>

const char *eco_choices_kind(const char *word)
{
    struct eco_match match;
    if (eco_precision_parse(word, strlen(word)) != ECO_PREC_NONE) {
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
