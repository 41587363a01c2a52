/* How the engine's results read for people. */
#include "records.h"
#include "views.h"

static void cell(struct eco_doc *d, struct eco_opt v)
{
    eco_doc_cell(d, "%s", v.have ? eco_doc_num(d, v.v, 3) : "-");
}

static void speeds(struct eco_doc *d, const struct eco_list *arms)
{
    eco_doc_table(d, "precision|>batch|>tokens/s|>ms a step|>first token ms|>prefill tokens/s|"
                     ">weights GB|>constants GB|>GB/s|>load s");
    for (size_t i = 0; i < arms->n; i++) {
        const struct eco_res_engine_arm *r = (const struct eco_res_engine_arm *)arms->items + i;
        double weights =
            (double)(r->linear_bytes + r->embedding_bytes + r->lm_head_bytes + r->norm_bytes);
        eco_doc_cell(d, "%s", r->precision);
        eco_doc_cell(d, "%lld", (long long)r->batch);
        cell(d, r->tokens_per_s);
        cell(d, r->tpot_ms);
        cell(d, r->ttft_ms);
        cell(d, r->prefill_tokens_per_s);
        eco_doc_cell(d, "%.3f", weights * 1e-9);
        eco_doc_cell(d, "%.3f", (double)r->constant_bytes * 1e-9);
        cell(d, r->weights_gbps);
        eco_doc_cell(d, "%.1f", r->load_s);
    }
    eco_doc_table_end(d);
}

/* A text is the answer itself: nothing before it, so that it can be piped on. */
static bool texts(struct eco_doc *d, const struct eco_res_engine *r)
{
    const struct eco_res_engine_arm *arm = r->arms.items;
    if (r->arms.n == 1 && arm->stop) {
        if (arm->text) { /* else it was shown while it came */
            eco_doc_pre(d, arm->text);
        }
        return true;
    }
    return false;
}

void eco_view_engine(struct eco_doc *d, const void *result)
{
    const struct eco_res_engine *r = result;
    const struct eco_res_engine_arm *first = r->arms.items;
    bool bench = r->arms.n > 0 && first->runs > 0;
    if (r->written) {
        eco_doc_verdict(d, ECO_TONE_PLAIN, "%s: %s, %.3f GB, %lld tensors, in %.1f s", r->written,
                        first->precision, (double)r->written_bytes * 1e-9,
                        (long long)r->written_tensors, first->load_s);
        return;
    }
    if (texts(d, r)) {
        return;
    }
    eco_doc_verdict(d, ECO_TONE_PLAIN, "%s (%s%s) on %s, %s, %lld of %lld CPUs", r->model,
                    r->architecture, r->synthetic ? ", random weights" : "", r->backend, r->isa,
                    (long long)r->threads, (long long)r->cpus);
    if (bench) {
        speeds(d, &r->arms);
    }
    for (size_t i = 0; !bench && i < r->arms.n; i++) {
        if (first[i].text) {
            eco_doc_kv(d, first[i].precision, "%s", first[i].text);
        } else if (first[i].ids) {
            eco_doc_kv(d, first[i].precision, "%s", first[i].ids);
        } else {
            eco_doc_kv(d, first[i].precision, "perplexity %s over %lld tokens",
                       eco_doc_num(d, first[i].perplexity.v, 6), (long long)first[i].scored_tokens);
        }
    }
}
