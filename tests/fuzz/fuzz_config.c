/* Any bytes as a config.json. */
#include "fuzz_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct eco_model m;
    struct eco_model_info info;
    struct eco_err err = {0};
    int rc = eco_model_from_config("config.json", NULL, (const char *)data, size, &m, &info, &err);
    if (rc) {
        check_error(rc, &err);
    } else {
        check_model(&m, &info);
    }
    return 0;
}
