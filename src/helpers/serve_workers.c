/* Workers (scratch memory of a request) for whichever thread answers next. */
#include "serve_parts.h"

#include <stdlib.h>

struct serve_worker_slot {
    struct eco_server_worker *worker;
    struct serve_worker_slot *next;
};

struct eco_server_worker *serve_worker_take(struct serve *s)
{
    pthread_mutex_lock(&s->workers_lock);
    struct serve_worker_slot *slot = s->workers;
    if (slot) {
        s->workers = slot->next;
    }
    pthread_mutex_unlock(&s->workers_lock);
    struct eco_server_worker *w = slot ? slot->worker : eco_server_worker_new(s->server);
    free(slot);
    return w;
}

void serve_worker_give(struct serve *s, struct eco_server_worker *w)
{
    struct serve_worker_slot *slot = malloc(sizeof(*slot));
    if (!slot) {
        eco_server_worker_free(w);
        return;
    }
    eco_server_worker_rest(w); /* else a rarely used one kept it for ever */
    slot->worker = w;
    pthread_mutex_lock(&s->workers_lock);
    slot->next = s->workers;
    s->workers = slot;
    pthread_mutex_unlock(&s->workers_lock);
}

void serve_workers_done(struct serve *s)
{
    while (s->workers) {
        struct serve_worker_slot *slot = s->workers;
        s->workers = slot->next;
        eco_server_worker_free(slot->worker);
        free(slot);
    }
    pthread_mutex_destroy(&s->workers_lock);
}
