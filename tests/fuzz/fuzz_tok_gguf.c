/* Bytes as a vocabulary of a GGUF file; what loads encodes and decodes the bytes themselves. */
#include "engine/tok.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct eco_tokenizer *t = NULL;
    struct eco_err err;
    if (eco_tokenizer_from_gguf("x", data, size, &t, &err) == 0) {
        struct eco_ids ids = {0};
        struct eco_buf text = ECO_BUF_INIT;
        size_t len = size < 4096 ? size : 4096;
        if (eco_tokenizer_encode(t, (const char *)data, len,
                                 ECO_TOK_WITH_ENDS | ECO_TOK_WITH_SPECIAL, &ids, &err) == 0) {
            eco_tokenizer_decode(t, ids.v, ids.n, &text);
        }
        eco_buf_done(&text);
        eco_ids_done(&ids);
    }
    eco_tokenizer_free(t);
    return 0;
}
