/*
 * CodeCarbon's emissions.csv: kWh by component for a stretch of a program. GPU energy is what NVML
 * says of the boards. CPU energy may be RAPL or a constant from a table, and RAM is always a model;
 * the file does not say which, so neither is taken as measured. Carbon is theirs, not ours.
 */
#include "import_parts.h"

#include "base/csv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define J_PER_KWH 3.6e6
#define MAX_KWH 1e9
#define MAX_S 1e10

static const char *cell_text(struct eco_arena *arena, const struct eco_csv *c, const char *name)
{
    int column = eco_csv_column(c, name);
    if (column < 0)
        return NULL;
    const struct eco_csv_cell *cell = &c->cell[column];
    struct eco_json v = {.type = ECO_JSON_STRING, .str = cell->s, .len = cell->len};
    return eco_import_text(arena, &v);
}

static int cell_num(const struct eco_csv *c, const char *name, double hi, double *out,
                    struct eco_err *err)
{
    int column = eco_csv_column(c, name);
    *out = (double)NAN;
    if (column < 0)
        return 0;
    double v;
    int rc = eco_csv_num(c, column, &v, err);
    if (rc < 0)
        return rc;
    if (rc == 1 && !(v >= 0 && v <= hi))
        return eco_err_set_at(err, ECO_E_CONTENT, "file", c->line, 0,
                              "'emissions.csv' line %ld: '%s' is %g, which cannot be true", c->line,
                              name, v);
    *out = rc == 1 ? v : (double)NAN;
    return 0;
}

/* "2 x Tesla V100S-PCIE-32GB" -> "Tesla V100S-PCIE-32GB" */
static const char *without_count(const char *gpu)
{
    const char *at = gpu;
    while (at && *at >= '0' && *at <= '9')
        at++;
    return at && at > gpu && strncmp(at, " x ", 3) == 0 && at[3] ? at + 3 : gpu;
}

static int read_row(const struct eco_csv *c, struct eco_arena *arena, struct eco_import *out,
                    struct eco_err *err)
{
    double gpu_kwh, cpu_kwh, gpus;
    struct eco_import_run *r = eco_import_add(out, arena, err);
    if (!r)
        return err && err->code ? err->code : ECO_E_NO_MEMORY;
    int rc = cell_num(c, "duration", MAX_S, &r->duration_s, err);
    rc = rc ? rc : cell_num(c, "gpu_energy", MAX_KWH, &gpu_kwh, err);
    rc = rc ? rc : cell_num(c, "cpu_energy", MAX_KWH, &cpu_kwh, err);
    rc = rc ? rc : cell_num(c, "gpu_count", 1e5, &gpus, err);
    if (rc != 0)
        return rc;
    const char *project = cell_text(arena, c, "project_name");
    const char *mode = cell_text(arena, c, "tracking_mode");
    r->tool = "CodeCarbon";
    r->version = cell_text(arena, c, "codecarbon_version");
    r->at = cell_text(arena, c, "timestamp");
    r->cpu = cell_text(arena, c, "cpu_model");
    r->host = cell_text(arena, c, "os");
    r->gpu = without_count(cell_text(arena, c, "gpu_model"));
    r->gpus = gpus >= 1 ? (int)gpus : -1;
    r->what = eco_arena_printf(arena, "%s, %.6g s, GPU %.6g kWh, CPU %.6g kWh",
                               project ? project : "no project", r->duration_s, gpu_kwh, cpu_kwh);
    if (gpu_kwh > 0) {
        r->boundary = ECO_RUN_BOUNDARY_GPU_BOARD;
        r->energy_j = gpu_kwh * J_PER_KWH;
        r->power_w = r->duration_s > 0 ? r->energy_j / r->duration_s : (double)NAN;
        r->preferred = true;
        eco_import_note(r, "energy is that of the GPU boards over the whole tracked stretch: "
                           "loading, idling and prefill are in it if they were tracked");
    } else {
        r->energy_reason =
            "the file has no GPU energy, and does not say whether its CPU energy was "
            "measured or taken from a table";
    }
    if (cpu_kwh > 0)
        eco_import_note(r, eco_arena_printf(arena,
                                            "left out: CPU %.6g kWh and RAM, which CodeCarbon "
                                            "may have modelled; boundaries are never added",
                                            cpu_kwh));
    if (mode && strcmp(mode, "machine") == 0 && gpu_kwh > 0)
        eco_import_note(r, "tracking mode 'machine': all GPUs of the machine, whoever used them");
    return r->what ? 0 : eco_err_set(err, ECO_E_NO_MEMORY, NULL, "out of memory");
}

int eco_import_codecarbon(const char *text, size_t len, struct eco_arena *arena,
                          struct eco_import *out, struct eco_err *err)
{
    struct eco_csv *c = malloc(sizeof(*c));
    if (!c)
        return eco_err_set(err, ECO_E_NO_MEMORY, NULL, "out of memory");
    int rc = eco_csv_open(c, "emissions.csv", text, len, err);
    if (rc != 0) {
        free(c);
        return rc;
    }
    if (eco_csv_column(c, "duration") < 0 || eco_csv_column(c, "energy_consumed") < 0)
        rc = eco_err_set(
            err, ECO_E_CONTENT, "file",
            "the table has no 'duration' and 'energy_consumed': it is not CodeCarbon's");
    while (rc == 0) {
        rc = eco_csv_next(c, err);
        if (rc != 1)
            break;
        rc = read_row(c, arena, out, err);
    }
    eco_csv_done(c);
    free(c);
    return rc;
}
