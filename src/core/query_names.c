/*
 * Names of cards and models in running text. A name is first cut out by grammar (brand words,
 * letters with a number, endings), then shortened until the caller's look-up knows it.
 */
#include "query.h"

#include "base/buf.h"

#include <math.h>
#include <string.h>

#define MAX_NAME_TOKENS 14

static const char *const brands[] = {"nvidia", "geforce", "rtx",      "gtx",    "gt",    "quadro",
                                     "tesla",  "titan",   "grid",     "jetson", "agx",   "dgx",
                                     "amd",    "radeon",  "instinct", "rx",     "intel", "arc",
                                     "gaudi",  "apple",   "grace",    "force",  "ge",    "cmp",
                                     "mx",     "data",    "center",   "gpu"};
static const char *const endings[] = {
    "ti",          "super",  "d",       "s",      "x",        "sxm",      "pcie",      "nvl",
    "hbm",         "laptop", "mobile",  "max",    "q",        "ada",      "blackwell", "generation",
    "workstation", "server", "edition", "gpu",    "gpus",     "tensor",   "superchip", "xtx",
    "xt",          "gre",    "pro",     "ultra",  "orin",     "nx",       "agx",       "xavier",
    "thor",        "spark",  "nano",    "hopper", "lovelace", "g",        "e",         "ws",
    "se",          "m",      "a",       "v",      "dv",       "notebook", "lhr",       "c",
    "rtx",         "p",      "xp",      "z",      "card",     "core",     "active",    "vgpu",
    "sff"};

static bool in_list(const struct query *q, size_t i, const char *const *list, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        if (eco_query_token_is(q, i, list[k]))
            return true;
    }
    return false;
}

static bool brand_at(const struct query *q, size_t i)
{
    return i < q->n_tokens && in_list(q, i, brands, sizeof brands / sizeof brands[0]);
}

static bool is_kind(const struct query *q, size_t i, enum query_kind kind)
{
    return i < q->n_tokens && q->token[i].kind == kind;
}

/* Past one hyphen, underscore or bracket between the parts of a name. */
static size_t past_mark(const struct query *q, size_t i)
{
    bool mark = is_kind(q, i, QUERY_MARK) &&
                (eco_query_token_is(q, i, "-") || eco_query_token_is(q, i, "_") ||
                 eco_query_token_is(q, i, "(") || eco_query_token_is(q, i, "/"));
    return mark && i + 1 < q->n_tokens ? i + 1 : i;
}

static bool whole(double v)
{
    return v == floor(v) && v > 0.0 && v < 1e5;
}

bool eco_query_bare_card(double v)
{
    int n = whole(v) ? (int)v : 0, series = n / 1000, rest = n % 1000;

    return (series >= 2 && series <= 5 && rest % 10 == 0 && rest >= (series == 2 ? 60 : 50) &&
            rest <= (series == 2 ? 80 : 90)) ||
           n == 1650 || n == 1660 || n == 1080;
}

static bool memory_unit(const struct query *q, size_t i)
{
    return eco_query_token_is(q, i, "gb") || eco_query_token_is(q, i, "g") ||
           eco_query_token_is(q, i, "gib");
}

/* One more part of a card's name at token i ("Ti", "80GB", "SXM4", "'s"): tokens, or 0. */
static size_t ending_at(const struct query *q, size_t i, bool brand_only)
{
    size_t at = past_mark(q, i), n;

    if (eco_query_token_is(q, i, "'") && eco_query_token_is(q, i + 1, "s"))
        return 2;
    if (is_kind(q, at, QUERY_NUM) && at > i && !q->token[at].space && !brand_only &&
        (eco_query_token_is(q, at + 1, "q") || eco_query_token_is(q, at + 1, "c")))
        return at + 2 - i; /* a slice of a card: T4-8Q */
    if (is_kind(q, at, QUERY_NUM) && memory_unit(q, at + 1) && whole(q->token[at].value) &&
        !brand_only && !eco_query_token_is(q, at + 2, "of")) {
        n = at + 2 - i;
        return eco_query_token_is(q, at + 2, ")") ? n + 1 : n;
    }
    if (!is_kind(q, at, QUERY_WORD) || !in_list(q, at, endings, sizeof endings / sizeof *endings))
        return 0;
    if (q->token[at].len == 1 && q->token[at].space && !eco_query_token_is(q, at - 1, "titan"))
        return 0;
    n = at + 1 - i;
    if ((eco_query_token_is(q, at, "sxm") || eco_query_token_is(q, at, "hbm")) &&
        eco_query_glued(q, at + 1)) {
        n++;
        n += eco_query_token_is(q, at + 2, "e") && eco_query_glued(q, at + 2) ? 1 : 0;
    }
    return n;
}

/* "7B, A 100, NF4": nothing beside it that the letter or the number could belong to. */
static bool fenced(const struct query *q, size_t i, const struct query_word *behind)
{
    bool before = i == 0 || eco_query_token_is(q, i - 1, ",") || eco_query_token_is(q, i - 1, ";");
    return before &&
           (i + 2 == q->n_tokens || eco_query_token_is(q, i + 2, ",") ||
            eco_query_token_is(q, i + 2, ";") || (behind != NULL && behind->sense == SENSE_PREC));
}

/* "on A 100": a capital that no sentence begins with, and no unit behind the number. */
static bool apart(const struct query *q, size_t i)
{
    static const char heads[] = "AHVLBT";
    static const double numbers[] = {100, 200, 800, 20, 40, 4, 10, 30};
    size_t n = 0;
    const struct query_word *w = i + 2 < q->n_tokens ? eco_query_longest(q, i + 2, &n) : NULL;
    bool known = false;

    if (q->token[i].len != 1 || strchr(heads, q->text[q->token[i].at]) == NULL ||
        !is_kind(q, i + 1, QUERY_NUM))
        return false;
    if (i == 0 || q->token[i - 1].kind == QUERY_MARK ? !fenced(q, i, w) : eco_query_glued(q, i + 2))
        return false;
    for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++)
        known |= q->token[i + 1].value == numbers[k];
    return known && (w == NULL || w->sense == SENSE_PREC || w->sense == SENSE_BATCH ||
                     w->sense == SENSE_CTX || w->sense == SENSE_LINK);
}

/* "A100", "A-100", "MI300X": letters with a number, tokens used or 0. */
static size_t series_at(const struct query *q, size_t i, bool after_brand)
{
    static const char letters[] = "ahtvlb";
    size_t at = i + 1;
    double v;
    char head = eco_query_fold(q->text[q->token[i].at]);

    if (!is_kind(q, i, QUERY_WORD) || q->token[i].len > 4)
        return 0;
    if (eco_query_token_is(q, at, "-") && !q->token[at].space && is_kind(q, at + 1, QUERY_NUM) &&
        !q->token[at + 1].space &&
        (after_brand || (q->token[i].len == 1 && strchr(letters, head) != NULL)))
        at++;
    else if (!eco_query_glued(q, at) && !apart(q, i))
        return 0;
    if (!is_kind(q, at, QUERY_NUM) || !whole(q->token[at].value))
        return 0;
    v = q->token[at].value;
    if (q->token[i].len == 1 && head == 'b' && v != 100 && v != 200 && v != 300 && v != 580)
        return 0; /* b32 is a batch */
    if (q->token[i].len == 1 && head == 't' && v > 10 && v != 40 && v != 400 && v != 500 &&
        v != 600 && v != 1000 && v != 2000)
        return 0;
    if (q->token[i].len == 1 && head == 'l' && eco_query_token_is(q, at + 1, "cache"))
        return 0;
    return at + 1 - i;
}

/* "titan rtx 13b": the number is the model's size, no part of the name. */
static bool size_behind(const struct query *q, size_t i)
{
    return q->token[i].value < 1000.0 && eco_query_glued(q, i + 1) &&
           eco_query_token_is(q, i + 1, "b");
}

/* Where a name that starts at `first` can end at most; 0 when it cannot start here. */
static size_t card_end(const struct query *q, size_t first, bool *bare)
{
    size_t i = first, n;
    bool brand = false;

    *bare = false;
    while (brand_at(q, i) && i < first + 6) {
        brand = true;
        i = past_mark(q, i + 1);
    }
    if (eco_query_token_is(q, i, "pro") || eco_query_token_is(q, i, "max"))
        i = brand ? past_mark(q, i + 1) : i;
    n = i < q->n_tokens ? series_at(q, i, brand) : 0;
    if (n > 0) {
        i += n;
    } else if (is_kind(q, i, QUERY_NUM) && whole(q->token[i].value) && !size_behind(q, i) &&
               (brand || eco_query_bare_card(q->token[i].value))) {
        *bare = !brand;
        i++;
    } else if (!brand) {
        return 0;
    }
    for (size_t k = 0; k < 6 && i < q->n_tokens && (n = ending_at(q, i, false)) > 0; k++)
        i += n;
    return i;
}

static void span_text(const struct query *q, size_t first, size_t end, const char **s, size_t *len)
{
    const struct query_token *last = &q->token[end - 1];
    *s = q->text + q->token[first].at;
    *len = (size_t)last->at + last->len - q->token[first].at;
}

/* An ending that does not make it another card: it may be left out to find the table row. */
static bool neutral(const struct query *q, size_t i)
{
    static const char *const words[] = {"s",    "gpu",    "gpus",    "card", "core", "sff",
                                        "vgpu", "tensor", "edition", "q",    "c"};
    return q->token[i].kind == QUERY_MARK || in_list(q, i, words, sizeof words / sizeof words[0]) ||
           (q->token[i].kind == QUERY_NUM &&
            (eco_query_token_is(q, i + 1, "q") || eco_query_token_is(q, i + 1, "c")));
}

static bool ask_card(const struct query *q, size_t first, size_t end, struct eco_query_card *out)
{
    const char *s;
    size_t len;

    span_text(q, first, end, &s, &len);
    memset(out, 0, sizeof *out);
    return len < ECO_QUERY_NAME && q->names->card(q->names->self, s, len, out);
}

/* A table row for the span without its neutral ending, else the class of the whole name. */
static bool look_up_card(const struct query *q, size_t first, size_t end,
                         struct eco_query_card *out)
{
    struct eco_query_card c;
    const char *s;
    size_t len, e = end;

    while (first + 1 < end &&
           (eco_query_token_is(q, first, "ge") || eco_query_token_is(q, first, "force") ||
            eco_query_token_is(q, first, "grid") || eco_query_token_is(q, first, "gpu") ||
            eco_query_token_is(q, first, "-")))
        first++;
    for (; e > first; e--) {
        if (q->token[e - 1].kind != QUERY_MARK && ask_card(q, first, e, &c) && c.name[0]) {
            *out = c;
            return true;
        }
        if (!neutral(q, e - 1))
            break;
    }
    for (; e > first; e--) {
        if (ask_card(q, first, e, &c)) {
            span_text(q, first, e, &s, &len);
            *out = c;
            memcpy(out->name, s, len);
            out->name[len] = '\0';
            return true;
        }
    }
    return false;
}

/* Apple's chips: known not to be in any class. */
static size_t apple_at(const struct query *q, size_t i, struct eco_query_card *out)
{
    size_t first = i, end;
    const char *s;
    size_t len;

    i += eco_query_token_is(q, i, "apple") ? 1 : 0;
    if (!eco_query_token_is(q, i, "m") || !eco_query_glued(q, i + 1) ||
        !is_kind(q, i + 1, QUERY_NUM) || q->token[i + 1].value < 1 || q->token[i + 1].value > 9 ||
        q->token[i + 1].value != floor(q->token[i + 1].value))
        return 0;
    end = i + 2;
    if (eco_query_token_is(q, end, "max") || eco_query_token_is(q, end, "pro") ||
        eco_query_token_is(q, end, "ultra"))
        end++;
    span_text(q, first, end, &s, &len);
    *out = (struct eco_query_card){.arch = ECO_ARCH_UNKNOWN};
    memcpy(out->name, s, len < ECO_QUERY_NAME ? len : 0);
    return end - first;
}

/* A class by its English name, or one slip away from it. */
static enum eco_arch class_at(const struct query *q, size_t i, bool *slip)
{
    static const char *const not_slips[] = {"tuning", "volts", "volt", "during", "touring"};
    const struct query_token *t = &q->token[i];
    const char *s = q->text + t->at;

    *slip = false;
    if (t->kind != QUERY_WORD || (eco_query_glued(q, i + 1) && !is_kind(q, i + 1, QUERY_CJK)) ||
        (i > 0 && eco_query_token_is(q, i - 1, "alan")))
        return ECO_ARCH_UNKNOWN;
    if (eco_query_token_is(q, i, "lovelace"))
        return ECO_ARCH_ADA;
    for (int a = ECO_ARCH_UNKNOWN + 1; a < ECO_ARCH_COUNT; a++) {
        const char *name = eco_arch_name((enum eco_arch)a);
        size_t n = strlen(name);
        bool nvidia = strcmp(eco_arch_vendor((enum eco_arch)a), "nvidia") == 0;

        if (nvidia && eco_str_ieq(s, t->len, name))
            return (enum eco_arch)a;
        if (nvidia && n >= 5 && t->len >= 5 && eco_query_fold(s[0]) == name[0] &&
            !in_list(q, i, not_slips, sizeof not_slips / sizeof *not_slips)) {
            char low[16] = {0};
            for (size_t k = 0; k < t->len && k < sizeof low - 1; k++)
                low[k] = eco_query_fold(s[k]);
            if (t->len < sizeof low &&
                eco_str_distance(low, t->len, name, n, 2) <= (n > 7 ? 2 : 1)) {
                *slip = true;
                return (enum eco_arch)a;
            }
        }
    }
    return ECO_ARCH_UNKNOWN;
}

/* Cloud machines by the card inside: "g4dn.xlarge", "p5.48xlarge". */
static size_t instance_at(const struct query *q, size_t first, struct eco_query_card *out)
{
    size_t n = 0, end;
    const struct query_word *w = eco_query_longest(q, first, &n);

    if (w == NULL || w->sense != SENSE_INSTANCE)
        return 0;
    end = first + n;
    if (w->arg == 0 &&
        (!eco_query_token_is(q, end, ".") || end + 1 >= q->n_tokens || q->token[end + 1].space))
        return 0;
    while (end < q->n_tokens && !q->token[end].space && q->token[end].kind != QUERY_CJK &&
           !eco_query_token_is(q, end, ",") && !eco_query_token_is(q, end, ";"))
        end++;
    return q->names->card(q->names->self, w->card, strlen(w->card), out) ? end - first : 0;
}

/* Whether a name may begin at this token: not in the middle of a word. */
static bool may_start(const struct query *q, size_t i)
{
    if (!eco_query_glued(q, i) || q->token[i - 1].kind == QUERY_CJK)
        return true;
    if (q->token[i - 1].kind == QUERY_WORD && q->token[i].kind == QUERY_WORD)
        return true; /* parted by letter case: "7bA100" */
    if (q->token[i - 1].kind == QUERY_WORD && q->token[i].kind == QUERY_NUM) {
        const struct query_token *t = &q->token[i - 1]; /* "RXT4090" */
        if (eco_query_token_is(q, i - 1, "x") && i >= 2 && is_kind(q, i - 2, QUERY_NUM))
            return true; /* "4x4090" */
        return t->len == 3 && eco_query_bare_card(q->token[i].value) &&
               (eco_str_distance(q->text + t->at, 3, "RTX", 3, 3) <= 2 ||
                eco_str_distance(q->text + t->at, 3, "rtx", 3, 3) <= 2);
    }
    return false;
}

size_t eco_query_card(struct query *q, size_t first, struct query_card_at *out)
{
    size_t end, n;
    bool bare = false, slip = false;
    enum eco_arch arch;

    memset(out, 0, sizeof *out);
    if (!may_start(q, first))
        return 0;
    out->score = 90;
    n = instance_at(q, first, &out->card);
    n = n > 0 ? n : apple_at(q, first, &out->card);
    if (n > 0)
        return n;
    arch = class_at(q, first, &slip);
    if (arch != ECO_ARCH_UNKNOWN) {
        out->card.arch = arch;
        out->score = slip ? 60 : 85;
        return 1;
    }
    if (q->token[first].kind != QUERY_WORD && q->token[first].kind != QUERY_NUM)
        return 0;
    end = card_end(q, first, &bare);
    if (end == 0 || end - first > MAX_NAME_TOKENS || !look_up_card(q, first, end, &out->card))
        return 0;
    out->score = bare ? 70 : 90;
    return end - first;
}
