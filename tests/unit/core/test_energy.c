/*
 * Absolute energy: measured rows inside their bands, the committed posterior refitted from its
 * rows by an independent path (session and model effects as explicit unknowns), limits, units.
 */
#include "base/csv.h"
#include "core/latency.h"
#include "eco_test.h"
#include "physics_models.h"

#define DIM_MAX 160
#define ROWS_MAX 256

static struct eco_energy energy(const struct eco_model *m, const struct eco_gpu *g,
                                const struct eco_workload *w)
{
    struct eco_energy e;
    struct eco_err err = {0};
    assert_int_equal(eco_energy_absolute(NULL, m, g, w, &e, &err), 0);
    return e;
}

static void test_measured_rows_are_inside(void **state)
{
    (void)state;
    struct eco_model m7 = model_7b(), m05 = model_small();
    struct eco_gpu a800 = gpu_a800(), r4090 = gpu_4090();
    struct eco_workload w = work_of(ECO_PREC_FP16, ECO_ENGINE_TRANSFORMERS, 1);
    struct eco_energy e = energy(&m7, &a800, &w);
    /* A800: 4 334 (2026-02-13) and 4 402 (2026-02-26) J per 1k. */
    assert_true(e.j_per_1k.lo80 < 4334 && 4402 < e.j_per_1k.hi80);
    assert_true(e.card_known && e.arch_known);
    assert_int_equal(e.basis, ECO_BASIS_INTERPOLATED);
    e = energy(&m05, &r4090, &w);
    /* RTX 4090: 1 551, 1 431, 1 394, 1 212 J per 1k in four sessions. */
    assert_true(e.j_per_1k.lo95 < 1212 && 1551 < e.j_per_1k.hi95);
}

static void test_new_card_is_wider(void **state)
{
    (void)state;
    struct eco_model m = model_7b();
    struct eco_gpu g = gpu_a800();
    struct eco_workload w = work_of(ECO_PREC_FP16, ECO_ENGINE_TRANSFORMERS, 1);
    double known = energy(&m, &g, &w).sd_ln;
    g.name = "A30";
    struct eco_energy e = energy(&m, &g, &w);
    assert_false(e.card_known);
    assert_true(e.arch_known);
    assert_true(e.sd_ln > known);
    assert_int_equal(e.basis, ECO_BASIS_EXTRAPOLATED);
    double same_arch = e.sd_ln;
    g.arch = ECO_ARCH_CDNA3;
    e = energy(&m, &g, &w);
    assert_false(e.arch_known);
    assert_true(e.sd_ln > same_arch);
    g.name = "RTX 4090D"; /* must not be taken for the RTX 4090 */
    struct eco_energy d = energy(&m, &g, &w);
    g.name = "RTX 4090";
    assert_true(fabs(d.mu_ln - energy(&m, &g, &w).mu_ln) > 1e-6);
}

static void test_batch_limits(void **state)
{
    (void)state;
    struct eco_model m = model_7b();
    struct eco_gpu g = gpu_a800();
    struct eco_workload w = work_of(ECO_PREC_FP16, ECO_ENGINE_TRANSFORMERS, 1);
    double last = INFINITY, one = energy(&m, &g, &w).j_per_1k.median;
    for (int b = 1; b <= 16384; b *= 2) {
        w.batch = b;
        struct eco_energy e = energy(&m, &g, &w);
        struct eco_roofline r;
        assert_int_equal(eco_roofline_floor(&m, &g, &w, &r, NULL), 0);
        assert_true(e.j_per_1k.median <= last * (1 + 1e-12));
        /* Batch-1 power (J/1k over 1 000 tokens of 24.2 ms) for the roofline's time is a floor. */
        double power1 = one / 1000 / (754e-6 * 32 + 40e-6);
        assert_true(e.j_per_1k.median >= 1000 * power1 * r.floor_s / b * (1 - 1e-9));
        last = e.j_per_1k.median;
        assert_int_equal(e.basis == ECO_BASIS_MODELLED, b > 1);
    }
    /* A800, batch 8: 628 J per 1k measured. */
    w.batch = 8;
    struct eco_energy e = energy(&m, &g, &w);
    assert_true(e.j_per_1k.lo80 < 628 && 628 < e.j_per_1k.hi80);
}

static void test_context_and_size_raise_energy(void **state)
{
    (void)state;
    struct eco_model m = model_7b(), s = model_small();
    struct eco_gpu g = gpu_h100();
    struct eco_workload w = work_of(ECO_PREC_BF16, ECO_ENGINE_VLLM, 1);
    double last = 0;
    assert_true(energy(&s, &g, &w).j_per_1k.median < energy(&m, &g, &w).j_per_1k.median);
    for (int p = 0; p <= 32768; p = p * 2 + 512) {
        w.prompt_tokens = p;
        double e = energy(&m, &g, &w).j_per_1k.median;
        assert_true(e > last);
        last = e;
    }
}

static void test_large_models_grow_in_proportion(void **state)
{
    (void)state;
    struct eco_model m = model_7b();
    struct eco_gpu g = gpu_h100();
    struct eco_workload w = work_of(ECO_PREC_BF16, ECO_ENGINE_VLLM, 1);
    g.vram_gb = 1000;
    double e1 = energy(&m, &g, &w).mu_ln;
    double sd1 = energy(&m, &g, &w).sd_ln;
    m.params_total *= 10;
    m.params_linear *= 10;
    m.params_active *= 10;
    double slope = (energy(&m, &g, &w).mu_ln - e1) / log(10);
    assert_true(slope > 0.8 && slope < 1.2); /* memory bound: joules follow bytes */
    assert_true(energy(&m, &g, &w).sd_ln > sd1);
}

static void test_quantized_and_request(void **state)
{
    (void)state;
    struct eco_model m = model_7b();
    struct eco_gpu g = gpu_a800();
    struct eco_workload w = work_of(ECO_PREC_FP16, ECO_ENGINE_TRANSFORMERS, 1);
    struct eco_energy e = energy(&m, &g, &w), q;
    struct eco_band r;
    assert_int_equal(eco_energy_quantized(&e, log(2.2), 0.3, &q, NULL), 0);
    assert_near_rel(q.j_per_1k.median, 2.2 * e.j_per_1k.median, 1e-12);
    assert_near_rel(q.sd_ln * q.sd_ln, e.sd_ln * e.sd_ln + 0.09, 1e-12);
    assert_int_equal(eco_energy_quantized(&e, NAN, 0.3, &q, NULL), ECO_E_RANGE);
    assert_int_equal(eco_energy_quantized(&e, 0, -0.3, &q, NULL), ECO_E_RANGE);
    w.prompt_tokens = 512;
    e = energy(&m, &g, &w);
    assert_int_equal(eco_energy_request(&e, &w, &r, NULL), 0);
    assert_near_rel(r.median, (e.j_per_1k.median * 256 + e.prefill_j_per_1k * 512) / 1000, 1e-12);
    /* A prompt token is cheaper than a generated one, and not free. */
    assert_true(e.prefill_j_per_1k > 0 && e.prefill_j_per_1k < e.j_per_1k.median / 5);
    w.gen_tokens = 0;
    assert_int_equal(eco_energy_request(&e, &w, &r, NULL), ECO_E_RANGE);
}

/* ---- refit ---------------------------------------------------------------------------------- */

struct problem {
    int dim, n_fixed;
    double prior_var[DIM_MAX], prior_mean[DIM_MAX];
    char name[DIM_MAX][64];
    double a[DIM_MAX][DIM_MAX], rhs[DIM_MAX];
};

static double hyper(const char *name)
{
    static char text[4096];
    char line_name[64];
    double v = NAN;
    FILE *f = fopen(ECO_SOURCE_DIR "/data/fitted/physics_energy_hyper.csv", "r");
    assert_non_null(f);
    while (fgets(text, sizeof text, f) != NULL) {
        double x;
        if (sscanf(text, "%63[^,],%lf", line_name, &x) == 2 && strcmp(line_name, name) == 0) {
            v = x;
        }
    }
    fclose(f);
    assert_true(isfinite(v));
    return v;
}

static int term(struct problem *p, const char *prefix, const char *what, double prior_var)
{
    char full[64];
    snprintf(full, sizeof full, "%s%s", prefix, what);
    for (int i = 0; i < p->dim; i++) {
        if (strcmp(p->name[i], full) == 0) {
            return i;
        }
    }
    assert_true(p->dim < DIM_MAX);
    strcpy(p->name[p->dim], full);
    p->prior_var[p->dim] = prior_var;
    return p->dim++;
}

struct row {
    int index[10];
    double x[10], y, var;
    char session[64];
};

static struct row rows[ROWS_MAX];
static int n_rows;

/* Normal equations of weighted least squares over every row but one session's; priors added. */
static void assemble(struct problem *p, const char *without)
{
    memset(p->a, 0, sizeof p->a);
    for (int i = 0; i < p->dim; i++) {
        p->a[i][i] = 1 / p->prior_var[i];
        p->rhs[i] = p->prior_mean[i] / p->prior_var[i];
    }
    for (int k = 0; k < n_rows; k++) {
        const struct row *r = &rows[k];
        if (without != NULL && strcmp(r->session, without) == 0) {
            continue;
        }
        for (int i = 0; i < 10; i++) {
            p->rhs[r->index[i]] += r->x[i] * r->y / r->var;
            for (int j = 0; j < 10; j++) {
                p->a[r->index[i]][r->index[j]] += r->x[i] * r->x[j] / r->var;
            }
        }
    }
}

static void read_rows(struct problem *p)
{
    static char text[131072];
    static struct eco_csv csv;
    struct eco_err err;
    static const char *const fixed[] = {"intercept", "ln_weight_10gb", "ln_bandwidth_tbps",
                                        "eager",     "ln_layers_32",   "softplus_ln_weight"};
    memset(p, 0, sizeof *p);
    for (int i = 0; i < 6; i++) {
        term(p, "", fixed[i], hyper(i == 0 ? "prior_var_intercept" : "prior_var_slope"));
    }
    p->prior_mean[0] = hyper("prior_mean");
    double va = hyper("var_arch"), vc = hyper("var_card"), vs = hyper("var_session");
    double vm = hyper("var_model"), ve = hyper("var_noise");
    FILE *f = fopen(ECO_SOURCE_DIR "/data/fitted/physics_energy_rows.csv", "r");
    assert_non_null(f);
    size_t len = fread(text, 1, sizeof text, f);
    fclose(f);
    assert_int_equal(eco_csv_open(&csv, "rows", text, len, &err), 0);
    n_rows = 0;
    while (eco_csv_next(&csv, &err) == 1) {
        struct row *r = &rows[n_rows++];
        double v[7], nv;
        for (int c = 1; c <= 6; c++) {
            assert_int_equal(eco_csv_num(&csv, c, &v[c], &err), 1);
        }
        assert_int_equal(eco_csv_num(&csv, 11, &nv, &err), 1);
        for (int c = 0; c < 6; c++) {
            r->index[c] = c;
            r->x[c] = c == 0 ? 1 : v[c + 1];
        }
        r->index[6] = term(p, "arch:", csv.cell[7].s, va);
        r->index[7] = term(p, "card:", csv.cell[8].s, vc);
        r->index[8] = term(p, "session:", csv.cell[9].s, vs);
        r->index[9] = term(p, "model:", csv.cell[10].s, vm);
        r->x[6] = r->x[7] = r->x[8] = r->x[9] = 1;
        r->y = v[1];
        r->var = ve + nv;
        snprintf(r->session, sizeof r->session, "%s", csv.cell[9].s);
    }
    eco_csv_done(&csv);
}

/* Gauss-Jordan with partial pivoting: inverse of a in place, solution in rhs. */
static void invert(struct problem *p, double inv[DIM_MAX][DIM_MAX])
{
    int n = p->dim;
    static double m[DIM_MAX][2 * DIM_MAX];
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            m[i][j] = p->a[i][j];
            m[i][n + j] = i == j;
        }
    }
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k; i < n; i++) {
            best = fabs(m[i][k]) > fabs(m[best][k]) ? i : best;
        }
        for (int j = 0; j < 2 * n; j++) {
            double t = m[k][j];
            m[k][j] = m[best][j];
            m[best][j] = t;
        }
        double d = m[k][k];
        for (int j = 0; j < 2 * n; j++) {
            m[k][j] /= d;
        }
        for (int i = 0; i < n; i++) {
            double w = i == k ? 0 : m[i][k];
            for (int j = 0; w != 0 && j < 2 * n; j++) {
                m[i][j] -= w * m[k][j];
            }
        }
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            inv[i][j] = m[i][n + j];
        }
    }
}

static void test_refit_agrees(void **state)
{
    (void)state;
    static struct problem p;
    static double inv[DIM_MAX][DIM_MAX];
    read_rows(&p);
    assemble(&p, NULL);
    invert(&p, inv);
    const struct eco_energy_fit *fit = eco_physics_default()->energy;
    for (int i = 0; i < fit->dim; i++) {
        int a = term(&p, "", fit->term[i], 0);
        double mean = 0;
        for (int j = 0; j < p.dim; j++) {
            mean += inv[a][j] * p.rhs[j];
        }
        assert_near(mean, fit->mean[i], 1e-6);
        for (int j = 0; j < fit->dim; j++) {
            int b = term(&p, "", fit->term[j], 0);
            assert_near(inv[a][b], fit->cov[i * fit->dim + j], 1e-7);
        }
    }
    assert_near(fit->var_card, hyper("var_card"), 0);
    assert_near(fit->var_session, hyper("var_session"), 0);
}

/* Every session left out in turn: the 95 % band for a new session must hold (exact binomial). */
static void test_leave_one_session_out(void **state)
{
    (void)state;
    static struct problem p;
    static double inv[DIM_MAX][DIM_MAX];
    static bool done[ROWS_MAX];
    int inside = 0;
    read_rows(&p);
    memset(done, 0, sizeof done);
    for (int k = 0; k < n_rows; k++) {
        if (done[k]) {
            continue;
        }
        assemble(&p, rows[k].session);
        invert(&p, inv);
        for (int q = k; q < n_rows; q++) {
            const struct row *r = &rows[q];
            if (strcmp(r->session, rows[k].session) != 0) {
                continue;
            }
            done[q] = true;
            double mean = 0, var = r->var;
            for (int i = 0; i < 10; i++) {
                for (int j = 0; j < 10; j++) {
                    var += r->x[i] * r->x[j] * inv[r->index[i]][r->index[j]];
                }
                for (int j = 0; j < p.dim; j++) {
                    mean += r->x[i] * inv[r->index[i]][j] * p.rhs[j];
                }
            }
            inside += fabs(r->y - mean) <= 1.959963984540054 * sqrt(var);
        }
    }
    /* n = 144, p = 0.95: the two-sided 5 % test does not reject 132..142. */
    assert_int_equal(n_rows, 144);
    assert_true(inside >= 132 && inside <= 142);
}

static void test_refuses(void **state)
{
    (void)state;
    struct eco_model m = model_7b();
    struct eco_gpu g = gpu_a800();
    struct eco_workload w = work_of(ECO_PREC_FP16, ECO_ENGINE_TRANSFORMERS, 0);
    struct eco_energy e = {.mu_ln = 42};
    struct eco_err err;
    assert_int_equal(eco_energy_absolute(NULL, &m, &g, &w, &e, &err), ECO_E_RANGE);
    w.batch = 1;
    g.mem_bw_gbps = NAN;
    assert_int_equal(eco_energy_absolute(NULL, &m, &g, &w, &e, &err), ECO_E_UNSUPPORTED);
    assert_int_equal(eco_energy_absolute(NULL, &m, NULL, &w, &e, &err), ECO_E_UNSUPPORTED);
    assert_near(e.mu_ln, 42, 0);
}

/* The single sequence is the same whichever batch it was asked at. */
static void test_alone_and_batched(void **state)
{
    (void)state;
    struct eco_model m = model_7b();
    struct eco_gpu g = gpu_4090();
    for (int batch = 1; batch <= 256; batch *= 4) {
        struct eco_workload one = work_of(ECO_PREC_NF4, ECO_ENGINE_VLLM, 1), w = one;
        struct eco_energy_alone alone;
        struct eco_energy direct, split;
        w.batch = batch;
        assert_int_equal(eco_energy_absolute(NULL, &m, &g, &w, &direct, NULL), 0);
        assert_int_equal(eco_energy_alone(NULL, &m, &g, &one, &alone, NULL), 0);
        assert_int_equal(eco_energy_batched(NULL, &m, &g, &w, &alone, true, &split, NULL), 0);
        assert_memory_equal(&direct.j_per_1k, &split.j_per_1k, sizeof direct.j_per_1k);
        assert_near(direct.sd_ln, split.sd_ln, 0);
        assert_near(direct.prefill_j_per_1k, split.prefill_j_per_1k, 0);
        assert_int_equal(direct.basis, split.basis);
    }
}

/* What nobody asked to be computed is NaN, not 0. */
static void absent(const struct eco_band *b, const struct eco_band *whole)
{
    assert_near(b->median, whole->median, 0);
    assert_true(isnan(b->lo50) && isnan(b->hi50) && isnan(b->lo80) && isnan(b->hi80) &&
                isnan(b->lo95) && isnan(b->hi95));
}

static void test_without_bands(void **state)
{
    (void)state;
    struct eco_model m = model_7b();
    struct eco_gpu g = gpu_4090();
    struct eco_workload w = work_of(ECO_PREC_NF4, ECO_ENGINE_VLLM, 8);
    struct eco_energy_alone alone;
    struct eco_energy e, whole;
    struct eco_latency l, all;
    assert_int_equal(eco_latency_point(NULL, &m, &g, &w, true, &all, NULL), 0);
    assert_int_equal(eco_latency_point(NULL, &m, &g, &w, false, &l, NULL), 0);
    absent(&l.ttft_s, &all.ttft_s);
    absent(&l.tpot_s, &all.tpot_s);
    absent(&l.tokens_per_s, &all.tokens_per_s);
    absent(&l.request_s, &all.request_s);
    assert_int_equal(eco_energy_alone(NULL, &m, &g, &w, &alone, NULL), 0);
    assert_int_equal(eco_energy_batched(NULL, &m, &g, &w, &alone, true, &whole, NULL), 0);
    assert_int_equal(eco_energy_batched(NULL, &m, &g, &w, &alone, false, &e, NULL), 0);
    absent(&e.j_per_1k, &whole.j_per_1k);
    assert_true(isfinite(whole.j_per_1k.lo95) && isfinite(all.ttft_s.hi95));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_measured_rows_are_inside),
        cmocka_unit_test(test_new_card_is_wider),
        cmocka_unit_test(test_batch_limits),
        cmocka_unit_test(test_context_and_size_raise_energy),
        cmocka_unit_test(test_large_models_grow_in_proportion),
        cmocka_unit_test(test_quantized_and_request),
        cmocka_unit_test(test_refit_agrees),
        cmocka_unit_test(test_leave_one_session_out),
        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_alone_and_batched),
        cmocka_unit_test(test_without_bands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
