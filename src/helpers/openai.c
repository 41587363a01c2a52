/*
 * ecocompute-openai: a worker (docs/workers.md) in front of an OpenAI-compatible server. Requests
 * come on standard input, events go to standard output, remarks to standard error. The API key
 * comes from the environment variable that --key-env names, and is never written anywhere.
 */
#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "helpers/openai_http.h"
#include "workload/arm_list.h"
#include "workload/openai_stream.h"
#include "workload/workload.h"

#include <curl/curl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_REQUEST ((size_t)1 << 20)
#define PATIENCE_S 120.0 /* for a server that is still loading, or asks to wait */
#define PROBE_TOKENS 2

struct options {
    const char *url, *served_model, *key_env;
    bool chat, plain, bundled;
    double stall_s;
};

struct helper {
    struct options options;
    const char *key; /* borrowed from the environment; NULL */
    struct eco_buf input, line;
    size_t taken;
    bool stop, input_ended;
    struct eco_json_doc request;
    struct eco_openai_target target;
    struct eco_openai_pool *pool;
    char server[64], fingerprint[64]; /* of the one that is loaded */
    int batch;
    bool window; /* edges are told only of a window */
};

static const char usage[] =
    "usage: ecocompute-openai --url URL [--served-model NAME] [--key-env VARIABLE] [--chat]\n"
    "                         [--plain] [--bundled] [--stall-s SECONDS]\n"
    "A worker of ecocompute measure --workload openai; see docs/workers.md.\n"
    "  --url, --served-model  one value, or one for each precision: FP16=A,NF4=B\n"
    "  --chat      /chat/completions instead of /completions\n"
    "  --plain     only what the published API has: no ignore_eos, min_tokens, cache_prompt\n"
    "  --bundled   the server may send several tokens in one piece\n"
    "  --stall-s   longest silence of a stream, default 120\n";

/* ---- events --------------------------------------------------------------------------------- */

static void say(struct helper *h)
{
    eco_buf_putc(&h->line, '\n');
    if (!eco_buf_ok(&h->line) || fwrite(h->line.data, 1, h->line.len, stdout) != h->line.len ||
        fflush(stdout)) {
        exit(1); /* nobody listens */
    }
}

static struct eco_json_writer begin(struct helper *h, const char *event)
{
    struct eco_json_writer j;
    eco_buf_clear(&h->line);
    eco_jw_init(&j, &h->line, 0);
    eco_jw_object(&j);
    eco_jw_kv_str(&j, "event", event);
    return j;
}

static void end(struct helper *h, struct eco_json_writer *j)
{
    eco_jw_object_end(j);
    say(h);
}

static void say_word(struct helper *h, const char *event)
{
    struct eco_json_writer j = begin(h, event);
    end(h, &j);
}

/* A server may repeat the key in its message: it is taken out. */
static void hide_key(struct helper *h, char *text)
{
    size_t n = h->key ? strlen(h->key) : 0;
    for (char *at = text; n && (at = strstr(at, h->key)) != NULL; at += n) {
        memset(at, '*', n);
    }
}

static void say_error(struct helper *h, struct eco_err *err)
{
    struct eco_json_writer j = begin(h, "error");
    hide_key(h, err->message);
    fprintf(stderr, "%s\n", err->message);
    eco_jw_kv_str(&j, "kind", eco_err_text(err->code));
    eco_jw_kv_str(&j, "message", err->message);
    end(h, &j);
}

/* ---- requests ------------------------------------------------------------------------------- */

/* Reads what there is; waits for it when `wait`. */
static void read_input(struct helper *h, bool wait)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    if (h->taken) {
        memmove(h->input.data, h->input.data + h->taken, h->input.len - h->taken);
        h->input.len -= h->taken;
        h->taken = 0;
    }
    if (h->input_ended || poll(&in, 1, wait ? -1 : 0) <= 0) {
        return;
    }
    if (h->input.len > MAX_REQUEST || !eco_buf_reserve(&h->input, 65536)) {
        h->input_ended = true;
        return;
    }
    ssize_t n = read(STDIN_FILENO, h->input.data + h->input.len, 65536);
    h->input.len += n > 0 ? (size_t)n : 0;
    h->input_ended = n <= 0;
}

/* The next request, if a whole line is there: its "op", or NULL. */
static const char *take_request(struct helper *h)
{
    char *start = h->input.data ? h->input.data + h->taken : NULL;
    char *newline = start ? memchr(start, '\n', h->input.len - h->taken) : NULL;
    if (!newline) {
        return NULL;
    }
    h->taken += (size_t)(newline - start) + 1;
    if (eco_json_reparse(&h->request, start, (size_t)(newline - start), NULL)) {
        return "?";
    }
    const struct eco_json *op = eco_json_get(h->request.root, "op");
    return op && op->type == ECO_JSON_STRING ? op->str : "?";
}

static const char *next_request(struct helper *h)
{
    const char *op;
    while ((op = take_request(h)) == NULL && !h->input_ended) {
        read_input(h, true);
    }
    return op;
}

static int number(struct helper *h, const char *key, int most, int *out, struct eco_err *err)
{
    const struct eco_json *v = eco_json_get(h->request.root, key);
    if (!v || !v->is_integer || v->i64 < 1 || v->i64 > most) {
        return eco_err_set(err, ECO_E_RANGE, key, "the request's '%s' must be from 1 to %d", key,
                           most);
    }
    *out = (int)v->i64;
    return 0;
}

static const char *text(struct helper *h, const char *key)
{
    const struct eco_json *v = eco_json_get(h->request.root, key);
    return v && v->type == ECO_JSON_STRING ? v->str : "";
}

/* ---- load ----------------------------------------------------------------------------------- */

/* "http://host:8000" -> "http://host:8000/v1"; a path that is there stays. */
static void finish_url(char base[ECO_OPENAI_MAX_URL])
{
    size_t len = strlen(base);
    while (len && base[len - 1] == '/') {
        base[--len] = '\0';
    }
    const char *host = strstr(base, "://");
    if (host && !strchr(host + 3, '/') && len + 4 < ECO_OPENAI_MAX_URL) {
        snprintf(base + len, ECO_OPENAI_MAX_URL - len, "/v1");
    }
}

/* The name under which the server has the model, from its list. */
static int pick_model(struct helper *h, const struct eco_json *list, bool asked,
                      struct eco_err *err)
{
    char names[160] = "";
    size_t at = 0;
    const struct eco_json *only = NULL;
    for (const struct eco_json *m = list->child; m; m = m->next) {
        const struct eco_json *id = eco_json_get(m, "id");
        if (!id || id->type != ECO_JSON_STRING) {
            continue;
        }
        if (strcmp(id->str, h->target.model) == 0) {
            return 0;
        }
        only = id;
        if (at < sizeof(names)) {
            int n = snprintf(names + at, sizeof(names) - at, "%s'%.60s'", at ? ", " : "", id->str);
            at += n > 0 ? (size_t)n : 0;
        }
    }
    if (!asked && only && list->count == 1) { /* it has but one: that is meant */
        fprintf(stderr, "the server's only model is '%s'\n", only->str);
        snprintf(h->target.model, sizeof(h->target.model), "%s", only->str);
        return 0;
    }
    return eco_err_set(err, ECO_E_UNKNOWN_NAME, "served_model",
                       "the server has no model '%.80s'; it has %s", h->target.model,
                       names[0] ? names : "none");
}

static int find_model(struct helper *h, bool asked, struct eco_err *err)
{
    struct eco_buf body = ECO_BUF_INIT;
    struct eco_json_doc doc = {0};
    long status = 0;
    int rc = eco_openai_get(&h->target, "/models", &body, &status, err);
    if (rc == 0 && status == 200 && eco_json_parse(&doc, eco_buf_str(&body), body.len, NULL) == 0) {
        const struct eco_json *list = eco_json_get(doc.root, "data");
        rc = list && list->type == ECO_JSON_ARRAY ? pick_model(h, list, asked, err) : 0;
    }
    eco_json_done(&doc);
    eco_buf_done(&body);
    return rc;
}

static int set_target(struct helper *h, struct eco_err *err)
{
    const struct options *o = &h->options;
    struct eco_openai_target *t = &h->target;
    const char *name = text(h, "precision");
    enum eco_precision arm = eco_precision_parse(name, strlen(name));
    *t = (struct eco_openai_target){.key = h->key,
                                    .chat = o->chat,
                                    .plain = o->plain,
                                    .bundled = o->bundled,
                                    .stall_s = o->stall_s};
    int rc = eco_arm_list_get(o->url, "url", arm, t->base, sizeof(t->base), err);
    finish_url(t->base);
    rc = rc ? rc
            : eco_arm_list_get(o->served_model ? o->served_model : text(h, "model"), "served_model",
                               arm, t->model, sizeof(t->model), err);
    return rc ? rc : number(h, "batch", ECO_OPENAI_MAX_STREAMS, &h->batch, err);
}

static void silent(void *ctx)
{
    (void)ctx;
}

static void silent_round(void *ctx, const struct eco_openai_round *r)
{
    (void)ctx;
    (void)r;
}

static void silent_edge(void *ctx, bool over)
{
    (void)ctx;
    (void)over;
}

static bool never(void *ctx)
{
    (void)ctx;
    return false;
}

/* Two tokens, so that what is wrong with the server is told while loading. Waits when asked to. */
static int probe(struct helper *h, struct eco_openai_sum *sum, struct eco_err *err)
{
    static const struct eco_openai_events quiet = {silent, silent_round, silent_edge, never, NULL};
    struct eco_openai_pool *one = NULL;
    double waited_s = 0;
    int rc = eco_openai_pool_new(&h->target, 1, &one, err);
    while (rc == 0) {
        rc = eco_openai_pool_run(one, 1, PROBE_TOKENS, &quiet, sum, err);
        double ask_s = rc ? eco_openai_pool_retry_s(one) : -1;
        ask_s = ask_s >= 0 && ask_s < 0.1 ? 0.1 : ask_s;
        if (rc == 0 || ask_s < 0 || waited_s + ask_s > PATIENCE_S) {
            break;
        }
        waited_s += ask_s;
        nanosleep(&(struct timespec){(time_t)ask_s, (long)(fmod(ask_s, 1) * 1e9)}, NULL);
        rc = 0;
    }
    eco_openai_pool_free(h->pool);
    h->pool = NULL;
    if (rc == 0) {
        snprintf(h->server, sizeof(h->server), "%s", eco_openai_pool_server(one));
        snprintf(h->fingerprint, sizeof(h->fingerprint), "%s", eco_openai_pool_fingerprint(one));
    }
    eco_openai_pool_free(one);
    return rc;
}

static void say_loaded(struct helper *h)
{
    struct eco_json_writer j = begin(h, "loaded");
    eco_jw_kv_str(&j, "weights", "real");
    eco_jw_key(&j, "versions");
    eco_jw_object(&j);
    eco_jw_kv_str(&j, "server", h->server[0] ? h->server : "not named");
    if (h->fingerprint[0]) {
        eco_jw_kv_str(&j, "fingerprint", h->fingerprint);
    }
    eco_jw_kv_str(&j, "url", h->target.base);
    eco_jw_kv_str(&j, "endpoint", h->target.chat ? "chat/completions" : "completions");
    eco_jw_kv_str(&j, "served_model", h->target.model);
    eco_jw_kv_str(&j, "libcurl", curl_version_info(CURLVERSION_NOW)->version);
    eco_jw_object_end(&j);
    end(h, &j);
}

static int load(struct helper *h, struct eco_err *err)
{
    struct eco_openai_sum sum = {0};
    int rc = set_target(h, err);
    rc = rc ? rc : find_model(h, h->options.served_model != NULL, err);
    rc = rc ? rc : probe(h, &sum, err);
    rc = rc ? rc : eco_openai_pool_new(&h->target, h->batch, &h->pool, err);
    if (rc == 0) {
        fprintf(stderr, "%s: '%s' at %s, prompt of %lld tokens\n", text(h, "precision"),
                h->target.model, h->target.base, (long long)sum.prompt_tokens);
        say_loaded(h);
    }
    return rc;
}

/* ---- window --------------------------------------------------------------------------------- */

static void on_first_token(void *ctx)
{
    say_word(ctx, "first_token");
}

static void on_round(void *ctx, const struct eco_openai_round *r)
{
    struct helper *h = ctx;
    struct eco_json_writer j = begin(h, "iteration");
    eco_jw_kv_i64(&j, "tokens", r->tokens);
    if (!isnan(r->ttft_s)) {
        eco_jw_kv_num(&j, "ttft_s", r->ttft_s);
    }
    if (!isnan(r->tpot_s)) {
        eco_jw_kv_num(&j, "tpot_s", r->tpot_s);
    }
    if (r->interval_count) {
        eco_jw_key(&j, "intervals_s");
        eco_jw_array(&j);
        for (int i = 0; i < r->interval_count; i++) {
            eco_jw_num(&j, round(r->intervals_s[i] * 1e7) / 1e7);
        }
        eco_jw_array_end(&j);
    }
    end(h, &j);
}

static void on_edge(void *ctx, bool over)
{
    struct helper *h = ctx;
    if (h->window) {
        say_word(h, over ? "steady_end" : "steady_begin");
    }
}

static bool on_stop(void *ctx)
{
    struct helper *h = ctx;
    const char *op;
    if (!h->stop) {
        read_input(h, false);
        op = take_request(h);
        h->stop = h->input_ended || (op && strcmp(op, "stop") == 0);
    }
    return h->stop;
}

static int generate(struct helper *h, bool window, struct eco_err *err)
{
    const struct eco_openai_events events = {on_first_token, on_round, on_edge, on_stop, h};
    struct eco_openai_sum sum;
    int iterations = 0, tokens = 0;
    int rc = h->pool ? 0 : eco_err_set(err, ECO_E_INVALID, "op", "nothing is loaded yet");
    rc = rc ? rc : number(h, "iterations", ECO_WORKLOAD_MAX_ITERATIONS, &iterations, err);
    rc = rc ? rc : number(h, "tokens", 1 << 20, &tokens, err);
    if (rc) {
        return rc;
    }
    h->window = window;
    h->stop = false;
    say_word(h, "window_begin");
    rc = eco_openai_pool_run(h->pool, iterations, tokens, &events, &sum, err);
    if (rc) {
        return rc;
    }
    if (sum.early) {
        fprintf(stderr, "%lld streams ended before their %d tokens\n", (long long)sum.early,
                tokens);
    }
    struct eco_json_writer j = begin(h, "window_end");
    eco_jw_kv_i64(&j, "tokens", sum.tokens);
    eco_jw_kv_i64(&j, "sequences", h->batch);
    eco_jw_kv_i64(&j, "steady_tokens", sum.steady_tokens);
    eco_jw_kv_i64(&j, "steady_first_tokens", sum.steady_first_tokens);
    end(h, &j);
    return 0;
}

/* ---- main ----------------------------------------------------------------------------------- */

static int serve(struct helper *h, struct eco_err *err)
{
    int rc = 0;
    struct eco_json_writer j = begin(h, "ready");
    eco_jw_kv_i64(&j, "protocol", ECO_WORKER_PROTOCOL);
    eco_jw_kv_str(&j, "engine", "openai");
    end(h, &j);
    while (rc == 0) {
        const char *op = next_request(h);
        if (!op || strcmp(op, "exit") == 0) {
            return 0;
        }
        if (strcmp(op, "load") == 0) {
            rc = load(h, err);
        } else if (strcmp(op, "warmup") == 0 || strcmp(op, "window") == 0) {
            rc = generate(h, strcmp(op, "window") == 0, err);
        } else if (strcmp(op, "unload") == 0) {
            eco_openai_pool_free(h->pool);
            h->pool = NULL;
            say_word(h, "unloaded");
        } else if (strcmp(op, "perplexity") == 0) {
            eco_err_set(err, ECO_E_UNSUPPORTED, "op",
                        "a server does not give what perplexity needs");
            say_error(h, err);                /* the run goes on without it */
        } else if (strcmp(op, "stop") != 0) { /* one that came after its window is of no use */
            rc = eco_err_set(err, ECO_E_INVALID, "op", "a request that this worker does not know");
        }
    }
    return rc;
}

static bool read_options(int argc, char **argv, struct options *o)
{
    const char *stall = "120";
    const struct {
        const char *name;
        const char **value;
        bool *flag;
    } all[] = {{"--url", &o->url, NULL},         {"--served-model", &o->served_model, NULL},
               {"--key-env", &o->key_env, NULL}, {"--stall-s", &stall, NULL},
               {"--chat", NULL, &o->chat},       {"--plain", NULL, &o->plain},
               {"--bundled", NULL, &o->bundled}};
    for (int i = 1; i < argc; i++) {
        size_t k = 0;
        while (k < sizeof(all) / sizeof(all[0]) && strcmp(argv[i], all[k].name) != 0) {
            k++;
        }
        if (k == sizeof(all) / sizeof(all[0]) || (all[k].value && i + 1 == argc)) {
            return false;
        }
        if (all[k].flag) {
            *all[k].flag = true;
        } else {
            *all[k].value = argv[++i];
        }
    }
    char *rest;
    o->stall_s = strtod(stall, &rest);
    return o->url && !*rest && o->stall_s > 0 && o->stall_s <= 86400;
}

/* The key, if there is one. One that cannot stand in a header is an error. */
static int read_key(struct helper *h, struct eco_err *err)
{
    const char *name = h->options.key_env ? h->options.key_env : "OPENAI_API_KEY";
    h->key = getenv(name);
    if (h->key && !*h->key) {
        h->key = NULL;
    }
    if (!h->key && h->options.key_env) {
        return eco_err_set(err, ECO_E_INVALID, "key_env",
                           "the environment variable '%.60s' of --key-env is not set", name);
    }
    for (const char *c = h->key; c && *c; c++) {
        if (*c <= ' ' || *c > '~') {
            return eco_err_set(err, ECO_E_INVALID, "key_env",
                               "the API key in '%.60s' holds a blank or a control character", name);
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct helper h = {.input = ECO_BUF_INIT, .line = ECO_BUF_INIT};
    struct eco_err err = {0};
    if (!read_options(argc, argv, &h.options)) {
        fputs(usage, argc == 2 && strcmp(argv[1], "--help") == 0 ? stdout : stderr);
        return argc == 2 && strcmp(argv[1], "--help") == 0 ? 0 : 2;
    }
    signal(SIGPIPE, SIG_IGN);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    int rc = read_key(&h, &err);
    rc = rc ? rc : serve(&h, &err);
    if (rc) {
        say_error(&h, &err);
    }
    eco_openai_pool_free(h.pool);
    eco_json_done(&h.request);
    eco_buf_done(&h.input);
    eco_buf_done(&h.line);
    curl_global_cleanup();
    return rc ? 1 : 0;
}
