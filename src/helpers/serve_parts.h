/*
 * The HTTP server program: options, sockets by libmicrohttpd, deadlines of connections, the access
 * log. What to answer is src/server's. Threads: the main one waits for signals and sweeps slow
 * connections each tick; libmicrohttpd's own threads answer.
 */
#ifndef ECO_HELPERS_SERVE_PARTS_H
#define ECO_HELPERS_SERVE_PARTS_H

#include "ops/params.h"
#include "server/server.h"
#include "server/store_ops.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define SERVE_TICK_MS 200

struct serve_conn; /* an open connection, with the time by which it must have done something */

struct serve_conns {
    pthread_mutex_t lock;
    struct serve_conn *first;
    atomic_long open;
};

struct serve_log {
    pthread_mutex_t lock;
    struct eco_buf text; /* not yet written */
    int fd;              /* -1: off */
    bool with_query;
};

struct serve_worker_slot;

struct serve {
    const struct eco_args_serve *args;
    struct eco_server *server;
    struct serve_conns conns;
    struct serve_log log;
    pthread_mutex_t workers_lock;
    struct serve_worker_slot *workers; /* free ones */
    atomic_long busy; /* requests whose headers are there and whose reply is not out */
    atomic_bool draining;
    int64_t timeout_ns, threads;
};

/* serve_mhd.c */
struct serve_http;
int serve_http_start(struct serve *s, int listen_fd, const char *cert, const char *key,
                     struct serve_http **out, struct eco_err *err);
/** Takes no new connections; what is open may finish. */
void serve_http_quiesce(struct serve_http *h);
void serve_http_stop(struct serve_http *h); /* accepts NULL */

/* serve_store.c: the store behind the server's hooks. */
int serve_store_open(const struct eco_args_serve *a, struct eco_server_store *out,
                     struct eco_err *err);
void serve_store_close(struct eco_server_store *s);

/* serve_conns.c */
void serve_conns_init(struct serve_conns *c);
void serve_conns_done(struct serve_conns *c);
struct serve_conn *serve_conn_open(struct serve_conns *c, int fd, int64_t deadline_ns);
void serve_conn_close(struct serve_conns *c, struct serve_conn *k); /* accepts NULL */
void serve_conn_deadline(struct serve_conn *k, int64_t deadline_ns);
/** Ends connections whose time is over. */
void serve_conns_sweep(struct serve_conns *c, int64_t now_ns);

/* serve_log.c */
int serve_log_open(struct serve_log *l, const char *where, bool with_query, struct eco_err *err);
void serve_log_add(struct serve_log *l, const struct eco_server *s,
                   const struct eco_http_request *q, const struct eco_http_reply *r,
                   double seconds);
void serve_log_flush(struct serve_log *l);
void serve_log_close(struct serve_log *l);

/* serve_socket.c */
int serve_listen(const char *address, int port, int *fd, int *bound_port, struct eco_err *err);

/* serve_workers.c */
struct eco_server_worker *serve_worker_take(struct serve *s); /* NULL: no memory */
void serve_worker_give(struct serve *s, struct eco_server_worker *w);
void serve_workers_done(struct serve *s);

#endif
