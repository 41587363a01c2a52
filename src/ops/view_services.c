/* What the services would do. */
#include "records.h"
#include "views.h"

void eco_view_serve(struct eco_doc *d, const void *result)
{
    const struct eco_res_serve *r = result;
    eco_doc_verdict(d, r->program ? ECO_TONE_GOOD : ECO_TONE_BAD,
                    "%s would answer %lld operations at %s",
                    r->program ? r->program : "with its helper program, serve",
                    (long long)r->operations, r->url);
    for (size_t i = 0; i < r->notes.n; i++) {
        eco_doc_item(d, "%s", r->notes.v[i]);
    }
    eco_doc_next(d, "ecocompute serve", "start it; Ctrl-C ends it");
}

void eco_view_mcp(struct eco_doc *d, const void *result)
{
    const struct eco_res_mcp *r = result;
    if (r->served) { /* the output was the protocol's */
        return;
    }
    eco_doc_verdict(d, ECO_TONE_GOOD, "%zu tools over standard input and output", r->tools.n);
    for (size_t i = 0; i < r->tools.n; i++) {
        eco_doc_item(d, "%s", r->tools.v[i]);
    }
}
