/*
 * `data audit` must find what is wrong, name it with its figures, and stay silent about what is
 * right. The tables below are ours: made by the laws they break, or measured rows of the data set.
 */
#include "base/file.h"
#include "dataset/audit_table.h"
#include "dataset/dataset.h"
#include "eco_test.h"

struct audited {
    struct eco_arena arena;
    struct eco_table_audit t;
};

static struct audited *audit(const char *text)
{
    static struct audited a;
    struct eco_err err = {0};

    eco_arena_init(&a.arena, 0);
    if (eco_dataset_audit_table("test.csv", text, strlen(text), &a.arena, &a.t, &err) != 0)
        fail_msg("%s", err.message);
    return &a;
}

static void done(struct audited *a)
{
    eco_arena_done(&a->arena);
}

static const struct eco_table_finding *find(const struct audited *a, enum eco_table_check check,
                                            size_t row)
{
    for (size_t i = 0; i < a->t.count; i++) {
        if (a->t.findings[i].check == check && a->t.findings[i].row == row)
            return &a->t.findings[i];
    }
    return NULL;
}

static size_t count(const struct audited *a, enum eco_table_check check)
{
    size_t n = 0;

    for (size_t i = 0; i < a->t.count; i++)
        n += a->t.findings[i].check == check ? 1u : 0u;
    return n;
}

static void expect_silence(const struct audited *a)
{
    if (a->t.count > 0)
        fail_msg("row %zu: %s", a->t.findings[0].row, a->t.findings[0].message);
}

static void test_sound_rows(void **state)
{
    struct audited *a = audit("gpu,model,precision,batch,throughput_tok_s,power_w,energy_j_per_1k\n"
                              "RTX 4090,Qwen/Qwen2-7B,FP16,1,48.3,263.1,5447\n"
                              "RTX 4090,Qwen/Qwen2-7B,NF4,1,36.9,142.8,3870\n");

    (void)state;
    expect_silence(a);
    assert_int_equal(a->t.rows, 2);
    assert_int_equal(a->t.asked[ECO_TABLE_CHECK_ENERGY], 2);
    assert_int_equal(a->t.asked[ECO_TABLE_CHECK_ROOFLINE], 2);
    assert_int_equal(a->t.asked[ECO_TABLE_CHECK_BASIS], 1);
    done(a);
}

static void test_energy_factor(void **state)
{
    const struct eco_table_finding *f;
    struct audited *a = audit("id,gpu,throughput,power,energy_per_token_j\n"
                              "good,RTX 5090,50,250,5\n"
                              "bad,RTX 5090,50,250,0.05\n"
                              "slip,RTX 5090,50,250,5.4\n");

    (void)state;
    assert_null(find(a, ECO_TABLE_CHECK_ENERGY, 1));
    f = find(a, ECO_TABLE_CHECK_ENERGY, 2);
    assert_non_null(f);
    assert_true(f->severity == ECO_TABLE_ERROR);
    assert_string_equal(f->id, "bad");
    assert_int_equal(f->line, 3);
    assert_near(f->stated, 50, 1e-9);
    assert_near(f->expected, 5000, 1e-9);
    assert_near(f->dev_pct, -99, 1e-9);
    assert_non_null(strstr(f->message, "factor of 100"));
    assert_non_null(find(a, ECO_TABLE_CHECK_ENERGY, 3)); /* 8 % off */
    done(a);
}

/* 14.16 J for a request of 256 tokens at 5781 J per 1k: about 105 times too little. */
static void test_request_105x(void **state)
{
    const struct eco_table_finding *f;
    struct audited *a = audit("gpu,model,precision,batch,gen_tokens,throughput_tok_s,energy_j_per_"
                              "1k,energy_per_request_j\n"
                              "A800,Mistral-7B-v0.1,INT8-PURE,1,256,18.97,6907.4,1768.3\n"
                              "A800,Mistral-7B-v0.1,INT8-PURE,8,256,144.32,827,1.77\n"
                              "A800,Mistral-7B-v0.1,INT8-PURE,1,,18.09,5781,14.16\n");

    (void)state;
    assert_null(find(a, ECO_TABLE_CHECK_REQUEST, 1));
    f = find(a, ECO_TABLE_CHECK_REQUEST, 2);
    assert_non_null(f);
    assert_near(f->expected, 211.7, 0.05);
    f = find(a, ECO_TABLE_CHECK_REQUEST, 3);
    assert_non_null(f);
    assert_non_null(strstr(f->message, "104.5 times"));
    done(a);
}

static void test_power_range(void **state)
{
    struct audited *a = audit("gpu,model,precision,batch,throughput_tok_s,power_w,energy_j_per_1k\n"
                              "T4,Qwen/Qwen2.5-3B,FP16,1,40,,288\n"    /* 11.5 W, idles at 12.8 */
                              "T4,Qwen/Qwen2.5-3B,FP16,1,20,60,3000\n" /* sound */
                              "T4,Qwen/Qwen2.5-3B,FP16,1,20,120,6000\n" /* 70 W card */);

    (void)state;
    assert_non_null(find(a, ECO_TABLE_CHECK_POWER, 1));
    assert_non_null(strstr(find(a, ECO_TABLE_CHECK_POWER, 1)->message, "below the card's idle"));
    assert_null(find(a, ECO_TABLE_CHECK_POWER, 2));
    assert_non_null(strstr(find(a, ECO_TABLE_CHECK_POWER, 3)->message, "above the limit"));
    done(a);
}

/* 3.085e9 parameters x 2 bytes = 6.17 GB; 320 GB/s reads that 51.9 times a second. */
static void test_roofline(void **state)
{
    const struct eco_table_finding *f;
    struct audited *a = audit("gpu,model,precision,batch,throughput_tok_s,energy_j_per_1k\n"
                              "T4,Qwen/Qwen2.5-3B,FP16,1,50,1300\n"
                              "T4,Qwen/Qwen2.5-3B,FP16,1,60.79,1000\n"
                              "T4,Qwen/Qwen2.5-3B,FP16,4,190,300\n"
                              "T4,Qwen/Qwen2.5-3B,FP16,32,190,4.1\n");

    (void)state;
    assert_null(find(a, ECO_TABLE_CHECK_ROOFLINE, 1));
    f = find(a, ECO_TABLE_CHECK_ROOFLINE, 2);
    assert_non_null(f);
    assert_near(f->expected, 320e9 / (2.0 * 3085938688.0), 0.05);
    assert_null(find(a, ECO_TABLE_CHECK_ROOFLINE, 3));  /* four sequences share one read */
    assert_non_null(find(a, ECO_TABLE_CHECK_FLOOR, 4)); /* 12.8 W for 0.6 ms are 7.7 J per 1k */
    done(a);
}

static void test_delta(void **state)
{
    struct audited *a = audit("id,baseline_id,gpu,model,precision,energy_j_per_1k,delta_pct\n"
                              "b,,RTX 5090,TinyLlama,FP16,1659.0,\n"
                              "right,b,RTX 5090,TinyLlama,NF4,2098.4,26.5\n"
                              "sign,b,RTX 5090,TinyLlama,NF4,2062.1,-24.3\n"
                              "other,b,RTX 5090,TinyLlama,NF4-DQ,2062.1,31\n");

    (void)state;
    assert_null(find(a, ECO_TABLE_CHECK_DELTA, 2));
    assert_true(find(a, ECO_TABLE_CHECK_DELTA, 3)->severity == ECO_TABLE_ERROR);
    assert_non_null(strstr(find(a, ECO_TABLE_CHECK_DELTA, 3)->message, "sign"));
    assert_true(find(a, ECO_TABLE_CHECK_DELTA, 4)->severity == ECO_TABLE_WARNING);
    assert_near(find(a, ECO_TABLE_CHECK_DELTA, 4)->expected, 24.298, 0.01);
    done(a);
}

/* Net of 17 W the slow run saves, gross it costs: 60 W/20 tok/s against 117 W/40 tok/s. */
static void test_net_gross_flip(void **state)
{
    const struct eco_table_finding *f;
    struct audited *a = audit(
        "id,baseline_id,gpu,model,precision,batch,throughput_tok_s,power_w,idle_w,energy_j_per_1k\n"
        "b,,RTX 4090D,Yi-1.5-6B,FP16,1,40,117,17,2500\n"
        "q,b,RTX 4090D,Yi-1.5-6B,INT8-PURE,1,20,60,17,2150\n"
        "g,,RTX 4090D,Yi-1.5-6B,NF4,1,25,80,17,3200\n");

    (void)state;
    f = find(a, ECO_TABLE_CHECK_BASIS, 2);
    assert_non_null(f);
    assert_near(f->stated, -14.0, 1e-9);
    assert_near(f->expected, 100.0 * (3000.0 / 2925.0 - 1.0), 1e-9);
    assert_int_equal(a->t.net, 2);
    assert_int_equal(a->t.gross, 1);
    assert_non_null(find(a, ECO_TABLE_CHECK_MIXED, 0));
    assert_true(find(a, ECO_TABLE_CHECK_ENERGY, 1)->severity == ECO_TABLE_INFO);
    done(a);
}

/* A table made of one formula over size, precision and batch, with noise and without. */
static void make_formula(struct eco_buf *b, int digits, bool noise)
{
    static const char *const cards[] = {"RTX 4090D", "RTX 5090"};
    static const struct {
        const char *name;
        double size;
    } models[] = {{"TinyLlama", 1.1},
                  {"Qwen2-1.5B", 1.5},
                  {"Qwen2.5-3B", 3},
                  {"Yi-1.5-6B", 6},
                  {"Mistral-7B", 7.24}};
    static const struct {
        const char *name;
        double energy, speed;
    } precisions[] = {{"FP16", 1, 1}, {"NF4", 1.35, 1.15}, {"FP8", 2.5, 0.7}};
    static const double batches[] = {1, 4, 8, 16};
    unsigned x = 7;

    eco_buf_puts(b, "gpu,model,params_b,precision,batch,throughput_tok_s,energy_j_per_1k\n");
    for (size_t c = 0; c < 2; c++) {
        for (size_t i = 0; i < 5; i++) {
            for (size_t p = 0; p < 3; p++) {
                for (size_t k = 0; k < 4; k++) {
                    double energy = 4000.0 * (c == 0 ? 1.0 : 0.85) * models[i].size *
                                    precisions[p].energy / (1.0 + 0.15 * log(batches[k]));
                    double speed = 30.0 / models[i].size * precisions[p].speed *
                                   (1.0 + 0.25 * log(batches[k]));

                    if (noise) { /* one percent either way, as measured */
                        x = x * 1664525u + 1013904223u;
                        energy *= 1.0 + 0.01 * ((double)(x >> 8) / 8388608.0 - 1.0);
                        x = x * 1664525u + 1013904223u;
                        speed *= 1.0 + 0.01 * ((double)(x >> 8) / 8388608.0 - 1.0);
                    }
                    eco_buf_printf(b, "%s,%s,%g,%s,%g,", cards[c], models[i].name, models[i].size,
                                   precisions[p].name, batches[k]);
                    eco_buf_printf(b, "%.*g,%.*g\n", digits, speed, digits, energy);
                }
            }
        }
    }
}

static void test_formula_table(void **state)
{
    struct eco_buf b = ECO_BUF_INIT;
    struct audited *a;

    (void)state;
    make_formula(&b, 15, false);
    a = audit(eco_buf_str(&b));
    assert_int_equal(a->t.rows, 120);
    assert_int_equal(a->t.rows_with_error, 120); /* nothing of it passes */
    assert_true(count(a, ECO_TABLE_CHECK_CURVE) == 120);
    assert_true(count(a, ECO_TABLE_CHECK_RATIO) == 80); /* every quantized row */
    assert_true(count(a, ECO_TABLE_CHECK_COPY) >= 50);  /* one speed on two cards */
    done(a);
    eco_buf_done(&b);
}

/* The same law with one percent of noise is no longer provably a formula. */
static void test_noisy_table_is_not_blamed(void **state)
{
    struct eco_buf b = ECO_BUF_INIT;
    struct audited *a;

    (void)state;
    make_formula(&b, 7, true);
    a = audit(eco_buf_str(&b));
    assert_int_equal(count(a, ECO_TABLE_CHECK_CURVE), 0);
    assert_int_equal(count(a, ECO_TABLE_CHECK_RATIO), 0);
    assert_int_equal(count(a, ECO_TABLE_CHECK_COPY), 0);
    assert_int_equal(count(a, ECO_TABLE_CHECK_PROPORTIONAL), 0);
    done(a);
    eco_buf_done(&b);
}

/* Three digits hide much, a law over sizes still shows. */
static void test_rounded_formula(void **state)
{
    struct audited *a = audit("gpu,model,params_b,precision,batch,energy_j_per_1k\n"
                              "X1,a,6.06,FP16,8,369\nX1,b,7.24,FP16,8,441\n"
                              "X1,c,7.62,FP16,8,465\nX1,d,8.83,FP16,8,538\n"
                              "X1,a,6.06,INT8,8,310\nX1,b,7.24,INT8,8,441\n"
                              "X1,c,7.62,INT8,8,465\nX1,d,8.83,INT8,8,538\n");

    (void)state;
    assert_int_equal(count(a, ECO_TABLE_CHECK_PROPORTIONAL), 4); /* one series, not the other */
    assert_non_null(find(a, ECO_TABLE_CHECK_PROPORTIONAL, 1));
    assert_null(find(a, ECO_TABLE_CHECK_PROPORTIONAL, 5));
    done(a);
}

static void test_repeats(void **state)
{
    struct audited *a =
        audit("gpu,model,precision,batch,session,energy_j_per_1k,energy_sd,cv_pct,n_trials\n"
              "RTX 4090D,Qwen2-1.5B,FP16,1,s,2131,,2,2\n"
              "RTX 4090D,Qwen2-1.5B,FP16,1,s,2347,,2,2\n" /* spread 6.8 % */
              "RTX 4090D,Qwen2-1.5B,NF4,1,s,3100,31,1,3\n"
              "RTX 4090D,Qwen2-1.5B,FP8,1,s,3100,93,1,3\n" /* sd is 3 % */
              "RTX 4090D,Qwen2-1.5B,INT8,1,s,5000,10,,1\n");

    (void)state;
    assert_non_null(find(a, ECO_TABLE_CHECK_REPEATS, 1));
    assert_near(find(a, ECO_TABLE_CHECK_REPEATS, 2)->expected, 6.82, 0.01);
    assert_null(find(a, ECO_TABLE_CHECK_REPEATS, 3));
    assert_near(find(a, ECO_TABLE_CHECK_REPEATS, 4)->expected, 3.0, 1e-9);
    assert_non_null(find(a, ECO_TABLE_CHECK_REPEATS, 5));
    done(a);
}

static void test_bad_cells_and_files(void **state)
{
    struct eco_arena arena;
    struct eco_table_audit t = {.rows = 77};
    struct eco_err err;
    struct audited *a = audit("gpu,throughput_tok_s,power_w,energy_j_per_1k\n"
                              "RTX 4090,fast,200,4000\nRTX 4090,50,-200,4000\n");

    (void)state;
    assert_non_null(find(a, ECO_TABLE_CHECK_CELL, 1));
    assert_true(find(a, ECO_TABLE_CHECK_CELL, 2)->severity == ECO_TABLE_ERROR);
    done(a);
    eco_arena_init(&arena, 0);
    assert_int_equal(eco_dataset_audit_table("t", "gpu,power_w\nT4,60\n", 18, &arena, &t, &err),
                     ECO_E_MISSING);
    assert_int_equal(t.rows, 77); /* untouched */
    assert_int_equal(eco_dataset_audit_table("t", "", 0, &arena, &t, &err), ECO_E_CONTENT);
    assert_int_equal(
        eco_dataset_audit_table("t", "gpu,energy_j_per_1k\nT4\n", 23, &arena, &t, &err),
        ECO_E_CONTENT);
    assert_int_equal(err.line, 2);
    eco_arena_done(&arena);
}

/* Every prefix of a table, so that no cut is read past its end. */
static void test_truncated(void **state)
{
    static const char text[] = "id,baseline_id,gpu,precision,batch,energy_j_per_1k,delta_pct\n"
                               "a,,T4,FP16,1,\"3000\",\nb,a,T4,NF4,1,3.1e3,3\n";

    (void)state;
    for (size_t len = 0; len < sizeof text; len++) {
        struct eco_arena arena;
        struct eco_table_audit t;
        char *copy = malloc(len + 1);

        assert_non_null(copy);
        memcpy(copy, text, len);
        eco_arena_init(&arena, 0);
        eco_dataset_audit_table("t", copy, len, &arena, &t, NULL);
        eco_arena_done(&arena);
        free(copy);
    }
}

/* Out of memory is said, at whatever allocation it strikes. */
static void test_memory_limit(void **state)
{
    struct eco_buf b = ECO_BUF_INIT;
    bool finished = false;

    (void)state;
    make_formula(&b, 15, false);
    for (size_t limit = 1000; limit < (64u << 20) && !finished; limit = limit * 5 / 4) {
        struct eco_arena arena;
        struct eco_table_audit t;
        int rc;

        eco_arena_init(&arena, limit);
        rc = eco_dataset_audit_table("t", b.data, b.len, &arena, &t, NULL);
        assert_true(rc == 0 || rc == ECO_E_NO_MEMORY);
        finished = rc == 0;
        eco_arena_done(&arena);
    }
    assert_true(finished);
    eco_buf_done(&b);
}

static void audit_file(const char *path, struct audited *a)
{
    struct eco_buf b = ECO_BUF_INIT;
    struct eco_err err = {0};
    char full[512];

    snprintf(full, sizeof full, "%s/%s", ECO_SOURCE_DIR, path);
    eco_arena_init(&a->arena, 0);
    assert_int_equal(eco_file_read(full, 1u << 24, &b, &err), 0);
    assert_int_equal(eco_dataset_audit_table(path, b.data, b.len, &a->arena, &a->t, &err), 0);
    eco_buf_done(&b);
}

/* On the shipped files every error is about a row of grade D, and the worst tables are found. */
static void test_shipped_rows(void **state)
{
    size_t files = 0, preprint = 0, t4 = 0;

    (void)state;
    for (size_t i = 0; i < eco_dataset_digest_count(); i++) {
        const char *path = eco_dataset_digest(i)->path;
        struct audited a;

        if (strncmp(path, "data/measurements/", 18) != 0 &&
            strncmp(path, "data/external/", 14) != 0)
            continue;
        audit_file(path, &a);
        for (size_t k = 0; k < a.t.count; k++) {
            const struct eco_table_finding *f = &a.t.findings[k];
            struct eco_row r;

            if (f->severity != ECO_TABLE_ERROR)
                continue;
            assert_true(eco_dataset_row_by_id(f->id, strlen(f->id), &r));
            if (!r.excluded)
                fail_msg("%s: %s", f->id, f->message);
        }
        preprint += strstr(path, "preprint") != NULL ? a.t.rows_with_error : 0;
        t4 += strstr(path, "t4-doc-table") != NULL ? a.t.rows_with_error : 0;
        files++;
        done(&a);
    }
    assert_int_equal(files, 23 + 9);
    assert_int_equal(preprint, 18); /* all of it */
    assert_true(t4 >= 12);
}

static void test_shipped_batch_guide(void **state)
{
    struct audited a;

    (void)state;
    audit_file("data/batch_scaling.csv", &a);
    assert_int_equal(a.t.rows_with_error, 7); /* the guide, and nothing measured */
    assert_int_equal(count(&a, ECO_TABLE_CHECK_REQUEST), 7);
    done(&a);
}

static void test_shipped_flips(void **state)
{
    struct audited a;

    (void)state;
    audit_file("data/measurements/2026-02-12-rtx4090d-phase2.csv", &a);
    assert_int_equal(a.t.net, 12);
    assert_int_equal(count(&a, ECO_TABLE_CHECK_BASIS), 1); /* Phi-3-mini NF4, -8.1 and +0.6 % */
    done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sound_rows),
        cmocka_unit_test(test_energy_factor),
        cmocka_unit_test(test_request_105x),
        cmocka_unit_test(test_power_range),
        cmocka_unit_test(test_roofline),
        cmocka_unit_test(test_delta),
        cmocka_unit_test(test_net_gross_flip),
        cmocka_unit_test(test_formula_table),
        cmocka_unit_test(test_noisy_table_is_not_blamed),
        cmocka_unit_test(test_rounded_formula),
        cmocka_unit_test(test_repeats),
        cmocka_unit_test(test_bad_cells_and_files),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_memory_limit),
        cmocka_unit_test(test_shipped_rows),
        cmocka_unit_test(test_shipped_batch_guide),
        cmocka_unit_test(test_shipped_flips),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
