/* Any bytes as the file of another tool: what is taken must build a report that is valid. */
#include "report/import.h"
#include "report/report.h"

#include <stdint.h>
#include <stdlib.h>

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void build(const struct eco_import *im, size_t index, struct eco_arena *arena)
{
    static struct eco_report_check check;
    struct eco_import_more more = {.precision = ECO_PREC_NF4, .gpu = "RTX 4090"};
    struct eco_run run;
    struct eco_buf out = ECO_BUF_INIT;
    if (eco_import_fill(im, index, &more, arena, &run, NULL) == 0) {
        run.tool_version = "0";
        run.timestamp_utc = "2026-11-30T09:12:31.123Z";
        must(eco_report_build(&run, 0, &out, NULL) == 0);
        must(eco_report_validate(out.data, out.len, &check, NULL) == 0);
    }
    eco_buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct eco_buf text = ECO_BUF_INIT;
    struct eco_arena arena;
    struct eco_import im;
    if (size > 1u << 20)
        return 0;
    eco_arena_init(&arena, 0);
    eco_buf_put(&text, data, size);
    for (int kind = 0; kind < ECO_IMPORT_KIND_COUNT; kind++) {
        eco_arena_reset(&arena);
        int rc = eco_import_read((enum eco_import_kind)kind, eco_buf_str(&text), size, &arena, &im,
                                 NULL);
        for (size_t i = 0; rc == 0 && i < im.count && i < 4; i++)
            build(&im, i, &arena);
    }
    eco_arena_done(&arena);
    eco_buf_done(&text);
    return 0;
}
