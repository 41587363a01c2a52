#include "workload/openai_stream.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `usage` may count a little more than the pieces: an end token, a character in several tokens. */
#define SLACK_TOKENS 4
#define SLACK_FRAC 0.1
#define MAX_COUNT (INT64_C(1) << 40)

void eco_openai_stream_init(struct eco_openai_stream *s)
{
    *s = (struct eco_openai_stream){.usage_tokens = -1, .prompt_tokens = -1};
    eco_sse_init(&s->sse);
}

void eco_openai_stream_done(struct eco_openai_stream *s)
{
    eco_sse_done(&s->sse);
    eco_json_done(&s->doc);
    free(s->intervals_s);
    s->intervals_s = NULL;
}

int eco_openai_stream_start(struct eco_openai_stream *s, int tokens, bool bundled, int64_t now_ns,
                            struct eco_err *err)
{
    if (tokens > s->interval_room) {
        double *more = realloc(s->intervals_s, (size_t)tokens * sizeof(*more));
        if (!more) {
            return eco_err_set(err, ECO_E_NO_MEMORY, NULL, "out of memory");
        }
        s->intervals_s = more;
        s->interval_room = tokens;
    }
    eco_sse_reset(&s->sse);
    s->asked = tokens;
    s->bundled = bundled;
    s->start_ns = now_ns;
    s->first_ns = s->last_ns = 0;
    s->pieces = s->empty = 0;
    s->usage_tokens = s->prompt_tokens = -1;
    s->interval_count = 0;
    s->finish_said = s->done = false;
    s->finish[0] = '\0';
    return 0;
}

const char *eco_openai_error_text(const struct eco_json *root)
{
    const struct eco_json *e = eco_json_get(root, "error");
    const struct eco_json *m = eco_json_get(e, "message");
    m = m ? m : e ? e : eco_json_get(root, "message");
    m = m ? m : eco_json_get(root, "detail");
    return m && m->type == ECO_JSON_STRING ? m->str : NULL;
}

/* ---- an event ------------------------------------------------------------------------------- */

struct chunk {
    struct eco_openai_stream *stream;
    int64_t now_ns;
};

static int on_piece(struct eco_openai_stream *s, int64_t now_ns, struct eco_err *err)
{
    if (s->pieces > 0 && s->interval_count < s->interval_room) {
        s->intervals_s[s->interval_count++] = (double)(now_ns - s->last_ns) * 1e-9;
    }
    s->first_ns = s->pieces ? s->first_ns : now_ns;
    s->last_ns = now_ns;
    s->pieces++;
    return s->pieces <= s->asked + SLACK_TOKENS
               ? 0
               : eco_err_set(err, ECO_E_CONTENT, "url",
                             "the server streams on: it was asked for %d tokens and has sent %lld "
                             "pieces of text",
                             s->asked, (long long)s->pieces);
}

static bool has_text(const struct eco_json *object, const char *key)
{
    const struct eco_json *v = eco_json_get(object, key);
    return v && v->type == ECO_JSON_STRING && v->len > 0;
}

static int on_choice(struct eco_openai_stream *s, const struct eco_json *choice, int64_t now_ns,
                     struct eco_err *err)
{
    const struct eco_json *delta = eco_json_get(choice, "delta"), *why;
    bool text = has_text(choice, "text") || has_text(delta, "content") ||
                has_text(delta, "reasoning_content") || has_text(delta, "reasoning");
    why = eco_json_get(choice, "finish_reason");
    if (why && why->type == ECO_JSON_STRING) {
        s->finish_said = true;
        snprintf(s->finish, sizeof(s->finish), "%s", why->str);
    } else if (!text && !eco_json_get(delta, "role")) {
        s->empty++;
    }
    return text ? on_piece(s, now_ns, err) : 0;
}

static int count_of(const struct eco_json *usage, const char *key, int64_t *out,
                    struct eco_err *err)
{
    const struct eco_json *v = eco_json_get(usage, key);
    if (!v || !v->is_integer || v->i64 < 0 || v->i64 > MAX_COUNT) {
        return eco_err_set(err, ECO_E_CONTENT, "url",
                           "the server's 'usage' has no whole number '%s'", key);
    }
    *out = v->i64;
    return 0;
}

static int on_data(void *ctx, const char *data, size_t len, struct eco_err *err)
{
    const struct chunk *c = ctx;
    struct eco_openai_stream *s = c->stream;
    struct eco_err why;
    if (strcmp(data, "[DONE]") == 0) {
        s->done = true;
        return 0;
    }
    if (eco_json_reparse(&s->doc, data, len, &why)) {
        return eco_err_set(err, ECO_E_CONTENT, "url",
                           "the server sent an event that is no JSON: "
                           "%.120s",
                           why.message);
    }
    const struct eco_json *root = s->doc.root, *usage = eco_json_get(root, "usage");
    const struct eco_json *list = eco_json_get(root, "choices"), *print;
    if (eco_json_get(root, "error")) {
        const char *text = eco_openai_error_text(root);
        return eco_err_set(err, ECO_E_DEVICE, "url", "the server says: %.180s",
                           text ? text : "error");
    }
    if (root->type != ECO_JSON_OBJECT || (!list && !usage)) {
        return eco_err_set(err, ECO_E_CONTENT, "url",
                           "the server sent an event without 'choices' or 'usage'");
    }
    print = eco_json_get(root, "system_fingerprint");
    if (print && print->type == ECO_JSON_STRING) {
        snprintf(s->fingerprint, sizeof(s->fingerprint), "%s", print->str);
    }
    int rc = 0;
    for (const struct eco_json *v = list ? list->child : NULL; v && rc == 0; v = v->next) {
        rc = on_choice(s, v, c->now_ns, err);
    }
    if (rc == 0 && usage && usage->type == ECO_JSON_OBJECT) {
        rc = count_of(usage, "completion_tokens", &s->usage_tokens, err);
        rc = rc ? rc : count_of(usage, "prompt_tokens", &s->prompt_tokens, err);
    }
    return rc;
}

int eco_openai_stream_feed(struct eco_openai_stream *s, const char *bytes, size_t len,
                           int64_t now_ns, struct eco_err *err)
{
    struct chunk c = {s, now_ns};
    const struct eco_sse_sink sink = {on_data, &c};
    return eco_sse_feed(&s->sse, bytes, len, &sink, err);
}

/* ---- the end -------------------------------------------------------------------------------- */

static int disagree(const struct eco_openai_stream *s, const char *why, struct eco_err *err)
{
    return eco_err_set(err, ECO_E_CONTENT, "url",
                       "the server's 'usage' claims %lld tokens, %s: it streamed %lld pieces of "
                       "text and was asked for %d tokens",
                       (long long)s->usage_tokens, why, (long long)s->pieces, s->asked);
}

int eco_openai_stream_check(const struct eco_openai_stream *s, struct eco_err *err)
{
    double most = (double)(s->pieces + s->empty) * (1 + SLACK_FRAC) + SLACK_TOKENS;
    if (!s->done && (!s->finish_said || s->usage_tokens < 0)) {
        return eco_err_set(err, ECO_E_DEVICE, "url", "the stream broke off after %lld of %d tokens",
                           (long long)s->pieces, s->asked);
    }
    if (s->usage_tokens < 0) {
        return eco_err_set(err, ECO_E_CONTENT, "url",
                           "the server sent no 'usage' (stream_options.include_usage): its tokens "
                           "cannot be counted");
    }
    if (s->usage_tokens > s->asked) {
        return disagree(s, "more than asked for", err);
    }
    if (s->usage_tokens < s->pieces) {
        return disagree(s, "fewer than it sent", err);
    }
    if ((double)s->usage_tokens > most && !s->bundled) {
        return disagree(s, "more than it sent (--bundled allows several a piece)", err);
    }
    return s->usage_tokens > 0
               ? 0
               : eco_err_set(err, ECO_E_CONTENT, "url",
                             "the server generated nothing (finish_reason '%s')", s->finish);
}

double eco_openai_stream_ttft_s(const struct eco_openai_stream *s)
{
    return s->pieces ? (double)(s->first_ns - s->start_ns) * 1e-9 : (double)NAN;
}
