/* Rows of ggml's blocks into groups of sixteen, and a block back. */
#include "packed.h"

#include <string.h>

bool eco_engine_can_pack(enum eco_format f, int rows)
{
    return (f == ECO_FORMAT_Q8_0 || f == ECO_FORMAT_Q4_0) && rows % ECO_PACKED_ROWS == 0;
}

void eco_engine_pack_rows(const struct eco_matrix *w, int begin, int end, const uint8_t *from)
{
    const size_t blocks = (size_t)w->cols / ECO_Q_BLOCK,
                 row = eco_engine_row_bytes(w->format, w->cols);
    const size_t words = w->format == ECO_FORMAT_Q8_0 ? 8 : 4, block = 4 * words + 2;
    for (int r = begin; r < end; r += ECO_PACKED_ROWS, from += ECO_PACKED_ROWS * row) {
        struct eco_packed g = eco_packed_group(w, r);
        uint8_t *codes = (uint8_t *)(uintptr_t)g.codes, *scales = (uint8_t *)(uintptr_t)g.scales;
        for (size_t b = 0; b < blocks; b++) {
            for (size_t k = 0; k < ECO_PACKED_ROWS; k++) {
                const uint8_t *at = from + k * row + b * block;
                memcpy(scales + 2 * (ECO_PACKED_ROWS * b + k), at, 2);
                for (size_t i = 0; i < words; i++) {
                    memcpy(codes + 4 * ((words * b + i) * ECO_PACKED_ROWS + k), at + 2 + 4 * i, 4);
                }
            }
        }
    }
}

void eco_engine_unpack_block(const struct eco_matrix *w, int r, int b, uint8_t *block)
{
    const size_t k = (size_t)(r % ECO_PACKED_ROWS), at = (size_t)b;
    const size_t words = w->format == ECO_FORMAT_Q8_0 ? 8 : 4;
    struct eco_packed g = eco_packed_group(w, r - (int)k);
    memcpy(block, g.scales + 2 * (ECO_PACKED_ROWS * at + k), 2);
    for (size_t i = 0; i < words; i++) {
        memcpy(block + 2 + 4 * i, g.codes + 4 * ((words * at + i) * ECO_PACKED_ROWS + k), 4);
    }
}
