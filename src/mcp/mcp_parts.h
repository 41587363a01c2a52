/* The inside of mcp: one message being handled, and the functions for its methods. */
#ifndef ECO_MCP_MCP_PARTS_H
#define ECO_MCP_MCP_PARTS_H

#include "base/json.h"
#include "mcp.h"

/* JSON-RPC 2.0, and MCP's own. */
#define ECO_RPC_PARSE (-32700)
#define ECO_RPC_REQUEST (-32600)
#define ECO_RPC_METHOD (-32601)
#define ECO_RPC_PARAMS (-32602)
#define ECO_RPC_INTERNAL (-32603)
#define ECO_RPC_NO_RESOURCE (-32002)

struct eco_mcp_message {
    struct eco_mcp *m;
    struct eco_mcp_call *call;
    struct eco_arena *arena;       /* of this message */
    const struct eco_json *params; /* an object, or NULL */
    struct eco_json_writer *w;     /* where the result goes */
    struct eco_buf *notes;         /* log messages; may be NULL */
    int version;
    enum eco_lang lang; /* of errors */
};

/**
 * A method writes its result object and returns 0, or fills `err` and returns its JSON-RPC code;
 * what it wrote is then dropped.
 */
typedef int eco_mcp_method(struct eco_mcp_message *x, struct eco_err *err);

eco_mcp_method eco_mcp_tools_list;
eco_mcp_method eco_mcp_tools_call;
eco_mcp_method eco_mcp_resources_list;
eco_mcp_method eco_mcp_templates_list;
eco_mcp_method eco_mcp_resources_read;
eco_mcp_method eco_mcp_prompts_list;
eco_mcp_method eco_mcp_prompts_get;

/** A text member of the params; NULL with `err` when it is not there or no text. */
const char *eco_mcp_text_param(const struct eco_mcp_message *x, const char *name,
                               struct eco_err *err);
/** {"type": "text", "text": …} */
void eco_mcp_text_content(struct eco_json_writer *w, const char *text, size_t len);
/** The context an operation runs in: no files. */
void eco_mcp_ctx(const struct eco_mcp_message *x, struct eco_ctx *ctx);
/** Writes a log message when the client wants its level (0 debug … 7 emergency). */
void eco_mcp_log(const struct eco_mcp_message *x, int level, const char *text, size_t len);

/** measure_tool.c: the tool that runs this machine. */
bool eco_mcp_is_local(const struct eco_op *op); /* has a tool, but no place in HTTP */
bool eco_mcp_measure_takes(const struct eco_param *p);
int eco_mcp_measure(struct eco_mcp_message *x, const struct eco_op *op,
                    const struct eco_json *arguments, struct eco_buf *out, struct eco_err *err);

/* Texts of docs/, embedded by the build. */
extern const char eco_mcp_methodology[];
extern const size_t eco_mcp_methodology_len;
extern const char eco_mcp_calibration[];
extern const size_t eco_mcp_calibration_len;

#endif
