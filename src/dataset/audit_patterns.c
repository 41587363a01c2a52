/*
 * Patterns over a whole table that measurements do not make. A measured energy or speed carries
 * noise of a percent or so; figures that agree to their last printed digit across cards, sizes or
 * precisions were computed or copied. "Agree" always means: within the rounding of the digits
 * printed, so that a table printed coarsely is not blamed for it.
 */
#include "base/buf.h"
#include "dataset/audit_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIN_DIGITS 1e-3 /* half a unit over the value: figures with fewer digits prove nothing */
#define MIN_SIZES 4     /* sizes on one line through the origin */
#define MIN_BATCHES 3   /* batch sizes besides the first that agree */
#define MIN_RATIOS 3    /* rows that share one ratio */
#define COARSE 0.012    /* rounding granted at most where several rows must agree */
#define TIGHT 0.004     /* agreement this close over four sizes is no chance */

static int order_text(const char *a, const char *b)
{
    return strcmp(a, b);
}

static int order_num(double a, double b)
{
    if (isnan(a) || isnan(b))
        return (int)!isnan(a) - (int)!isnan(b);
    return a < b ? -1 : a > b;
}

#define ROWS(a, b)                                                                                 \
    const struct audit_row *x = *(const struct audit_row *const *)(a),                             \
                           *y = *(const struct audit_row *const *)(b)

/* Series over sizes: card, precision, batch, session; then size. */
static int by_size(const void *a, const void *b)
{
    ROWS(a, b);
    int c = order_text(x->gpu, y->gpu);

    c = c != 0 ? c : (int)x->precision - (int)y->precision;
    c = c != 0 ? c : order_num(x->batch, y->batch);
    c = c != 0 ? c : order_text(x->session, y->session);
    return c != 0 ? c : order_num(x->size.v, y->size.v);
}

static bool same_size_series(const struct audit_row *x, const struct audit_row *y)
{
    return strcmp(x->gpu, y->gpu) == 0 && x->precision == y->precision &&
           order_num(x->batch, y->batch) == 0 && strcmp(x->session, y->session) == 0;
}

/* Series over batches: card, model, precision, session; then batch and length. */
static int by_batch(const void *a, const void *b)
{
    ROWS(a, b);
    int c = order_text(x->gpu, y->gpu);

    c = c != 0 ? c : order_text(x->model, y->model);
    c = c != 0 ? c : (int)x->precision - (int)y->precision;
    c = c != 0 ? c : order_text(x->session, y->session);
    c = c != 0 ? c : order_num(x->batch, y->batch);
    return c != 0 ? c : order_num(x->gen_tokens, y->gen_tokens);
}

static bool same_batch_series(const struct audit_row *x, const struct audit_row *y)
{
    return strcmp(x->gpu, y->gpu) == 0 && strcmp(x->model, y->model) == 0 &&
           x->precision == y->precision && strcmp(x->session, y->session) == 0;
}

static int by_throughput(const void *a, const void *b)
{
    ROWS(a, b);
    int c = order_num(x->throughput.v, y->throughput.v);

    return c != 0 ? c : order_num(x->energy.v, y->energy.v);
}

static int by_energy(const void *a, const void *b)
{
    ROWS(a, b);

    return order_num(x->energy.v, y->energy.v);
}

static const struct audit_row **all_rows(struct audit *a, int (*order)(const void *, const void *))
{
    const struct audit_row **p = eco_arena_array(a->arena, a->n + 1, sizeof *p);

    if (p == NULL) {
        a->out_of_memory = true;
        return NULL;
    }
    for (size_t i = 0; i < a->n; i++)
        p[i] = &a->rows[i];
    qsort(p, a->n, sizeof *p, order);
    return p;
}

struct interval {
    double lo, hi;
};

static struct interval around(double v, double relative)
{
    return (struct interval){v * (1.0 - relative), v * (1.0 + relative)};
}

static double relative_half(struct audit_num n)
{
    return n.half / n.v;
}

/*
 * Is figure/size (or figure x size) one constant over p[0..n), to the digits printed of both?
 * Returns the coarsest rounding that had to be granted, or 0 when there is no such constant.
 */
static double proportional(const struct audit_row *const *p, size_t n, bool speed)
{
    struct interval all = {0.0, INFINITY};
    double smallest = INFINITY, largest = 0.0, coarsest = 0.0;
    size_t sizes = 0;

    for (size_t i = 0; i < n; i++) {
        struct audit_num f = speed ? p[i]->throughput : p[i]->energy, size = p[i]->size;
        double half = relative_half(f) + relative_half(size);
        struct interval here;

        if (isnan(half) || half > 4.0 * COARSE)
            continue;
        here = around(speed ? f.v * size.v : f.v / size.v, half);
        all.lo = fmax(all.lo, here.lo);
        all.hi = fmin(all.hi, here.hi);
        if (half > COARSE)
            continue; /* must agree, but proves nothing */
        sizes += size.v > largest || size.v < smallest;
        smallest = fmin(smallest, size.v);
        largest = fmax(largest, size.v);
        coarsest = fmax(coarsest, half);
    }
    return sizes >= MIN_SIZES && largest >= 1.4 * smallest && all.lo <= all.hi ? coarsest : 0.0;
}

/* The longest run of sizes on one line; a law may switch its factor at a size. */
static void check_series(struct audit *a, const struct audit_row *const *p, size_t n, bool speed)
{
    for (size_t first = 0; first + MIN_SIZES <= n; first++) {
        size_t count = n - first;
        double coarsest = 0.0;

        while (count >= MIN_SIZES && (coarsest = proportional(p + first, count, speed)) == 0.0)
            count--;
        if (count < MIN_SIZES)
            continue;
        for (size_t i = first; i < first + count; i++)
            eco_table_note(
                a, ECO_TABLE_CHECK_PROPORTIONAL,
                coarsest < TIGHT ? ECO_TABLE_ERROR : ECO_TABLE_WARNING, p[i], NAN, NAN,
                eco_arena_printf(
                    a->arena,
                    speed ? "throughput times size is one constant over %zu sizes of this "
                            "series: a formula, not a measurement"
                          : "energy over size is one constant over %zu sizes of this series: a "
                            "formula, not a measurement",
                    count));
        return;
    }
}

static void check_proportional(struct audit *a)
{
    const struct audit_row **p = all_rows(a, by_size);
    size_t end;

    for (size_t i = 0; p != NULL && i < a->n; i = end) {
        end = i + 1;
        while (end < a->n && same_size_series(p[i], p[end]))
            end++;
        if (end - i >= MIN_SIZES && end - i <= 64) {
            a->out->asked[ECO_TABLE_CHECK_PROPORTIONAL]++;
            check_series(a, p + i, end - i, false);
            check_series(a, p + i, end - i, true);
        }
    }
}

struct series {
    const struct audit_row *const *p;
    size_t n;
};

/* Batches besides the first at which two series have the same energy relative to their first. */
static size_t same_curve(struct series s, struct series t)
{
    size_t same = 0, i = 1, k = 1;

    if (order_num(s.p[0]->batch, t.p[0]->batch) != 0)
        return 0;
    while (i < s.n && k < t.n) {
        int c = order_num(s.p[i]->batch, t.p[k]->batch);

        if (c == 0) {
            double x = s.p[i]->energy.v / s.p[0]->energy.v;
            double y = t.p[k]->energy.v / t.p[0]->energy.v;
            double half = relative_half(s.p[i]->energy) + relative_half(s.p[0]->energy) +
                          relative_half(t.p[k]->energy) + relative_half(t.p[0]->energy);
            same += half < COARSE && fabs(x / y - 1.0) <= half;
        }
        i += c <= 0;
        k += c >= 0;
    }
    return same;
}

static void note_curve(struct audit *a, struct series s, const struct audit_row *other, size_t n)
{
    for (size_t i = 0; i < s.n; i++)
        eco_table_note(
            a, ECO_TABLE_CHECK_CURVE, ECO_TABLE_ERROR, s.p[i], NAN, NAN,
            eco_arena_printf(
                a->arena,
                "energy falls with batch exactly as in the series of %.40s %.40s %s, at %zu "
                "batch sizes: a formula, not a measurement",
                other->gpu, other->model, eco_precision_name(other->precision), n));
}

static void check_curves(struct audit *a)
{
    const struct audit_row **p = all_rows(a, by_batch);
    struct series *s = eco_arena_array(a->arena, a->n + 1, sizeof *s);
    size_t count = 0, end;

    if (p == NULL || s == NULL) {
        a->out_of_memory = true;
        return;
    }
    for (size_t i = 0; i < a->n; i = end) {
        end = i + 1;
        while (end < a->n && same_batch_series(p[i], p[end]))
            end++;
        if (end - i > MIN_BATCHES && !isnan(p[i]->energy.v))
            s[count++] = (struct series){p + i, end - i};
    }
    a->out->asked[ECO_TABLE_CHECK_CURVE] += count;
    for (size_t i = 0; i < count && count <= 2000; i++) {
        for (size_t k = 0; k < count; k++) {
            size_t same = k == i ? 0 : same_curve(s[i], s[k]);

            if (same >= MIN_BATCHES) {
                note_curve(a, s[i], s[k].p[0], same);
                break;
            }
        }
    }
}

struct ratio {
    const struct audit_row *r;
    double v, half;
};

static int by_ratio(const void *a, const void *b)
{
    const struct ratio *x = a, *y = b;

    if (x->r->precision != y->r->precision)
        return x->r->precision < y->r->precision ? -1 : 1;
    return order_num(x->v, y->v);
}

/* Rows of r[0..n) are within digits of r[0]; are they different configurations? */
static bool different(const struct ratio *r, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        for (size_t k = 0; k < i; k++) {
            if (strcmp(r[i].r->model, r[k].r->model) == 0 &&
                strcmp(r[i].r->gpu, r[k].r->gpu) == 0 &&
                order_num(r[i].r->batch, r[k].r->batch) == 0)
                return false;
        }
    }
    return true;
}

static void check_ratios(struct audit *a)
{
    struct ratio *r = eco_arena_array(a->arena, a->n + 1, sizeof *r);
    size_t n = 0, end;

    if (r == NULL) {
        a->out_of_memory = true;
        return;
    }
    for (size_t i = 0; i < a->n; i++) {
        const struct audit_row *x = &a->rows[i], *b = x->baseline;
        double half = b == NULL ? NAN : relative_half(x->energy) + relative_half(b->energy);

        if (b != NULL && half < MIN_DIGITS)
            r[n++] = (struct ratio){x, x->energy.v / b->energy.v, half};
    }
    qsort(r, n, sizeof *r, by_ratio);
    a->out->asked[ECO_TABLE_CHECK_RATIO] += n;
    for (size_t i = 0; i < n; i = end) {
        end = i + 1;
        while (end < n && r[end].r->precision == r[i].r->precision &&
               r[end].v / r[i].v - 1.0 <= r[end].half + r[i].half)
            end++;
        if (end - i < MIN_RATIOS || !different(r + i, end - i < 32 ? end - i : 32))
            continue;
        for (size_t k = i; k < end; k++)
            eco_table_note(
                a, ECO_TABLE_CHECK_RATIO, ECO_TABLE_ERROR, r[k].r, r[k].v, r[i].v,
                eco_arena_printf(
                    a->arena,
                    "its ratio to the baseline, %.6g, is that of %zu configurations to the last "
                    "digit: a factor, not measurements",
                    r[k].v, end - i));
    }
}

static bool same_figure(struct audit_num a, struct audit_num b)
{
    return a.v == b.v && relative_half(a) < MIN_DIGITS && relative_half(b) < MIN_DIGITS;
}

static bool same_setting(const struct audit_row *x, const struct audit_row *y)
{
    return strcmp(x->gpu, y->gpu) == 0 && strcmp(x->model, y->model) == 0 &&
           x->precision == y->precision && order_num(x->batch, y->batch) == 0;
}

/* Two neighbours in an order; a figure of four digits may meet by chance, a long one may not. */
static void copied(struct audit *a, const struct audit_row *x, const struct audit_row *y)
{
    bool speed = same_figure(x->throughput, y->throughput);
    bool energy = same_figure(x->energy, y->energy);
    bool long_speed = speed && relative_half(x->throughput) < 1e-7;
    bool cards = strcmp(x->gpu, y->gpu) != 0 && strcmp(x->model, y->model) == 0;

    if (same_setting(x, y) || !(speed || energy))
        return;
    if (speed && energy)
        eco_table_note(
            a, ECO_TABLE_CHECK_COPY, ECO_TABLE_ERROR, y, y->energy.v, NAN,
            eco_arena_printf(a->arena,
                             "the same throughput and energy as row %zu, another configuration",
                             x->row));
    else if (long_speed || (speed && cards))
        eco_table_note(a, ECO_TABLE_CHECK_COPY, long_speed ? ECO_TABLE_ERROR : ECO_TABLE_WARNING, y,
                       y->throughput.v, NAN,
                       eco_arena_printf(a->arena,
                                        "the same throughput to the last digit as row %zu on %.40s",
                                        x->row, x->gpu));
    else if (energy && relative_half(x->energy) < 1e-5)
        eco_table_note(a, ECO_TABLE_CHECK_COPY, ECO_TABLE_WARNING, y, y->energy.v, NAN,
                       eco_arena_printf(
                           a->arena, "the same energy as row %zu, another configuration", x->row));
}

static void check_copies(struct audit *a)
{
    const struct audit_row **p = all_rows(a, by_throughput);

    a->out->asked[ECO_TABLE_CHECK_COPY] += a->n;
    for (size_t i = 1; p != NULL && i < a->n; i++)
        copied(a, p[i - 1], p[i]);
    p = all_rows(a, by_energy);
    for (size_t i = 1; p != NULL && i < a->n; i++) {
        if (!same_figure(p[i - 1]->throughput, p[i]->throughput))
            copied(a, p[i - 1], p[i]);
    }
}

/* Repeats of one setting inside a session: their spread against the CV their rows print. */
static void check_spread(struct audit *a, const struct audit_row *const *p, size_t n)
{
    double sum = 0.0, squares = 0.0, cv;

    for (size_t i = 0; i < n; i++)
        sum += p[i]->energy.v;
    for (size_t i = 0; i < n; i++)
        squares += (p[i]->energy.v - sum / (double)n) * (p[i]->energy.v - sum / (double)n);
    cv = 100.0 * sqrt(squares / (double)(n - 1)) / (sum / (double)n);
    if (isnan(cv))
        return;
    a->out->asked[ECO_TABLE_CHECK_REPEATS]++;
    for (size_t i = 0; i < n; i++) {
        if (cv > p[i]->cv_pct + 1.0 && cv > 1.5 * p[i]->cv_pct)
            eco_table_note(
                a, ECO_TABLE_CHECK_REPEATS, ECO_TABLE_WARNING, p[i], p[i]->cv_pct, cv,
                eco_arena_printf(
                    a->arena,
                    "CV printed as %.3g %%, but the %zu rows of this setting spread by %.3g %%",
                    p[i]->cv_pct, n, cv));
    }
}

static void check_groups(struct audit *a)
{
    const struct audit_row **p = all_rows(a, by_batch);
    size_t end;

    for (size_t i = 0; p != NULL && i < a->n; i = end) {
        end = i + 1;
        while (end < a->n && same_batch_series(p[i], p[end]) &&
               order_num(p[i]->batch, p[end]->batch) == 0 &&
               order_num(p[i]->gen_tokens, p[end]->gen_tokens) == 0)
            end++;
        if (end - i >= 2)
            check_spread(a, p + i, end - i);
    }
}

void eco_table_check_patterns(struct audit *a)
{
    check_proportional(a);
    check_curves(a);
    check_ratios(a);
    check_copies(a);
    check_groups(a);
    a->out->asked[ECO_TABLE_CHECK_MIXED] += a->out->gross + a->out->net > 1;
    if (a->out->gross > 0 && a->out->net > 0)
        eco_table_note(
            a, ECO_TABLE_CHECK_MIXED, ECO_TABLE_WARNING, NULL, (double)a->out->gross,
            (double)a->out->net,
            eco_arena_printf(
                a->arena,
                "%zu rows are gross and %zu net of idle: do not compare or fit them together",
                a->out->gross, a->out->net));
}
