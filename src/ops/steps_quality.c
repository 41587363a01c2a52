/* What a precision does to perplexity, as far as the data say: this model, else the others. */
#include "base/num.h"
#include "dataset/dataset.h"
#include "steps.h"
#include "texts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RATIOS 256

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Rows of this precision with both perplexities of one text, in percent above the baseline. */
static size_t collect(const struct eco_question *q, enum eco_precision p, bool same_model,
                      double *out)
{
    size_t n = 0, n_rows;
    const uint16_t *of = eco_dataset_rows_of(p, &n_rows);
    for (size_t i = 0; i < n_rows && n < MAX_RATIOS; i++) {
        double ppl, baseline;
        if (eco_dataset_row_quality(of[i], same_model ? q->model.name : NULL, &ppl, &baseline)) {
            out[n++] = 100.0 * (ppl / baseline - 1.0);
        }
    }
    return n;
}

void eco_step_quality(const struct eco_question *q, enum eco_precision p, struct eco_quality *out)
{
    double loss[MAX_RATIOS];
    memset(out, 0, sizeof(*out));
    if (p == ECO_PREC_FP16 || p == ECO_PREC_BF16) {
        out->loss_pct = (struct eco_opt){0.0, true};
        return;
    }
    size_t n = q->known_model ? collect(q, p, true, loss) : 0;
    out->same_model = n > 0;
    n = n ? n : collect(q, p, false, loss);
    if (n == 0) {
        return;
    }
    qsort(loss, n, sizeof(*loss), by_value);
    out->n = (int)n;
    out->lo_pct = eco_num_round(loss[0], 1);
    out->hi_pct = eco_num_round(loss[n - 1], 1);
    out->loss_pct = eco_some(eco_num_round((loss[(n - 1) / 2] + loss[n / 2]) / 2, 1));
}

const char *eco_step_quality_words(struct eco_ctx *ctx, const struct eco_quality *q)
{
    if (!q->loss_pct.have || q->n == 0) {
        return eco_word(ctx->lang,
                        q->loss_pct.have ? "computed: the baseline itself" : "not measured");
    }
    return eco_step_fmt(ctx, TX(ctx, quality_words),
                        eco_word(ctx->lang, q->same_model ? "this model" : "other models"), q->n,
                        q->n == 1 ? "" : TX(ctx, plural_s), q->lo_pct, q->hi_pct);
}
