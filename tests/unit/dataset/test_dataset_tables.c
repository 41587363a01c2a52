/*
 * The data set against what is known about it from outside: counts, physics, licences, digests.
 * The digests are compared with those of sha256sum, another implementation.
 */
#include "dataset/dataset.h"
#include "eco_test.h"

static const struct eco_row *row_at(size_t i)
{
    static struct eco_row r;

    assert_true(eco_dataset_row(i, &r));
    return &r;
}

static void test_counts(void **state)
{
    static const struct {
        const char *gpu;
        size_t grade[5], precision[6]; /* FP16 NF4 NF4-DQ INT8-MIXED INT8-PURE FP8 */
    } cards[] = {
        {"T4", {0, 0, 0, 12, 22}, {12, 12, 0, 5, 0, 5}},
        {"RTX 4090D", {0, 5, 30, 5, 24}, {20, 22, 3, 14, 5, 0}},
        {"RTX 4090", {0, 20, 24, 3, 0}, {21, 10, 0, 16, 0, 0}},
        {"RTX 5090", {0, 0, 32, 10, 0}, {15, 15, 0, 4, 4, 4}},
        {"RTX PRO 6000 Blackwell Server Edition", {0, 3, 14, 1, 0}, {8, 5, 0, 5, 0, 0}},
        {"A800 SXM4 80GB", {0, 22, 9, 0, 0}, {6, 3, 3, 6, 13, 0}},
    };
    static const enum eco_precision p[] = {ECO_PREC_FP16,       ECO_PREC_NF4,       ECO_PREC_NF4_DQ,
                                           ECO_PREC_INT8_MIXED, ECO_PREC_INT8_PURE, ECO_PREC_FP8};

    (void)state;
    for (size_t c = 0; c < sizeof cards / sizeof cards[0]; c++) {
        size_t grade[5] = {0}, precision[6] = {0};

        for (size_t i = 0; i < eco_dataset_table_count(ECO_ROWS_MEASUREMENTS); i++) {
            const struct eco_row *r = row_at(i);

            if (strcmp(r->gpu, cards[c].gpu) != 0)
                continue;
            grade[r->grade]++;
            for (size_t k = 0; k < 6; k++)
                precision[k] += r->precision == p[k] ? 1u : 0u;
        }
        assert_memory_equal(grade, cards[c].grade, sizeof grade);
        assert_memory_equal(precision, cards[c].precision, sizeof precision);
    }
    assert_int_equal(eco_dataset_table_count(ECO_ROWS_MEASUREMENTS), 236);
    assert_int_equal(eco_dataset_table_count(ECO_ROWS_EXTERNAL), 1555);
    assert_int_equal(eco_dataset_row_count(), 236 + 1555);
    assert_int_equal(eco_dataset_grade_count(ECO_ROWS_MEASUREMENTS, ECO_GRADE_A), 50);
    assert_int_equal(eco_dataset_grade_count(ECO_ROWS_MEASUREMENTS, ECO_GRADE_B), 109);
    assert_int_equal(eco_dataset_grade_count(ECO_ROWS_MEASUREMENTS, ECO_GRADE_C), 31);
    assert_int_equal(eco_dataset_grade_count(ECO_ROWS_MEASUREMENTS, ECO_GRADE_D), 46);
    assert_int_equal(eco_dataset_grade_count(ECO_ROWS_EXTERNAL, ECO_GRADE_A), 75);
    assert_int_equal(eco_dataset_grade_count(ECO_ROWS_EXTERNAL, ECO_GRADE_B), 1304);
    assert_int_equal(eco_dataset_grade_count(ECO_ROWS_EXTERNAL, ECO_GRADE_C), 148);
    assert_int_equal(eco_dataset_grade_count(ECO_ROWS_EXTERNAL, ECO_GRADE_D), 28);
    assert_int_equal(eco_dataset_session_count(ECO_ROWS_MEASUREMENTS, true), 23);
    assert_int_equal(eco_dataset_session_count(ECO_ROWS_MEASUREMENTS, false), 20);
    assert_int_equal(eco_dataset_pair_count(), 120);
    assert_int_equal(eco_dataset_raw_run_count(), 271);
    assert_int_equal(eco_dataset_batch_count(), 23);
    assert_int_equal(eco_dataset_claim_count(), 29);
    assert_int_equal(eco_dataset_gpu_claim_count(), 39);
    assert_true(eco_dataset_gpu_count() >= 55);
    assert_true(eco_dataset_model_count() >= 80);
    assert_int_equal(eco_dataset_sensor_count(), 16);
}

static void test_row_access(void **state)
{
    struct eco_row r = {.id = "untouched"}, again;

    (void)state;
    assert_false(eco_dataset_row(eco_dataset_row_count(), &r));
    assert_string_equal(r.id, "untouched");
    assert_false(eco_dataset_row_by_id("", 0, &r));
    assert_false(eco_dataset_row_by_id("zzzz", 4, &r));
    for (size_t i = 0; i < eco_dataset_row_count(); i++) {
        assert_true(eco_dataset_row(i, &r));
        assert_true(eco_dataset_row_by_id(r.id, strlen(r.id), &again));
        assert_int_equal(again.index, i);
        assert_false(eco_dataset_row_by_id(r.id, strlen(r.id) - 1, &again) &&
                     again.index == i); /* a prefix is not the id */
    }
}

static void check_brief(size_t i)
{
    struct eco_row r;
    struct eco_row_brief b;

    assert_true(eco_dataset_row(i, &r) && eco_dataset_row_brief(i, &b));
    assert_ptr_equal(b.gpu, r.gpu);
    assert_ptr_equal(b.model, r.model);
    assert_int_equal(b.arch, r.arch);
    assert_int_equal(b.batch, r.batch);
    assert_int_equal(b.n_devices, r.n_devices);
    assert_int_equal(b.boundary, r.boundary);
    assert_int_equal(b.power_basis, r.power_basis);
    assert_int_equal(b.excluded, r.excluded);
    assert_memory_equal(&b.params_b, &r.params_b, sizeof(double)); /* NAN counts too */
    assert_memory_equal(&b.power_w, &r.power_w, sizeof(double));
    assert_memory_equal(&b.energy_gross_j_per_1k, &r.energy_gross_j_per_1k, sizeof(double));
    assert_memory_equal(&b.ppl, &r.ppl, sizeof(double));
    assert_memory_equal(&b.ppl_baseline, &r.ppl_baseline, sizeof(double));
}

/* The lists of all precisions together are the table, each in its order. */
static void test_rows_of_a_precision(void **state)
{
    size_t all = 0, n;
    struct eco_row_brief b;

    (void)state;
    for (int p = ECO_PREC_NONE; p < ECO_PREC_COUNT; p++) {
        const uint16_t *rows = eco_dataset_rows_of((enum eco_precision)p, &n);
        for (size_t i = 0; i < n; i++) {
            struct eco_row r;
            assert_true(eco_dataset_row(rows[i], &r));
            assert_int_equal(r.precision, p);
            assert_true(i == 0 || rows[i - 1] < rows[i]);
            check_brief(rows[i]);
        }
        all += n;
    }
    assert_int_equal(all, eco_dataset_row_count());
    assert_null(eco_dataset_rows_of(ECO_PREC_COUNT, &n));
    assert_int_equal(n, 0);
    assert_false(eco_dataset_row_brief(eco_dataset_row_count(), &b));
}

/* E = P/T on the basis the row names, for every A-C row that prints all three. */
static void test_energy_is_power_over_throughput(void **state)
{
    size_t checked = 0;

    (void)state;
    for (size_t i = 0; i < eco_dataset_row_count(); i++) {
        const struct eco_row *r = row_at(i);
        double power = r->power_w, expected;

        if (r->excluded || isnan(r->power_w) || isnan(r->throughput_tok_s))
            continue;
        if (r->energy_basis == ECO_POWER_NET && r->power_basis == ECO_POWER_GROSS)
            power -= r->idle_w;
        if (r->energy_basis == ECO_POWER_GROSS && r->power_basis == ECO_POWER_NET)
            power += r->idle_w;
        expected = 1000.0 * power / r->throughput_tok_s;
        if (fabs(r->energy_j_per_1k / expected - 1.0) > 0.04)
            fail_msg("%s: %g, power over throughput %g", r->id, r->energy_j_per_1k, expected);
        checked++;
    }
    assert_true(checked > 1500);
}

static void test_gross_pairs(void **state)
{
    size_t pairs = 0, net = 0, gross = 0;
    static const char sixth[] = "rtx-4090d-qwen2-1-5b-nf4-b1-2026-03-06-rtx4090d-nf4-gradient";
    struct eco_row r;

    (void)state;
    for (size_t i = 0; i < eco_dataset_table_count(ECO_ROWS_MEASUREMENTS); i++) {
        r = *row_at(i);
        if (r.batch != 1 || r.excluded || *r.baseline_id == '\0')
            continue;
        pairs++;
        net += r.energy_basis == ECO_POWER_NET ? 1u : 0u;
        gross += isnan(r.delta_gross_pct) ? 0u : 1u;
    }
    assert_int_equal(pairs, 103);
    assert_int_equal(net, 18);
    assert_int_equal(gross, 100);
    /* 38.60 % net becomes about 43.8 % with 17.7 W put back */
    assert_true(eco_dataset_row_by_id(sixth, sizeof sixth - 1, &r));
    assert_near(r.delta_pct, 38.60, 0.01);
    assert_near(r.delta_gross_pct, 43.8, 0.05);
    assert_near(r.energy_gross_j_per_1k, r.energy_j_per_1k + 17.7e3 / r.throughput_tok_s, 1e-9);
}

static void test_baselines(void **state)
{
    (void)state;
    for (size_t i = 0; i < eco_dataset_row_count(); i++) {
        struct eco_row r = *row_at(i), b;

        if (*r.baseline_id == '\0') {
            assert_true(isnan(r.delta_pct));
            continue;
        }
        assert_true(eco_dataset_row_by_id(r.baseline_id, strlen(r.baseline_id), &b));
        assert_true(b.precision == ECO_PREC_FP16 || b.precision == ECO_PREC_BF16);
        assert_int_equal(b.batch, r.batch);
        assert_int_equal(b.n_devices, r.n_devices);
        assert_string_equal(b.gpu, r.gpu);
        assert_true(r.excluded || r.energy_basis == b.energy_basis);
        if (!r.excluded && !isnan(r.delta_pct_published) &&
            fabs(r.delta_pct - r.delta_pct_published) >
                0.55) /* some are printed without decimals */
            fail_msg("%s: %g, printed %g", r.id, r.delta_pct, r.delta_pct_published);
    }
}

static bool allowed_licence(const char *s)
{
    return strcmp(s, "CC BY 4.0") == 0 || strcmp(s, "Apache-2.0") == 0 || strcmp(s, "MIT") == 0 ||
           strcmp(s, "BSD-3-Clause") == 0;
}

/* A reason is for a user to read: some words, no pointer into somebody's notes. */
static void check_reason(const char *id, const char *reason)
{
    if (strlen(reason) < 25)
        fail_msg("%s: reason '%s'", id, reason);
    if (strstr(reason, "inconsistencies") != NULL || strstr(reason, ".md") != NULL)
        fail_msg("%s: reason '%s'", id, reason);
}

static void test_provenance(void **state)
{
    struct eco_pair p;

    (void)state;
    for (size_t i = 0; i < eco_dataset_row_count(); i++) {
        const struct eco_row *r = row_at(i);

        assert_true(allowed_licence(r->licence));
        assert_true(*r->source != '\0' && *r->session != '\0' && *r->model != '\0');
        assert_true(r->grade != ECO_GRADE_NONE && r->precision != ECO_PREC_NONE);
        assert_int_equal(r->excluded, r->grade == ECO_GRADE_D);
        if (r->excluded)
            check_reason(r->id, r->reason);
        if (r->table == ECO_ROWS_EXTERNAL)
            assert_true(strncmp(r->source, "github:", 7) == 0 && strchr(r->source, '@') != NULL);
    }
    for (size_t i = 0; i < eco_dataset_pair_count(); i++) {
        struct eco_row base, quant;

        assert_true(eco_dataset_pair(i, &p));
        assert_true(allowed_licence(p.licence));
        assert_true(eco_dataset_row_by_id(p.base_id, strlen(p.base_id), &base));
        assert_true(eco_dataset_row_by_id(p.quant_id, strlen(p.quant_id), &quant));
        assert_near(p.energy_base_j_per_1k, base.energy_j_per_1k,
                    0.006 + 1e-4 * base.energy_j_per_1k);
        assert_near(p.energy_quant_j_per_1k, quant.energy_j_per_1k,
                    0.006 + 1e-4 * quant.energy_j_per_1k);
        assert_true(p.n_devices == base.n_devices && p.n_devices == quant.n_devices);
        assert_int_equal(p.excluded, base.excluded || quant.excluded);
        if (p.excluded)
            check_reason(p.id, p.reason);
    }
}

static void test_batch_guide_is_excluded(void **state)
{
    size_t excluded = 0;

    (void)state;
    for (size_t i = 0; i < eco_dataset_batch_count(); i++) {
        struct eco_batch_point b;

        assert_true(eco_dataset_batch(i, &b));
        excluded += b.excluded;
        if (b.excluded)
            check_reason(b.id, b.reason);
        if (!b.excluded && !isnan(b.energy_per_request_j))
            assert_near_rel(b.energy_per_request_j, b.energy_j_per_1k * b.gen_tokens / 1000.0,
                            0.001);
    }
    assert_int_equal(excluded, 7);
}

/* The raw runs of a row average to it. */
static void test_raw_runs(void **state)
{
    size_t rows = 0;

    (void)state;
    for (size_t i = 0; i < eco_dataset_table_count(ECO_ROWS_MEASUREMENTS); i++) {
        struct eco_row r = *row_at(i);
        double sum = 0.0, n = 0.0;

        for (size_t k = 0; k < eco_dataset_raw_run_count(); k++) {
            struct eco_raw_run run;

            assert_true(eco_dataset_raw_run(k, &run));
            if (strcmp(run.row_id, r.id) == 0) {
                sum += run.energy_j_per_1k;
                n += 1.0;
            }
        }
        if (n > 0.0) {
            assert_near_rel(sum / n, r.energy_j_per_1k, 0.002);
            rows++;
        }
    }
    assert_int_equal(rows, 35);
}

static void test_gpus(void **state)
{
    (void)state;
    for (size_t i = 0; i < eco_dataset_gpu_count(); i++) {
        const struct eco_gpu *g = eco_dataset_gpu(i);

        assert_true(g->arch != ECO_ARCH_UNKNOWN);
        assert_true(g->vram_gb >= 8 && g->vram_gb <= 300);
        assert_true(g->mem_bw_gbps >= 190 && g->mem_bw_gbps <= 8100);
        assert_true(isnan(g->fp16_tflops) || (g->fp16_tflops > 10 && g->fp16_tflops < 2600));
        assert_true(isnan(g->tdp_w) || (g->tdp_w >= 50 && g->tdp_w <= 1400));
        assert_true(isnan(g->idle_w) || g->idle_w < 0.25 * g->tdp_w);
        assert_string_equal(g->source, "datasheet");
    }
    assert_null(eco_dataset_gpu(eco_dataset_gpu_count()));
    assert_string_equal(eco_dataset_gpu_short(eco_dataset_gpu_count()), "");
}

/* Counts from the shape, worked out here again for the plain families. */
static void test_models(void **state)
{
    size_t recomputed = 0;

    (void)state;
    for (size_t i = 0; i < eco_dataset_model_count(); i++) {
        const struct eco_model *m = eco_dataset_model(i);
        uint64_t h = (uint64_t)m->hidden, q = (uint64_t)(m->n_heads * m->head_dim);
        uint64_t kv = (uint64_t)(m->n_kv_heads * m->head_dim), layers = (uint64_t)m->layers;
        uint64_t linear = layers * (2 * h * q + 2 * h * kv + 3 * h * (uint64_t)m->intermediate);
        uint64_t norm = layers * 2 * h + h;
        bool qwen2 = strncmp(m->name, "Qwen/Qwen2", 10) == 0;

        assert_true(m->params_total ==
                    m->params_embedding + m->params_lm_head + m->params_norm + m->params_linear);
        assert_int_equal(m->tied, m->params_lm_head == 0);
        assert_true(m->params_active <= m->params_total);
        assert_true(fabs(1e-9 * (double)m->params_total / m->params_b - 1.0) < 0.35);
        assert_string_equal(m->source, "models.csv");
        assert_true(m->shape_basis == ECO_BASIS_COMPUTED);
        if (strncmp(m->name, "meta-llama/", 11) == 0 || strncmp(m->name, "01-ai/", 6) == 0 ||
            strncmp(m->name, "mistralai/Mistral-7B", 20) == 0 || qwen2) {
            if (qwen2)
                norm += layers * (q + 2 * kv); /* their q, k and v have biases */
            assert_true(m->params_linear == linear);
            assert_true(m->params_norm == norm);
            assert_true(m->params_embedding == (uint64_t)m->vocab * h);
            assert_true(m->params_active == linear + norm + (uint64_t)m->vocab * h);
            recomputed++;
        }
    }
    assert_true(recomputed >= 25);
}

/* Totals that the model cards print. */
static void test_known_models(void **state)
{
    static const struct {
        const char *name;
        uint64_t total;
        double nominal;
    } known[] = {
        {"TinyLlama/TinyLlama-1.1B-Chat-v1.0", 1100048384u, 1.1},
        {"Qwen/Qwen2-7B", 7615616512u, 7},
        {"meta-llama/Llama-3.1-8B-Instruct", 8030261248u, 8},
        {"mistralai/Mixtral-8x7B-v0.1", 46702792704u, 46.7},
        {"google/gemma-2-9b", 9241705984u, 9},
        {"openai/gpt-oss-20b", 20914757184u, 20},
        {"microsoft/phi-2", 2779683840u, 2.7},
        {"openai-community/gpt2", 124439808u, 0.124},
    };

    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const struct eco_model *m;
        struct eco_err err;

        assert_int_equal(eco_dataset_find_model(known[i].name, strlen(known[i].name), &m, &err), 0);
        assert_string_equal(m->name, known[i].name);
        assert_true(m->params_total == known[i].total);
        assert_near(m->params_b, known[i].nominal, 1e-12);
    }
}

static void test_grid(void **state)
{
    /* yearly averages of recent years, wide enough for a change of year */
    static const struct {
        const char *name;
        double lo, hi;
    } known[] = {{"France", 40, 60},           {"Norway", 5, 40},
                 {"Sweden", 10, 50},           {"Poland", 550, 800},
                 {"India", 600, 750},          {"Germany", 300, 420},
                 {"United States", 350, 420},  {"China", 500, 620},
                 {"Iceland", 5, 40},           {"South Africa", 650, 800},
                 {"United Kingdom", 180, 280}, {"World", 430, 500}};
    size_t countries = 0;

    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const struct eco_region *r;
        struct eco_err err;

        assert_int_equal(eco_dataset_find_region(known[i].name, strlen(known[i].name), &r, &err),
                         0);
        if (!(r->carbon_gco2_per_kwh >= known[i].lo && r->carbon_gco2_per_kwh <= known[i].hi))
            fail_msg("%s: %g", known[i].name, r->carbon_gco2_per_kwh);
    }
    for (size_t i = 0; i < eco_dataset_region_count(); i++) {
        const struct eco_region *r = eco_dataset_region(i);

        countries += strlen(r->code) == 3 && !isnan(r->carbon_gco2_per_kwh);
        if (!isnan(r->carbon_gco2_per_kwh)) {
            assert_true(r->carbon_gco2_per_kwh > 0 && r->carbon_gco2_per_kwh <= 1400);
            assert_true(r->carbon_year >= 2021 && r->carbon_year <= 2026);
            assert_true(*r->carbon_source != '\0' && *r->carbon_licence != '\0');
        }
        if (r->price_is_tariff)
            assert_true(r->price_usd_per_kwh > 0.01 && r->price_year > 2000);
        else if (!isnan(r->price_usd_per_kwh))
            assert_non_null(strstr(r->note, "not an electricity tariff"));
        assert_null(strstr(r->note, "mock"));
    }
    assert_true(countries >= 60);
}

static void test_published(void **state)
{
    const struct eco_published_tables *t = eco_dataset_published();
    size_t net = 0, single = 0;

    (void)state;
    assert_int_equal(t->n_anchors, 29);
    assert_int_equal(t->n_curves, 6);
    for (size_t i = 0; i < t->n_anchors; i++) {
        const struct eco_published_anchor *a = &t->anchors[i];

        net += eco_dataset_anchor_is_net(i);
        single += a->n == 1;
        assert_near(a->delta_pct, eco_dataset_anchor_delta_full_pct(i), 0.00501);
    }
    assert_int_equal(net, 4);
    assert_int_equal(single, 12); /* 11 of the RTX 4090, one of the 4090D */
    for (size_t i = 0; i < t->n_curves; i++) {
        struct eco_curve c;
        size_t anchors = 0;

        assert_true(eco_dataset_curve(i, &c));
        for (size_t k = 0; k < t->n_anchors; k++) {
            const struct eco_published_anchor *a = &t->anchors[k];
            if (a->arch == c.curve.arch && a->precision == c.curve.precision) {
                anchors++;
                assert_true(a->params_b >= c.lo_b && a->params_b <= c.hi_b);
            }
        }
        assert_int_equal(anchors, c.anchors);
        if (!isnan(c.crossover_b)) { /* the curve is zero there */
            double x = c.crossover_b / c.curve.nstar_b;
            assert_near(c.curve.a_pct - c.curve.s_pct * x / (1.0 + x), 0.0, 0.02);
        }
    }
}

static void test_digests(void **state)
{
    (void)state;
    assert_true(eco_dataset_digest_count() > 40);
    assert_int_equal(strlen(eco_dataset_digest_all()), 64);
    for (size_t i = 0; i < eco_dataset_digest_count(); i++) {
        const struct eco_digest *d = eco_dataset_digest(i);
        char command[512], line[128] = "";
        FILE *p;

        assert_true(i == 0 || strcmp(eco_dataset_digest(i - 1)->path, d->path) < 0);
        snprintf(command, sizeof command, "sha256sum < '%s/%s'", ECO_SOURCE_DIR, d->path);
        p = popen(command, "r");
        assert_non_null(p);
        assert_non_null(fgets(line, sizeof line, p));
        pclose(p);
        if (strncmp(line, d->sha256, 64) != 0)
            fail_msg("%s: %s, sha256sum says %s", d->path, d->sha256, line);
    }
}

static void test_columns(void **state)
{
    size_t rows = 0;

    (void)state;
    for (size_t i = 0; i < eco_dataset_column_count(); i++) {
        const struct eco_column *c = eco_dataset_column(i);

        assert_true(*c->meaning != '\0' && strchr("YND", c->required) != NULL);
        rows += strcmp(c->table, "rows") == 0;
    }
    assert_true(rows > 30);
    assert_null(eco_dataset_column(eco_dataset_column_count()));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_row_access),
        cmocka_unit_test(test_rows_of_a_precision),
        cmocka_unit_test(test_energy_is_power_over_throughput),
        cmocka_unit_test(test_gross_pairs),
        cmocka_unit_test(test_baselines),
        cmocka_unit_test(test_provenance),
        cmocka_unit_test(test_batch_guide_is_excluded),
        cmocka_unit_test(test_raw_runs),
        cmocka_unit_test(test_gpus),
        cmocka_unit_test(test_models),
        cmocka_unit_test(test_known_models),
        cmocka_unit_test(test_grid),
        cmocka_unit_test(test_published),
        cmocka_unit_test(test_digests),
        cmocka_unit_test(test_columns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
