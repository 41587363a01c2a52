/*
 * The forward pass of a decoder-only transformer, once, for all backends and precisions.
 *
 *   x = embed(tokens)                                   x [n][hidden]
 *   for each layer:
 *       x += W_o attend(rope(W_q h), rope(W_k h), W_v h)     h = rmsnorm(x)
 *       x += W_down (act(W_gate h) * W_up h)                 h = rmsnorm(x)
 *   logits = W_head rmsnorm(x)                          logits [n][vocab]
 *
 * Variants: biases on q, k, v (Qwen2); norms of q and k heads (Qwen3); a window of positions
 * (Mistral, Phi-3, Gemma 2's even layers); norms behind both blocks, soft caps (Gemma 2).
 */
#include "forward.h"

/* q, k, v of the normed input: heads of head_dim, rotated to their positions; k and v are kept. */
static void project_qkv(struct eco_forward *f, const struct eco_layer *l, const struct eco_kv *kv,
                        const struct eco_tokens *t)
{
    const struct eco_engine_backend *be = f->backend;
    const struct eco_shape *s = &f->shape;
    struct eco_scratch *w = &f->scratch;
    const struct eco_product qkv[3] = {
        {&l->wq, l->bias_q, w->q}, /* [heads * head_dim][hidden] */
        {&l->wk, l->bias_k, w->k}, /* [kv_heads * head_dim][hidden] */
        {&l->wv, l->bias_v, w->v}, /* [kv_heads * head_dim][hidden] */
    };
    be->matmul(f->device, qkv, 3, w->h, t->n);
    if (s->qk_norm) {
        be->rmsnorm(f->device, w->q, l->q_norm, t->n * s->heads, s->head_dim, s->norm_eps, w->q);
        be->rmsnorm(f->device, w->k, l->k_norm, t->n * s->kv_heads, s->head_dim, s->norm_eps, w->k);
    }
    be->rope(f->device, &s->rope, t, s->heads, s->head_dim, w->q);
    be->rope(f->device, &s->rope, t, s->kv_heads, s->head_dim, w->k);
    be->store(f->device, kv, t, w->k, w->v);
}

static void attention_block(struct eco_forward *f, int layer, const struct eco_tokens *t)
{
    const struct eco_engine_backend *be = f->backend;
    const struct eco_shape *s = &f->shape;
    const struct eco_layer *l = &f->weights.layers[layer];
    struct eco_scratch *w = &f->scratch;
    const struct eco_attention a = {
        .heads = s->heads,
        .scale = s->query_scale,
        .softcap = s->attn_softcap,
        .window = layer % s->window_every == 0 ? s->window : 0,
    };
    be->rmsnorm(f->device, w->x, l->attn_norm, t->n, s->hidden, s->norm_eps, w->h);
    project_qkv(f, l, &f->kv[layer], t);
    be->attend(f->device, &f->kv[layer], t, &a, w->q, w->o);
    be->matmul(f->device, &(struct eco_product){&l->wo, l->bias_o, w->h}, 1, w->o, t->n);
    if (s->post_norms) {
        be->rmsnorm(f->device, w->h, l->post_attn_norm, t->n, s->hidden, s->norm_eps, w->h);
    }
    be->add(f->device, w->x, w->h, (size_t)t->n * (size_t)s->hidden);
}

static void feed_forward_block(struct eco_forward *f, int layer, const struct eco_tokens *t)
{
    const struct eco_engine_backend *be = f->backend;
    const struct eco_shape *s = &f->shape;
    const struct eco_layer *l = &f->weights.layers[layer];
    struct eco_scratch *w = &f->scratch;
    const struct eco_product gate_up[2] = {
        {&l->w_gate, NULL, w->gate}, /* [intermediate][hidden] */
        {&l->w_up, NULL, w->up},     /* [intermediate][hidden] */
    };
    be->rmsnorm(f->device, w->x, l->ffn_norm, t->n, s->hidden, s->norm_eps, w->h);
    be->matmul(f->device, gate_up, 2, w->h, t->n);
    be->gate(f->device, w->gate, w->up, (size_t)t->n * (size_t)s->intermediate, s->gelu);
    be->matmul(f->device, &(struct eco_product){&l->w_down, NULL, w->h}, 1, w->gate, t->n);
    if (s->post_norms) {
        be->rmsnorm(f->device, w->h, l->post_ffn_norm, t->n, s->hidden, s->norm_eps, w->h);
    }
    be->add(f->device, w->x, w->h, (size_t)t->n * (size_t)s->hidden);
}

void eco_engine_forward(struct eco_forward *f, const struct eco_tokens *t)
{
    f->backend->begin(f->device, &f->shape.rope, t);
    f->backend->embed(f->device, &f->weights.embed, t, f->shape.embed_scale, f->scratch.x);
    for (int layer = 0; layer < f->shape.layers; layer++) {
        attention_block(f, layer, t);
        feed_forward_block(f, layer, t);
    }
}

void eco_engine_project(struct eco_forward *f, int first, int n)
{
    const struct eco_engine_backend *be = f->backend;
    const struct eco_shape *s = &f->shape;
    struct eco_scratch *w = &f->scratch;
    size_t count = (size_t)n * (size_t)s->vocab;
    be->rmsnorm(f->device, w->x + (size_t)first * (size_t)s->hidden, f->weights.out_norm, n,
                s->hidden, s->norm_eps, w->h);
    be->matmul(f->device, &(struct eco_product){&f->weights.head, NULL, w->logits}, 1, w->h, n);
    if (s->logit_softcap > 0.0f) {
        be->softcap(f->device, w->logits, count, s->logit_softcap);
    }
    be->read(f->device, w->logits, count);
}
