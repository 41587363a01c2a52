/* Each trap fires on its configuration and not beside it; effects are the caller's; evidence ids
 * exist in data/. */
#include "eco_test.h"
#include "physics_models.h"

#include <dirent.h>

static struct eco_model m7, m1;
static struct eco_gpu g;

static struct eco_alert_request request(enum eco_precision p, int batch)
{
    m7 = model_7b();
    m1 = model_small();
    g = gpu_a800();
    struct eco_alert_request r;
    memset(&r, 0, sizeof r);
    r.model = &m7;
    r.gpu = &g;
    r.precision = p;
    r.engine = ECO_ENGINE_TRANSFORMERS;
    r.batch = batch;
    r.need_gb = NAN;
    r.crossover_b = NAN;
    return r;
}

static const struct eco_alert *find(const struct eco_alert *a, size_t n, const char *id)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(a[i].rule->id, id) == 0) {
            return &a[i];
        }
    }
    return NULL;
}

static bool fires(const struct eco_alert_request *r, const char *id)
{
    struct eco_alert a[ECO_ALERTS_MAX];
    size_t n;
    assert_int_equal(eco_alerts_check(r, a, ECO_ALERTS_MAX, &n, NULL), 0);
    assert_non_null(eco_alerts_find(id));
    return find(a, n, id) != NULL;
}

static void set_effect(struct eco_alert_request *r, enum eco_effect e, double lo80, double median)
{
    r->have[e] = true;
    r->effect_pct[e] = (struct eco_band){.median = median,
                                         .lo50 = lo80,
                                         .hi50 = median,
                                         .lo80 = lo80,
                                         .hi80 = median,
                                         .lo95 = lo80,
                                         .hi95 = median};
}

static void test_plain_run_is_silent(void **state)
{
    (void)state;
    struct eco_alert a[ECO_ALERTS_MAX];
    size_t n = 99;
    struct eco_alert_request r = request(ECO_PREC_BF16, 8);
    r.production = true;
    r.need_gb = 20;
    assert_int_equal(eco_alerts_check(&r, a, ECO_ALERTS_MAX, &n, NULL), 0);
    assert_int_equal(n, 0);
}

static void test_each_trap(void **state)
{
    (void)state;
    struct eco_alert_request r = request(ECO_PREC_INT8_MIXED, 1);
    assert_true(fires(&r, "int8-paradox"));
    r.precision = ECO_PREC_INT8_PURE;
    assert_false(fires(&r, "int8-paradox"));

    r = request(ECO_PREC_NF4, 1);
    assert_false(fires(&r, "nf4-small-model"));
    r.model = &m1;
    assert_true(fires(&r, "nf4-small-model"));
    assert_false(fires(&r, "nf4-batch"));
    r.batch = 2;
    assert_true(fires(&r, "nf4-batch"));
    assert_false(fires(&r, "nf4-small-model"));

    r = request(ECO_PREC_BF16, 1);
    assert_false(fires(&r, "batch1-production"));
    r.production = true;
    assert_true(fires(&r, "batch1-production"));

    r = request(ECO_PREC_FP8, 1);
    assert_true(fires(&r, "fp8-eager"));
    r.engine = ECO_ENGINE_VLLM;
    assert_false(fires(&r, "fp8-eager"));
    r.eager = true;
    assert_true(fires(&r, "fp8-eager"));

    r = request(ECO_PREC_BF16, 8);
    r.unverified_build = true;
    assert_true(fires(&r, "unverified-build"));
    r.kv_cache_off = true;
    assert_true(fires(&r, "kv-cache-off"));
    r.need_gb = 77.3; /* 80 GiB are 85.9 GB, and a run may fill 90 % of them: 77.31 */
    assert_false(fires(&r, "offload"));
    r.need_gb = 77.4;
    assert_true(fires(&r, "offload"));

    r = request(ECO_PREC_NF4_DQ, 1);
    assert_true(fires(&r, "double-quant"));
}

/* 7B below a crossover of 8B that the precision saves above, at a computed loss of 15 %. */
static struct eco_alert_request below(enum eco_precision p, enum eco_engine e)
{
    struct eco_alert_request r = request(p, 1);
    r.engine = e;
    r.crossover_b = 8;
    r.saves_above = true;
    set_effect(&r, ECO_EFFECT_PRECISION, 5, 15);
    set_effect(&r, ECO_EFFECT_TO_FP16, -20, -13);
    return r;
}

static void test_crossover_only_where_smaller_pays(void **state)
{
    (void)state;
    struct eco_alert_request r = below(ECO_PREC_NF4, ECO_ENGINE_TRANSFORMERS);
    assert_true(fires(&r, "below-crossover"));
    r.crossover_b = 7;
    assert_false(fires(&r, "below-crossover"));
    r.crossover_b = 8;
    r.saves_above = false; /* the precision saves below: there is nothing to warn of */
    assert_false(fires(&r, "below-crossover"));
    r.saves_above = true;
    set_effect(&r, ECO_EFFECT_PRECISION, -20, -1);
    set_effect(&r, ECO_EFFECT_TO_FP16, -5, 1);
    assert_false(fires(&r, "below-crossover")); /* its own fix would cost energy */
    r.have[ECO_EFFECT_PRECISION] = false;
    assert_false(fires(&r, "below-crossover")); /* nothing computed, nothing claimed */
    r = below(ECO_PREC_FP16, ECO_ENGINE_TRANSFORMERS);
    assert_false(fires(&r, "below-crossover"));
}

static void test_one_trap_one_alert(void **state)
{
    (void)state;
    struct eco_alert_request r = below(ECO_PREC_INT8_MIXED, ECO_ENGINE_TRANSFORMERS);
    assert_true(fires(&r, "int8-paradox") && !fires(&r, "below-crossover"));
    r = below(ECO_PREC_FP8, ECO_ENGINE_TRANSFORMERS);
    assert_true(fires(&r, "fp8-eager") && !fires(&r, "below-crossover"));
    r = below(ECO_PREC_NF4, ECO_ENGINE_TRANSFORMERS);
    r.batch = 4;
    assert_true(fires(&r, "nf4-batch") && !fires(&r, "below-crossover"));
    r = below(ECO_PREC_NF4, ECO_ENGINE_TRANSFORMERS);
    r.model = &m1;
    assert_true(fires(&r, "nf4-small-model") && !fires(&r, "below-crossover"));
}

static void test_crossover_speaks_of_the_format(void **state)
{
    static const struct {
        enum eco_precision p;
        enum eco_engine e;
        const char *code;
    } formats[] = {{ECO_PREC_FP8, ECO_ENGINE_VLLM, "vllm"},
                   {ECO_PREC_AWQ_INT4, ECO_ENGINE_VLLM, "vllm"},
                   {ECO_PREC_NVFP4, ECO_ENGINE_VLLM, "vllm"},
                   {ECO_PREC_GGUF_Q4_K_M, ECO_ENGINE_LLAMACPP, "llama-server"},
                   {ECO_PREC_INT8_PURE, ECO_ENGINE_TRANSFORMERS, "from_pretrained"},
                   {ECO_PREC_NF4, ECO_ENGINE_TRANSFORMERS, "from_pretrained"}};
    struct eco_alert a[ECO_ALERTS_MAX];
    size_t n;
    (void)state;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        struct eco_alert_request r = below(formats[i].p, formats[i].e);
        bool nf4 = formats[i].p == ECO_PREC_NF4;
        assert_int_equal(eco_alerts_check(&r, a, ECO_ALERTS_MAX, &n, NULL), 0);
        assert_int_equal(n, 1);
        assert_string_equal(a[0].rule->id, "below-crossover");
        assert_non_null(strstr(a[0].rule->fix_code, formats[i].code));
        assert_int_equal(strstr(a[0].rule->measured, "NF4") != NULL, nf4);
        assert_int_equal(a[0].severity, ECO_SEV_WARNING);
    }
}

/* Whatever the trap: where the figures say no loss and no gain, it is gone; never more than a note
 * where they say no loss. */
static void test_no_loss_no_alarm(void **state)
{
    static const enum eco_precision ps[] = {ECO_PREC_INT8_MIXED, ECO_PREC_NF4, ECO_PREC_NF4_DQ,
                                            ECO_PREC_FP8, ECO_PREC_GPTQ_INT4};
    struct eco_alert a[ECO_ALERTS_MAX];
    size_t n;
    (void)state;
    for (int i = 0; i < 5 * 3 * 2; i++) {
        struct eco_alert_request r = request(ps[i % 5], 1 + i / 5 % 3);
        r.model = i / 15 ? &m1 : &m7;
        r.crossover_b = 9;
        r.saves_above = true;
        r.production = true;
        for (int e = ECO_EFFECT_PRECISION; e <= ECO_EFFECT_BATCH_UP; e++) {
            set_effect(&r, (enum eco_effect)e, e == ECO_EFFECT_PRECISION ? -9 : 2,
                       e == ECO_EFFECT_PRECISION ? -3 : 5);
        }
        set_effect(&r, ECO_EFFECT_TO_FP16, 1, 3);
        assert_int_equal(eco_alerts_check(&r, a, ECO_ALERTS_MAX, &n, NULL), 0);
        assert_int_equal(n, 0);
        r.have[ECO_EFFECT_TO_FP16] = r.have[ECO_EFFECT_INT8_FIX] = false;
        assert_int_equal(eco_alerts_check(&r, a, ECO_ALERTS_MAX, &n, NULL), 0);
        for (size_t k = 0; k < n; k++) {
            assert_int_equal(a[k].severity, ECO_SEV_INFO);
        }
    }
}

/* The trap of double quantization is measured against plain NF4, not against 16 bit. */
static void test_double_quant_is_judged_by_itself(void **state)
{
    (void)state;
    struct eco_alert a[ECO_ALERTS_MAX];
    size_t n;
    struct eco_alert_request r = request(ECO_PREC_NF4_DQ, 1);
    set_effect(&r, ECO_EFFECT_PRECISION, 40, 60);
    set_effect(&r, ECO_EFFECT_NF4_PLAIN, -20, -12.5);
    assert_int_equal(eco_alerts_check(&r, a, ECO_ALERTS_MAX, &n, NULL), 0);
    const struct eco_alert *dq = find(a, n, "double-quant");
    assert_non_null(dq);
    assert_near(dq->effect_pct.median, 100 / 0.875 - 100, 1e-9);
    assert_near(dq->effect_pct.hi80, 25.0, 1e-9);
    assert_int_equal(dq->severity, ECO_SEV_WARNING);
    set_effect(&r, ECO_EFFECT_NF4_PLAIN, -3, 1);
    assert_int_equal(eco_alerts_check(&r, a, ECO_ALERTS_MAX, &n, NULL), 0);
    assert_null(find(a, n, "double-quant"));
}

static void test_offload_names_no_precision(void **state)
{
    (void)state;
    const struct eco_alert_rule *r = eco_alerts_find("offload");
    for (int p = ECO_PREC_NONE + 1; p < ECO_PREC_COUNT; p++) {
        assert_null(strstr(r->fix, eco_precision_name((enum eco_precision)p)));
        assert_null(strstr(r->fix_code, eco_precision_name((enum eco_precision)p)));
    }
    assert_null(strstr(r->fix_code, "4bit"));
}

static void test_effect_is_computed(void **state)
{
    (void)state;
    struct eco_alert a[ECO_ALERTS_MAX];
    size_t n;
    struct eco_alert_request r = request(ECO_PREC_INT8_MIXED, 1);
    set_effect(&r, ECO_EFFECT_PRECISION, 60, 120);
    set_effect(&r, ECO_EFFECT_INT8_FIX, -60, -40);
    assert_int_equal(eco_alerts_check(&r, a, ECO_ALERTS_MAX, &n, NULL), 0);
    const struct eco_alert *p = find(a, n, "int8-paradox");
    assert_true(p->have_effect && p->have_fix_effect);
    assert_near(p->effect_pct.median, 120.0, 0);
    assert_near(p->fix_effect_pct.median, -40.0, 0);
    assert_int_equal(p->severity, ECO_SEV_CRITICAL);
    set_effect(&r, ECO_EFFECT_PRECISION, 5, 12);
    eco_alerts_check(&r, a, ECO_ALERTS_MAX, &n, NULL);
    assert_int_equal(find(a, n, "int8-paradox")->severity, ECO_SEV_WARNING);
    set_effect(&r, ECO_EFFECT_PRECISION, -40, -20); /* it saves here: only a note */
    eco_alerts_check(&r, a, ECO_ALERTS_MAX, &n, NULL);
    assert_int_equal(find(a, n, "int8-paradox")->severity, ECO_SEV_INFO);
}

static void test_most_severe_first(void **state)
{
    (void)state;
    struct eco_alert a[ECO_ALERTS_MAX];
    size_t n;
    struct eco_alert_request r = request(ECO_PREC_INT8_MIXED, 1);
    r.production = r.unverified_build = r.kv_cache_off = true;
    assert_int_equal(eco_alerts_check(&r, a, ECO_ALERTS_MAX, &n, NULL), 0);
    assert_int_equal(n, 4);
    for (size_t i = 1; i < n; i++) {
        assert_true(a[i - 1].severity >= a[i].severity);
    }
    assert_int_equal(eco_alerts_check(&r, a, 2, &n, NULL), 0);
    assert_int_equal(n, 2);
    assert_int_equal(eco_alerts_check(NULL, a, 2, &n, NULL), ECO_E_MISSING);
    assert_string_equal(eco_severity_name(a[0].severity), "critical");
    assert_null(eco_alerts_find("no-such-rule"));
    assert_null(eco_alerts_rule(eco_alerts_count()));
    r.batch = -1;
    assert_int_equal(eco_alerts_check(&r, a, 2, &n, NULL), ECO_E_RANGE);
}

static void test_int8_says_both(void **state)
{
    (void)state;
    const struct eco_alert_rule *r = eco_alerts_find("int8-paradox");
    assert_non_null(strstr(r->contradiction, "+3 to +11 %"));
    assert_non_null(strstr(r->contradiction, "+33 %"));
    assert_non_null(strstr(r->contradiction, "beats default INT8"));
    assert_non_null(strstr(r->fix_code, "llm_int8_threshold=0.0"));
}

static char ids[1 << 20];

static void collect(const char *path)
{
    static char line[1 << 16];
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f) != NULL) {
        char *comma = strchr(line, ',');
        if (comma != NULL && strlen(ids) + 256 < sizeof ids) {
            *comma = '\0';
            strcat(ids, "\n");
            strcat(ids, line);
        }
    }
    fclose(f);
}

static void test_evidence_exists(void **state)
{
    (void)state;
    static char path[1024];
    DIR *d = opendir(ECO_SOURCE_DIR "/data/measurements");
    assert_non_null(d);
    for (struct dirent *e = readdir(d); e != NULL; e = readdir(d)) {
        if (strstr(e->d_name, ".csv") != NULL) {
            snprintf(path, sizeof path, "%s/data/measurements/%s", ECO_SOURCE_DIR, e->d_name);
            collect(path);
        }
    }
    closedir(d);
    collect(ECO_SOURCE_DIR "/data/batch_scaling.csv");
    strcat(ids, "\n");
    for (size_t i = 0; i < eco_alerts_count(); i++) {
        const char *at = eco_alerts_rule(i)->evidence;
        while (*at != '\0') {
            char id[256] = "\n";
            size_t n = strcspn(at, " ");
            strncat(id, at, n);
            strcat(id, "\n");
            if (strstr(ids, id) == NULL) {
                fail_msg("evidence%s is in no table of data/", id);
            }
            at += n + (at[n] == ' ');
        }
    }
}

static void test_mood(void **state)
{
    (void)state;
    struct eco_mood_input in = {
        .basis = ECO_BASIS_INTERPOLATED, .own_data = true, .have_excess = true};
    static const struct {
        double excess;
        enum eco_mood mood;
    } want[] = {{0, ECO_MOOD_GREEN},   {10, ECO_MOOD_GREEN},    {10.1, ECO_MOOD_YELLOW},
                {30, ECO_MOOD_YELLOW}, {30.1, ECO_MOOD_ORANGE}, {150, ECO_MOOD_ORANGE},
                {150.1, ECO_MOOD_RED}};
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        in.excess_pct = want[i].excess;
        assert_int_equal(eco_mood_of(&in), want[i].mood);
    }
    in.excess_pct = 0;
    in.batch1_production = true;
    assert_int_equal(eco_mood_of(&in), ECO_MOOD_YELLOW);
    in.trap = true;
    assert_int_equal(eco_mood_of(&in), ECO_MOOD_ORANGE);
    in.unverified_build = true;
    assert_int_equal(eco_mood_of(&in), ECO_MOOD_GRAY);
    in.unverified_build = false;
    in.basis = ECO_BASIS_EXTRAPOLATED;
    assert_int_equal(eco_mood_of(&in), ECO_MOOD_ORANGE);
    in.own_data = false;
    assert_int_equal(eco_mood_of(&in), ECO_MOOD_GRAY);
    assert_string_equal(eco_mood_name(ECO_MOOD_RED), "Red");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_run_is_silent),
        cmocka_unit_test(test_each_trap),
        cmocka_unit_test(test_crossover_only_where_smaller_pays),
        cmocka_unit_test(test_one_trap_one_alert),
        cmocka_unit_test(test_crossover_speaks_of_the_format),
        cmocka_unit_test(test_no_loss_no_alarm),
        cmocka_unit_test(test_double_quant_is_judged_by_itself),
        cmocka_unit_test(test_offload_names_no_precision),
        cmocka_unit_test(test_effect_is_computed),
        cmocka_unit_test(test_most_severe_first),
        cmocka_unit_test(test_int8_says_both),
        cmocka_unit_test(test_evidence_exists),
        cmocka_unit_test(test_mood),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
