/* What the model parsers owe for any bytes: an error with words, or a model that adds up. */
#ifndef ECO_FUZZ_MODEL_H
#define ECO_FUZZ_MODEL_H

#include "eco_memory.h"
#include "model/model.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void check_model(const struct eco_model *m, const struct eco_model_info *info)
{
    struct eco_memory r;
    struct eco_memory_query q = {
        .model = m, .precision = ECO_PREC_NF4, .batch = 8, .context_tokens = 1024};
    uint64_t sum = m->params_embedding + m->params_lm_head + m->params_norm + m->params_linear;
    if (sum != m->params_total || m->params_total == 0 || m->params_active > m->params_total ||
        m->params_total > ECO_MODEL_MAX_PARAMS || m->name[0] == '\0' ||
        memchr(m->name, 0, sizeof m->name) == NULL ||
        memchr(info->architecture, 0, sizeof info->architecture) == NULL) {
        abort();
    }
    if (m->layers < 1 || m->hidden < 1 || m->n_kv_heads < 1 || m->n_kv_heads > m->n_heads ||
        m->head_dim < 1 || m->experts_per_token > m->experts || m->sliding_layers > m->layers) {
        abort();
    }
    if (eco_memory_estimate(&q, &r, NULL) != 0 || !isfinite(r.total_bytes) ||
        !(r.read_bytes_per_token > 0) || r.read_bytes_per_token > r.weights_bytes * 1.000001) {
        abort();
    }
}

static void check_error(int rc, const struct eco_err *err)
{
    if (rc >= 0 || err->code != rc || err->message[0] == '\0') {
        abort();
    }
}

#endif
