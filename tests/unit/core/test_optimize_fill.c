/* Columns of the optimizer: equal to the one-candidate answer, and physically sensible. */
#include "eco_test.h"

#include "core/predict_fit.h"
#include "eco_memory.h"
#include "eco_optimize.h"

#define MAX 20000

static const struct eco_gpu t4 = {.name = "T4",
                                  .arch = ECO_ARCH_TURING,
                                  .vram_gb = 16,
                                  .mem_bw_gbps = 320,
                                  .fp16_tflops = 65,
                                  .accumulate_fp32 = true,
                                  .tdp_w = 70,
                                  .idle_w = NAN,
                                  .compute_capability = 7.5,
                                  .datacenter = true};
static const struct eco_gpu a100 = {.name = "A100-SXM4-80GB",
                                    .arch = ECO_ARCH_AMPERE,
                                    .vram_gb = 80,
                                    .mem_bw_gbps = 2039,
                                    .fp16_tflops = 312,
                                    .accumulate_fp32 = true,
                                    .tdp_w = 400,
                                    .idle_w = NAN,
                                    .compute_capability = 8.0,
                                    .datacenter = true};
static const struct eco_gpu rtx4090 = {.name = "RTX 4090",
                                       .arch = ECO_ARCH_ADA,
                                       .vram_gb = 24,
                                       .mem_bw_gbps = 1008,
                                       .fp16_tflops = 330,
                                       .accumulate_fp32 = false,
                                       .tdp_w = 450,
                                       .idle_w = NAN,
                                       .compute_capability = 8.9};

/* A dense model with grouped-query heads. */
static struct eco_model dense(int layers, int hidden, int heads, int kv_heads, int inner)
{
    struct eco_model m = {.name = "dense",
                          .layers = layers,
                          .hidden = hidden,
                          .n_heads = heads,
                          .n_kv_heads = kv_heads,
                          .head_dim = hidden / heads,
                          .intermediate = inner,
                          .vocab = 32000,
                          .max_context = 32768,
                          .stored = ECO_PREC_FP16,
                          .shape_basis = ECO_BASIS_COMPUTED,
                          .source = "test"};
    uint64_t kv = (uint64_t)kv_heads * (uint64_t)m.head_dim, h = (uint64_t)hidden;

    m.params_embedding = m.params_lm_head = 32000u * h;
    m.params_linear = (uint64_t)layers * (2 * h * h + 2 * h * kv + 3 * h * (uint64_t)inner);
    m.params_norm = (uint64_t)(2 * layers + 1) * h;
    m.params_total = m.params_embedding + m.params_lm_head + m.params_linear + m.params_norm;
    m.params_active = m.params_total - m.params_embedding;
    m.params_b = (double)m.params_total / 1e9;
    return m;
}

/* A predictor of a few made-up pairs: 4 bit costs small models and saves large ones. */
static const struct eco_predictor *predictor(void)
{
    static struct eco_predict_point points[12];
    static struct eco_predictor built;
    static void *memory;
    double theta[ECO_PG_COUNT];

    if (memory) {
        return &built;
    }
    for (int i = 0; i < 12; i++) {
        double size = 0.5 * pow(2, i % 6);
        points[i] =
            (struct eco_predict_point){.id = "q",
                                       .baseline_id = "b",
                                       .gpu = i < 6 ? t4.name : rtx4090.name,
                                       .model_id = "m",
                                       .session = "s",
                                       .source = "",
                                       .arch = i < 6 ? t4.arch : rtx4090.arch,
                                       .precision = i % 2 ? ECO_PREC_NF4 : ECO_PREC_AWQ_INT4,
                                       .engine = i % 2 ? ECO_ENGINE_TRANSFORMERS : ECO_ENGINE_VLLM,
                                       .grade = ECO_GRADE_A,
                                       .params_b = size,
                                       .active_b = size,
                                       .nominal_b = size,
                                       .batch = 1,
                                       .mem_bw_gbps = i < 6 ? 320 : 1008,
                                       .n_gpus = 1,
                                       .n_trials = 3,
                                       .y = 0.4 - 0.2 * log(size),
                                       .fit = true};
    }
    memory = malloc(eco_predict_build_bytes(12)); /* kept until the end */
    eco_predict_theta_prior(theta);
    assert_int_equal(
        eco_predict_build(points, 12, theta, memory, eco_predict_build_bytes(12), &built, NULL), 0);
    return &built;
}

static struct {
    struct eco_optimize_label label[MAX];
    double value[ECO_OPTIMIZE_METRIC_COUNT][MAX];
    struct eco_optimize_columns c;
    size_t n;
} out;

static void fill(const struct eco_optimize_setup *s)
{
    out.c.label = out.label;
    for (int m = 0; m < ECO_OPTIMIZE_METRIC_COUNT; m++) {
        out.c.value[m] = out.value[m];
    }
    assert_true(eco_optimize_count(s) <= MAX);
    assert_int_equal(eco_optimize_fill(s, &out.c, &out.n, NULL), 0);
}

static const struct eco_optimize_arm arms[] = {
    {ECO_PREC_FP16, ECO_ENGINE_UNKNOWN, NAN}, {ECO_PREC_NF4, ECO_ENGINE_UNKNOWN, 2.5},
    {ECO_PREC_FP16, ECO_ENGINE_VLLM, NAN},    {ECO_PREC_AWQ_INT4, ECO_ENGINE_VLLM, NAN},
    {ECO_PREC_FP8, ECO_ENGINE_VLLM, NAN},
};
static const struct eco_optimize_card cards[] = {
    {&t4, 1, 0, NAN}, {&rtx4090, 1, 0, NAN}, {&a100, 1, 0, 1.8}};
static const double batches[] = {1, 2, 8, 64}, contexts[] = {256, 768, 4096, 16384};

static struct eco_optimize_setup plain(const struct eco_model *m)
{
    return (struct eco_optimize_setup){.model = m,
                                       .predictor = predictor(),
                                       .cards = cards,
                                       .n_cards = 3,
                                       .arms = arms,
                                       .n_arms = 5,
                                       .batches = batches,
                                       .n_batches = 4,
                                       .contexts = contexts,
                                       .n_contexts = 4,
                                       .price_usd_per_kwh = 0.12,
                                       .carbon_gco2_per_kwh = 390};
}

static void same(double column, double one, double rel, const char *what)
{
    if (isnan(column) != isnan(one) || (!isnan(one) && !(fabs(column - one) <= rel * fabs(one)))) {
        fail_msg("%s: column %.17g, described %.17g", what, column, one);
    }
}

static bool at_limit(const struct eco_optimize_config *c)
{
    return c->implied_power_w > c->gpu->tdp_w * (1 - 1e-9);
}

/* `rel` bounds what is interpolated: never memory, and time only where it was reconciled with an
 * energy that is. */
static void compare_all(const struct eco_optimize_setup *s, double rel)
{
    for (size_t i = 0; i < out.n; i++) {
        struct eco_optimize_config c;
        assert_int_equal(eco_optimize_describe(s, out.label[i], &c, NULL), 0);
        same(out.value[ECO_OPTIMIZE_MEMORY][i], c.memory_bytes, 1e-11, "memory");
        same(out.value[ECO_OPTIMIZE_ROOM][i], c.room_share, 1e-11, "room");
        same(out.value[ECO_OPTIMIZE_ENERGY][i], c.have_energy ? c.energy.j_per_1k.median : NAN, rel,
             "energy");
        same(out.value[ECO_OPTIMIZE_QUALITY][i], c.quality_loss_pct, 0, "quality");
        if (c.room_share <= 1.0) {
            /* What fits decodes together, so both latencies speak of the same batch. */
            assert_near(c.latency.batch_resident, c.batch, 0);
            double time_rel = at_limit(&c) ? fmax(rel, 1e-11) : 1e-11;
            same(out.value[ECO_OPTIMIZE_LATENCY][i], c.latency.tpot_s.median, time_rel, "latency");
            same(out.value[ECO_OPTIMIZE_THROUGHPUT][i], c.latency.tokens_per_s.median, time_rel,
                 "throughput");
            same(out.value[ECO_OPTIMIZE_COST][i], c.cost_usd_per_month, 3 * rel, "cost");
            same(out.value[ECO_OPTIMIZE_CARBON][i], c.carbon_kg_per_month, 3 * rel, "carbon");
        }
    }
}

static void test_columns_equal_descriptions(void **state)
{
    struct eco_model m = dense(32, 4096, 32, 8, 11008);
    struct eco_optimize_setup s = plain(&m);

    (void)state;
    fill(&s);
    assert_int_equal(out.n, (3 * 5 - 2) * 4 * 4); /* FP8 runs on neither T4 nor A100 */
    compare_all(&s, 1e-12);
}

static void test_interpolated_contexts_are_near(void **state)
{
    struct eco_model m = dense(32, 4096, 32, 32, 11008);
    struct eco_optimize_setup s = plain(&m);
    double many[60];

    (void)state;
    for (int i = 0; i < 60; i++) {
        many[i] = floor(64 * pow(1.1, i)) + i;
    }
    s.contexts = many;
    s.n_contexts = 60;
    fill(&s);
    compare_all(&s, 0.02);
    double first = many[0];
    many[0] = many[59];
    many[59] = first; /* any order */
    fill(&s);
    compare_all(&s, 0.02);
}

/* No candidate, fitting or not, implies more power than its card holds; some are on the bound. */
static void test_no_power_over_the_limit(void **state)
{
    struct eco_model m = dense(80, 8192, 64, 8, 28672); /* 70B */
    struct eco_optimize_setup s = plain(&m);
    struct eco_optimize_config c;
    int bound = 0;

    (void)state;
    fill(&s);
    for (size_t i = 0; i < out.n; i++) {
        double tdp = cards[out.label[i].card].gpu->tdp_w;
        assert_int_equal(eco_optimize_describe(&s, out.label[i], &c, NULL), 0);
        if (!c.have_energy) {
            continue;
        }
        assert_true(c.implied_power_w <= tdp * (1 + 1e-9));
        bound += at_limit(&c);
        if (c.room_share <= 1) {
            double watts =
                out.value[ECO_OPTIMIZE_ENERGY][i] / 1000 * out.value[ECO_OPTIMIZE_THROUGHPUT][i];
            assert_true(watts <= tdp * (1 + 1e-9));
        }
    }
    assert_true(bound > 0);
    /* Which columns are asked for changes none of them. */
    struct eco_optimize_columns only = {.label = out.label};
    static double alone[MAX];
    size_t n;
    for (int k = 0; k < 2; k++) {
        int metric = k ? ECO_OPTIMIZE_ENERGY : ECO_OPTIMIZE_LATENCY;
        memset(only.value, 0, sizeof only.value);
        only.value[metric] = alone;
        assert_int_equal(eco_optimize_fill(&s, &only, &n, NULL), 0);
        assert_int_equal(n, out.n);
        for (size_t i = 0; i < n; i++) {
            same(alone[i], out.value[metric][i], 0, "alone");
        }
    }
}

/* A format is left out where the given engine has no kernels for it. */
static void test_engines_have_formats(void **state)
{
    static const struct eco_optimize_arm odd[] = {
        {ECO_PREC_FP16, ECO_ENGINE_VLLM, NAN},
        {ECO_PREC_NF4, ECO_ENGINE_LLAMACPP, NAN},
        {ECO_PREC_GGUF_Q4_K_M, ECO_ENGINE_TRANSFORMERS, NAN},
    };
    struct eco_model m = dense(32, 4096, 32, 8, 11008);
    struct eco_optimize_setup s = plain(&m);

    (void)state;
    s.arms = odd;
    s.n_arms = 3;
    fill(&s);
    assert_int_equal(out.n, 3 * 4 * 4);
    for (size_t i = 0; i < out.n; i++) {
        assert_int_equal(out.label[i].precision, 0);
    }
}

static size_t index_of(size_t card, size_t arm, size_t batch, size_t context)
{
    for (size_t i = 0; i < out.n; i++) {
        const struct eco_optimize_label *l = &out.label[i];
        if (l->card == card && l->precision == arm && l->batch == batch && l->context == context) {
            return i;
        }
    }
    fail_msg("no candidate %zu %zu %zu %zu", card, arm, batch, context);
    return 0;
}

static void test_context_and_batch_cost_energy(void **state)
{
    struct eco_model m = dense(32, 4096, 32, 8, 11008);
    struct eco_optimize_setup s = plain(&m);
    const double *e = out.value[ECO_OPTIMIZE_ENERGY];
    const double *lat = out.value[ECO_OPTIMIZE_LATENCY];

    (void)state;
    fill(&s);
    for (size_t card = 0; card < 3; card++) {
        for (size_t x = 1; x < 4; x++) {
            assert_true(e[index_of(card, 0, 0, x)] > e[index_of(card, 0, 0, x - 1)]);
            assert_true(lat[index_of(card, 2, 0, x)] > lat[index_of(card, 2, 0, x - 1)]);
            assert_true(e[index_of(card, 0, x, 0)] < e[index_of(card, 0, x - 1, 0)]);
            assert_true(lat[index_of(card, 2, x, 0)] >= lat[index_of(card, 2, x - 1, 0)]);
        }
    }
    /* A 7B of 16 bit at batch 1 on an A100: a few J a token, not a thousand times that or less. */
    double j_per_token = e[index_of(2, 0, 0, 1)] / 1000;
    assert_true(j_per_token > 0.5 && j_per_token < 20);
}

static void test_money(void **state)
{
    struct eco_model m = dense(32, 4096, 32, 8, 11008);
    struct eco_optimize_setup s = plain(&m);

    (void)state;
    fill(&s);
    size_t owned = index_of(1, 0, 0, 1), rented = index_of(2, 0, 0, 1);
    struct eco_optimize_config c;
    assert_int_equal(eco_optimize_describe(&s, out.label[owned], &c, NULL), 0);
    /* 768 tokens = 512 + 256; 1e6 requests; PUE 1.0 for a consumer card. */
    double kwh =
        (c.energy.j_per_1k.median * 256 + c.energy.prefill_j_per_1k * 512) / 1000 * 1e6 / 3.6e6;
    assert_near_rel(out.value[ECO_OPTIMIZE_COST][owned], kwh * 0.12, 1e-9);
    assert_near_rel(out.value[ECO_OPTIMIZE_CARBON][owned], kwh * 0.390, 1e-9);
    assert_int_equal(eco_optimize_describe(&s, out.label[rented], &c, NULL), 0);
    double rent = c.latency.request_s.median * 1e6 / 3600 * 1.8;
    assert_true(out.value[ECO_OPTIMIZE_COST][rented] > rent);
    s.price_usd_per_kwh = NAN;
    fill(&s);
    assert_true(isnan(out.value[ECO_OPTIMIZE_COST][owned]));
    assert_near_rel(out.value[ECO_OPTIMIZE_COST][rented], rent, 1e-9);
}

static void test_too_big_for_the_card(void **state)
{
    struct eco_model m = dense(80, 8192, 64, 8, 28672); /* 70B */
    struct eco_optimize_setup s = plain(&m);
    static uint64_t scratch[(ECO_OPTIMIZE_MAX_GROUPS * 8 + 2 * MAX * 24) / 8];
    static size_t front[MAX];
    struct eco_optimize_result r;

    (void)state;
    s.n_cards = 1; /* T4 */
    fill(&s);
    struct eco_optimize_table t = {.n = out.n, .label = out.label};
    for (int k = 0; k < ECO_OPTIMIZE_METRIC_COUNT; k++) {
        t.value[k] = out.value[k];
    }
    struct eco_optimize_query q = {
        .batches = batches, .n_batches = 4, .n_precisions = 5, .n_cards = 1, .n_alternatives = 3};
    assert_int_equal(eco_optimize_run(&t, &q, scratch, sizeof scratch, front, MAX, &r, NULL), 0);
    assert_false(r.have_best);
    assert_int_equal(r.binding[ECO_OPTIMIZE_ROOM].n_over, out.n);
    assert_int_equal(r.n_front, 0);
    /* The closest is a 4-bit one, and says how much memory is missing. */
    enum eco_precision p = arms[out.label[r.closest].precision].precision;
    assert_true(p == ECO_PREC_NF4 || p == ECO_PREC_AWQ_INT4);
    assert_true(r.binding[ECO_OPTIMIZE_ROOM].closest_excess > 1 &&
                r.binding[ECO_OPTIMIZE_ROOM].closest_excess < 2.5);
}

static void test_quantized_energies(void **state)
{
    struct eco_model m = dense(32, 4096, 32, 8, 11008);
    struct eco_optimize_setup s = plain(&m);
    struct eco_optimize_config c;
    const double *e = out.value[ECO_OPTIMIZE_ENERGY];

    (void)state;
    fill(&s);
    size_t fp16 = index_of(1, 0, 0, 0), nf4 = index_of(1, 1, 0, 0);
    assert_int_equal(eco_optimize_describe(&s, out.label[nf4], &c, NULL), 0);
    assert_true(c.have_delta && c.have_energy);
    assert_near_rel(e[nf4], e[fp16] * exp(c.delta.mu), 1e-12);
    assert_near_rel(c.implied_power_w, e[nf4] / 1000 / c.latency.tpot_s.median, 1e-12);
    assert_true(c.energy.j_per_1k.lo95 < e[nf4] && e[nf4] < c.energy.j_per_1k.hi95);
    assert_near(out.value[ECO_OPTIMIZE_QUALITY][nf4], 2.5, 0);
    assert_near(out.value[ECO_OPTIMIZE_QUALITY][fp16], 0, 0); /* the baseline loses nothing */
    s.predictor = NULL;
    fill(&s);
    assert_true(isnan(e[nf4]));
    assert_true(isfinite(e[fp16]));
    assert_int_equal(eco_optimize_describe(&s, out.label[nf4], &c, NULL), 0);
    assert_false(c.have_energy || c.have_delta);
    assert_true(isnan(c.implied_power_w));
}

static void test_what_a_card_runs(void **state)
{
    (void)state;
    struct eco_gpu amd = {.name = "MI300X", .arch = ECO_ARCH_CDNA3, .compute_capability = NAN};
    assert_false(eco_optimize_runs(ECO_PREC_BF16, &t4));
    assert_true(eco_optimize_runs(ECO_PREC_BF16, &a100));
    assert_false(eco_optimize_runs(ECO_PREC_FP8, &a100));
    assert_true(eco_optimize_runs(ECO_PREC_FP8, &rtx4090));
    assert_false(eco_optimize_runs(ECO_PREC_NVFP4, &rtx4090));
    assert_true(eco_optimize_runs(ECO_PREC_NF4, &t4));
    assert_true(eco_optimize_runs(ECO_PREC_FP8, &amd));
}

static void test_refusals(void **state)
{
    struct eco_model m = dense(32, 4096, 32, 8, 11008);
    struct eco_optimize_setup s = plain(&m);
    const double fraction[] = {1.5}, zero[] = {0};
    const struct eco_optimize_arm none[] = {{ECO_PREC_NONE, ECO_ENGINE_UNKNOWN, NAN}};
    const struct eco_optimize_card bare[] = {{&(struct eco_gpu){.name = "x"}, 1, 0, NAN}};
    size_t n = 77;

    (void)state;
    s.batches = fraction;
    s.n_batches = 1;
    assert_int_equal(eco_optimize_fill(&s, &out.c, &n, NULL), ECO_E_RANGE);
    s.batches = zero;
    assert_int_equal(eco_optimize_fill(&s, &out.c, &n, NULL), ECO_E_RANGE);
    s = plain(&m);
    s.arms = none;
    s.n_arms = 1;
    assert_int_equal(eco_optimize_fill(&s, &out.c, &n, NULL), ECO_E_INVALID);
    s = plain(&m);
    s.cards = bare;
    s.n_cards = 1;
    assert_int_equal(eco_optimize_fill(&s, &out.c, &n, NULL), ECO_E_UNSUPPORTED);
    s = plain(&m);
    s.n_contexts = 0;
    assert_int_equal(eco_optimize_fill(&s, &out.c, &n, NULL), ECO_E_TOO_LARGE);
    s = plain(NULL);
    assert_int_equal(eco_optimize_fill(&s, &out.c, &n, NULL), ECO_E_MISSING);
    assert_int_equal(n, 77);
    struct eco_optimize_config c;
    s = plain(&m);
    assert_int_equal(eco_optimize_describe(&s, (struct eco_optimize_label){3, 0, 0, 0}, &c, NULL),
                     ECO_E_INVALID);
}

static void test_context_window_and_short_contexts(void **state)
{
    struct eco_model m = dense(32, 4096, 32, 8, 11008);
    struct eco_optimize_setup s = plain(&m);
    struct eco_optimize_config c;
    const double some[] = {1, 2, 100, 40000};

    (void)state;
    s.contexts = some;
    fill(&s);
    for (size_t i = 0; i < out.n; i++) {
        assert_true(out.label[i].context < 3); /* 40 000 is over the model's window */
    }
    size_t one = index_of(2, 0, 0, 0), hundred = index_of(2, 0, 0, 2);
    assert_int_equal(eco_optimize_describe(&s, out.label[one], &c, NULL), 0);
    assert_int_equal(c.gen_tokens, 1);
    assert_int_equal(c.prompt_tokens, 0);
    assert_int_equal(eco_optimize_describe(&s, out.label[hundred], &c, NULL), 0);
    assert_int_equal(c.gen_tokens, 99);
    assert_int_equal(c.prompt_tokens, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns_equal_descriptions),
        cmocka_unit_test(test_interpolated_contexts_are_near),
        cmocka_unit_test(test_no_power_over_the_limit),
        cmocka_unit_test(test_engines_have_formats),
        cmocka_unit_test(test_context_and_batch_cost_energy),
        cmocka_unit_test(test_money),
        cmocka_unit_test(test_too_big_for_the_card),
        cmocka_unit_test(test_quantized_energies),
        cmocka_unit_test(test_what_a_card_runs),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_context_window_and_short_contexts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
