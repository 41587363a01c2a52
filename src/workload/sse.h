/*
 * Server-sent events (text/event-stream) as far as streamed completions use them: bytes in, the
 * data of each event out. Owns its buffers (init/done); one thread; no clock, no I/O.
 * Errors: ECO_E_CONTENT for bytes that are no event stream, ECO_E_TOO_LARGE for a line or event
 * over ECO_SSE_MAX_BYTES, ECO_E_DEVICE for an "error:" line, ECO_E_NO_MEMORY, what on_data says.
 */
#ifndef ECO_WORKLOAD_SSE_H
#define ECO_WORKLOAD_SSE_H

#include "base/buf.h"
#include "eco_err.h"

#include <stdbool.h>
#include <stddef.h>

#define ECO_SSE_MAX_BYTES ((size_t)1 << 20)

struct eco_sse {
    struct eco_buf line, data;
    bool has_data; /* of the event that is being read */
    bool after_cr; /* a newline now belongs to the carriage return before it */
    bool begun;    /* past the first line, where a byte order mark may stand */
};

void eco_sse_init(struct eco_sse *s);
void eco_sse_done(struct eco_sse *s);
void eco_sse_reset(struct eco_sse *s); /* a new stream; memory is kept */

/** Called for each event that has data; NUL-terminated, valid during the call. */
struct eco_sse_sink {
    int (*on_data)(void *ctx, const char *data, size_t len, struct eco_err *err);
    void *ctx;
};

/** Feeds bytes; they may be cut anywhere. After an error only reset or done is allowed. */
int eco_sse_feed(struct eco_sse *s, const char *bytes, size_t len, const struct eco_sse_sink *sink,
                 struct eco_err *err);
/** Bytes of a line or an event that has not ended. */
bool eco_sse_midway(const struct eco_sse *s);

#endif
