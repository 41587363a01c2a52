/* GPU classes with their curves. */
#include "records.h"
#include "views.h"

static void row(struct eco_doc *d, const char *arch, const struct eco_res_architecture *a,
                const char *precision, const struct eco_res_arch_class *c)
{
    if (!c) {
        return;
    }
    eco_doc_cell(d, "%s", arch);
    eco_doc_cell(d, "%s", precision);
    eco_doc_cell(d, "%s to %s", eco_doc_num(d, c->measured_range_b.lo, 3),
                 eco_doc_num(d, c->measured_range_b.hi, 3));
    eco_doc_cell(d, "%s", c->crossover_b.have ? eco_doc_num(d, c->crossover_b.v, 4) : "none");
    eco_doc_cell(d, "%lld", (long long)c->anchors);
    eco_doc_cell(d, "%s", a->label);
}

void eco_view_architectures(struct eco_doc *d, const void *result)
{
    const struct eco_res_architectures *r = result;
    const struct eco_res_architecture *const all[] = {&r->turing, &r->ampere, &r->ada,
                                                      &r->blackwell, &r->hopper};
    static const char *const names[] = {"turing", "ampere", "ada", "blackwell", "hopper"};
    eco_doc_verdict(d, ECO_TONE_PLAIN, "GPU classes of the published calibration");
    eco_doc_table(d, "class|precision|>sizes B|>sign changes at B|>pairs|~cards");
    for (size_t i = 0; i < ECO_COUNT(all); i++) {
        row(d, names[i], all[i], "NF4", all[i]->precisions.NF4);
        row(d, names[i], all[i], "INT8", all[i]->precisions.INT8);
    }
    eco_doc_table_end(d);
    for (size_t i = 0; i < ECO_COUNT(all); i++) {
        if (all[i]->borrows_from) {
            eco_doc_item(d, "%s has no curve of its own: the curves of %s answer", names[i],
                         all[i]->borrows_from);
        }
    }
    eco_doc_next(d, "ecocompute gpus", "the cards, and the default calibration's data on each");
}
