/* The GPU classes with published curves: what each covers, and where its sign changes. Pure. */
#include "dataset/dataset.h"
#include "eco_published.h"
#include "runs.h"

static int no_memory(struct eco_err *err)
{
    return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
}

/* NULL: no curve, which is no error. */
static int one_class(struct eco_ctx *ctx, enum eco_arch arch, enum eco_published_class precision,
                     const struct eco_res_arch_class **out, struct eco_err *err)
{
    struct eco_published_class_info info;
    *out = NULL;
    if (eco_published_class_info(eco_dataset_published(), arch, precision, &info, NULL)) {
        return 0;
    }
    struct eco_res_arch_class *c = eco_arena_alloc(ctx->arena, sizeof(*c));
    if (!c) {
        return no_memory(err);
    }
    *c = (struct eco_res_arch_class){.measured_range_b = {info.range_lo_b, info.range_hi_b, true},
                                     .crossover_b = {info.crossover_b, info.have_crossover},
                                     .anchors = (int64_t)info.n_anchors};
    *out = c;
    return 0;
}

int eco_run_architectures(struct eco_ctx *ctx, const void *args, void *result, struct eco_err *err)
{
    struct eco_res_architectures *out = result;
    struct eco_res_architecture *const to[] = {&out->turing, &out->ampere, &out->ada,
                                               &out->blackwell, &out->hopper};
    static const enum eco_arch arch[] = {ECO_ARCH_TURING, ECO_ARCH_AMPERE, ECO_ARCH_ADA,
                                         ECO_ARCH_BLACKWELL, ECO_ARCH_HOPPER};
    static const char *const labels[] = {"Turing: T4, RTX 20", "Ampere: A100, A800, RTX 30",
                                         "Ada Lovelace: RTX 40, L4, L40S",
                                         "Blackwell: RTX 50, RTX PRO", "Hopper: H100, H200, H800"};
    (void)args;
    for (size_t i = 0; i < ECO_COUNT(to); i++) {
        enum eco_arch used = eco_published_arch_used(arch[i]);
        to[i]->label = labels[i];
        if (used != arch[i]) { /* no curve of its own: its answers are another class's */
            to[i]->borrows_from = eco_arch_name(used);
            continue;
        }
        int rc = one_class(ctx, arch[i], ECO_PUB_NF4, &to[i]->precisions.NF4, err);
        rc = rc ? rc : one_class(ctx, arch[i], ECO_PUB_INT8, &to[i]->precisions.INT8, err);
        if (rc) {
            return rc;
        }
    }
    return 0;
}
