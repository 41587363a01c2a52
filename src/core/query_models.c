/* Names of models in running text: a family, its version, variant and size. */
#include "query.h"

#include <math.h>
#include <string.h>

#define SAME_SIZE 0.15 /* "DeepSeek-V3 671B": the size said agrees with the table */

/* NEEDS: an English word too, a model only with a number behind it. */
enum { PLAIN = 0, NEEDS = 1 };

static const struct {
    const char *phrase, *latin;
    int flags;
} families[] = {
    {"qwen", NULL, PLAIN},
    {"tiny llama", NULL, PLAIN},
    {"code llama", NULL, PLAIN},
    {"meta llama", NULL, PLAIN},
    {"open llama", NULL, PLAIN},
    {"llama", NULL, PLAIN},
    {"lama", NULL, NEEDS},
    {"mistral", NULL, PLAIN},
    {"mixtral", NULL, PLAIN},
    {"ministral", NULL, PLAIN},
    {"codestral", NULL, PLAIN},
    {"deep seek", NULL, PLAIN},
    {"yi", NULL, NEEDS},
    {"phi", NULL, NEEDS},
    {"gemma", NULL, PLAIN},
    {"code gemma", NULL, PLAIN},
    {"falcon", NULL, NEEDS},
    {"bloomz", NULL, PLAIN},
    {"bloom", NULL, NEEDS},
    {"opt", NULL, NEEDS},
    {"gpt", NULL, NEEDS},
    {"gpt neo x", NULL, NEEDS},
    {"gpt neox", NULL, PLAIN},
    {"gpt j", NULL, PLAIN},
    {"gpt neo", NULL, PLAIN},
    {"gpt oss", NULL, PLAIN},
    {"gpt 2", NULL, PLAIN},
    {"chat glm", NULL, PLAIN},
    {"glm", NULL, NEEDS},
    {"baichuan", NULL, PLAIN},
    {"intern lm", NULL, PLAIN},
    {"smol lm", NULL, PLAIN},
    {"stable lm", NULL, PLAIN},
    {"star coder", NULL, PLAIN},
    {"wizard lm", NULL, PLAIN},
    {"vicuna", NULL, PLAIN},
    {"alpaca", NULL, PLAIN},
    {"pythia", NULL, PLAIN},
    {"olmo", NULL, PLAIN},
    {"granite", NULL, NEEDS},
    {"command r", NULL, NEEDS},
    {"dbrx", NULL, PLAIN},
    {"mini cpm", NULL, PLAIN},
    {"kimi", NULL, PLAIN},
    {"nemotron", NULL, PLAIN},
    {"solar", NULL, NEEDS},
    {"zephyr", NULL, PLAIN},
    {"mpt", NULL, PLAIN},
    {"exaone", NULL, PLAIN},
    {"hunyuan", NULL, PLAIN},
    {"moonlight", NULL, NEEDS},
    {"dolly", NULL, PLAIN},
    {"orca", NULL, NEEDS},
    {"xverse", NULL, PLAIN},
    {"qwq", NULL, PLAIN},
    {"flan t5", NULL, PLAIN},
    {"t5", NULL, PLAIN},
    {"bert", NULL, PLAIN},
    {"grok", NULL, NEEDS},
    {"skywork", NULL, PLAIN},
    {"通义千问", "qwen", PLAIN},
    {"千问", "qwen", PLAIN},
    {"百川", "baichuan", PLAIN},
    {"零一万物", NULL, PLAIN},
    {"书生浦语", "internlm", PLAIN},
    {"书生", "internlm", PLAIN},
    {"混元", "hunyuan", PLAIN},
    {"智谱", "glm", PLAIN},
    {"羊驼", "llama", PLAIN},
    {"深度求索", "deepseek", PLAIN},
    {"悟道", NULL, PLAIN},
    {"文心", NULL, PLAIN},
    {"盘古", NULL, PLAIN},
    {"通义", "qwen", PLAIN},
};

static const char *const variants[] = {"mini", "medium", "small",   "large", "nemo",  "instruct",
                                       "chat", "base",   "it",      "hf",    "coder", "lite",
                                       "tiny", "xl",     "distill", "scout", "moe",   "neo",
                                       "oss",  "turbo",  "math",    "vl"};

static bool is_kind(const struct query *q, size_t i, enum query_kind kind)
{
    return i < q->n_tokens && q->token[i].kind == kind;
}

static size_t family_at(const struct query *q, size_t i, const char **latin, int *flags)
{
    size_t best = 0;

    for (size_t k = 0; k < sizeof families / sizeof families[0]; k++) {
        size_t n = eco_query_phrase(q, i, families[k].phrase);
        if (n > best) {
            best = n;
            *latin = families[k].latin;
            *flags = families[k].flags;
        }
    }
    return best;
}

static bool joint(const struct query *q, size_t i)
{
    return is_kind(q, i, QUERY_MARK) && !q->token[i].space && i + 1 < q->n_tokens &&
           !q->token[i + 1].space && q->token[i + 1].kind != QUERY_MARK &&
           strchr("-_./", q->text[q->token[i].at]) != NULL;
}

/* A precision or a card begins here: the model's name is over. */
static bool stops(struct query *q, size_t i)
{
    struct query_card_at card;
    size_t n = 0;
    const struct query_word *w = eco_query_longest(q, i, &n);
    bool bits = is_kind(q, i, QUERY_NUM) && i + 1 < q->n_tokens &&
                (eco_query_phrase(q, i + 1, "bit") > 0 || eco_query_phrase(q, i + 1, " bit") > 0);

    if (bits || (w != NULL &&
                 (w->sense == SENSE_PREC || w->sense == SENSE_BATCH || w->sense == SENSE_CTX) &&
                 q->token[i].kind == QUERY_WORD && !eco_query_token_is(q, i, "b")))
        return true;
    return q->token[i].kind == QUERY_WORD && eco_query_glued(q, i + 1) &&
           eco_query_card(q, i, &card) > 0;
}

/* All that is written without a blank. */
static size_t glued_end(struct query *q, size_t i)
{
    while (i < q->n_tokens && !q->token[i].space && q->token[i].kind != QUERY_CJK) {
        if (is_kind(q, i, QUERY_MARK)) {
            if (!joint(q, i) || stops(q, i + 1))
                return i;
            i += 2;
        } else {
            if (stops(q, i))
                return i;
            i++;
        }
    }
    return i;
}

/* Written on without a break, in letters or digits. */
static bool goes_on(const struct query *q, size_t i)
{
    return eco_query_glued(q, i) && q->token[i].kind != QUERY_CJK;
}

static bool size_unit(const struct query *q, size_t i)
{
    return eco_query_token_is(q, i, "b") || eco_query_token_is(q, i, "m");
}

/* A size behind a blank: "70b", "8x7B". */
static size_t size_at(const struct query *q, size_t i)
{
    if (is_kind(q, i, QUERY_NUM) && eco_query_glued(q, i + 1) && size_unit(q, i + 1) &&
        !goes_on(q, i + 2))
        return 2;
    if (is_kind(q, i, QUERY_NUM) && eco_query_token_is(q, i + 1, "x") &&
        is_kind(q, i + 2, QUERY_NUM) && size_unit(q, i + 3))
        return 4;
    return 0;
}

static bool version_at(const struct query *q, size_t i)
{
    size_t n = 0;
    const struct query_word *w = i + 1 < q->n_tokens ? eco_query_longest(q, i + 1, &n) : NULL;

    if (is_kind(q, i, QUERY_VERSION))
        return true;
    if (!is_kind(q, i, QUERY_NUM) || q->token[i].value > 5.0 || q->token[i].value < 1.0)
        return false;
    if (eco_query_glued(q, i + 1) || eco_query_token_is(q, i + 1, "-"))
        return false;
    return w == NULL || (w->sense != SENSE_BITS && w->sense != SENSE_SCALE &&
                         w->sense != SENSE_COUNT && w->sense != SENSE_GPU_KEY &&
                         !(w->sense == SENSE_BATCH && eco_query_token_is(q, i + 1, "b")));
}

static bool variant_at(const struct query *q, size_t i)
{
    for (size_t k = 0; k < sizeof variants / sizeof variants[0]; k++) {
        if (eco_query_token_is(q, i, variants[k]))
            return true;
    }
    return false;
}

/* Version, variants and size behind blanks: "llama 3 70b chat", "phi 3 mini". */
static size_t loose_end(struct query *q, size_t i)
{
    size_t n;

    if (i < q->n_tokens && version_at(q, i))
        i++;
    for (size_t k = 0; k < 3 && i < q->n_tokens; k++) {
        if ((n = size_at(q, i)) > 0) {
            i = glued_end(q, i + n);
        } else if (variant_at(q, i)) {
            i = glued_end(q, i + 1);
        } else {
            break;
        }
    }
    return i;
}

/* The size that the name itself says, in billions; mixtures as the product. */
static double size_in(const struct query *q, size_t first, size_t end)
{
    double size = 0.0;

    for (size_t i = first; i + 1 < end; i++) {
        double per_b = eco_query_token_is(q, i + 1, "b")   ? 1.0
                       : eco_query_token_is(q, i + 1, "m") ? 1e3
                                                           : 0;
        bool active = eco_query_glued(q, i) && eco_query_token_is(q, i - 1, "a");

        if (!is_kind(q, i, QUERY_NUM) || per_b == 0.0 || active || goes_on(q, i + 2))
            continue;
        size = q->token[i].value / per_b;
        if (i >= first + 2 && eco_query_token_is(q, i - 1, "x") && is_kind(q, i - 2, QUERY_NUM))
            size *= q->token[i - 2].value;
    }
    return size;
}

static size_t name_text(const struct query *q, size_t first, size_t skip, size_t end,
                        const char *latin, char out[ECO_QUERY_NAME])
{
    size_t from = latin != NULL ? first + skip : first, n = 0, len;
    const struct query_token *last = &q->token[end - 1];

    if (latin != NULL) {
        n = strlen(latin);
        memcpy(out, latin, n);
    }
    len = from < end ? (size_t)last->at + last->len - q->token[from].at : 0;
    if (n + len >= ECO_QUERY_NAME)
        return 0;
    memcpy(out + n, q->text + q->token[from < end ? from : first].at, len);
    out[n + len] = '\0';
    return n + len;
}

/* "meta-llama/Llama-3.1-8B": the publisher before the name. Tokens, or 0. */
static size_t publisher_at(const struct query *q, size_t first)
{
    size_t i = first;

    while (i < q->n_tokens && i < first + 8 && (i == first || !q->token[i].space)) {
        if (eco_query_token_is(q, i, "/"))
            return i > first && i + 1 < q->n_tokens && !q->token[i + 1].space ? i + 1 - first : 0;
        if (q->token[i].kind == QUERY_CJK)
            return 0;
        i++;
    }
    return 0;
}

/* "8x7B" alone: the mixture of experts that the table knows by these numbers. */
static size_t mixture_at(struct query *q, size_t first, struct eco_query_model *out, double *size)
{
    static const char family[] = "mixtral-";
    char text[ECO_QUERY_NAME];
    size_t n = sizeof family - 1, len;

    if (size_at(q, first) != 4) { /* fewer tokens may be left than a mixture has */
        return 0;
    }
    const struct query_token *last = &q->token[first + 3];
    if (q->token[first + 1].space || q->token[first + 2].space || last->space ||
        goes_on(q, first + 4))
        return 0;
    len = (size_t)last->at + last->len - q->token[first].at;
    if (n + len >= sizeof text)
        return 0;
    memcpy(text, family, n);
    memcpy(text + n, q->text + q->token[first].at, len);
    memset(out, 0, sizeof *out);
    *size = 0.0; /* the product is no size: experts share their attention */
    if (q->names->model(q->names->self, text, n + len, out))
        *size = size_in(q, first, first + 4);
    else
        memset(out, 0, sizeof *out);
    return 4;
}

size_t eco_query_model(struct query *q, size_t first, struct eco_query_model *out, double *size)
{
    const char *latin = NULL;
    int flags = 0;
    char text[ECO_QUERY_NAME];
    size_t publisher = publisher_at(q, first), at, family, end;

    if (eco_query_glued(q, first) && q->token[first - 1].kind == QUERY_WORD)
        return 0;
    family = publisher > 0 ? family_at(q, first + publisher, &latin, &flags) : 0;
    at = family > 0 ? first + publisher : first;
    family = family > 0 ? family : family_at(q, first, &latin, &flags);
    if (family == 0)
        return mixture_at(q, first, out, size);
    end = glued_end(q, at + family);
    end = loose_end(q, end);
    if (flags == NEEDS &&
        (end == at + family || (size_in(q, at, end) == 0.0 && !is_kind(q, end - 1, QUERY_NUM) &&
                                !variant_at(q, end - 1))))
        return 0;
    memset(out, 0, sizeof *out);
    *size = size_in(q, at, end);
    for (size_t e = end; e >= at + family; e--) {
        size_t len = name_text(q, at, family, e, latin, text);

        if (len > 0 && q->names->model(q->names->self, text, len, out) &&
            (*size == 0.0 || size_in(q, at, e) == *size ||
             fabs(log(out->params_b / *size)) < SAME_SIZE))
            break;
        memset(out, 0, sizeof *out);
    }
    return end - first;
}
