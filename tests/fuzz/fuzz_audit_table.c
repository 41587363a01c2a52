/* Any bytes as a table: refused, or findings that name rows that are there. */
#include "dataset/audit_table.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct eco_arena arena;
    struct eco_table_audit t;
    struct eco_err err;
    size_t per_severity[3] = {0};
    int rc;

    eco_arena_init(&arena, 64u << 20);
    rc = eco_dataset_audit_table("fuzz", (const char *)data, size, &arena, &t, &err);
    if (rc == 0) {
        for (size_t i = 0; i < t.count; i++) {
            const struct eco_table_finding *f = &t.findings[i];

            if (f->row > t.rows || f->message[0] == '\0' || f->id == NULL)
                abort();
            per_severity[f->severity]++;
        }
        if (per_severity[ECO_TABLE_ERROR] != t.errors || t.rows_with_error > t.rows)
            abort();
    } else if (err.message[0] == '\0') {
        abort();
    }
    eco_arena_done(&arena);
    return 0;
}
