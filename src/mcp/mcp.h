/*
 * Model Context Protocol: JSON-RPC messages in, replies out; tools, resources and prompts come from
 * the table of operations. Transports are elsewhere: stdio.h, and POST /mcp of the server.
 * Threads: messages of one session may be handled at the same time. Nothing here opens a file for
 * a request. Errors of a message are replies, never return codes.
 */
#ifndef ECO_MCP_MCP_H
#define ECO_MCP_MCP_H

#include "base/buf.h"
#include "ops/op.h"
#include "ops/voice.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define ECO_MCP_MAX_MESSAGE (((size_t)1 << 20) + ((size_t)64 << 10)) /* a body of audit_code fits */

/* What a client speaks that has not said it. Over HTTP that is each request's own matter: what
 * others agreed on does not count. */
#define ECO_MCP_VERSION_UNSAID "2025-03-26"

struct eco_mcp_options {
    const struct eco_gpu *host_gpu; /* the default card, or NULL */
    const char *host_gpu_name;
    /* measure_energy is offered when there is a program: `ecocompute`, run as a child. */
    const char *measure_program;
    const char *measure_workload; /* "builtin" or "worker:COMMAND": the owner's, not the client's */
    const char *measure_out;      /* folder under which each measurement gets its own */
};

/** One connection (stdio), or all of them (HTTP keeps no sessions). */
struct eco_mcp {
    struct eco_mcp_options o;
    atomic_int version; /* index of what was agreed on; -1: nothing yet */
    atomic_int level;   /* of log messages */
    atomic_uint runs;   /* numbers the folders of measurements */
};

/** A message that runs, so that another thread may end it. */
struct eco_mcp_call {
    atomic_bool cancelled;
    atomic_int child;   /* process id of a measurement, 0: none */
    enum eco_lang lang; /* in which errors are told, where the message names none */
};

void eco_mcp_init(struct eco_mcp *m, const struct eco_mcp_options *o);

/**
 * Handles text[0..len). What is to be sent back is appended to `out` (one JSON value without a
 * newline; nothing for notifications and cancelled calls), log messages that go before it to
 * `notes` (one a line; NULL: none are made). `header_version`: the protocol version an HTTP client
 * named, or NULL.
 */
void eco_mcp_handle(struct eco_mcp *m, const char *text, size_t len, const char *header_version,
                    struct eco_mcp_call *call, struct eco_buf *out, struct eco_buf *notes);

/** True when the version is one that is spoken here. */
bool eco_mcp_knows_version(const char *version);
const char *eco_mcp_versions(void); /* all of them, newest first */
/** Ends what a call does; its reply is dropped. */
void eco_mcp_cancel(struct eco_mcp_call *call);

#endif
