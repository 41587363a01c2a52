/* The half of the module that reads from disk: headers only, regular files only. */
#include "dataset/dataset.h"
#include "model.h"

#include <string.h>

int eco_model_inspect(const char *spec, struct eco_model *out, struct eco_model_info *info,
                      struct eco_err *err)
{
    const struct eco_model *known;
    int rc = eco_dataset_find_model(spec, strlen(spec), &known, err);
    if (rc) {
        return rc;
    }
    *out = *known;
    if (info != NULL) {
        memset(info, 0, sizeof *info);
    }
    return 0;
}

int eco_model_open(const char *spec, struct eco_model *out, struct eco_err *err)
{
    return eco_model_inspect(spec, out, NULL, err);
}
