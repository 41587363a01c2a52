/*
 * predictorgen fit POINTS.csv             -> variances on stdout (data/fitted/predictor_theta.csv)
 * predictorgen check POINTS.csv           -> the tables of docs/calibration.md as text
 * predictorgen gen POINTS.csv THETA.csv OUT.c
 *                                         -> the predictor as const tables, at every build
 * A host program of the build. Output depends on the inputs alone.
 */
#include "base/buf.h"
#include "base/file.h"
#include "core/crossval.h"
#include "dataset/points_csv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 4 << 20 };

static int fail(const struct eco_err *err)
{
    fprintf(stderr, "predictorgen: %s\n", err->message);
    return 1;
}

static int read_points(const char *path, struct eco_arena *arena, struct eco_predict_point **points,
                       int *n, struct eco_err *err)
{
    struct eco_buf text = {.limit = LIMIT};
    int rc;

    rc = eco_file_read(path, LIMIT, &text, err);
    if (rc == 0)
        rc = eco_points_read(path, text.data, text.len, arena, points, n, err);
    eco_buf_done(&text);
    return rc;
}

static int run_fit(const struct eco_predict_point *points, int n, struct eco_err *err)
{
    size_t bytes = eco_predict_fit_bytes(n);
    void *memory = malloc(bytes);
    double theta[ECO_PG_COUNT];
    struct eco_gp_result r;
    int rc;

    eco_predict_theta_prior(theta);
    rc = eco_predict_fit(points, n, memory, bytes, theta, &r, err);
    free(memory);
    if (rc != 0)
        return fail(err);
    fprintf(stderr, "-log posterior %.6f, gradient %.2g, %d evaluations%s\n", r.value, r.gradient,
            r.evaluations, r.converged ? "" : ", not converged");
    printf("group,log_variance,sd,prior_sd,fitted\n");
    for (int g = 0; g < ECO_PG_COUNT; g++)
        printf("%s,%.9g,%.4g,%g,%s\n", eco_predict_group_name(g), theta[g], exp(0.5 * theta[g]),
               exp(0.5 * eco_predict_group_prior_log_var(g)),
               eco_predict_group_free(g) ? "yes" : "no");
    return 0;
}

static void print_score(const char *name, const struct eco_crossval_score *s)
{
    printf("%-34s n %3d mae %6.2f median %6.2f log %.4f cover %2.0f/%2.0f/%2.0f %% inside %d "
           "(%d-%d)%s score %.1f sign %.3f firm %d, by session %.2f +- %.2f of %d\n",
           name, s->n, s->mae, s->median, s->log_mae, 100 * s->coverage50, 100 * s->coverage80,
           100 * s->coverage95, s->inside95, s->inside_lo, s->inside_hi,
           s->passes ? "" : " REJECTED", s->interval_score, s->sign_ok, s->firm, s->clustered95,
           s->clustered95_sd, s->n_sessions);
}

static void print_split(const struct eco_predict_point *points, const char *name,
                        const struct eco_crossval_row *rows, int n_rows, bool own)
{
    static const enum eco_precision kinds[] = {ECO_PREC_NF4, ECO_PREC_INT8_MIXED,
                                               ECO_PREC_INT8_PURE, ECO_PREC_NF4_DQ, ECO_PREC_FP8};
    struct eco_crossval_filter f = {0};
    struct eco_crossval_score s;

    eco_crossval_score(points, rows, n_rows, &f, &s);
    print_score(name, &s);
    for (size_t i = 0; own && i < sizeof(kinds) / sizeof(*kinds); i++) {
        f.precision = kinds[i];
        eco_crossval_score(points, rows, n_rows, &f, &s);
        print_score(eco_precision_name(kinds[i]), &s);
    }
}

static void print_anchors(const struct eco_predict_point *points,
                          const struct eco_crossval_row *rows, int n_rows)
{
    struct eco_crossval_filter f = {.anchors = true};
    struct eco_crossval_score s;

    eco_crossval_score(points, rows, n_rows, &f, &s);
    print_score("anchors", &s);
    for (int arch = 1; arch < ECO_ARCH_COUNT; arch++) {
        for (int p = 1; p < ECO_PREC_COUNT; p++) {
            char name[64];

            f.arch = (enum eco_arch)arch;
            f.precision = (enum eco_precision)p;
            eco_crossval_score(points, rows, n_rows, &f, &s);
            snprintf(name, sizeof(name), "anchors %s/%s", eco_arch_name(f.arch),
                     eco_precision_name(f.precision));
            if (s.n > 0)
                print_score(name, &s);
        }
    }
}

/* How far card and architecture lean on their priors. */
static int print_sensitivity(const struct eco_predict_point *points, int n, void *memory,
                             size_t bytes, struct eco_err *err)
{
    static const enum eco_predict_group groups[] = {
        ECO_PG_ARCH,       ECO_PG_CARD_INT8,       ECO_PG_CARD_OTHER,
        ECO_PG_CARD_CURVE, ECO_PG_CARD_SLOPE_INT8, ECO_PG_CARD_SLOPE_OTHER};
    static const double factors[] = {0.5, 1.0, 2.0};

    for (size_t g = 0; g < sizeof(groups) / sizeof(*groups); g++) {
        for (size_t f = 0; f < sizeof(factors) / sizeof(*factors); f++) {
            struct eco_crossval_sensitivity s;
            int rc = eco_crossval_prior(points, n, groups[g], factors[f], memory, bytes, &s, err);

            if (rc != 0)
                return rc;
            printf("%-18s prior %.3f fitted %.3f; new card NF4 %.3f INT8-MIXED %.3f; new "
                   "architecture NF4 %.3f\n",
                   eco_predict_group_name((int)groups[g]), s.prior_sd, s.fitted_sd,
                   s.nf4_new_card_sd, s.int8_new_card_sd, s.nf4_new_arch_sd);
        }
    }
    return 0;
}

static int run_check(const struct eco_predict_point *points, int n, struct eco_err *err)
{
    static const char *const names[ECO_CROSSVAL_SPLITS] = {
        "leave one out",        "leave one size out",      "leave one session out",
        "leave one source out", "leave one publisher out", "leave one card out"};
    size_t bytes = eco_crossval_bytes(n);
    void *memory = malloc(bytes);
    struct eco_crossval_row *rows = calloc((size_t)n, sizeof(*rows));
    int rc = 0;

    for (int split = 0; rc == 0 && split < ECO_CROSSVAL_SPLITS; split++) {
        int n_rows = 0;

        rc = eco_crossval_run(points, n, (enum eco_crossval_split)split, memory, bytes, rows,
                              &n_rows, NULL, NULL, err);
        if (rc != 0)
            break;
        print_split(points, names[split], rows, n_rows,
                    split != ECO_CROSSVAL_SOURCE && split != ECO_CROSSVAL_PUBLISHER);
        if (split < ECO_CROSSVAL_SESSION)
            print_anchors(points, rows, n_rows);
    }
    if (rc == 0)
        rc = print_sensitivity(points, n, memory, bytes, err);
    free(rows);
    free(memory);
    return rc == 0 ? 0 : fail(err);
}

static void put_text(FILE *f, const char *s)
{
    fputc('"', f);
    for (; *s != '\0'; s++) {
        if (*s == '"' || *s == '\\')
            fputc('\\', f);
        fputc(*s, f);
    }
    fputs("\", ", f);
}

static void put_points(FILE *f, const struct eco_predict_point *points, int n)
{
    fprintf(f, "static const struct eco_predict_point points[%d] = {\n", n);
    for (int i = 0; i < n; i++) {
        const struct eco_predict_point *p = &points[i];

        fputs("    { ", f);
        put_text(f, p->id);
        put_text(f, p->baseline_id);
        put_text(f, p->gpu);
        put_text(f, p->model_id);
        put_text(f, p->session);
        put_text(f, p->source);
        fprintf(f, "(enum eco_arch)%d, (enum eco_precision)%d, (enum eco_engine)%d, ", (int)p->arch,
                (int)p->precision, (int)p->engine);
        fprintf(f, "(enum eco_grade)%d, %.17g, %.17g, %.17g, %d, %.17g, %.17g, %.17g, %.17g, ",
                (int)p->grade, p->params_b, p->active_b, p->nominal_b, p->layers, p->linear_b,
                p->batch, p->context_tokens, p->mem_bw_gbps);
        fprintf(f, "%d, %d, %.17g, %.17g, %.17g, %s, %s },\n", p->n_gpus, p->n_trials, p->y,
                p->net_shift, p->published_pct, p->anchor ? "true" : "false",
                p->fit ? "true" : "false");
    }
    fputs("};\n", f);
}

static void put_doubles(FILE *f, const char *name, const double *v, size_t n)
{
    fprintf(f, "static const double %s[%zu] = {", name, n);
    for (size_t i = 0; i < n; i++)
        fprintf(f, "%s%.17g,", i % 4 == 0 ? "\n    " : " ", v[i]);
    fputs("\n};\n", f);
}

static void put_floats(FILE *f, const char *name, const float *v, size_t n)
{
    fprintf(f, "static const float %s[%zu] = {", name, n);
    for (size_t i = 0; i < n; i++)
        fprintf(f, "%s(float)%.9g,", i % 5 == 0 ? "\n    " : " ", (double)v[i]);
    fputs("\n};\n", f);
}

static void put_ints(FILE *f, const char *name, const int *v, int n)
{
    fprintf(f, "static const int %s[%d] = {", name, n);
    for (int i = 0; i < n; i++)
        fprintf(f, "%s%d,", i % 16 == 0 ? "\n    " : " ", v[i]);
    fputs("\n};\n", f);
}

static void put_theta(FILE *f, const struct eco_predictor *p)
{
    for (int g = 0; g < ECO_PG_COUNT; g++)
        fprintf(f, "%.17g, ", p->theta[g]);
}

/* The page loads the pairs and the variances alone, and builds the tables when it starts. */
static void put_at_start(FILE *f, const struct eco_predictor *p)
{
    fprintf(f,
            "#ifdef ECO_PREDICTOR_AT_START\n"
            "struct eco_predictor eco_predictor_default = {\n"
            "    .points = points, .n_points = %d, .n_sessions = %d,\n    .theta = { ",
            p->n_points, p->n_sessions);
    put_theta(f, p);
    fputs("},\n};\n#else\n", f);
}

static void put_predictor(FILE *f, const struct eco_predictor *p)
{
    size_t n = (size_t)p->n_columns;

    fputs("/* Written by tools/predictorgen from data/fitted/predictor_*.csv. */\n"
          "#include \"core/predict_fit.h\"\n"
          "#include \"dataset/predictor_default.h\"\n\n",
          f);
    put_points(f, p->points, p->n_points);
    put_at_start(f, p);
    put_ints(f, "card", p->card, p->n_points);
    put_ints(f, "model", p->model, p->n_points);
    put_ints(f, "fit_point", p->fit_point, p->n_fit);
    fprintf(f, "static const uint64_t key[%zu] = {", n);
    for (size_t i = 0; i < n; i++)
        fprintf(f, "%s0x%llx,", i % 5 == 0 ? "\n    " : " ", (unsigned long long)p->key[i]);
    fputs("\n};\n", f);
    put_doubles(f, "mean", p->mean, n);
    put_doubles(f, "covariance", p->covariance, n * (n + 1) / 2);
    put_floats(f, "weight", p->weight, n * (size_t)p->n_fit);
    fprintf(f,
            "const struct eco_predictor eco_predictor_default = {\n"
            "    points, %d, %d, card, model,\n    { ",
            p->n_points, p->n_sessions);
    put_theta(f, p);
    fprintf(f, "},\n    %zu, key, mean, covariance, %d, fit_point, weight,\n};\n#endif\n", n,
            p->n_fit);
}

static int run_gen(const struct eco_predict_point *points, int n, const char *theta_path,
                   const char *out_path, struct eco_err *err)
{
    size_t bytes = eco_predict_build_bytes(n);
    void *memory = malloc(bytes);
    double theta[ECO_PG_COUNT];
    struct eco_predictor p;
    struct eco_buf text = {.limit = LIMIT};
    FILE *f = NULL;
    int rc;

    rc = eco_file_read(theta_path, LIMIT, &text, err);
    if (rc == 0)
        rc = eco_points_read_theta(theta_path, text.data, text.len, theta, err);
    if (rc == 0)
        rc = eco_predict_build(points, n, theta, memory, bytes, &p, err);
    if (rc == 0 && (f = fopen(out_path, "w")) == NULL)
        rc = eco_err_set(err, ECO_E_IO, out_path, "cannot write '%s'", out_path);
    if (rc == 0) {
        put_predictor(f, &p);
        if (fclose(f) != 0)
            rc = eco_err_set(err, ECO_E_IO, out_path, "cannot write '%s'", out_path);
    }
    eco_buf_done(&text);
    free(memory);
    return rc == 0 ? 0 : fail(err);
}

int main(int argc, char **argv)
{
    struct eco_predict_point *points = NULL;
    struct eco_arena arena;
    struct eco_err err = {0};
    int n = 0, rc;

    if (argc < 3) {
        fprintf(stderr,
                "usage: predictorgen fit|check POINTS.csv | gen POINTS.csv THETA.csv OUT\n");
        return 2;
    }
    eco_arena_init(&arena, 0);
    if (read_points(argv[2], &arena, &points, &n, &err) != 0)
        rc = fail(&err);
    else if (strcmp(argv[1], "fit") == 0)
        rc = run_fit(points, n, &err);
    else if (strcmp(argv[1], "check") == 0)
        rc = run_check(points, n, &err);
    else if (strcmp(argv[1], "gen") == 0 && argc == 5)
        rc = run_gen(points, n, argv[3], argv[4], &err);
    else
        rc = 2;
    eco_arena_done(&arena);
    return rc;
}
