/*
 * Streams of an OpenAI-compatible server by libcurl: `batch` of them at a time, each followed by
 * the next without a pause. One thread; a pool owns its connections and its memory. The API key
 * goes into one header and nowhere else; redirects are not followed: it stays with the host given.
 * Errors: ECO_E_DEVICE for a server that cannot be reached, refuses, stalls or breaks off;
 * ECO_E_CONTENT for answers that are not the dialect; ECO_E_PERMISSION for 401 and 403.
 */
#ifndef ECO_HELPERS_OPENAI_HTTP_H
#define ECO_HELPERS_OPENAI_HTTP_H

#include "base/buf.h"
#include "eco_err.h"

#include <stdbool.h>
#include <stdint.h>

#define ECO_OPENAI_MAX_STREAMS 1024
#define ECO_OPENAI_MAX_URL 1024
#define ECO_OPENAI_MAX_ROUND 60000 /* intervals told of one round: a line stays under 1 MiB */

/** Where requests go. */
struct eco_openai_target {
    char base[ECO_OPENAI_MAX_URL]; /* "http://host:8000/v1", no slash at the end */
    char model[256];               /* as the server knows it */
    const char *key;               /* borrowed; NULL: none */
    bool chat;                     /* /chat/completions, not /completions */
    bool plain;                    /* only members of the published API: no ignore_eos and such */
    bool bundled;                  /* a piece of text may hold several tokens */
    double stall_s;                /* longest silence of a stream */
};

/* `batch` requests that ended one after another. */
struct eco_openai_round {
    int64_t tokens;
    double ttft_s, tpot_s;     /* means; NAN */
    const double *intervals_s; /* of streams whose pieces are tokens */
    int interval_count;
};

/* What a run tells while it goes on; all functions are needed. */
struct eco_openai_events {
    void (*first_token)(void *ctx);
    void (*round)(void *ctx, const struct eco_openai_round *r);
    void (*edge)(void *ctx, bool end); /* of the steady state */
    bool (*stop)(void *ctx);           /* end after what is begun (asked often) */
    void *ctx;
};

struct eco_openai_sum {
    int rounds;
    int64_t tokens, steady_tokens, steady_first_tokens;
    int64_t early, prompt_tokens; /* streams shorter than asked; -1 */
};

struct eco_openai_pool;

int eco_openai_pool_new(const struct eco_openai_target *t, int batch, struct eco_openai_pool **out,
                        struct eco_err *err);
void eco_openai_pool_free(struct eco_openai_pool *p); /* accepts NULL */
/** `rounds` x batch requests of `tokens` tokens each; fewer when stop says so, but whole rounds. */
int eco_openai_pool_run(struct eco_openai_pool *p, int rounds, int tokens,
                        const struct eco_openai_events *events, struct eco_openai_sum *out,
                        struct eco_err *err);
/** After an error: seconds the server asked to wait (429, 503), or -1: trying again is no use. */
double eco_openai_pool_retry_s(const struct eco_openai_pool *p);
/** From the last answer: "Server" and "system_fingerprint"; "" when not said. */
const char *eco_openai_pool_server(const struct eco_openai_pool *p);
const char *eco_openai_pool_fingerprint(const struct eco_openai_pool *p);

/** GET base/path; the body into `out`. *status 0 and an error: no answer. */
int eco_openai_get(const struct eco_openai_target *t, const char *path, struct eco_buf *out,
                   long *status, struct eco_err *err);

#endif
