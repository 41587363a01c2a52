/* POST /mcp. */
#include "server_parts.h"

void eco_mcp_http_answer(struct eco_server *s, struct eco_server_worker *w,
                         const struct eco_http_request *q, struct eco_http_reply *r)
{
    (void)s;
    (void)q;
    eco_reply_refusal(w, 501, "unsupported", NULL, "not there yet", r);
}
