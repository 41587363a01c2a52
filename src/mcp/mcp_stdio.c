#include "mcp_stdio.h"

#include "mcp_parts.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_WAITING 256 /* calls at a time; one more is refused */

struct waiting {
    struct waiting *next;
    char *text; /* the message; owned */
    size_t len;
    char *id; /* as JSON; owned */
    struct eco_mcp_call call;
};

struct session {
    struct eco_mcp mcp;
    int out_fd;
    pthread_mutex_t out_lock;
    atomic_bool broken; /* nobody reads */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct waiting *first, **last, *running;
    size_t count;
    bool ended;
};

/* A whole line or nothing, in one piece. */
static void put_line(struct session *s, const struct eco_buf *b)
{
    const char *at = eco_buf_str(b);
    size_t left = b->len;
    pthread_mutex_lock(&s->out_lock);
    while (left && !atomic_load(&s->broken)) {
        ssize_t n = write(s->out_fd, at, left);
        if (n > 0) {
            at += n;
            left -= (size_t)n;
        } else if (n < 0 && errno != EINTR) {
            atomic_store(&s->broken, true);
        }
    }
    pthread_mutex_unlock(&s->out_lock);
}

static void answer(struct session *s, const char *text, size_t len, struct eco_mcp_call *call)
{
    struct eco_buf out = ECO_BUF_INIT, notes = ECO_BUF_INIT;
    eco_mcp_handle(&s->mcp, text, len, NULL, call, &out, &notes);
    if (out.len) {
        eco_buf_putc(&out, '\n');
        if (notes.len) {
            put_line(s, &notes);
        }
        put_line(s, &out);
    }
    eco_buf_done(&out);
    eco_buf_done(&notes);
}

static void free_waiting(struct waiting *k)
{
    free(k->text);
    free(k->id);
    free(k);
}

static void *work(void *to)
{
    struct session *s = to;
    pthread_mutex_lock(&s->lock);
    for (;;) {
        while (!s->first && !s->ended) {
            pthread_cond_wait(&s->changed, &s->lock);
        }
        struct waiting *k = s->first;
        if (!k) {
            break;
        }
        s->first = k->next;
        if (!s->first) {
            s->last = &s->first;
        }
        s->running = k;
        pthread_mutex_unlock(&s->lock);
        if (!atomic_load(&k->call.cancelled)) {
            answer(s, k->text, k->len, &k->call);
        }
        pthread_mutex_lock(&s->lock);
        s->running = NULL;
        s->count--;
        free_waiting(k);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static char *id_text(const struct eco_json *id)
{
    struct eco_buf b = ECO_BUF_INIT;
    struct eco_json_writer w;
    eco_jw_init(&w, &b, 0);
    if (id) {
        eco_jw_value(&w, id);
    }
    char *text = eco_buf_ok(&b) ? strdup(eco_buf_str(&b)) : NULL;
    eco_buf_done(&b);
    return text;
}

/* True when it was taken; the reader answers what is not (also to say that there are too many). */
static bool enqueue(struct session *s, const char *text, size_t len, const struct eco_json *id)
{
    struct waiting *k = calloc(1, sizeof(*k));
    if (k) {
        k->text = malloc(len + 1);
        k->id = id_text(id);
        k->len = len;
    }
    if (!k || !k->text || !k->id) {
        if (k) {
            free_waiting(k);
        }
        return false;
    }
    memcpy(k->text, text, len);
    k->text[len] = '\0';
    pthread_mutex_lock(&s->lock);
    bool room = s->count < MAX_WAITING;
    if (room) {
        *s->last = k;
        s->last = &k->next;
        s->count++;
        pthread_cond_signal(&s->changed);
    }
    pthread_mutex_unlock(&s->lock);
    if (!room) {
        free_waiting(k);
    }
    return room;
}

static void cancel(struct session *s, const struct eco_json *params)
{
    char *id = id_text(eco_json_get(params, "requestId"));
    pthread_mutex_lock(&s->lock);
    if (id && s->running && strcmp(s->running->id, id) == 0) {
        eco_mcp_cancel(&s->running->call);
    }
    for (struct waiting *k = s->first; id && k; k = k->next) {
        if (strcmp(k->id, id) == 0) {
            eco_mcp_cancel(&k->call);
        }
    }
    pthread_mutex_unlock(&s->lock);
    free(id);
}

static void too_many(struct session *s, const struct eco_json *id)
{
    struct eco_buf out = ECO_BUF_INIT;
    char *text = id_text(id);
    eco_buf_printf(&out,
                   "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-32000,\"message\":"
                   "\"over %d calls are waiting\"}}\n",
                   text ? text : "null", MAX_WAITING);
    put_line(s, &out);
    eco_buf_done(&out);
    free(text);
}

/* Tool calls wait for the worker, cancellations act on them, everything else is answered here. */
static void take_line(struct session *s, const char *text, size_t len)
{
    struct eco_json_doc doc = {0};
    struct eco_mcp_call call = {0};
    bool done = false;
    while (len && (text[len - 1] == '\r' || text[len - 1] == ' ')) {
        len--;
    }
    if (len == 0) {
        return;
    }
    if (len <= ECO_MCP_MAX_MESSAGE && eco_json_parse(&doc, text, len, NULL) == 0) {
        const struct eco_json *method = eco_json_get(doc.root, "method"),
                              *id = eco_json_get(doc.root, "id");
        bool known = method && method->type == ECO_JSON_STRING;
        if (known && !id && strcmp(method->str, "notifications/cancelled") == 0) {
            cancel(s, eco_json_get(doc.root, "params"));
        }
        if (known && id && strcmp(method->str, "tools/call") == 0) {
            done = true;
            if (!enqueue(s, text, len, id)) {
                too_many(s, id);
            }
        }
        eco_json_done(&doc);
    }
    if (!done) {
        answer(s, text, len, &call);
    }
}

/* Lines of any length: what is over the limit is read past, and refused as one message. */
static void read_lines(struct session *s, int fd)
{
    struct eco_buf line = ECO_BUF_INIT;
    bool over = false;
    while (!atomic_load(&s->broken)) {
        char chunk[16384];
        ssize_t n = read(fd, chunk, sizeof chunk);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            break;
        }
        for (char *at = chunk, *end = chunk + n; at < end;) {
            char *nl = memchr(at, '\n', (size_t)(end - at));
            size_t part = (size_t)((nl ? nl : end) - at);
            over = over || line.len + part > ECO_MCP_MAX_MESSAGE + 2;
            if (!over) {
                eco_buf_put(&line, at, part);
            }
            if (nl) {
                if (over) {
                    eco_buf_reserve(&line, 1);
                    answer(s, eco_buf_str(&line), ECO_MCP_MAX_MESSAGE + 1,
                           &(struct eco_mcp_call){0});
                } else {
                    take_line(s, eco_buf_str(&line), line.len);
                }
                over = false;
                eco_buf_clear(&line);
            }
            at += part + (nl != NULL);
        }
    }
    if (line.len && !over) { /* the last line may lack its end */
        take_line(s, eco_buf_str(&line), line.len);
    }
    eco_buf_done(&line);
}

int eco_mcp_stdio(const struct eco_mcp_options *o, int in_fd, int out_fd, struct eco_err *err)
{
    struct session s = {.out_fd = out_fd, .last = &s.first};
    pthread_t worker;
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGPIPE, &ignore, NULL); /* a closed pipe is an error of write */
    eco_mcp_init(&s.mcp, o);
    pthread_mutex_init(&s.out_lock, NULL);
    pthread_mutex_init(&s.lock, NULL);
    pthread_cond_init(&s.changed, NULL);
    int rc = pthread_create(&worker, NULL, work, &s);
    if (rc) {
        return eco_err_set(err, ECO_E_INTERNAL, "", "cannot start a thread: %s", strerror(rc));
    }
    read_lines(&s, in_fd);
    pthread_mutex_lock(&s.lock);
    s.ended = true;
    bool measures = s.running && atomic_load(&s.running->call.child);
    if (s.running && (measures || atomic_load(&s.broken))) { /* nobody waits for minutes */
        eco_mcp_cancel(&s.running->call);
    }
    for (struct waiting *k = s.first; atomic_load(&s.broken) && k; k = k->next) {
        eco_mcp_cancel(&k->call);
    }
    pthread_cond_signal(&s.changed);
    pthread_mutex_unlock(&s.lock);
    pthread_join(worker, NULL);
    pthread_cond_destroy(&s.changed);
    pthread_mutex_destroy(&s.lock);
    pthread_mutex_destroy(&s.out_lock);
    return 0;
}
