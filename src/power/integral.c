#include "integral.h"

#include <math.h>
#include <string.h>

#define ZERO_NS ((int64_t)2000000000)

void eco_integral_init(struct eco_integral *it, int64_t from_ns, int64_t to_ns, int64_t gap_ns,
                       double gain, double offset_w)
{
    memset(it, 0, sizeof(*it));
    it->from_ns = from_ns;
    it->to_ns = to_ns;
    it->gap_ns = gap_ns;
    it->gain = gain;
    it->offset_w = offset_w;
    it->peak_w = it->low_w = (double)NAN;
}

/* Kahan: a day at 1 kHz is 10^8 additions. */
static void add_energy(struct eco_integral *it, double joules)
{
    double y = joules - it->comp_j, sum = it->energy_j + y;
    it->comp_j = (sum - it->energy_j) - y;
    it->energy_j = sum;
}

static double seconds(int64_t from_ns, int64_t to_ns)
{
    return (double)(to_ns - from_ns) * 1e-9;
}

/* The part of a..b inside the window, power running straight from wa to wb. */
static void add_segment(struct eco_integral *it, int64_t a_ns, double wa, int64_t b_ns, double wb)
{
    int64_t lo = a_ns > it->from_ns ? a_ns : it->from_ns;
    int64_t hi = b_ns < it->to_ns ? b_ns : it->to_ns;
    if (lo >= hi) {
        return;
    }
    double len_s = seconds(lo, hi);
    if (b_ns - a_ns > it->gap_ns) {
        it->gaps++;
        it->gap_s += len_s;
        return;
    }
    double slope = (wb - wa) / seconds(a_ns, b_ns);
    double at_lo = wa + slope * seconds(a_ns, lo), at_hi = wa + slope * seconds(a_ns, hi);
    add_energy(it, (at_lo + at_hi) / 2 * len_s);
    it->covered_ns += hi - lo; /* whole numbers: a day of tenths of a second adds up exactly */
    it->covered_s = (double)it->covered_ns * 1e-9;
    if (lo > a_ns || hi < b_ns) {
        it->edge_j += fabs(wb - wa) / 2 * len_s;
    }
}

/* Only what lies inside the window counts. */
static void note_zero(struct eco_integral *it, int64_t t_ns, double reading_w)
{
    int64_t late_ns = t_ns > it->from_ns ? t_ns : it->from_ns;
    int64_t at_ns = late_ns < it->to_ns ? late_ns : it->to_ns;
    if (reading_w > 0) {
        it->at_zero = false;
        return;
    }
    if (!it->at_zero) {
        it->zero_since_ns = at_ns;
    }
    it->at_zero = true;
    it->zero = it->zero || at_ns - it->zero_since_ns >= ZERO_NS;
}

void eco_integral_add(struct eco_integral *it, int64_t t_ns, double reading_w)
{
    double w = (reading_w - it->offset_w) / it->gain;
    if (!(reading_w >= 0) || (it->have_prev && t_ns <= it->prev_ns)) {
        return;
    }
    note_zero(it, t_ns, reading_w);
    if (t_ns >= it->from_ns && t_ns <= it->to_ns) {
        it->samples++;
        it->duplicates += it->have_prev && w == it->prev_w;
        it->peak_w = !(it->peak_w >= w) ? w : it->peak_w;
        it->low_w = !(it->low_w <= w) ? w : it->low_w;
    }
    if (it->have_prev) {
        add_segment(it, it->prev_ns, it->prev_w, t_ns, w);
    } else if (t_ns > it->from_ns) {
        /* nothing before the window: the first reading holds backwards, or it is a gap */
        add_segment(it, it->from_ns, w, t_ns, w);
        it->edge_j += t_ns - it->from_ns > it->gap_ns ? 0 : w / 2 * seconds(it->from_ns, t_ns);
    }
    it->have_prev = true;
    it->prev_ns = t_ns;
    it->prev_w = w;
}

void eco_integral_finish(struct eco_integral *it)
{
    if (it->to_ns == ECO_INTEGRAL_OPEN) {
        it->to_ns = it->have_prev ? it->prev_ns : it->from_ns;
    }
    if (!it->have_prev) {
        it->gaps += it->to_ns > it->from_ns;
        it->gap_s += seconds(it->from_ns, it->to_ns);
    } else if (it->prev_ns < it->to_ns) {
        add_segment(it, it->prev_ns, it->prev_w, it->to_ns, it->prev_w);
        if (it->to_ns - it->prev_ns <= it->gap_ns) {
            it->edge_j += it->prev_w / 2 * seconds(it->prev_ns, it->to_ns);
        }
        it->prev_ns = it->to_ns;
    }
}

bool eco_integral_done(const struct eco_integral *it)
{
    return it->have_prev && it->prev_ns >= it->to_ns;
}
