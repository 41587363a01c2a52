/* Bytes as a whole .gguf file, shape, scaling and weights. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "fuzz_engine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[300];
    fuzz_write("model.gguf", data, size, path);
    fuzz_decode(path);
    return 0;
}
