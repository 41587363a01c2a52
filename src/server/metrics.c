/* Counters of the server in Prometheus' text format. */
#include "server_parts.h"

#include <string.h>

static const int statuses[] = {
#define X(status) status,
    ECO_METRIC_STATUSES(X)
#undef X
};

/* Upper bounds in seconds; what is slower counts in +Inf alone. */
static const double bounds_s[ECO_METRIC_BUCKETS - 1] = {
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5};

static size_t status_at(int status)
{
    for (size_t i = 0; i < ECO_COUNT(statuses); i++) {
        if (statuses[i] == status) {
            return i;
        }
    }
    return ECO_METRIC_AT_599;
}

static void add(atomic_uint_fast64_t *counter, uint64_t n)
{
    atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

static uint64_t get(atomic_uint_fast64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

void eco_server_count(struct eco_server *s, const struct eco_http_reply *reply, double seconds)
{
    struct eco_metrics *m = s->metrics;
    size_t route = reply->route < s->n_routes ? reply->route : 0, b = 0;
    while (b < ECO_METRIC_BUCKETS - 1 && seconds > bounds_s[b]) {
        b++;
    }
    add(&m->requests[route][status_at(reply->status)], 1);
    add(&m->buckets[route][b], 1);
    add(&m->time_ns[route], seconds > 0 ? (uint64_t)(seconds * 1e9) : 0);
    add(&m->reply_bytes, reply->len);
}

void eco_server_gauge(struct eco_server *s, long connections, long busy)
{
    atomic_store_explicit(&s->metrics->connections, connections, memory_order_relaxed);
    atomic_store_explicit(&s->metrics->busy, busy, memory_order_relaxed);
}

static void head(struct eco_buf *out, const char *name, const char *type, const char *help)
{
    eco_buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void requests(struct eco_server *s, struct eco_buf *out)
{
    head(out, "ecocompute_http_requests_total", "counter",
         "Requests answered, by route and status.");
    for (size_t r = 0; r < s->n_routes; r++) {
        for (size_t i = 0; i < ECO_COUNT(statuses); i++) {
            uint64_t n = get(&s->metrics->requests[r][i]);
            if (n) {
                eco_buf_printf(out,
                               "ecocompute_http_requests_total{route=\"%s\",status=\"%d\"} %llu\n",
                               s->route[r].path, statuses[i], (unsigned long long)n);
            }
        }
    }
}

static void durations(struct eco_server *s, struct eco_buf *out)
{
    head(out, "ecocompute_http_request_duration_seconds", "histogram",
         "From the headers being there to the reply being handed over.");
    for (size_t r = 0; r < s->n_routes; r++) {
        const char *path = s->route[r].path;
        uint64_t sum = 0;
        for (size_t b = 0; b < ECO_METRIC_BUCKETS; b++) {
            sum += get(&s->metrics->buckets[r][b]);
        }
        if (sum == 0) {
            continue;
        }
        sum = 0;
        for (size_t b = 0; b < ECO_METRIC_BUCKETS; b++) {
            sum += get(&s->metrics->buckets[r][b]);
            eco_buf_printf(
                out, "ecocompute_http_request_duration_seconds_bucket{route=\"%s\",le=\"", path);
            if (b < ECO_METRIC_BUCKETS - 1) {
                eco_buf_put_num(out, bounds_s[b]);
            } else {
                eco_buf_puts(out, "+Inf");
            }
            eco_buf_printf(out, "\"} %llu\n", (unsigned long long)sum);
        }
        eco_buf_printf(out, "ecocompute_http_request_duration_seconds_sum{route=\"%s\"} ", path);
        eco_buf_put_num(out, (double)get(&s->metrics->time_ns[r]) / 1e9);
        eco_buf_printf(out, "\necocompute_http_request_duration_seconds_count{route=\"%s\"} %llu\n",
                       path, (unsigned long long)sum);
    }
}

static void gauge(struct eco_buf *out, const char *name, const char *help, double v)
{
    head(out, name, "gauge", help);
    eco_buf_printf(out, "%s ", name);
    eco_buf_put_num(out, v);
    eco_buf_putc(out, '\n');
}

void eco_metrics_text(struct eco_server *s, struct eco_buf *out)
{
    struct eco_metrics *m = s->metrics;
    requests(s, out);
    durations(s, out);
    head(out, "ecocompute_http_reply_bytes_total", "counter", "Bytes of reply bodies.");
    eco_buf_printf(out, "ecocompute_http_reply_bytes_total %llu\n",
                   (unsigned long long)get(&m->reply_bytes));
    gauge(out, "ecocompute_http_connections", "Connections open now.",
          (double)atomic_load_explicit(&m->connections, memory_order_relaxed));
    gauge(out, "ecocompute_http_requests_in_progress", "Requests being answered now.",
          (double)atomic_load_explicit(&m->busy, memory_order_relaxed));
    gauge(out, "ecocompute_uptime_seconds", "Seconds since the server started.",
          (double)(s->o.now_ns() - s->started_ns) / 1e9);
    head(out, "ecocompute_build_info", "gauge", "Program version and data set; the value is 1.");
    eco_buf_printf(out, "ecocompute_build_info{version=\"%s\",data_sha256=\"%s\"} 1\n", ECO_VERSION,
                   s->data_sha256);
    if (s->o.more_metrics) {
        s->o.more_metrics(s->o.more_metrics_to, out);
    }
}
