/*
 * One streamed completion of an OpenAI-compatible server, as it comes: counts pieces of text, keeps
 * the times between them, reads `usage`, and judges at the end whether the two agree. Pure: bytes
 * and times go in. Owns its memory (init/done), one thread.
 * Errors: ECO_E_CONTENT for what is not the dialect and for counts that cannot be true,
 * ECO_E_DEVICE for a server that says it failed, ECO_E_TOO_LARGE, ECO_E_NO_MEMORY.
 */
#ifndef ECO_WORKLOAD_OPENAI_STREAM_H
#define ECO_WORKLOAD_OPENAI_STREAM_H

#include "base/json.h"
#include "eco_err.h"
#include "workload/sse.h"

#include <stdbool.h>
#include <stdint.h>

struct eco_openai_stream {
    struct eco_sse sse;
    struct eco_json_doc doc; /* of the event that came last */
    int asked;               /* tokens */
    bool bundled;            /* a piece may hold several tokens */
    int64_t start_ns, first_ns, last_ns;
    int64_t pieces, empty; /* with text, and without (a token may end inside a character) */
    int64_t usage_tokens, prompt_tokens; /* -1: not said */
    double *intervals_s;                 /* [pieces - 1] */
    int interval_count, interval_room;
    bool finish_said, done; /* a finish_reason; "[DONE]" */
    char finish[16];        /* "length", "stop" */
    char fingerprint[64];   /* system_fingerprint; "" */
};

void eco_openai_stream_init(struct eco_openai_stream *s);
void eco_openai_stream_done(struct eco_openai_stream *s);
/** A request for `tokens` is sent now. Makes room: nothing is allocated for intervals later. */
int eco_openai_stream_start(struct eco_openai_stream *s, int tokens, bool bundled, int64_t now_ns,
                            struct eco_err *err);
/** Bytes of the answer's body that came at `now_ns`. */
int eco_openai_stream_feed(struct eco_openai_stream *s, const char *bytes, size_t len,
                           int64_t now_ns, struct eco_err *err);
/** The body has ended: was it whole, and do `usage` and the pieces agree? */
int eco_openai_stream_check(const struct eco_openai_stream *s, struct eco_err *err);
/** Time to the first piece, s; NAN when there was none. */
double eco_openai_stream_ttft_s(const struct eco_openai_stream *s);
/** What a JSON error body says ("error": {"message": …}, "error": "…", "detail": "…"); or NULL. */
const char *eco_openai_error_text(const struct eco_json *root);

#endif
