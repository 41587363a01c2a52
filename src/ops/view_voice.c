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

/* The trap, with the run it is about where there are several. */
static const char *name_of(struct eco_doc *d, const struct eco_res_alert *a, bool name_run)
{
    if (!name_run || !a->precision) {
        return a->name;
    }
    struct eco_buf b = ECO_BUF_INIT;
    eco_buf_printf(&b, TX(d, alert_of), a->name, a->precision, a->engine ? a->engine : "");
    const char *text = eco_arena_strdup(d->arena, eco_buf_str(&b), b.len);
    eco_buf_done(&b);
    return text ? text : a->name;
}

static void plain_alert(struct eco_doc *d, const struct eco_res_alert *a, bool name_run)
{
    const char *name = name_of(d, a, name_run);
    const char *mark = d->ascii ? "!" : "▲";
    enum eco_tone tone = tone_of_severity(a->severity);
    if (!a->effect_pct.have || !a->effect_ci.have) {
        eco_doc_verdict(d, tone, TX(d, alert_plain), mark, name);
        fix_line(d, a);
        return;
    }
    const char *effect = eco_doc_signed(d, a->effect_pct.v, 3);
    const char *lo = eco_doc_signed(d, a->effect_ci.lo, 3);
    const char *hi = eco_doc_signed(d, a->effect_ci.hi, 3);
    if (a->month_usd.have && a->month_usd.v > 0) {
        eco_doc_verdict(d, tone, TX(d, alert_head_usd), mark, name, effect, lo, hi,
                        eco_doc_num(d, a->month_usd.v, 3));
    } else {
        eco_doc_verdict(d, tone, TX(d, alert_head), mark, name, effect, lo, hi);
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
    plain_alert(d, a, o->name_runs);
}

void eco_view_front_alerts(struct eco_doc *d, const struct eco_list *alerts)
{
    struct eco_view_opening o = {.alerts = alerts, .name_runs = true};
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

/* The words of one assumption; nothing when the answer does not rest on it. */
static void assumed_one(struct eco_doc *d, const struct eco_view_opening *o, const char *name,
                        struct eco_buf *b)
{
    const struct eco_res_input *in = o->input;
    const struct eco_res_bill *bill = o->bill && o->bill->requests > 0 ? o->bill : NULL;
    if (strcmp(name, "gpu") == 0 && in->gpu) {
        eco_buf_printf(b, TX(d, assumed_card), in->gpu);
    } else if (strcmp(name, "precision") == 0 && in->precision) {
        eco_buf_printf(b, TX(d, assumed_precision), in->precision);
    } else if (strcmp(name, "engine") == 0 && in->precision && !o->name_runs) {
        eco_buf_printf(b, TX(d, assumed_engine), in->engine);
    } else if (strcmp(name, "engine") == 0) { /* several precisions */
        eco_buf_puts(b, TX(d, assumed_engines));
    } else if (strcmp(name, "batch") == 0) {
        eco_buf_printf(b, TX(d, assumed_batch), (long long)in->batch);
    } else if (strcmp(name, "prompt_tokens") == 0) {
        eco_buf_printf(b, TX(d, assumed_prompt), (long long)in->prompt_tokens);
    } else if (strcmp(name, "gen_tokens") == 0) {
        eco_buf_printf(b, TX(d, assumed_gen), (long long)in->gen_tokens);
    } else if (strcmp(name, "ctx") == 0) {
        eco_buf_printf(b, TX(d, assumed_ctx), (long long)in->ctx);
    } else if (strcmp(name, "requests") == 0 && bill) {
        eco_buf_printf(b, TX(d, assumed_requests), eco_doc_num(d, bill->requests, 15));
    } else if (strcmp(name, "region") == 0 && bill) {
        eco_buf_printf(b, TX(d, assumed_region), eco_view_word(d, bill->region));
    } else if (strcmp(name, "price") == 0 && bill && bill->price_usd_per_kwh.have) {
        eco_buf_printf(b, TX(d, assumed_price), eco_doc_num(d, bill->price_usd_per_kwh.v, 15));
    } else if (strcmp(name, "carbon_intensity") == 0 && bill && bill->carbon_gco2_per_kwh.have) {
        eco_buf_printf(b, TX(d, assumed_carbon), eco_doc_num(d, bill->carbon_gco2_per_kwh.v, 15));
    } else if (strcmp(name, "pue") == 0 && bill) {
        eco_buf_printf(b, TX(d, assumed_pue), eco_doc_num(d, bill->pue, 15));
    }
}

/* What nobody said and a default stands for: told, in either voice, so that no guess passes for
 * the user's own. */
static void assumed_line(struct eco_doc *d, const struct eco_view_opening *o)
{
    const struct eco_res_input *in = o->input;
    struct eco_buf b = ECO_BUF_INIT;
    for (size_t i = 0; in && i < in->assumed.n; i++) {
        struct eco_buf one = ECO_BUF_INIT;
        assumed_one(d, o, in->assumed.v[i], &one);
        if (one.len) {
            eco_buf_puts(&b, b.len ? TX(d, list_comma) : "");
            eco_buf_puts(&b, eco_buf_str(&one));
        }
        eco_buf_done(&one);
    }
    if (b.len) {
        eco_doc_text(d, ECO_TONE_QUIET, TX(d, assumed_line), eco_buf_str(&b));
    }
    eco_buf_done(&b);
}

static bool is_assumed(const struct eco_res_input *in, const char *name)
{
    for (size_t i = 0; in && i < in->assumed.n; i++) {
        if (strcmp(in->assumed.v[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* The word, marked when it is a guess. */
static const char *guess(struct eco_doc *d, const char *word, bool assumed)
{
    if (!assumed) {
        return word;
    }
    struct eco_buf b = ECO_BUF_INIT;
    eco_buf_printf(&b, TX(d, assumed_word), word);
    const char *text = eco_arena_strdup(d->arena, eco_buf_str(&b), b.len);
    eco_buf_done(&b);
    return text ? text : word;
}

static void mood_line(struct eco_doc *d, const char *mood, const char *says)
{
    if (says) {
        eco_doc_verdict(d, tone_of_mood(mood), TX(d, mood_says), eco_view_word(d, mood), says);
        return;
    }
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
    eco_doc_text(d, ECO_TONE_PLAIN, TX(d, lobster_fix), a->fix);
    if (code) {
        eco_doc_text(d, ECO_TONE_PLAIN, TX(d, lobster_code), a->fix_code);
    }
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
    eco_doc_verdict(d, tone_of_severity(a->severity), TX(d, lobster_alert),
                    name_of(d, a, o->name_runs));
    if (in && precision && !o->name_runs) {
        bool no_model = is_assumed(in, "model"), no_card = in->gpu && is_assumed(in, "gpu");
        bool no_precision = is_assumed(in, "precision");
        eco_doc_text(d, ECO_TONE_PLAIN,
                     no_model || no_card || no_precision ? TX(d, lobster_trap_assumed)
                                                         : TX(d, lobster_trap),
                     guess(d, in->model ? in->model : model, no_model),
                     guess(d, in->gpu ? in->gpu : in->arch, no_card),
                     guess(d, a->precision ? a->precision : precision, no_precision), a->why);
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
        assumed_line(d, o);
        if (o->alerts_at && eco_view_is_trapped(o->alerts)) {
            eco_doc_text(d, ECO_TONE_QUIET, TX(d, at_size), o->alerts_at);
        }
        each_alert(d, o, show_plain);
        return;
    }
    const char *mood = o->mood ? o->mood : "Gray";
    mood_line(d, mood, o->mood_says);
    each_alert(d, o, show_lobster);
    if (d->preface) {
        d->preface(d, d->preface_data);
    }
    eco_doc_verdict(d, o->tone, TX(d, lobster_says), o->verdict);
    if (o->reason) {
        eco_doc_text(d, ECO_TONE_PLAIN, TX(d, because), o->reason);
    }
    assumed_line(d, o);
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
