#include "cost_volume.h"

#include "args.h"
#include "base/num.h"
#include "texts.h"

#include <math.h>

#define DAYS 30.0 /* of a month, as in ask */
#define REQUESTS_PER_USER 5.0
#define TOKENS_PER_GB 250e6 /* English */
#define SECONDS_PER_HOUR 3600.0

struct volume {
    struct eco_ctx *ctx;
    const struct eco_question *q;
    const char *said[2];
    size_t n;
};

static const char *shown(struct volume *v, double x)
{
    return eco_step_num(v->ctx, x, 6);
}

static double convert(struct volume *v, double from, const char *unit, double to, const char *what,
                      const char *rule)
{
    enum eco_lang lang = v->ctx->lang;
    v->said[v->n++] =
        eco_step_fmt(v->ctx, TX(v->ctx, convert_line), shown(v, from), eco_word(lang, unit),
                     shown(v, to), eco_word(lang, what), eco_word(lang, rule));
    return to;
}

static double of_tokens(struct volume *v, double tokens)
{
    double prompt = v->q->prompt_tokens, gen = v->q->gen_tokens;
    double n = ceil(tokens / (prompt + gen));
    v->said[v->n++] = eco_step_fmt(v->ctx, TX(v->ctx, convert_tokens), shown(v, tokens),
                                   shown(v, n), shown(v, prompt), shown(v, gen));
    return n;
}

static double of_hours(struct volume *v, double hours, double request_s)
{
    double n = floor(v->q->batch * hours * SECONDS_PER_HOUR * DAYS / request_s);
    v->said[v->n++] = eco_step_fmt(v->ctx, TX(v->ctx, convert_hours), shown(v, hours), shown(v, n),
                                   eco_step_num(v->ctx, request_s, 3));
    return n;
}

/* Exactly one volume may be given: two would contradict each other. */
static int only_one(const struct eco_args_cost *a, struct eco_err *err)
{
    const double given[] = {a->requests_per_day, a->users,   a->tokens,
                            a->characters,       a->gb_text, a->hours_per_day};
    size_t n =
        eco_args_have(eco_op_find("cost"), a, offsetof(struct eco_args_cost, money.requests));
    for (size_t i = 0; i < ECO_COUNT(given); i++) {
        n += given[i] > 0;
    }
    return n < 2 ? 0
                 : eco_err_set(err, ECO_E_INVALID, "requests",
                               "give one volume, not %zu (requests, requests_per_day, users, "
                               "tokens, characters, gb_text, hours_per_day)",
                               n);
}

int eco_cost_volume(struct eco_question *q, const struct eco_args_cost *a, double request_s,
                    double *requests, struct eco_res_cost *out, struct eco_err *err)
{
    struct volume v = {.ctx = q->ctx, .q = q};
    int rc = only_one(a, err);
    *requests = 0;
    if (rc) {
        return rc;
    }
    if (a->requests_per_day > 0) {
        *requests = convert(&v, a->requests_per_day, "requests a day", a->requests_per_day * DAYS,
                            "requests a month", "a month has 30 days");
    } else if (a->users > 0) {
        *requests = convert(&v, a->users, "users a day", a->users * REQUESTS_PER_USER * DAYS,
                            "requests a month", "5 requests a user, 30 days a month");
    } else if (a->tokens > 0) {
        *requests = of_tokens(&v, a->tokens);
    } else if (a->characters > 0) {
        const char *rule = eco_step_fmt(q->ctx, TX(q->ctx, chars_rule),
                                        eco_step_num(q->ctx, a->chars_per_token, 3));
        double tokens = convert(&v, a->characters, "characters", a->characters / a->chars_per_token,
                                "tokens", rule);
        *requests = of_tokens(&v, tokens);
    } else if (a->gb_text > 0) {
        *requests = of_tokens(&v, convert(&v, a->gb_text, "GB of text", a->gb_text * TOKENS_PER_GB,
                                          "tokens", "250 million tokens a GB (English)"));
    } else if (a->hours_per_day > 0 && request_s > 0) {
        *requests = of_hours(&v, a->hours_per_day, request_s);
    } else if (a->hours_per_day > 0) {
        return eco_err_set(err, ECO_E_UNSUPPORTED, "hours_per_day",
                           "hours need a speed, and that needs a card with a datasheet: 'gpu'");
    }
    const char **said = eco_arena_array(q->ctx->arena, v.n + 1, sizeof(*said));
    for (size_t i = 0; said && i < v.n; i++) {
        said[i] = v.said[i];
    }
    out->conversions = (struct eco_strs){said, said ? v.n : 0};
    return 0;
}
