/* How an answer begins in either voice, and the bars that show who is efficient. */
#include "texts.h"
#include "view_parts.h"

#include <stdio.h>
#include <string.h>

#define BAR_COLUMNS 30 /* on a wide screen; 10 on a narrow one */
#define BAR_WORDS 36   /* beside a bar: percent, mood, dollars */

static enum eco_tone tone_of_severity(const char *severity)
{
    return strcmp(severity, "critical") == 0  ? ECO_TONE_BAD
           : strcmp(severity, "warning") == 0 ? ECO_TONE_WARN
                                              : ECO_TONE_QUIET;
}

/* ---- the plain voice: the answer, then what is in its way ---------------------------------- */

static void fix_line(struct eco_doc *d, const struct eco_res_alert *a)
{
    const char *key = TX(d, k_fix);
    if (!a->fix_effect_pct.have) {
        eco_doc_kv(d, key, "%s", a->fix);
    } else if (a->fix_saving_usd.have && a->fix_saving_usd.v > 0) {
        eco_doc_kv(d, key, TX(d, fix_priced), a->fix, eco_doc_signed(d, a->fix_effect_pct.v, 3),
                   eco_doc_num(d, a->fix_saving_usd.v, 3));
    } else {
        eco_doc_kv(d, key, TX(d, fix_computed), a->fix, eco_doc_signed(d, a->fix_effect_pct.v, 3));
    }
    if (a->fix_code && a->fix_code[0]) {
        eco_doc_kv(d, TX(d, k_code), "%s", a->fix_code);
    }
}

static void plain_alert(struct eco_doc *d, const struct eco_res_alert *a)
{
    const char *mark = d->ascii ? "!" : "▲";
    enum eco_tone tone = tone_of_severity(a->severity);
    if (!a->effect_pct.have || !a->effect_ci.have) {
        eco_doc_verdict(d, tone, TX(d, alert_plain), mark, a->name);
        fix_line(d, a);
        return;
    }
    const char *effect = eco_doc_signed(d, a->effect_pct.v, 3);
    const char *lo = eco_doc_signed(d, a->effect_ci.lo, 3);
    const char *hi = eco_doc_signed(d, a->effect_ci.hi, 3);
    if (a->month_usd.have && a->month_usd.v > 0) {
        eco_doc_verdict(d, tone, TX(d, alert_head_usd), mark, a->name, effect, lo, hi,
                        eco_doc_num(d, a->month_usd.v, 3));
    } else {
        eco_doc_verdict(d, tone, TX(d, alert_head), mark, a->name, effect, lo, hi);
    }
    fix_line(d, a);
}

static void each_alert(struct eco_doc *d, const struct eco_view_opening *o,
                       void (*show)(struct eco_doc *d, const struct eco_view_opening *o,
                                    const struct eco_res_alert *a))
{
    const struct eco_res_alert *a = o->alerts ? o->alerts->items : NULL;
    for (size_t i = 0; o->alerts && i < o->alerts->n; i++) {
        if (strcmp(a[i].severity, "info") != 0) {
            show(d, o, &a[i]);
        }
    }
}

static void show_plain(struct eco_doc *d, const struct eco_view_opening *o,
                       const struct eco_res_alert *a)
{
    (void)o;
    plain_alert(d, a);
}

void eco_view_front_alerts(struct eco_doc *d, const struct eco_list *alerts)
{
    struct eco_view_opening o = {.alerts = alerts};
    each_alert(d, &o, show_plain);
}

/* ---- EcoLobster ---------------------------------------------------------------------------- */

static enum eco_tone tone_of_mood(const char *mood)
{
    return strcmp(mood, "Green") == 0  ? ECO_TONE_GOOD
           : strcmp(mood, "Red") == 0  ? ECO_TONE_BAD
           : strcmp(mood, "Gray") == 0 ? ECO_TONE_QUIET
                                       : ECO_TONE_WARN;
}

static void mood_line(struct eco_doc *d, const char *mood)
{
    const char *text = strcmp(mood, "Green") == 0    ? TX(d, mood_green)
                       : strcmp(mood, "Yellow") == 0 ? TX(d, mood_yellow)
                       : strcmp(mood, "Orange") == 0 ? TX(d, mood_orange)
                       : strcmp(mood, "Red") == 0    ? TX(d, mood_red)
                                                     : TX(d, mood_gray);
    eco_doc_verdict(d, tone_of_mood(mood), "%s", text);
}

static void lobster_fix(struct eco_doc *d, const struct eco_res_alert *a)
{
    bool code = a->fix_code && a->fix_code[0];
    eco_doc_text(d, ECO_TONE_PLAIN, TX(d, lobster_fix), code ? a->fix_code : a->fix);
    if (!a->fix_effect_pct.have || a->fix_effect_pct.v >= 0) {
        return;
    }
    const char *effect = eco_doc_signed(d, a->fix_effect_pct.v, 3);
    if (a->fix_saving_usd.have && a->fix_saving_usd.v > 0) {
        eco_doc_text(d, ECO_TONE_GOOD, TX(d, lobster_fixed_usd), effect,
                     eco_doc_num(d, a->fix_saving_usd.v, 3));
    } else {
        eco_doc_text(d, ECO_TONE_GOOD, TX(d, lobster_fixed), effect);
    }
}

static void show_lobster(struct eco_doc *d, const struct eco_view_opening *o,
                         const struct eco_res_alert *a)
{
    const struct eco_res_input *in = o->input;
    const char *size = in ? eco_doc_num(d, in->params_b, 4) : "";
    char model[80];
    snprintf(model, sizeof(model), "%sB", size);
    const char *precision = o->precision ? o->precision : in ? in->precision : NULL;
    eco_doc_verdict(d, tone_of_severity(a->severity), TX(d, lobster_alert), a->name);
    if (in && precision) {
        eco_doc_text(d, ECO_TONE_PLAIN, TX(d, lobster_trap), in->model ? in->model : model,
                     in->gpu ? in->gpu : in->arch, precision, a->why);
    } else {
        eco_doc_text(d, ECO_TONE_PLAIN, TX(d, lobster_why), a->why);
    }
    if (a->effect_pct.have && a->effect_ci.have) {
        const char *effect = eco_doc_signed(d, a->effect_pct.v, 3);
        const char *lo = eco_doc_signed(d, a->effect_ci.lo, 3);
        const char *hi = eco_doc_signed(d, a->effect_ci.hi, 3);
        if (a->month_usd.have && a->month_usd.v > 0) {
            eco_doc_text(d, ECO_TONE_PLAIN, TX(d, lobster_costs_usd), effect, lo, hi,
                         eco_doc_num(d, a->month_usd.v, 3));
        } else {
            eco_doc_text(d, ECO_TONE_PLAIN, TX(d, lobster_costs), effect, lo, hi);
        }
    }
    lobster_fix(d, a);
}

/* Dollars always, with something of every day beside them; a reason where there are none. */
static void lobster_bill(struct eco_doc *d, const struct eco_view_opening *o)
{
    const struct eco_res_bill *b = o->bill;
    if (!b || b->equivalents.n == 0) {
        eco_doc_text(d, ECO_TONE_PLAIN, "%s", o->no_bill ? o->no_bill : TX(d, lobster_no_bill));
    } else if (b->month.usd.have) {
        eco_doc_text(d, ECO_TONE_PLAIN,
                     o->does_not_fit ? TX(d, lobster_bill_if) : TX(d, lobster_bill),
                     eco_doc_num(d, b->month.usd.v, 4), eco_doc_num(d, b->requests, 15),
                     eco_view_word(d, b->region), b->equivalents.v[0]);
    } else {
        eco_doc_text(d, ECO_TONE_PLAIN, TX(d, lobster_kwh), eco_view_word(d, b->region),
                     eco_doc_num(d, b->month.kwh, 4), b->equivalents.v[0]);
    }
}

void eco_view_open(struct eco_doc *d, const struct eco_view_opening *o)
{
    if (d->persona != ECO_PERSONA_LOBSTER) {
        eco_doc_verdict(d, o->tone, "%s", o->verdict);
        if (o->reason) {
            eco_doc_text(d, ECO_TONE_PLAIN, TX(d, because), o->reason);
        }
        if (o->alerts_at && eco_view_is_trapped(o->alerts)) {
            eco_doc_text(d, ECO_TONE_QUIET, TX(d, at_size), o->alerts_at);
        }
        each_alert(d, o, show_plain);
        return;
    }
    const char *mood = o->mood ? o->mood : "Gray";
    mood_line(d, mood);
    each_alert(d, o, show_lobster);
    if (d->preface) {
        d->preface(d, d->preface_data);
    }
    eco_doc_verdict(d, o->tone, TX(d, lobster_says), o->verdict);
    if (o->reason) {
        eco_doc_text(d, ECO_TONE_PLAIN, TX(d, because), o->reason);
    }
    if (strcmp(mood, "Green") == 0 && o->tone == ECO_TONE_GOOD) {
        eco_doc_text(d, ECO_TONE_GOOD, "%s", TX(d, lobster_chose_well));
    }
    lobster_bill(d, o);
}

/* ---- bars ---------------------------------------------------------------------------------- */

static const char *color_of(const char *mood)
{
    return strcmp(mood, "Green") == 0    ? "\033[32m"
           : strcmp(mood, "Yellow") == 0 ? "\033[33m"
           : strcmp(mood, "Orange") == 0 ? "\033[38;5;208m"
           : strcmp(mood, "Red") == 0    ? "\033[31m"
                                         : "\033[2m";
}

static void one_bar(struct eco_doc *d, const struct eco_view_bar *bar, size_t width, int columns,
                    struct eco_buf *b)
{
    bool color = d->color && d->kind == ECO_DOC_TEXT;
    bool known = bar->efficiency_pct.have;
    const char *mood = bar->mood ? bar->mood : "Gray";
    size_t w = eco_str_width(bar->name, strlen(bar->name));
    int full = known ? (int)(bar->efficiency_pct.v / 100.0 * columns + 0.5) : 0;
    eco_buf_printf(b, "%s%*s", bar->name, (int)(width - w + 2), "");
    eco_buf_puts(b, color ? color_of(mood) : "");
    for (int k = 0; k < columns; k++) {
        eco_buf_puts(b, k < full ? (d->ascii ? "#" : "█") : (d->ascii ? "." : "░"));
    }
    eco_buf_puts(b, color ? "\033[0m" : "");
    eco_buf_printf(b, " %4s %%  [%s]", known ? eco_doc_num(d, bar->efficiency_pct.v, 3) : "?",
                   eco_view_word(d, mood));
    if (bar->month_usd.have) {
        eco_buf_puts(b, "  ");
        eco_buf_printf(b, TX(d, bar_usd), eco_doc_num(d, bar->month_usd.v, 3));
    }
    eco_buf_putc(b, '\n');
}

void eco_view_bars(struct eco_doc *d, const struct eco_view_bar *bars, size_t n)
{
    struct eco_buf b = ECO_BUF_INIT;
    size_t width = 0;
    for (size_t i = 0; i < n; i++) {
        size_t w = eco_str_width(bars[i].name, strlen(bars[i].name));
        width = w > width ? w : width;
    }
    int room = d->width - (int)width - BAR_WORDS;
    int columns = d->kind != ECO_DOC_TEXT || room > BAR_COLUMNS ? BAR_COLUMNS
                  : room < 10                                   ? 10
                                                                : room;
    eco_doc_heading(d, TX(d, h_bars));
    for (size_t i = 0; i < n; i++) {
        one_bar(d, &bars[i], width, columns, &b);
    }
    eco_doc_pre(d, eco_buf_str(&b));
    eco_buf_done(&b);
}
