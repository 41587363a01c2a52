/* Bytes as a folder: config.json up to the first 0 or the end, model.safetensors behind it. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "fuzz_engine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[300];
    const uint8_t *zero = memchr(data, 0, size);
    size_t config = zero ? (size_t)(zero - data) : size;
    fuzz_write("config.json", data, config, path);
    fuzz_write("model.safetensors", data + config + (zero != NULL), size - config - (zero != NULL),
               path);
    fuzz_decode(fuzz_folder);
    return 0;
}
