/* Parts that several views share. Texts come from texts.def, words of codes from words.def. */
#ifndef ECO_OPS_VIEW_PARTS_H
#define ECO_OPS_VIEW_PARTS_H

#include "doc.h"
#include "records.h"

/** How an answer begins: in the plain voice the verdict and then the traps; EcoLobster says his
 * mood first, then the traps, then the verdict and what a month costs. */
struct eco_view_opening {
    const char *mood;                /* as in the result; NULL: none */
    const struct eco_list *alerts;   /* may be NULL */
    const struct eco_res_bill *bill; /* may be NULL */
    const struct eco_res_input *input;
    const char *precision;        /* of the alerts; NULL: input's */
    const char *verdict, *reason; /* reason: may be NULL */
    enum eco_tone tone;
    const char *alerts_at; /* the size they are about, where the question has none; else NULL */
    const char *no_bill;   /* why there are no dollars; NULL: no card with a datasheet */
    bool name_runs;        /* the alerts are about several runs: each says which */
    const char *mood_says; /* in place of the mood's own sentence; NULL: that one */
    bool does_not_fit;     /* the bill is of a run that the card's memory does not allow */
};
void eco_view_open(struct eco_doc *d, const struct eco_view_opening *o);

/** Each with its computed effect and fix, as in the plain opening. */
void eco_view_front_alerts(struct eco_doc *d, const struct eco_list *alerts);
/** The runs that were left out, with their reasons, under a heading. */
void eco_view_left_out(struct eco_doc *d, const struct eco_list *left_out);
/** Is one of them more than a note? */
bool eco_view_is_trapped(const struct eco_list *alerts);
/** Why, what was measured and what contradicts it, under a heading; notes with their fix too. */
void eco_view_traps(struct eco_doc *d, const char *heading, const struct eco_list *alerts);
/** A cell with a number of so many digits, or empty. */
void eco_view_opt_cell(struct eco_doc *d, struct eco_opt v, int significant);
/** A cell with a signed number, or empty. */
void eco_view_signed_cell(struct eco_doc *d, struct eco_opt v, int significant);
/** The word of a code (a basis, a cause) in the document's language. */
const char *eco_view_word(const struct eco_doc *d, const char *code);
/** Sentences as items under a heading; nothing when there are none. */
void eco_view_items(struct eco_doc *d, const char *heading, const struct eco_strs *items);
void eco_view_bill_line(struct eco_doc *d, const struct eco_res_bill *bill);
void eco_view_bill(struct eco_doc *d, const struct eco_res_bill *bill);
void eco_view_evidence_row(struct eco_doc *d, const char *key, const struct eco_res_evidence *e);
/** "54.8 tokens/s, 3504 J per 1k": the parts that are known. */
void eco_view_measured(struct eco_doc *d, struct eco_opt tokens_per_s, struct eco_opt j_per_1k,
                       struct eco_buf *b);
/** "; measured: …" where that was measured; else nothing. */
void eco_view_known(struct eco_doc *d, const struct eco_res_known *k, struct eco_buf *out);
/** Beside modelled figures: what was measured of the very same configuration, if it was. */
void eco_view_here(struct eco_doc *d, const struct eco_res_transparency *t);
void eco_view_transparency(struct eco_doc *d, const struct eco_res_transparency *t);
void eco_view_notes(struct eco_doc *d, const struct eco_strs *notes);
/** The last thing of every answer; EcoLobster signs it. */
void eco_view_citation(struct eco_doc *d, const struct eco_res_provenance *p);

/** One bar: what it is, how long (percent of the best), the mood, dollars a month. */
struct eco_view_bar {
    const char *name, *mood;
    struct eco_opt efficiency_pct, month_usd;
};
void eco_view_bars(struct eco_doc *d, const struct eco_view_bar *bars, size_t n);

#endif
