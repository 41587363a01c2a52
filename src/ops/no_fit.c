/*
 * What was wanted does not fit into the card's memory: one exit status for every operation that is
 * asked for a configuration. `diagnose` is told of a run that runs, and has none.
 */
#include "records.h"
#include "runs.h"

#include <string.h>

int eco_op_status(const struct eco_op *op, const void *result)
{
    if (op->no_fit && op->no_fit(result)) {
        return eco_err_exit_status(ECO_E_NO_FIT);
    }
    return op->says_no && op->says_no(result) ? eco_err_exit_status(ECO_E_ANSWER_NO) : 0;
}

bool eco_estimate_no_fit(const void *result)
{
    const struct eco_res_memory *m = ((const struct eco_res_estimate *)result)->memory;
    return m && m->card_gb.have && !m->fits;
}

bool eco_compare_no_fit(const void *result)
{
    const struct eco_list *rows = &((const struct eco_res_compare *)result)->rows;
    const struct eco_res_compare_row *r = rows->items;
    for (size_t i = 0; i < rows->n; i++) {
        if (r[i].fits) {
            return false;
        }
    }
    return true; /* none is listed when none fits */
}

/* The current configuration: a bill of what cannot be run as it is said. */
bool eco_cost_no_fit(const void *result)
{
    const struct eco_list *alerts = &((const struct eco_res_cost *)result)->alerts;
    const struct eco_res_alert *a = alerts->items;
    for (size_t i = 0; i < alerts->n; i++) {
        if (strcmp(a[i].id, "offload") == 0) {
            return true;
        }
    }
    return false;
}

/* Not even the nearest one fits the card itself; a budget of memory that was asked for is a no. */
bool eco_optimize_no_fit(const void *result)
{
    const struct eco_res_optimize *r = result;
    const struct eco_res_miss *m = r->misses.items;
    for (size_t i = 0; !r->recommended && i < r->misses.n; i++) {
        if (strcmp(m[i].budget, ECO_ROOM_NAME) == 0) {
            return true;
        }
    }
    return false;
}

bool eco_ask_no_fit(const void *result)
{
    const struct eco_any *a = &((const struct eco_res_ask *)result)->answer;
    return a->op && a->op->no_fit && a->op->no_fit(a->result);
}
