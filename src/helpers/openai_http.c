#include "helpers/openai_http.h"

#include "base/clock.h"
#include "base/json.h"
#include "workload/openai_stream.h"

#include <curl/curl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define PROMPT "The future of energy efficient computing is"
#define MAX_BODY ((size_t)64 << 10) /* of an answer that is an error */
#define MAX_LIST ((size_t)4 << 20)  /* of a list of models */
#define POLL_MS 100
#define CONNECT_MS 10000L

struct slot {
    struct eco_openai_pool *pool;
    CURL *easy;
    struct eco_openai_stream stream;
    struct eco_buf body;
    char type[64], server[64], location[200], retry_after[32];
    struct eco_err why; /* what the write callback found */
    int rc;
    int64_t heard_ns; /* when bytes came last */
    bool active, first_told;
};

struct eco_openai_pool {
    struct eco_openai_target target;
    CURLM *multi;
    struct curl_slist *headers;
    struct slot *slots;
    int batch;
    char url[ECO_OPENAI_MAX_URL + 32];
    struct eco_buf request;
    double *intervals_s; /* of the round */
    int interval_count, interval_room;
    double retry_s;
    char server[64], fingerprint[64];
};

static int no_memory(struct eco_err *err)
{
    return eco_err_set(err, ECO_E_NO_MEMORY, NULL, "out of memory");
}

/* ---- requests ------------------------------------------------------------------------------- */

static bool loopback(const char *url)
{
    const char *host = strstr(url, "://");
    host = host ? host + 3 : url;
    return strncmp(host, "127.", 4) == 0 || strncmp(host, "localhost", 9) == 0 ||
           strncmp(host, "[::1]", 5) == 0;
}

/* What every request has. */
static void common(CURL *easy, const char *url, struct curl_slist *headers)
{
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    if (loopback(url)) {
        curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    }
}

static struct curl_slist *make_headers(const struct eco_openai_target *t)
{
    struct eco_buf line = ECO_BUF_INIT;
    struct curl_slist *list = curl_slist_append(NULL, "Content-Type: application/json");
    struct curl_slist *all = list ? curl_slist_append(list, "Expect:") : NULL;
    if (all && t->key) {
        eco_buf_printf(&line, "Authorization: Bearer %s", t->key);
        all = eco_buf_ok(&line) ? curl_slist_append(list, line.data) : NULL;
        if (line.data) { /* not left lying about */
            memset(line.data, 0, line.len);
        }
        eco_buf_done(&line);
    }
    if (!all) {
        curl_slist_free_all(list);
    }
    return all;
}

static int write_request(struct eco_openai_pool *p, int tokens, struct eco_err *err)
{
    const struct eco_openai_target *t = &p->target;
    struct eco_json_writer j;
    eco_buf_clear(&p->request);
    eco_jw_init(&j, &p->request, 0);
    eco_jw_object(&j);
    eco_jw_kv_str(&j, "model", t->model);
    if (t->chat) {
        eco_jw_key(&j, "messages");
        eco_jw_array(&j);
        eco_jw_object(&j);
        eco_jw_kv_str(&j, "role", "user");
        eco_jw_kv_str(&j, "content", PROMPT);
        eco_jw_object_end(&j);
        eco_jw_array_end(&j);
    } else {
        eco_jw_kv_str(&j, "prompt", PROMPT);
    }
    eco_jw_kv_i64(&j, "max_tokens", tokens);
    eco_jw_kv_i64(&j, "temperature", 0);
    eco_jw_kv_bool(&j, "stream", true);
    eco_jw_key(&j, "stream_options");
    eco_jw_object(&j);
    eco_jw_kv_bool(&j, "include_usage", true);
    eco_jw_object_end(&j);
    if (!t->plain) { /* every generation as long as asked, every prefill done */
        eco_jw_kv_bool(&j, "ignore_eos", true);
        eco_jw_kv_i64(&j, "min_tokens", tokens);
        eco_jw_kv_bool(&j, "cache_prompt", false);
    }
    eco_jw_object_end(&j);
    return eco_buf_ok(&p->request) ? 0 : no_memory(err);
}

/* ---- what comes back ------------------------------------------------------------------------ */

static void keep_header(const char *line, size_t len, const char *name, char *out, size_t size)
{
    size_t n = strlen(name);
    if (len <= n || strncasecmp(line, name, n) != 0) {
        return;
    }
    line += n;
    len -= n;
    while (len && (*line == ' ' || *line == '\t')) {
        line++;
        len--;
    }
    while (len && (unsigned char)line[len - 1] <= ' ') {
        len--;
    }
    snprintf(out, size, "%.*s", (int)(len < size ? len : size - 1), line);
    for (char *c = out; *c; c++) {
        *c = (char)((unsigned char)*c < ' ' || (unsigned char)*c > '~' ? '?' : *c);
    }
}

static size_t on_header(char *line, size_t one, size_t len, void *ctx)
{
    struct slot *s = ctx;
    s->heard_ns = eco_clock_mono_ns();
    if (len > 5 && memcmp(line, "HTTP/", 5) == 0) {
        s->type[0] = s->server[0] = s->location[0] = s->retry_after[0] = '\0';
    }
    keep_header(line, len * one, "content-type:", s->type, sizeof(s->type));
    keep_header(line, len * one, "server:", s->server, sizeof(s->server));
    keep_header(line, len * one, "location:", s->location, sizeof(s->location));
    keep_header(line, len * one, "retry-after:", s->retry_after, sizeof(s->retry_after));
    return len * one;
}

static bool streams(const struct slot *s)
{
    return !s->type[0] || strncasecmp(s->type, "text/event-stream", 17) == 0;
}

static size_t on_body(char *bytes, size_t one, size_t len, void *ctx)
{
    struct slot *s = ctx;
    long status = 0;
    len *= one;
    s->heard_ns = eco_clock_mono_ns();
    curl_easy_getinfo(s->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200 || !streams(s)) {
        if (s->body.len + len <= MAX_BODY) {
            eco_buf_put(&s->body, bytes, len);
        }
        return len;
    }
    s->rc = eco_openai_stream_feed(&s->stream, bytes, len, s->heard_ns, &s->why);
    return s->rc ? 0 : len;
}

/* What an error's body says, in one line; "" when it says nothing. */
static void body_text(const struct eco_buf *body, char out[160])
{
    struct eco_json_doc doc = {0};
    bool json = body->len && eco_json_parse(&doc, body->data, body->len, NULL) == 0;
    const char *text = json ? eco_openai_error_text(doc.root) : NULL;
    snprintf(out, 160, "%s%.150s", body->len ? ": " : "", text ? text : eco_buf_str(body));
    for (char *c = out; *c; c++) {
        *c = (char)((unsigned char)*c < ' ' ? ' ' : *c);
    }
    eco_json_done(&doc);
}

static int http_error(struct eco_openai_pool *p, const struct slot *s, long status,
                      struct eco_err *err)
{
    char text[160];
    body_text(&s->body, text);
    if (status == 429 || status == 503) {
        char *end;
        double asked_s = strtod(s->retry_after, &end);
        p->retry_s = s->retry_after[0] && !*end && asked_s >= 0 ? asked_s : 1;
        return eco_err_set(err, ECO_E_DEVICE, "url",
                           "the server answered %ld%s%s%s to one of %d streams%s", status,
                           s->retry_after[0] ? " (Retry-After: " : "", s->retry_after,
                           s->retry_after[0] ? ")" : "", p->batch, text);
    }
    if (status >= 300 && status < 400) {
        return eco_err_set(err, ECO_E_INVALID, "url",
                           "the server redirects to '%.120s': give that address as 'url'",
                           s->location);
    }
    int code = status == 401 || status == 403  ? ECO_E_PERMISSION
               : status == 404                 ? ECO_E_NOT_FOUND
               : status >= 400 && status < 500 ? ECO_E_CONTENT
                                               : ECO_E_DEVICE;
    return eco_err_set(err, code, "url", "the server answered %ld%s%s", status, text,
                       status == 404 ? p->target.chat ? "" : " (--chat: its other endpoint)" : "");
}

/* How a request ended. */
static int judge(struct eco_openai_pool *p, struct slot *s, CURLcode how, struct eco_err *err)
{
    long status = 0;
    curl_easy_getinfo(s->easy, CURLINFO_RESPONSE_CODE, &status);
    if (s->rc) {
        if (err) {
            *err = s->why;
        }
        return s->rc;
    }
    if (how == CURLE_OK && status != 200) {
        return http_error(p, s, status, err);
    }
    if (how == CURLE_OK && !streams(s)) {
        return eco_err_set(err, ECO_E_CONTENT, "url",
                           "the server answered with '%.40s', not with an event stream: without "
                           "one there are no times of tokens",
                           s->type);
    }
    if (how == CURLE_COULDNT_CONNECT || how == CURLE_COULDNT_RESOLVE_HOST ||
        (how == CURLE_OPERATION_TIMEDOUT && status == 0)) {
        return eco_err_set(err, ECO_E_DEVICE, "url", "cannot reach '%.120s': %s", p->target.base,
                           curl_easy_strerror(how));
    }
    if (how != CURLE_OK) {
        return eco_err_set(err, ECO_E_DEVICE, "url",
                           "the connection broke after %lld of %d tokens: %s",
                           (long long)s->stream.pieces, s->stream.asked, curl_easy_strerror(how));
    }
    return eco_openai_stream_check(&s->stream, err);
}

/* ---- life ----------------------------------------------------------------------------------- */

static int make_slot(struct eco_openai_pool *p, struct slot *s)
{
    s->pool = p;
    eco_openai_stream_init(&s->stream);
    s->easy = curl_easy_init();
    if (!s->easy) {
        return -1;
    }
    common(s->easy, p->url, p->headers);
    curl_easy_setopt(s->easy, CURLOPT_POST, 1L);
    curl_easy_setopt(s->easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(s->easy, CURLOPT_HEADERDATA, s);
    curl_easy_setopt(s->easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(s->easy, CURLOPT_WRITEDATA, s);
    curl_easy_setopt(s->easy, CURLOPT_PRIVATE, s);
    return 0;
}

int eco_openai_pool_new(const struct eco_openai_target *t, int batch, struct eco_openai_pool **out,
                        struct eco_err *err)
{
    if (batch < 1 || batch > ECO_OPENAI_MAX_STREAMS) {
        return eco_err_set(err, ECO_E_RANGE, "batch", "1 to %d streams, not %d",
                           ECO_OPENAI_MAX_STREAMS, batch);
    }
    struct eco_openai_pool *p = calloc(1, sizeof(*p));
    if (!p) {
        return no_memory(err);
    }
    p->target = *t;
    p->batch = batch;
    p->retry_s = -1;
    snprintf(p->url, sizeof(p->url), "%s%s", t->base,
             t->chat ? "/chat/completions" : "/completions");
    p->headers = make_headers(t);
    p->multi = curl_multi_init();
    p->slots = calloc((size_t)batch, sizeof(*p->slots));
    int rc = p->headers && p->multi && p->slots ? 0 : no_memory(err);
    for (int i = 0; rc == 0 && i < batch; i++) {
        rc = make_slot(p, &p->slots[i]) ? no_memory(err) : 0;
    }
    if (rc) {
        eco_openai_pool_free(p);
        return rc;
    }
    curl_multi_setopt(p->multi, CURLMOPT_MAXCONNECTS, (long)batch);
    *out = p;
    return 0;
}

void eco_openai_pool_free(struct eco_openai_pool *p)
{
    if (!p) {
        return;
    }
    for (int i = 0; p->slots && i < p->batch; i++) {
        struct slot *s = &p->slots[i];
        if (s->easy) {
            curl_multi_remove_handle(p->multi, s->easy);
            curl_easy_cleanup(s->easy);
        }
        eco_openai_stream_done(&s->stream);
        eco_buf_done(&s->body);
    }
    curl_multi_cleanup(p->multi);
    curl_slist_free_all(p->headers);
    eco_buf_done(&p->request);
    free(p->intervals_s);
    free(p->slots);
    free(p);
}

double eco_openai_pool_retry_s(const struct eco_openai_pool *p)
{
    return p->retry_s;
}

const char *eco_openai_pool_server(const struct eco_openai_pool *p)
{
    return p->server;
}

const char *eco_openai_pool_fingerprint(const struct eco_openai_pool *p)
{
    return p->fingerprint;
}

/* ---- a run ---------------------------------------------------------------------------------- */

struct run {
    struct eco_openai_pool *pool;
    const struct eco_openai_events *events;
    int tokens;
    int64_t total, issued, ended; /* requests */
    int firsts;                   /* slots that have had a first token */
    bool steady, steady_over;
    int64_t progress, steady_progress, steady_firsts; /* pieces */
    struct eco_openai_sum sum;
    struct eco_openai_round round; /* that is being filled */
    double ttft_sum_s, tpot_sum_s;
    int ttft_n, tpot_n;
};

static int issue(struct run *r, struct slot *s, struct eco_err *err)
{
    struct eco_openai_pool *p = r->pool;
    int64_t now_ns = eco_clock_mono_ns();
    eco_buf_clear(&s->body);
    s->rc = 0;
    s->first_told = false;
    s->heard_ns = now_ns;
    int rc = eco_openai_stream_start(&s->stream, r->tokens, p->target.bundled, now_ns, err);
    if (rc) {
        return rc;
    }
    curl_easy_setopt(s->easy, CURLOPT_POSTFIELDS, eco_buf_str(&p->request));
    curl_easy_setopt(s->easy, CURLOPT_POSTFIELDSIZE, (long)p->request.len);
    if (curl_multi_add_handle(p->multi, s->easy) != CURLM_OK) {
        return no_memory(err);
    }
    s->active = true;
    r->issued++;
    return 0;
}

/* Requests go on until all are out, or after a wish to stop until the round is whole. */
static bool more(const struct run *r)
{
    bool stop = r->events->stop(r->events->ctx);
    return r->issued < r->total && (!stop || r->issued % r->pool->batch != 0);
}

/* Counts what came since the last look; the steady state begins when every slot has a token. */
static void look(struct run *r, struct slot *s, int64_t *before)
{
    int64_t now = s->stream.pieces + s->stream.empty, came = now - *before;
    *before = now;
    if (came <= 0) {
        return;
    }
    bool first = !s->first_told;
    s->first_told = true;
    r->progress += came;
    if (r->steady && !r->steady_over) {
        r->steady_progress += came;
        r->steady_firsts += first;
    }
    if (first) {
        r->events->first_token(r->events->ctx);
        r->firsts += r->firsts < r->pool->batch;
        if (r->pool->batch > 1 && !r->steady && r->firsts == r->pool->batch) {
            r->steady = true;
            r->events->edge(r->events->ctx, false);
        }
    }
}

/* Times between tokens, where pieces are tokens; at most what a line of the protocol can hold. */
static int keep_intervals(struct run *r, const struct eco_openai_stream *s, struct eco_err *err)
{
    struct eco_openai_pool *p = r->pool;
    int want = p->interval_count + s->interval_count;
    if (s->bundled || s->pieces != s->usage_tokens || want > ECO_OPENAI_MAX_ROUND) {
        return 0;
    }
    if (want > p->interval_room) {
        double *grown = realloc(p->intervals_s, (size_t)want * 2 * sizeof(*grown));
        if (!grown) {
            return no_memory(err);
        }
        p->intervals_s = grown;
        p->interval_room = want * 2;
    }
    memcpy(p->intervals_s + p->interval_count, s->intervals_s,
           (size_t)s->interval_count * sizeof(*s->intervals_s));
    p->interval_count = want;
    return 0;
}

static void end_round(struct run *r)
{
    r->round.ttft_s = r->ttft_n ? r->ttft_sum_s / r->ttft_n : (double)NAN;
    r->round.tpot_s = r->tpot_n ? r->tpot_sum_s / r->tpot_n : (double)NAN;
    r->round.intervals_s = r->pool->intervals_s;
    r->round.interval_count = r->pool->interval_count;
    r->events->round(r->events->ctx, &r->round);
    r->sum.rounds++;
    r->round = (struct eco_openai_round){0};
    r->ttft_sum_s = r->tpot_sum_s = 0;
    r->ttft_n = r->tpot_n = 0;
    r->pool->interval_count = 0;
}

static int add_up(struct run *r, const struct slot *s, struct eco_err *err)
{
    const struct eco_openai_stream *t = &s->stream;
    double ttft_s = eco_openai_stream_ttft_s(t);
    snprintf(r->pool->server, sizeof(r->pool->server), "%s", s->server);
    snprintf(r->pool->fingerprint, sizeof(r->pool->fingerprint), "%s", t->fingerprint);
    r->sum.prompt_tokens = t->prompt_tokens;
    r->sum.early += t->usage_tokens < r->tokens;
    r->sum.tokens += t->usage_tokens;
    r->round.tokens += t->usage_tokens;
    if (!isnan(ttft_s)) {
        r->ttft_sum_s += ttft_s;
        r->ttft_n++;
    }
    if (t->pieces > 1 && t->usage_tokens > 1) {
        r->tpot_sum_s += (double)(t->last_ns - t->first_ns) * 1e-9 / (double)(t->usage_tokens - 1);
        r->tpot_n++;
    }
    int rc = keep_intervals(r, t, err);
    if (++r->ended % r->pool->batch == 0) {
        end_round(r);
    }
    return rc;
}

static int on_ended(struct run *r, struct slot *s, CURLcode how, struct eco_err *err)
{
    curl_multi_remove_handle(r->pool->multi, s->easy);
    s->active = false;
    int rc = judge(r->pool, s, how, err);
    rc = rc ? rc : add_up(r, s, err);
    if (rc) {
        return rc;
    }
    if (more(r)) {
        return issue(r, s, err);
    }
    if (r->steady && !r->steady_over) { /* the queue no longer keeps every slot full */
        r->steady_over = true;
        r->events->edge(r->events->ctx, true);
    }
    return 0;
}

static int stalled(const struct run *r, const struct slot *s, struct eco_err *err)
{
    double silent_s = (double)(eco_clock_mono_ns() - s->heard_ns) * 1e-9;
    return silent_s < r->pool->target.stall_s
               ? 0
               : eco_err_set(err, ECO_E_DEVICE, "url",
                             "the server has sent nothing for %.3g s, after %lld of %d tokens",
                             silent_s, (long long)s->stream.pieces, r->tokens);
}

/* One turn: transfers, counts, ends, stalls, then sleep until something happens. */
static int turn(struct run *r, int64_t *seen, struct eco_err *err)
{
    struct eco_openai_pool *p = r->pool;
    int running = 0, left = 0, rc = 0;
    CURLMsg *message;
    curl_multi_perform(p->multi, &running);
    for (int i = 0; i < p->batch; i++) {
        if (p->slots[i].active) {
            look(r, &p->slots[i], &seen[i]);
        }
    }
    while (rc == 0 && (message = curl_multi_info_read(p->multi, &left)) != NULL) {
        char *which = NULL;
        CURLcode how = message->data.result;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &which);
        struct slot *s = (struct slot *)(void *)which;
        seen[s - p->slots] = 0;
        rc = on_ended(r, s, how, err);
    }
    for (int i = 0; rc == 0 && i < p->batch; i++) {
        rc = p->slots[i].active ? stalled(r, &p->slots[i], err) : 0;
    }
    if (rc == 0 && r->ended < r->issued) {
        struct curl_waitfd in = {.fd = STDIN_FILENO, .events = CURL_WAIT_POLLIN};
        unsigned more_fds = r->events->stop(r->events->ctx) ? 0 : 1; /* no spin on what was read */
        curl_multi_poll(p->multi, &in, more_fds, POLL_MS, NULL);
    }
    return rc;
}

static void drop_all(struct eco_openai_pool *p)
{
    for (int i = 0; i < p->batch; i++) {
        if (p->slots[i].active) {
            curl_multi_remove_handle(p->multi, p->slots[i].easy);
            p->slots[i].active = false;
        }
    }
}

int eco_openai_pool_run(struct eco_openai_pool *p, int rounds, int tokens,
                        const struct eco_openai_events *events, struct eco_openai_sum *out,
                        struct eco_err *err)
{
    struct run r = {.pool = p,
                    .events = events,
                    .tokens = tokens,
                    .total = (int64_t)rounds * p->batch,
                    .sum = {.prompt_tokens = -1}};
    int64_t *seen = calloc((size_t)p->batch, sizeof(*seen));
    int rc = seen ? write_request(p, tokens, err) : no_memory(err);
    p->interval_count = 0;
    p->retry_s = -1;
    for (int i = 0; rc == 0 && i < p->batch; i++) {
        rc = issue(&r, &p->slots[i], err);
    }
    while (rc == 0 && r.ended < r.issued) {
        rc = turn(&r, seen, err);
    }
    drop_all(p);
    free(seen);
    if (rc == 0) {
        double per_piece = r.progress ? (double)r.sum.tokens / (double)r.progress : 0;
        r.sum.steady_tokens = r.steady_over ? llround((double)r.steady_progress * per_piece) : 0;
        r.sum.steady_first_tokens =
            r.steady_firsts < r.sum.steady_tokens ? r.steady_firsts : r.sum.steady_tokens;
        *out = r.sum;
    }
    return rc;
}

/* ---- plain requests ------------------------------------------------------------------------- */

static size_t on_list(char *bytes, size_t one, size_t len, void *ctx)
{
    struct eco_buf *out = ctx;
    eco_buf_put(out, bytes, one * len);
    return eco_buf_ok(out) ? one * len : 0;
}

int eco_openai_get(const struct eco_openai_target *t, const char *path, struct eco_buf *out,
                   long *status, struct eco_err *err)
{
    char url[ECO_OPENAI_MAX_URL + 32];
    CURL *easy = curl_easy_init();
    struct curl_slist *headers = make_headers(t);
    int rc = easy && headers ? 0 : no_memory(err);
    *status = 0;
    if (rc == 0) {
        snprintf(url, sizeof(url), "%s%s", t->base, path);
        common(easy, url, headers);
        out->limit = MAX_LIST;
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_list);
        curl_easy_setopt(easy, CURLOPT_WRITEDATA, out);
        curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)(t->stall_s * 1e3));
        CURLcode how = curl_easy_perform(easy);
        curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, status);
        if (how != CURLE_OK) {
            rc = eco_err_set(err, ECO_E_DEVICE, "url", "cannot reach '%.120s': %s", t->base,
                             curl_easy_strerror(how));
        }
    }
    curl_slist_free_all(headers);
    curl_easy_cleanup(easy);
    return rc;
}
