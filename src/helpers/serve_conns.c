/*
 * Deadlines of connections. A client that sends a byte now and then keeps a connection "active" for
 * ever; here each step (sending a request, its body, taking the reply) has one fixed time.
 */
#include "serve_parts.h"

#include <stdlib.h>
#include <sys/socket.h>

struct serve_conn {
    struct serve_conn *next, *prev;
    int fd;
    atomic_llong deadline_ns;
};

void serve_conns_init(struct serve_conns *c)
{
    *c = (struct serve_conns){0};
    pthread_mutex_init(&c->lock, NULL);
}

void serve_conns_done(struct serve_conns *c)
{
    pthread_mutex_destroy(&c->lock);
}

struct serve_conn *serve_conn_open(struct serve_conns *c, int fd, int64_t deadline_ns)
{
    struct serve_conn *k = calloc(1, sizeof(*k));
    if (!k) {
        return NULL;
    }
    k->fd = fd;
    serve_conn_deadline(k, deadline_ns);
    pthread_mutex_lock(&c->lock);
    k->next = c->first;
    if (c->first) {
        c->first->prev = k;
    }
    c->first = k;
    pthread_mutex_unlock(&c->lock);
    atomic_fetch_add(&c->open, 1);
    return k;
}

void serve_conn_close(struct serve_conns *c, struct serve_conn *k)
{
    if (!k) {
        return;
    }
    pthread_mutex_lock(&c->lock);
    if (k->prev) {
        k->prev->next = k->next;
    } else {
        c->first = k->next;
    }
    if (k->next) {
        k->next->prev = k->prev;
    }
    pthread_mutex_unlock(&c->lock);
    atomic_fetch_sub(&c->open, 1);
    free(k);
}

void serve_conn_deadline(struct serve_conn *k, int64_t deadline_ns)
{
    if (k) {
        atomic_store_explicit(&k->deadline_ns, deadline_ns, memory_order_relaxed);
    }
}

/* The socket is shut, not closed: the library sees its end and closes it. Under the lock, so that
 * the number cannot be another connection's by now. */
void serve_conns_sweep(struct serve_conns *c, int64_t now_ns)
{
    pthread_mutex_lock(&c->lock);
    for (struct serve_conn *k = c->first; k; k = k->next) {
        if (atomic_load_explicit(&k->deadline_ns, memory_order_relaxed) < now_ns) {
            shutdown(k->fd, SHUT_RDWR);
        }
    }
    pthread_mutex_unlock(&c->lock);
}
