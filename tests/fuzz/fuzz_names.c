/* Any bytes as the name of a card, a model, a region or a row: found, or refused with a message. */
#include "dataset/dataset.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void check(int rc, const void *out, const struct eco_err *err)
{
    if (rc == 0 ? out == NULL : rc != ECO_E_UNKNOWN_NAME || strlen(err->message) == 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *s = (const char *)data;
    const struct eco_gpu *gpu = NULL, *row = NULL;
    const struct eco_model *model = NULL;
    const struct eco_region *region = NULL;
    struct eco_row measured;
    struct eco_err err;
    int rc;
    enum eco_arch any = eco_dataset_detect_any_arch(s, size, &row);
    enum eco_arch nvidia = eco_dataset_detect_arch(s, size, NULL);

    if (row != NULL && row->arch != any)
        abort();
    if (nvidia != ECO_ARCH_UNKNOWN && strcmp(eco_arch_vendor(nvidia), "nvidia") != 0)
        abort();
    rc = eco_dataset_find_gpu(s, size, &gpu, &err);
    check(rc, gpu, &err);
    rc = eco_dataset_find_model(s, size, &model, &err);
    check(rc, model, &err);
    rc = eco_dataset_find_region(s, size, &region, &err);
    check(rc, region, &err);
    eco_dataset_row_by_id(s, size, &measured);
    return 0;
}
