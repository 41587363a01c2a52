/* The listening socket. */
#include "serve_parts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 1024

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

static bool parse(const char *text, int port, union address *out, socklen_t *len)
{
    *out = (union address){0};
    if (inet_pton(AF_INET, text, &out->v4.sin_addr) == 1) {
        out->v4.sin_family = AF_INET;
        out->v4.sin_port = htons((uint16_t)port);
        *len = sizeof out->v4;
        return true;
    }
    if (inet_pton(AF_INET6, text, &out->v6.sin6_addr) == 1) {
        out->v6.sin6_family = AF_INET6;
        out->v6.sin6_port = htons((uint16_t)port);
        *len = sizeof out->v6;
        return true;
    }
    return false;
}

static int opened(int fd, const union address *a, socklen_t len)
{
    int on = 1, off = 0;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (a->any.sa_family == AF_INET6) { /* :: also takes IPv4 */
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    }
    return bind(fd, &a->any, len) == 0 && listen(fd, BACKLOG) == 0 ? 0 : errno;
}

int serve_listen(const char *address, int port, int *fd, int *bound_port, struct eco_err *err)
{
    union address a;
    socklen_t len = 0;
    if (!parse(address, port, &a, &len)) {
        return eco_err_set(err, ECO_E_INVALID, "bind",
                           "'%.60s' is not an IPv4 or IPv6 address (127.0.0.1, ::1, 0.0.0.0 …)",
                           address);
    }
    int s = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int why = s < 0 ? errno : opened(s, &a, len);
    if (why) {
        if (s >= 0) {
            close(s);
        }
        return eco_err_set(err, why == EACCES ? ECO_E_PERMISSION : ECO_E_DEVICE, "port",
                           "cannot listen on %.60s port %d: %s", address, port, strerror(why));
    }
    len = sizeof a;
    *bound_port = port;
    if (getsockname(s, &a.any, &len) == 0) {
        *bound_port = ntohs(a.any.sa_family == AF_INET6 ? a.v6.sin6_port : a.v4.sin_port);
    }
    *fd = s;
    return 0;
}
