/* How results read for people: each view says the verdict first, then the number with its range,
 * the reason, and the next thing to do. doc.h decides between terminal, Markdown and HTML. */
#ifndef ECO_OPS_VIEWS_H
#define ECO_OPS_VIEWS_H

#include "doc.h"

void eco_view_estimate(struct eco_doc *d, const void *result);
void eco_view_optimize(struct eco_doc *d, const void *result);
void eco_view_compare(struct eco_doc *d, const void *result);
void eco_view_diagnose(struct eco_doc *d, const void *result);
void eco_view_cost(struct eco_doc *d, const void *result);
void eco_view_ask(struct eco_doc *d, const void *result);
void eco_view_measure(struct eco_doc *d, const void *result);
void eco_view_engine(struct eco_doc *d, const void *result);
void eco_view_doctor(struct eco_doc *d, const void *result);
void eco_view_replay(struct eco_doc *d, const void *result);
void eco_view_track(struct eco_doc *d, const void *result);
void eco_view_report(struct eco_doc *d, const void *result);
/* view_report.c: compare, verify, keygen; false: it was another action */
bool eco_view_report_answer(struct eco_doc *d, const void *result);
void eco_view_replay_dir(struct eco_doc *d, const void *result);
void eco_view_data(struct eco_doc *d, const void *result);
void eco_view_gpus(struct eco_doc *d, const void *result);
void eco_view_models(struct eco_doc *d, const void *result);
void eco_view_fit(struct eco_doc *d, const void *result);
void eco_view_audit(struct eco_doc *d, const void *result);
void eco_view_architectures(struct eco_doc *d, const void *result);
void eco_view_mcp(struct eco_doc *d, const void *result);
void eco_view_serve(struct eco_doc *d, const void *result);
void eco_view_version(struct eco_doc *d, const void *result);

#endif
