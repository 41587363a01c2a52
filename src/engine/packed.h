/*
 * Inside the module: Q8_0 and Q4_0 with the codes of sixteen rows together, so that one register
 * holds the same columns of sixteen rows and a sum needs no adding across it. The bytes are those
 * of the rows, in another order; nothing is rounded or added.
 * A group of 16 rows: codes [block of 32 columns][word][row][4], then scales [block][row] as FP16.
 * Word i of Q8_0 (8 of them) is columns 4 i .. 4 i + 3; word i of Q4_0 (4 of them) has columns
 * 4 i .. 4 i + 3 in the low nibbles and 16 more in the high ones.
 */
#ifndef ECO_ENGINE_PACKED_H
#define ECO_ENGINE_PACKED_H

#include "matrix.h"

#define ECO_PACKED_ROWS 16

struct eco_packed {
    const uint8_t *codes;  /* [cols / 32][8 or 4][16][4] */
    const uint8_t *scales; /* [cols / 32][16] FP16 */
};

/** Whether a matrix of this format can be packed: Q8_0 or Q4_0 in whole groups of rows. */
bool eco_engine_can_pack(enum eco_format f, int rows);
/** The group that starts with row r, a multiple of 16. */
static inline struct eco_packed eco_packed_group(const struct eco_matrix *w, int r)
{
    size_t blocks = (size_t)w->cols / ECO_Q_BLOCK, bytes = w->format == ECO_FORMAT_Q8_0 ? 32 : 16;
    const uint8_t *p = (const uint8_t *)w->data + (size_t)r * blocks * (bytes + 2);
    return (struct eco_packed){p, p + blocks * bytes * ECO_PACKED_ROWS};
}
/** Rows [begin, end), multiples of 16, from `from` (rows of ggml's blocks) into w's memory. */
void eco_engine_pack_rows(const struct eco_matrix *w, int begin, int end, const uint8_t *from);
/** Block `b` of row r as ggml has it: 34 or 18 bytes. */
void eco_engine_unpack_block(const struct eco_matrix *w, int r, int b, uint8_t *block);

#endif
