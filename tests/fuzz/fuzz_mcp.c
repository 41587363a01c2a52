/* Any bytes as an MCP message: silence, or one JSON-RPC reply (or an array of them). */
#include "base/json.h"
#include "mcp/mcp.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void check(int condition)
{
    if (!condition) {
        abort();
    }
}

static void check_reply(const struct eco_json *r)
{
    const struct eco_json *error = eco_json_get(r, "error"), *result = eco_json_get(r, "result");
    check(r->type == ECO_JSON_OBJECT && eco_json_get(r, "jsonrpc") && eco_json_get(r, "id"));
    check((error != NULL) != (result != NULL));
    check(!error || (eco_json_get(error, "code")->is_integer && eco_json_get(error, "message")));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const versions[] = {NULL, "2025-11-25", "2025-03-26", "2024-11-05"};
    struct eco_mcp m;
    struct eco_mcp_call call = {0};
    struct eco_buf out = ECO_BUF_INIT, notes = ECO_BUF_INIT;
    struct eco_json_doc doc = {0};
    eco_mcp_init(&m, &(struct eco_mcp_options){0});
    eco_mcp_handle(&m, (const char *)data, size, versions[size % 4], &call, &out, &notes);
    check(eco_buf_ok(&out) && eco_buf_ok(&notes));
    check(memchr(eco_buf_str(&out), '\n', out.len) == NULL); /* one line of the stream */
    if (out.len) {
        check(eco_json_parse(&doc, eco_buf_str(&out), out.len, NULL) == 0);
        if (doc.root->type == ECO_JSON_ARRAY) {
            for (const struct eco_json *r = doc.root->child; r; r = r->next) {
                check_reply(r);
            }
        } else {
            check_reply(doc.root);
        }
        eco_json_done(&doc);
    }
    eco_buf_done(&out);
    eco_buf_done(&notes);
    return 0;
}
