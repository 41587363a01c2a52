/* Parts that several views share. */
#ifndef ECO_OPS_VIEW_PARTS_H
#define ECO_OPS_VIEW_PARTS_H

#include "doc.h"
#include "records.h"

/** Traps that matter come right after the verdict; the rest are told at the end. */
enum eco_view_when { ECO_VIEW_BEFORE, ECO_VIEW_AFTER };
void eco_view_alerts(struct eco_doc *d, const struct eco_list *alerts, enum eco_view_when when);
/** A cell with a number of so many digits, or empty. */
void eco_view_opt_cell(struct eco_doc *d, struct eco_opt v, int significant);
void eco_view_bill_line(struct eco_doc *d, const struct eco_res_bill *bill);
void eco_view_bill(struct eco_doc *d, const struct eco_res_bill *bill);
void eco_view_notes(struct eco_doc *d, const struct eco_strs *notes);
void eco_view_citation(struct eco_doc *d, const struct eco_res_provenance *p);

#endif
