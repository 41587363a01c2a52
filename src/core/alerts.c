/*
 * Known energy traps: the one table, its conditions, and the mood rule. Effects are the caller's
 * own estimates; the ranges cited here are what was measured, on gross board power, with n.
 */
#include "eco_alerts.h"

#include "eco_memory.h"

#include <math.h>
#include <string.h>

#define SMALL_MODEL_B 3.0 /* the published rule of thumb; the crossover rule is the exact one */
#define EFFECT_CRITICAL_PCT 30.0
#define EFFECT_WARNING_PCT 10.0
#define GREEN_PCT 10.0
#define YELLOW_PCT 30.0
#define ORANGE_PCT 150.0

static bool eager_engine(const struct eco_alert_request *r)
{
    return r->engine == ECO_ENGINE_TRANSFORMERS || r->engine == ECO_ENGINE_UNKNOWN;
}

static bool is_nf4(const struct eco_alert_request *r)
{
    return eco_precision_family(r->precision) == ECO_FAM_BNB_NF4;
}

static bool is_int8_mixed(const struct eco_alert_request *r)
{
    return r->precision == ECO_PREC_INT8_MIXED;
}

static bool is_small_nf4(const struct eco_alert_request *r)
{
    return is_nf4(r) && r->model != NULL && r->model->params_b <= SMALL_MODEL_B && r->batch <= 1;
}

static bool is_batched_nf4(const struct eco_alert_request *r)
{
    return is_nf4(r) && r->batch >= 2;
}

static bool is_batch1(const struct eco_alert_request *r)
{
    return r->production && r->batch <= 1;
}

static bool is_fp8_eager(const struct eco_alert_request *r)
{
    return r->precision == ECO_PREC_FP8 && (r->eager || eager_engine(r));
}

/*
 * Only where the curve falls with size, so that smaller models pay: there is no such trap below a
 * crossover that quantization saves beneath. And only where this model's own figure is a loss,
 * since the crossover of a wide curve proves nothing about one point. Traps with a mechanism of
 * their own have already said so.
 */
static bool is_below_crossover(const struct eco_alert_request *r)
{
    bool quantized =
        r->precision != ECO_PREC_NONE && eco_precision_family(r->precision) != ECO_FAM_FLOAT;
    bool pays = r->have[ECO_EFFECT_PRECISION] && r->effect_pct[ECO_EFFECT_PRECISION].median > 0;
    bool below = r->model != NULL && isfinite(r->crossover_b) && r->saves_above &&
                 r->model->params_b < r->crossover_b;
    return quantized && pays && below && !is_int8_mixed(r) && !is_fp8_eager(r) &&
           !is_batched_nf4(r) && !is_small_nf4(r);
}

static bool is_below_nf4(const struct eco_alert_request *r)
{
    return is_nf4(r) && is_below_crossover(r);
}

static bool is_below_int8(const struct eco_alert_request *r)
{
    return eco_precision_family(r->precision) == ECO_FAM_BNB_INT8 && is_below_crossover(r);
}

static bool is_below_gguf(const struct eco_alert_request *r)
{
    return eco_precision_family(r->precision) == ECO_FAM_GGUF && is_below_crossover(r);
}

static bool is_below_served(const struct eco_alert_request *r)
{
    return !is_below_nf4(r) && !is_below_int8(r) && !is_below_gguf(r) && is_below_crossover(r);
}

static bool is_unverified(const struct eco_alert_request *r)
{
    return r->unverified_build;
}

static bool is_double_quant(const struct eco_alert_request *r)
{
    return r->precision == ECO_PREC_NF4_DQ;
}

static bool is_too_large(const struct eco_alert_request *r)
{
    return r->gpu != NULL && eco_memory_room(r->gpu, 1, r->need_gb * 1e9) > 1; /* false for NAN */
}

static bool is_cache_off(const struct eco_alert_request *r)
{
    return r->kv_cache_off;
}

/* What the crossover's rows have in common; they differ in command and evidence by format. */
#define CROSSOVER                                                                                  \
    .id = "below-crossover", .name = "below the crossover size of this card",                      \
    .severity = ECO_SEV_WARNING, .effect = ECO_EFFECT_PRECISION, .fix_effect = ECO_EFFECT_TO_FP16, \
    .why = "on this card this precision starts to save energy only above the crossover size",      \
    .fix = "run 16 bit below the crossover, if it fits"
#define CROSSOVER_ZH                                                                               \
    .name = "低于这张卡的交叉点", .why = "在这张卡上，这种精度要在交叉点参数量以上才开始省电",     \
    .fix = "交叉点以下用 16 位，如果放得下"
#define UNPUBLISHED_ZH                                                                             \
    "这种格式没有公布过交叉点：这个参数量是本估计器自己的，来自估计所依据的实测对"
#define UNPUBLISHED                                                                                \
    "no crossover of this format is published: the size is this estimator's own, from the "        \
    "measured pairs behind the estimate"

static const struct eco_alert_rule rules[] = {
    {.id = "int8-paradox",
     .name = "INT8 energy paradox",
     .matches = is_int8_mixed,
     .severity = ECO_SEV_CRITICAL,
     .effect = ECO_EFFECT_PRECISION,
     .fix_effect = ECO_EFFECT_INT8_FIX,
     .why = "default LLM.int8() splits every linear layer into an INT8 part and a 16-bit outlier "
            "part and waits for the host in between",
     .fix = "run 16 bit if it fits; where memory forces 8 bit, set the threshold to 0.0, which "
            "costs less than the default and still more than 16 bit",
     .fix_code = "BitsAndBytesConfig(load_in_8bit=True, llm_int8_threshold=0.0)",
     .measured = "gross, batch 1 to 8: +40 to +595 % against FP16 (39 rows A-C, 6 cards, "
                 "11 sessions; sessions differ by a factor of two)",
     .evidence = "a800-mistral-7b-instruct-v0-3-int8-mixed-b1-2026-02-13-a800-bs-validation "
                 "rtx-4090d-mistral-7b-instruct-v0-3-int8-mixed-b1-2026-02-12-rtx4090d-phase2",
     .contradiction = "threshold=0.0 is published as saving 3 to 8 % against FP16: that is net of "
                      "idle on one card. Gross it costs +3 to +11 % on the RTX 4090D at 6-7B and "
                      "+33 % on the A800 (up to +148 % at 0.5B), yet beats default INT8 in every "
                      "pair",
     .zh = {.name = "INT8 能耗悖论",
            .why =
                "默认的 LLM.int8() 把每个线性层拆成 INT8 部分和 16 位离群值部分，中间还要等待主机",
            .fix =
                "放得下就用 16 位；显存只容得下 8 位时把阈值设为 0.0，这比默认省，但仍比 16 位费",
            .measured = "总功率，批大小 1 至 8：相对 FP16 为 +40 至 +595 %（39 行 A-C，6 种卡，11 "
                        "次会话；会话之间相差一倍）",
            .contradiction =
                "有人公布 threshold=0.0 相对 FP16 省 3 至 8 "
                "%：那是在一张卡上扣除空闲功率的结果。按总功率，6-7B 在 RTX 4090D 上多耗 +3 至 +11 "
                "%，在 A800 上多耗 +33 %（0.5B 最高 +148 %），但每一对都优于默认 INT8"}},
    {.id = "nf4-small-model",
     .name = "small model in NF4",
     .matches = is_small_nf4,
     .severity = ECO_SEV_WARNING,
     .effect = ECO_EFFECT_PRECISION,
     .fix_effect = ECO_EFFECT_TO_FP16,
     .why = "decoding 4-bit codes costs more than the bytes it saves while the host, not the "
            "memory, sets the pace",
     .fix = "run 16 bit if it fits",
     .fix_code = "AutoModelForCausalLM.from_pretrained(name, torch_dtype=torch.bfloat16)",
     .measured = "gross, up to 4B, batch 1: -15 to +84 %, median +24 % (31 rows A-C, 5 cards); "
                 "the -15 % was not reproduced",
     .evidence = "rtx-5090-tinyllama-1-1b-chat-v1-0-nf4-b1-2026-01-15-rtx5090-phase1",
     .contradiction = "published as +11 to +29 % below the crossover: the measured rows spread "
                      "much wider, in both directions",
     .zh = {.name = "小模型用 NF4",
            .why = "当节奏由主机而不是显存决定时，解码 4 位编码的开销大于省下的字节",
            .fix = "放得下就用 16 位",
            .measured = "总功率，4B 以下，批大小 1：-15 至 +84 %，中位数 +24 %（31 行 A-C，5 "
                        "种卡）；-15 % 未能复现",
            .contradiction =
                "公布的说法是交叉点以下 +11 至 +29 %：实测的范围要宽得多，两个方向都有"}},
    {CROSSOVER, .matches = is_below_nf4,
     .fix_code = "AutoModelForCausalLM.from_pretrained(name, torch_dtype=torch.bfloat16)",
     .measured = "published NF4 crossovers: Turing 2.1 to 3.4B, Ada 2.5 to 4.2B, Blackwell 1.8 to "
                 "5.2B; on the A800 (Ampere) NF4 changes -4 to +3 % at 7-14B: no crossover",
     .evidence = "a800-sxm4-80gb-qwen2-5-14b-nf4-b1-2026-02-26-a800-large-models",
     .contradiction = "one threshold a class is published; the sources disagree by a factor of two "
                      "to three, so this card's own estimate is used instead",
     .zh = {CROSSOVER_ZH,
            .measured = "公布的 NF4 交叉点：Turing 2.1 至 3.4B，Ada 2.5 至 4.2B，Blackwell 1.8 至 "
                        "5.2B；A800（Ampere）上 NF4 在 7-14B 变化 -4 至 +3 %：没有交叉点",
            .contradiction =
                "公布的是每种架构一个阈值；来源之间相差两到三倍，所以这里用这张卡自己的估计"}},
    {CROSSOVER, .matches = is_below_int8,
     .fix_code = "AutoModelForCausalLM.from_pretrained(name, torch_dtype=torch.bfloat16)",
     .measured = UNPUBLISHED, .evidence = "", .contradiction = "",
     .zh = {CROSSOVER_ZH, .measured = UNPUBLISHED_ZH, .contradiction = ""}},
    {CROSSOVER, .matches = is_below_gguf, .fix_code = "llama-server -m MODEL-F16.gguf",
     .measured = UNPUBLISHED, .evidence = "", .contradiction = "",
     .zh = {CROSSOVER_ZH, .measured = UNPUBLISHED_ZH, .contradiction = ""}},
    {CROSSOVER, .matches = is_below_served, .fix_code = "vllm serve MODEL --dtype bfloat16",
     .measured = UNPUBLISHED, .evidence = "", .contradiction = "",
     .zh = {CROSSOVER_ZH, .measured = UNPUBLISHED_ZH, .contradiction = ""}},
    {.id = "nf4-batch",
     .name = "NF4 with more than one sequence",
     .matches = is_batched_nf4,
     .severity = ECO_SEV_CRITICAL,
     .effect = ECO_EFFECT_PRECISION,
     .fix_effect = ECO_EFFECT_TO_FP16,
     .why = "bitsandbytes multiplies 4-bit weights directly only for one row; from two rows on it "
            "unpacks every matrix to 16 bit first",
     .fix = "serve 16 bit, or a 4-bit format with a batched kernel (GPTQ, AWQ with Marlin)",
     .fix_code = "vllm serve MODEL --dtype bfloat16",
     .measured = "gross, batch 2 to 128: +28 to +210 % against 16 bit (5 rows on T4 and RTX PRO "
                 "6000, 10 pairs on A2), where batch 1 of the A2 saved 25 %",
     .evidence = "t4-qwen2-5-3b-nf4-b2-2026-04-17-t4-kaggle "
                 "rtx-pro-6000-yi-1-5-6b-nf4-b8-2026-06-03-rtxpro6000-phase",
     .contradiction = "bitsandbytes releases of 2026-05 on change batches 2 to 64: measure yours",
     .zh = {.name = "NF4 用于多个序列",
            .why = "bitsandbytes 只在一行时直接用 4 位权重相乘；从两行起先把每个矩阵解包成 16 位",
            .fix = "用 16 位服务，或用有合批内核的 4 位格式（GPTQ、AWQ 配 Marlin）",
            .measured = "总功率，批大小 2 至 128：相对 16 位 +28 至 +210 %（T4 和 RTX PRO 6000 共 "
                        "5 行，A2 上 10 对），而 A2 的批大小 1 省 25 %",
            .contradiction = "2026-05 起的 bitsandbytes 版本改变了批大小 2 至 64：请测量您的版本"}},
    {.id = "batch1-production",
     .name = "batch 1 in production",
     .matches = is_batch1,
     .severity = ECO_SEV_WARNING,
     .effect = ECO_EFFECT_NONE,
     .fix_effect = ECO_EFFECT_BATCH_UP,
     .why = "every generated token reads all weights once, whether one sequence uses them or many",
     .fix = "batch concurrent requests (continuous batching does it by itself)",
     .fix_code = "vllm serve MODEL --max-num-seqs 32",
     .measured = "A800, 7B: -84 % at batch 8 and -95.7 % at batch 64 against batch 1 (INT8-PURE, "
                 "n = 10 each); FP16 -86 % at batch 8 on A800 and RTX PRO 6000",
     .evidence = "a800-sxm4-80gb-mistral-7b-instruct-v0-2-int8-pure-b1-2026-02-15-a800-bs-sweep "
                 "a800-sxm4-80gb-mistral-7b-instruct-v0-2-int8-pure-b8-2026-02-15-a800-bs-sweep "
                 "a800-sxm4-80gb-mistral-7b-instruct-v0-2-int8-pure-b64-2026-02-15-a800-bs-sweep",
     .contradiction = "a published optimizer assumes that only 35 % of the energy is shared and "
                      "so claims -34 % at batch 32, where -94 % was measured",
     .zh = {.name = "生产环境批大小为 1",
            .why = "每生成一个 token 都要读一遍全部权重，不管是一个序列还是许多序列在用",
            .fix = "把并发请求合批（连续合批会自动做到）",
            .measured =
                "A800，7B：相对批大小 1，批大小 8 为 -84 %，批大小 64 为 -95.7 %（INT8-PURE，各 n "
                "= 10）；FP16 在 A800 和 RTX PRO 6000 上批大小 8 为 -86 %",
            .contradiction = "某个公布的优化器假设只有 35 % 的能耗可以分摊，因此说批大小 32 省 -34 "
                             "%，而实测是 -94 %"}},
    {.id = "fp8-eager",
     .name = "FP8 without compiled kernels",
     .matches = is_fp8_eager,
     .severity = ECO_SEV_CRITICAL,
     .effect = ECO_EFFECT_PRECISION,
     .fix_effect = ECO_EFFECT_TO_FP16,
     .why = "without fused kernels every weight is converted back to 16 bit for each token",
     .fix = "run 16 bit here, or FP8 in an engine that has kernels for it",
     .fix_code = "vllm serve MODEL --quantization fp8",
     .measured = "torchao eager, extensions off, RTX 5090, 0.5-7B, batch 1: +158 to +701 % "
                 "(4 rows, one session, n = 3)",
     .evidence = "rtx-5090-qwen2-5-7b-instruct-fp8-b1-2026-03-17-rtx5090-five-precision",
     .contradiction = "that is one kernel path, not FP8: in vLLM large mixtures go from +58 % at "
                      "batch 8 to -15 % at 256 (44 pairs)",
     .zh = {.name = "没有编译内核的 FP8",
            .why = "没有融合内核，每个 token 都要把每个权重转换回 16 位",
            .fix = "这里用 16 位，或在有 FP8 内核的引擎中用 FP8",
            .measured = "torchao eager，扩展关闭，RTX 5090，0.5-7B，批大小 1：+158 至 +701 %（4 "
                        "行，一次会话，n = 3）",
            .contradiction = "那只是一条内核路径，不是 FP8 本身：在 vLLM "
                             "中大型混合专家模型从批大小 8 的 +58 % 到 256 的 -15 %（44 对）"}},
    {.id = "unverified-build",
     .name = "nightly or dev build",
     .matches = is_unverified,
     .severity = ECO_SEV_WARNING,
     .effect = ECO_EFFECT_NONE,
     .fix_effect = ECO_EFFECT_NONE,
     .why = "development builds may lack compiled extensions and fall back to slow paths silently",
     .fix = "use a release, and measure after every change of version",
     .fix_code = "pip install --upgrade torch bitsandbytes",
     .measured = "the same INT8 code on the same card model cost a factor of two more in one "
                 "session than in another (RTX 4090, July and August); the cause is not settled",
     .evidence = "rtx-4090-qwen2-7b-int8-mixed-b1-2026-07-24-rtx4090-container-july "
                 "rtx-4090-qwen2-7b-int8-mixed-b1-2026-08-20-rtx4090-int8-repeats",
     .contradiction = "",
     .zh = {.name = "夜间版或开发版",
            .why = "开发版可能缺少编译扩展，悄悄退回慢路径",
            .fix = "使用正式版，每次换版本后重新测量",
            .measured = "同样的 INT8 代码、同型号的卡，一次会话比另一次多耗一倍（RTX "
                        "4090，七月和八月）；原因未定",
            .contradiction = ""}},
    {.id = "double-quant",
     .name = "double quantization",
     .matches = is_double_quant,
     .severity = ECO_SEV_WARNING,
     .effect = ECO_EFFECT_DQ,
     .fix_effect = ECO_EFFECT_NF4_PLAIN,
     .why = "the scales are quantized too, so each block is decoded twice; memory falls by 0.37 "
            "bits a weight only",
     .fix = "switch double quantization off unless those bits decide whether the model fits",
     .fix_code = "BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_use_double_quant=False)",
     .measured = "gross, batch 1: +14 to +18 % against plain NF4 in the same session (6 pairs, "
                 "RTX 4090D and A800); no difference in vLLM on A2 (12 pairs)",
     .evidence = "a800-sxm4-80gb-qwen2-5-14b-nf4-dq-b1-2026-02-26-a800-large-models "
                 "rtx-4090d-tinyllama-1-1b-chat-v1-0-nf4-dq-b1-2026-02-25-rtx4090d-5config",
     .contradiction = "",
     .zh = {.name = "双重量化",
            .why = "比例本身也被量化，所以每个块要解码两次；显存每个权重只少 0.37 位",
            .fix = "关闭双重量化，除非正是那一点位数决定模型放不放得下",
            .measured = "总功率，批大小 1：同一会话相对普通 NF4 +14 至 +18 %（6 对，RTX 4090D 和 "
                        "A800）；A2 上的 vLLM 没有差别（12 对）",
            .contradiction = ""}},
    {.id = "offload",
     .name = "model larger than the card's memory",
     .matches = is_too_large,
     .severity = ECO_SEV_CRITICAL,
     .effect = ECO_EFFECT_OFFLOAD,
     .fix_effect = ECO_EFFECT_NONE,
     .why = "weights outside the card cross the bus for every token while the board stays powered",
     .fix = "take whatever fits whole: fewer bits a weight where those fit, a smaller model, a "
            "shorter context, a smaller batch, or more memory",
     .fix_code = "ecocompute optimize MODEL GPU",
     .measured = "no energy of an offloaded run is in the data; the effect is modelled from bus "
                 "and memory bandwidth",
     .evidence = "",
     .contradiction = "",
     .zh = {.name = "模型大于显存",
            .why = "显存之外的权重每个 token 都要经过总线，而板卡一直通电",
            .fix =
                "选整个放得下的：位数更少的格式、更小的模型、更短的上下文、更小的批，或更大的显存",
            .measured = "数据中没有权重在卡外运行的能耗；影响由总线和显存带宽建模",
            .contradiction = ""}},
    {.id = "kv-cache-off",
     .name = "KV cache switched off",
     .matches = is_cache_off,
     .severity = ECO_SEV_CRITICAL,
     .effect = ECO_EFFECT_NO_CACHE,
     .fix_effect = ECO_EFFECT_NONE,
     .why = "without the cache every token computes the whole context again",
     .fix = "switch the cache on",
     .fix_code = "model.generate(..., use_cache=True)",
     .measured = "not measured in the data; the effect is modelled and grows with the context",
     .evidence = "",
     .contradiction = "",
     .zh = {.name = "KV 缓存被关闭",
            .why = "没有缓存，每个 token 都要重新计算整个上下文",
            .fix = "打开缓存",
            .measured = "数据中没有测过；影响是建模的，随上下文增长",
            .contradiction = ""}},
};

_Static_assert(sizeof rules / sizeof rules[0] <= ECO_ALERTS_MAX, "raise ECO_ALERTS_MAX");

const char *eco_severity_name(enum eco_severity s)
{
    static const char *const names[] = {"info", "warning", "critical"};
    return (unsigned)s < 3u ? names[s] : "unknown";
}

size_t eco_alerts_count(void)
{
    return sizeof rules / sizeof rules[0];
}

const struct eco_alert_rule *eco_alerts_rule(size_t i)
{
    return i < eco_alerts_count() ? &rules[i] : NULL;
}

const struct eco_alert_rule *eco_alerts_find(const char *id)
{
    for (size_t i = 0; id != NULL && i < eco_alerts_count(); i++) {
        if (strcmp(rules[i].id, id) == 0) {
            return &rules[i];
        }
    }
    return NULL;
}

/* The computed effect outranks the rule: a trap that saves here is only worth a note. */
static enum eco_severity severity_of(const struct eco_alert *a)
{
    if (!a->have_effect) {
        return a->rule->severity;
    }
    double median = a->effect_pct.median;
    if (median >= EFFECT_CRITICAL_PCT) {
        return ECO_SEV_CRITICAL;
    }
    if (median >= EFFECT_WARNING_PCT || (median > 0 && a->effect_pct.lo80 > 0)) {
        return ECO_SEV_WARNING;
    }
    return ECO_SEV_INFO;
}

/* The same ratio seen from the other side: 1 / (1 + x), ends swapped. */
static struct eco_band inverse_pct(const struct eco_band *b)
{
    struct eco_band out = {b->median, b->hi50, b->lo50, b->hi80, b->lo80, b->hi95, b->lo95};
    double *v[] = {&out.median, &out.lo50, &out.hi50, &out.lo80, &out.hi80, &out.lo95, &out.hi95};
    for (size_t i = 0; i < sizeof v / sizeof v[0]; i++) {
        *v[i] = 100 * (1 / (1 + *v[i] / 100) - 1);
    }
    return out;
}

static bool effect_of(const struct eco_alert_request *r, enum eco_effect e, struct eco_band *out)
{
    if (e == ECO_EFFECT_NONE) {
        return false;
    }
    if (r->have[e]) {
        *out = r->effect_pct[e];
        return true;
    }
    bool inverse = e == ECO_EFFECT_DQ && r->have[ECO_EFFECT_NF4_PLAIN] &&
                   r->effect_pct[ECO_EFFECT_NF4_PLAIN].lo95 > -100;
    if (inverse) {
        *out = inverse_pct(&r->effect_pct[ECO_EFFECT_NF4_PLAIN]);
    }
    return inverse;
}

/* False: the figures say that there is nothing to lose here and nothing to gain by the fix. */
static bool fill(struct eco_alert *a, const struct eco_alert_rule *rule,
                 const struct eco_alert_request *r)
{
    memset(a, 0, sizeof *a);
    a->rule = rule;
    a->have_effect = effect_of(r, rule->effect, &a->effect_pct);
    a->have_fix_effect = effect_of(r, rule->fix_effect, &a->fix_effect_pct);
    a->severity = severity_of(a);
    bool loss = a->have_effect && a->effect_pct.median > 0;
    return loss || !a->have_fix_effect || a->fix_effect_pct.median < 0;
}

int eco_alerts_check(const struct eco_alert_request *r, struct eco_alert *out, size_t cap,
                     size_t *n, struct eco_err *err)
{
    if (r == NULL || out == NULL || n == NULL) {
        return eco_err_set(err, ECO_E_MISSING, "request", "a request and room for alerts needed");
    }
    if (r->batch < 0) {
        return eco_err_set(err, ECO_E_RANGE, "batch", "batch must not be negative");
    }
    size_t count = 0;
    for (size_t i = 0; i < eco_alerts_count() && count < cap; i++) {
        if (!rules[i].matches(r)) {
            continue;
        }
        struct eco_alert a;
        if (!fill(&a, &rules[i], r)) {
            continue;
        }
        size_t at = count++;
        /* Insertion keeps the table's order among equals. */
        for (; at > 0 && out[at - 1].severity < a.severity; at--) {
            out[at] = out[at - 1];
        }
        out[at] = a;
    }
    *n = count;
    return 0;
}

const char *eco_mood_name(enum eco_mood m)
{
    static const char *const names[] = {"Green", "Yellow", "Orange", "Red", "Gray"};
    return (unsigned)m < 5u ? names[m] : "Gray";
}

enum eco_mood eco_mood_of(const struct eco_mood_input *in)
{
    bool unknown = in->basis == ECO_BASIS_UNAVAILABLE ||
                   (in->basis == ECO_BASIS_EXTRAPOLATED && !in->own_data);
    if (unknown || in->unverified_build) {
        return ECO_MOOD_GRAY;
    }
    double excess = in->have_excess ? in->excess_pct : 0;
    if (excess > ORANGE_PCT) {
        return ECO_MOOD_RED;
    }
    if (in->trap || excess > YELLOW_PCT) {
        return ECO_MOOD_ORANGE;
    }
    if (in->batch1_production || excess > GREEN_PCT) {
        return ECO_MOOD_YELLOW;
    }
    return ECO_MOOD_GREEN;
}
