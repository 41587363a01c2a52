/* A table of measurements under our column names or close ones; see audit_rows.h. */
#include "base/buf.h"
#include "base/num.h"
#include "dataset/audit_rows.h"
#include "dataset/dataset.h"
#include "dataset/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum field {
    ID,
    GPU,
    MODEL,
    SESSION,
    BASELINE,
    PRECISION,
    ENERGY,
    THROUGHPUT,
    POWER,
    REQUEST,
    SIZE,
    ACTIVE,
    BATCH,
    GEN,
    IDLE,
    LIMIT,
    DELTA,
    SD,
    CV,
    TRIALS,
    ITER,
    DEVICES,
    BOUNDARY,
    BASIS,
    POWER_BASIS,
    FIELDS
};

/* Names of a column as keys (letters and digits), the best first, and the factor to our unit. */
static const struct {
    enum field field;
    const char *keys;
    double factor;
} known[] = {
    {ID, "id rowid name configid", 1},
    {GPU, "gpu gpuname card device hardware accelerator gpumodel", 1},
    {MODEL, "model modelname modelid hfid", 1},
    {SESSION, "session run runid date", 1},
    {BASELINE, "baselineid baseline idfp16", 1},
    {PRECISION, "precision quantization quant quantmethod method dtype format", 1},
    {ENERGY,
     "energyjper1k energyjper1kmean energyjper1koutputtokens energyjper1ktokens jper1k "
     "jper1ktokens energyper1ktokensj energyper1k energymjpertoken mjpertoken energymj",
     1},
    {ENERGY, "energyjpertoken jpertoken energypertokenj energypertoken", 1000},
    {ENERGY, "whper1k energywhper1ktokens", 3600},
    {THROUGHPUT,
     "throughputtoks throughputtokspersec throughputmean throughput tokspersecond toks "
     "tokpersec tokenspersecond tokenspersec tps outputtoks throughputtps",
     1},
    {POWER, "powerw powermean avgpowerw meanpowerw averagepowerw power avgpower gpupowerw", 1},
    {REQUEST, "energyperrequestj energyperrequestjmean jperrequest energyperrequest totalenergyj",
     1},
    {SIZE, "paramsb params sizeb nominalb parametersb modelsizeb", 1},
    {ACTIVE, "activeb activeparamsb", 1},
    {BATCH, "batch batchsize bs batchorconcurrency concurrency", 1},
    {GEN, "gentokens tokens outputtokens newtokens maxnewtokens generatedtokens", 1},
    {IDLE, "idlew idlepowerw idle", 1},
    {LIMIT, "powerlimitw tdpw limitw", 1},
    {DELTA,
     "deltapctpublished deltapct deltavsfp16pct deltapctvsfp16 delta energydeltapct "
     "energychangepct changepct",
     1},
    {SD, "energysd energystd energyjper1kstd energyjper1ksd std stddev", 1},
    {CV, "cvpct energycvpct cv cvpercent", 1},
    {TRIALS, "ntrials n trials nruns repeats", 1},
    {ITER, "niter iterations iters", 1},
    {DEVICES, "ndevices ngpus gpucount numgpus", 1},
    {BOUNDARY, "boundary measurementboundary", 1},
    {BASIS, "energybasis basis", 1},
    {POWER_BASIS, "powerbasis", 1},
};

struct columns {
    int at[FIELDS]; /* -1: not there */
    double factor[FIELDS];
};

static int key_place(const char *keys, const char *key, size_t len)
{
    int place = 0;

    for (const char *k = keys; *k != '\0'; place++) {
        size_t n = strcspn(k, " ");
        if (n == len && memcmp(k, key, n) == 0)
            return place;
        k += n;
        k += strspn(k, " ");
    }
    return -1;
}

/* Per field the column whose name stands first in the list; J/1k before J/token. */
static void find_columns(const struct eco_csv *csv, struct columns *c)
{
    int best[FIELDS];

    for (int f = 0; f < FIELDS; f++) {
        c->at[f] = -1;
        c->factor[f] = 1.0;
        best[f] = 1000;
    }
    for (size_t i = 0; i < csv->columns; i++) {
        char key[ECO_NAME_MAX];
        size_t len = eco_name_key(csv->header[i].s, csv->header[i].len, false, key);

        for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
            int place = key_place(known[k].keys, key, len);
            enum field f = known[k].field;

            if (place < 0)
                continue;
            place += known[k].factor != 1.0 ? 100 : 0;
            if (place < best[f]) {
                best[f] = place;
                c->at[f] = (int)i;
                c->factor[f] = known[k].factor;
            }
        }
    }
}

static const char *cell_text(const struct eco_csv *csv, const struct columns *c, enum field f)
{
    return c->at[f] < 0 ? "" : csv->cell[c->at[f]].s;
}

/*
 * Half a unit of the last digit: "0.067" -> 0.0005, "1.5e3" -> 50. A lone ".0" is no digit: that is
 * how programs print whole numbers (but not sizes: "6.0" billions means 6.0).
 */
static double half_unit(const char *s, bool lone_zero_counts)
{
    int exponent = 0;
    bool point = false;
    size_t len = strlen(s);

    if (!lone_zero_counts && len > 2 && strcmp(s + len - 2, ".0") == 0)
        return 0.5;

    for (; *s != '\0' && *s != 'e' && *s != 'E'; s++) {
        if (*s == '.')
            point = true;
        else if (point && *s >= '0' && *s <= '9')
            exponent--;
    }
    if (*s != '\0')
        exponent += (int)strtol(s + 1, NULL, 10);
    return 0.5 * pow(10.0, exponent);
}

static struct audit_num cell_num(struct audit *a, const struct eco_csv *csv,
                                 const struct columns *c, enum field f, const struct audit_row *r)
{
    struct audit_num n = {NAN, NAN};
    double v;

    if (c->at[f] < 0 || csv->cell[c->at[f]].len == 0)
        return n;
    if (eco_num_parse_lenient(csv->cell[c->at[f]].s, csv->cell[c->at[f]].len, &v) != 0) {
        eco_table_note(a, ECO_TABLE_CHECK_CELL, ECO_TABLE_WARNING, r, NAN, NAN,
                       eco_arena_printf(a->arena, "column '%.40s': not a number: '%.40s'",
                                        csv->header[c->at[f]].s, csv->cell[c->at[f]].s));
        return n;
    }
    n.v = v * c->factor[f];
    n.half = half_unit(csv->cell[c->at[f]].s, f == SIZE) * c->factor[f];
    return n;
}

static const char *keep(struct audit *a, const char *s)
{
    const char *copy = *s == '\0' ? "" : eco_arena_strdup(a->arena, s, strlen(s));

    if (copy == NULL)
        a->out_of_memory = true;
    return copy == NULL ? "" : copy;
}

static double positive(double v)
{
    return v > 0.0 ? v : NAN;
}

static void read_words(struct audit *a, const struct eco_csv *csv, const struct columns *c,
                       struct audit_row *r)
{
    const char *precision = cell_text(csv, c, PRECISION);
    const char *boundary = cell_text(csv, c, BOUNDARY);
    struct eco_match m;
    enum eco_arch arch;

    r->id = keep(a, cell_text(csv, c, ID));
    r->gpu = keep(a, cell_text(csv, c, GPU));
    r->model = keep(a, cell_text(csv, c, MODEL));
    r->session = keep(a, cell_text(csv, c, SESSION));
    r->baseline_id = keep(a, cell_text(csv, c, BASELINE));
    r->precision = eco_precision_parse(precision, strlen(precision));
    if (eco_dataset_try_gpu(r->gpu, strlen(r->gpu), &m)) {
        r->card = eco_dataset_gpu(m.index);
    } else {
        arch = eco_dataset_detect_any_arch(r->gpu, strlen(r->gpu), &r->card);
        (void)arch;
    }
    if (*r->model != '\0')
        eco_dataset_find_model(r->model, strlen(r->model), &r->shape, NULL);
    r->on_board = strncmp(boundary, "wall", 4) != 0 && strncmp(boundary, "cpu", 3) != 0 &&
                  strncmp(boundary, "whole", 5) != 0 && strncmp(boundary, "CPU", 3) != 0;
    r->printed_net =
        strcmp(cell_text(csv, c, BASIS), "net") == 0 || strstr(boundary, "subtracted") != NULL;
    r->power_net = strcmp(cell_text(csv, c, POWER_BASIS), "net") == 0;
}

static void read_numbers(struct audit *a, const struct eco_csv *csv, const struct columns *c,
                         struct audit_row *r)
{
    r->energy = cell_num(a, csv, c, ENERGY, r);
    r->throughput = cell_num(a, csv, c, THROUGHPUT, r);
    r->power = cell_num(a, csv, c, POWER, r);
    r->request = cell_num(a, csv, c, REQUEST, r);
    r->size = cell_num(a, csv, c, SIZE, r);
    r->size.v = positive(r->size.v);
    r->active_b = positive(cell_num(a, csv, c, ACTIVE, r).v);
    r->batch = positive(cell_num(a, csv, c, BATCH, r).v);
    r->gen_tokens = positive(cell_num(a, csv, c, GEN, r).v);
    r->idle_w = cell_num(a, csv, c, IDLE, r).v;
    r->limit_w = positive(cell_num(a, csv, c, LIMIT, r).v);
    r->delta_pct = cell_num(a, csv, c, DELTA, r).v;
    r->sd = cell_num(a, csv, c, SD, r).v;
    r->cv_pct = cell_num(a, csv, c, CV, r).v;
    r->n_trials = cell_num(a, csv, c, TRIALS, r).v;
    r->n_iter = cell_num(a, csv, c, ITER, r).v;
    r->devices = cell_num(a, csv, c, DEVICES, r).v;
    if (isnan(r->size.v) && r->shape != NULL)
        r->size = (struct audit_num){r->shape->params_b, 0.0};
    if (isnan(r->devices))
        r->devices = 1.0;
    if (r->card != NULL) {
        if (isnan(r->idle_w))
            r->idle_w = r->card->idle_w * r->devices;
        if (isnan(r->limit_w))
            r->limit_w = r->card->tdp_w * r->devices;
    }
    if (r->energy.v <= 0.0 || r->throughput.v <= 0.0 || r->power.v <= 0.0)
        eco_table_note(
            a, ECO_TABLE_CHECK_CELL, ECO_TABLE_ERROR, r, NAN, NAN,
            eco_arena_printf(a->arena, "energy, throughput and power must be above zero"));
    r->energy.v = positive(r->energy.v);
    r->throughput.v = positive(r->throughput.v);
    r->power.v = positive(r->power.v);
}

static bool sixteen_bit(enum eco_precision p)
{
    return p == ECO_PREC_FP16 || p == ECO_PREC_BF16;
}

static int by_id(const void *a, const void *b)
{
    return strcmp((*(struct audit_row *const *)a)->id, (*(struct audit_row *const *)b)->id);
}

static int order_num(double a, double b)
{
    if (isnan(a) || isnan(b))
        return (int)!isnan(a) - (int)!isnan(b);
    return a < b ? -1 : a > b;
}

/* Rows that only precision tells apart. */
static int by_setting(const void *a, const void *b)
{
    const struct audit_row *x = *(struct audit_row *const *)a, *y = *(struct audit_row *const *)b;
    int c = strcmp(x->gpu, y->gpu);

    c = c != 0 ? c : strcmp(x->model, y->model);
    c = c != 0 ? c : strcmp(x->session, y->session);
    return c != 0 ? c : order_num(x->batch, y->batch);
}

static struct audit_row **sorted(struct audit *a, int (*order)(const void *, const void *),
                                 bool only_sixteen_bit, size_t *count)
{
    struct audit_row **p = eco_arena_array(a->arena, a->n + 1, sizeof *p);
    size_t n = 0;

    if (p == NULL) {
        a->out_of_memory = true;
        *count = 0;
        return NULL;
    }
    for (size_t i = 0; i < a->n; i++) {
        if (!only_sixteen_bit || sixteen_bit(a->rows[i].precision))
            p[n++] = &a->rows[i];
    }
    qsort(p, n, sizeof *p, order);
    *count = n;
    return p;
}

/* The baseline a row names; else the only 16-bit row of its card, model, session and batch. */
static void link_baselines(struct audit *a)
{
    size_t n_ids, n_base;
    struct audit_row **ids = sorted(a, by_id, false, &n_ids);
    struct audit_row **base = sorted(a, by_setting, true, &n_base);

    for (size_t i = 0; i < a->n && ids != NULL && base != NULL; i++) {
        struct audit_row *r = &a->rows[i], want = *r, *key = &want, **hit;

        if (*r->baseline_id != '\0') {
            want.id = r->baseline_id;
            hit = bsearch(&key, ids, n_ids, sizeof key, by_id);
            r->baseline = hit != NULL && *hit != r ? *hit : NULL;
            continue;
        }
        if (sixteen_bit(r->precision) || r->precision == ECO_PREC_NONE || n_base == 0)
            continue;
        hit = bsearch(&key, base, n_base, sizeof key, by_setting);
        if (hit == NULL || (hit > base && by_setting(hit - 1, &key) == 0) ||
            (hit + 1 < base + n_base && by_setting(hit + 1, &key) == 0))
            continue; /* none, or more than one */
        r->baseline = *hit;
    }
}

int eco_table_read(struct audit *a, const char *name, const char *text, size_t len,
                   struct eco_err *err)
{
    struct eco_csv csv;
    struct columns c;
    size_t cap = 0;
    int rc = eco_csv_open(&csv, name, text, len, err);

    if (rc != 0)
        return rc;
    find_columns(&csv, &c);
    if (c.at[ENERGY] < 0 && c.at[REQUEST] < 0) {
        rc = eco_err_set(err, ECO_E_MISSING, "energy_j_per_1k",
                         "'%.80s' has no energy column (energy_j_per_1k, energy_j_per_token …)",
                         name);
        goto done;
    }
    while ((rc = eco_csv_next(&csv, err)) == 1) {
        struct audit_row *r;

        if (a->n == ECO_TABLE_MAX_ROWS) {
            rc = eco_err_set(err, ECO_E_TOO_LARGE, name, "more than %u rows", ECO_TABLE_MAX_ROWS);
            break;
        }
        if (a->n == cap) {
            struct audit_row *more;
            cap = cap == 0 ? 256 : 2 * cap;
            more = eco_arena_array(a->arena, cap, sizeof *more);
            if (more == NULL) {
                rc = eco_err_set(err, ECO_E_NO_MEMORY, name, "out of memory");
                break;
            }
            if (a->n > 0)
                memcpy(more, a->rows, a->n * sizeof *more);
            a->rows = more;
        }
        r = &a->rows[a->n++];
        *r = (struct audit_row){.row = a->n, .line = csv.line};
        read_words(a, &csv, &c, r);
        read_numbers(a, &csv, &c, r);
    }
    if (rc == 0)
        link_baselines(a);
done:
    eco_csv_done(&csv);
    return rc;
}
