/* Any bytes as the head of a .gguf file, whole, cut, and of a size that nobody knows. */
#include "fuzz_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint64_t sizes[] = {size, 0, (uint64_t)size + 4096, UINT64_MAX};
    for (int i = 0; i < 4; i++) {
        struct eco_model m;
        struct eco_model_info info;
        struct eco_err err = {0};
        int rc = eco_model_from_gguf("x.gguf", NULL, data, size, sizes[i], &m, &info, &err);
        if (rc == 0) {
            check_model(&m, &info);
        } else if (rc != 1) {
            check_error(rc, &err);
        } else if (sizes[i] == size && size > 0) {
            abort(); /* nothing more can come */
        }
    }
    return 0;
}
