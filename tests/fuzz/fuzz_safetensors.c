/* Any bytes as the head of a safetensors file, with and without a config, whole and not. */
#include "fuzz_model.h"

static const char config[] = "{\"model_type\":\"llama\",\"hidden_size\":64,\"num_hidden_layers\":2,"
                             "\"num_attention_heads\":4,\"num_key_value_heads\":2,"
                             "\"intermediate_size\":96,\"vocab_size\":100}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (int i = 0; i < 4; i++) {
        struct eco_model m;
        struct eco_model_info info;
        struct eco_err err = {0};
        int rc = eco_model_from_safetensors("x.safetensors", NULL, data, size, i & 1 ? size : 0,
                                            i & 2 ? config : NULL, i & 2 ? sizeof config - 1 : 0,
                                            &m, &info, &err);
        if (rc) {
            check_error(rc, &err);
        } else {
            check_model(&m, &info);
        }
    }
    return 0;
}
