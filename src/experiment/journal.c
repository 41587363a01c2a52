#include "experiment/journal.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/num.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the members of a trial, once for writing and for reading ------------------------------- */

enum kind { NUMBER, WHOLE, INT, FLAG };

struct member {
    const char *name;
    enum kind kind;
    size_t offset;
};

#define RUN(kind, name)                                                                            \
    {                                                                                              \
#name, kind, offsetof(struct eco_exp_trial, run.name)                                      \
    }
#define OWN(kind, name)                                                                            \
    {                                                                                              \
#name, kind, offsetof(struct eco_exp_trial, name)                                          \
    }

static const struct member members[] = {
    RUN(INT, block),
    RUN(INT, position),
    RUN(INT, arm),
    RUN(FLAG, discarded),
    RUN(FLAG, throttled),
    RUN(FLAG, contaminated),
    RUN(FLAG, idle_timeout),
    RUN(INT, iterations),
    RUN(WHOLE, tokens),
    RUN(WHOLE, decode_tokens),
    RUN(WHOLE, samples),
    RUN(WHOLE, dropped_samples),
    RUN(NUMBER, window_s),
    RUN(NUMBER, energy_counter_j),
    RUN(NUMBER, energy_integral_j),
    RUN(NUMBER, energy_v1_j),
    RUN(NUMBER, power_mean_w),
    RUN(NUMBER, power_peak_w),
    RUN(NUMBER, idle_before_w),
    RUN(NUMBER, temp_start_c),
    RUN(NUMBER, temp_end_c),
    RUN(NUMBER, clock_mean_mhz),
    RUN(NUMBER, tokens_per_s),
    RUN(NUMBER, ttft_s),
    RUN(NUMBER, tpot_mean_s),
    RUN(NUMBER, tpot_p50_s),
    RUN(NUMBER, tpot_p99_s),
    OWN(NUMBER, prefill_j),
    OWN(NUMBER, gap_frac),
    OWN(NUMBER, resolution_frac),
    OWN(NUMBER, others_cpu_frac),
    OWN(FLAG, withhold),
    OWN(INT, starts),
    OWN(NUMBER, start_s),
    OWN(NUMBER, window_start_s),
    OWN(NUMBER, window_end_s),
    OWN(NUMBER, end_s),
};

#define MEMBERS (sizeof(members) / sizeof(members[0]))

static void put_member(struct eco_json_writer *j, const struct member *m, const void *trial)
{
    const char *at = (const char *)trial + m->offset;
    double number;
    int64_t whole;
    int small;
    bool flag;
    switch (m->kind) {
    case NUMBER:
        memcpy(&number, at, sizeof(number));
        eco_jw_kv_num(j, m->name, number);
        break;
    case WHOLE:
        memcpy(&whole, at, sizeof(whole));
        eco_jw_kv_i64(j, m->name, whole);
        break;
    case INT:
        memcpy(&small, at, sizeof(small));
        eco_jw_kv_i64(j, m->name, small);
        break;
    case FLAG:
        memcpy(&flag, at, sizeof(flag));
        eco_jw_kv_bool(j, m->name, flag);
        break;
    }
}

static bool take_member(const struct eco_json *line, const struct member *m, void *trial)
{
    const struct eco_json *v = eco_json_get(line, m->name);
    char *at = (char *)trial + m->offset;
    double number = v && v->type == ECO_JSON_NUMBER ? v->num : (double)NAN;
    int small = v && v->is_integer ? (int)v->i64 : 0;
    bool flag = v && v->type == ECO_JSON_TRUE;
    if (!v) {
        return false;
    }
    switch (m->kind) {
    case NUMBER:
        memcpy(at, &number, sizeof(number));
        return v->type == ECO_JSON_NUMBER || v->type == ECO_JSON_NULL;
    case WHOLE:
        memcpy(at, &v->i64, sizeof(v->i64));
        return v->is_integer;
    case INT:
        memcpy(at, &small, sizeof(small));
        return v->is_integer && v->i64 >= INT32_MIN && v->i64 <= INT32_MAX;
    case FLAG:
        memcpy(at, &flag, sizeof(flag));
        return v->type == ECO_JSON_TRUE || v->type == ECO_JSON_FALSE;
    }
    return false;
}

/* ---- writing -------------------------------------------------------------------------------- */

static int io_error(const char *path, const char *verb, struct eco_err *err)
{
    return eco_err_set(err, ECO_E_IO, path, "cannot %s '%.120s': %s", verb, path, strerror(errno));
}

/*
 * All or nothing: what a full disk took of a line is cut off again, and where even that fails the
 * reader's torn-line rule does it.
 */
static int append(const char *path, int flags, struct eco_buf *line, struct eco_err *err)
{
    eco_buf_putc(line, '\n');
    if (!eco_buf_ok(line)) {
        eco_buf_done(line);
        return eco_err_set(err, ECO_E_NO_MEMORY, NULL, "out of memory");
    }
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | flags, 0666);
    int rc = fd < 0 ? io_error(path, "write", err) : 0;
    off_t before = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
    size_t done = 0;
    while (rc == 0 && done < line->len) {
        ssize_t n = write(fd, line->data + done, line->len - done);
        if (n >= 0) {
            done += (size_t)n;
        } else if (errno != EINTR) {
            rc = io_error(path, "write", err);
        }
    }
    if (rc == 0 && fsync(fd)) {
        rc = io_error(path, "write", err);
    }
    if (rc && before >= 0) {
        int cut = ftruncate(fd, before);
        (void)cut; /* the first error is the one to tell */
    }
    if (fd >= 0 && close(fd) && rc == 0) {
        rc = io_error(path, "write", err);
    }
    eco_buf_done(line);
    return rc;
}

static void open_line(struct eco_json_writer *j, struct eco_buf *line, const char *kind)
{
    eco_jw_init(j, line, 0);
    eco_jw_object(j);
    eco_jw_kv_str(j, "kind", kind);
}

bool eco_experiment_source_kept(const char *source, char kept[64], char digest[65])
{
    size_t scheme = strcspn(source, ":");
    const char *slash = strrchr(source, '/');
    digest[0] = '\0';
    if (!source[scheme]) {
        snprintf(kept, 64, "%.63s", source);
        return false;
    }
    const char *name = slash ? slash + 1 : source + scheme + 1;
    name = strncmp(source, "exec:", 5) == 0 ? "" : name;
    snprintf(kept, 64, "%.*s:%.50s", scheme < 8 ? (int)scheme : 8, source, name);
    eco_sha256_hex(source, strlen(source), digest);
    return true;
}

/* Where and how: what was asked for beside the protocol. */
static void put_surroundings(struct eco_json_writer *j, const struct eco_exp_plan *p)
{
    char known[64], digest[65];
    bool cut = p->source && eco_experiment_source_kept(p->source, known, digest);
    eco_jw_kv_str(j, "source", cut ? known : p->source);
    eco_jw_kv_str(j, "source_sha256", cut ? digest : NULL);
    eco_jw_kv_str(j, "device", p->device);
    eco_jw_kv_str(j, "profile", p->profile);
    eco_jw_kv_str(j, "corpus", p->corpus);
    eco_jw_kv_num(j, "limit_w", p->limit_w);
    eco_jw_kv_num(j, "clock_mhz", p->clock_mhz);
    eco_jw_key(j, "sweep_batches");
    eco_jw_array(j);
    for (int i = 0; i < p->sweep.batch_count; i++) {
        eco_jw_i64(j, p->sweep.batch[i]);
    }
    eco_jw_array_end(j);
    eco_jw_key(j, "sweep_limits_w");
    eco_jw_array(j);
    for (int i = 0; i < p->sweep.limit_count; i++) {
        eco_jw_num(j, p->sweep.limit_w[i]);
    }
    eco_jw_array_end(j);
}

int eco_journal_write_plan(const char *path, const struct eco_exp_plan *p, struct eco_err *err)
{
    struct eco_buf line = ECO_BUF_INIT;
    struct eco_json_writer j;
    char seed[24];
    snprintf(seed, sizeof(seed), "%" PRIu64, p->seed);
    open_line(&j, &line, "plan");
    eco_jw_kv_i64(&j, "journal", ECO_JOURNAL_VERSION);
    eco_jw_kv_str(&j, "model", p->model);
    eco_jw_kv_str(&j, "workload", p->workload);
    eco_jw_kv_str(&j, "gpu", p->gpu);
    eco_jw_key(&j, "arms");
    eco_jw_array(&j);
    for (int i = 0; i < p->arm_count; i++) {
        eco_jw_str(&j, eco_precision_name(p->arms[i]));
    }
    eco_jw_array_end(&j);
    eco_jw_kv_i64(&j, "blocks", p->blocks);
    eco_jw_kv_i64(&j, "iterations", p->iterations);
    eco_jw_kv_i64(&j, "warmup", p->warmup);
    eco_jw_kv_i64(&j, "tokens", p->tokens);
    eco_jw_kv_i64(&j, "prompt_tokens", p->prompt_tokens);
    eco_jw_kv_i64(&j, "batch", p->batch);
    eco_jw_kv_str(&j, "seed", seed);
    eco_jw_kv_bool(&j, "quick", p->quick);
    eco_jw_kv_bool(&j, "null", p->null_run);
    eco_jw_kv_bool(&j, "decode", p->decode);
    eco_jw_kv_bool(&j, "unmetered", p->unmetered);
    put_surroundings(&j, p);
    eco_jw_kv_i64(&j, "started_unix_ms", p->started_unix_ms);
    eco_jw_object_end(&j);
    return append(path, O_CREAT | O_EXCL, &line, err);
}

int eco_journal_append_rest(const char *path, const struct eco_exp_rest *rest, struct eco_err *err)
{
    struct eco_buf line = ECO_BUF_INIT;
    struct eco_json_writer j;
    open_line(&j, &line, "rest");
    eco_jw_kv_num(&j, "idle_w", rest->idle_w);
    eco_jw_kv_num(&j, "observer_w", rest->observer_w);
    eco_jw_kv_str(&j, "reason", rest->reason);
    eco_jw_object_end(&j);
    return append(path, 0, &line, err);
}

int eco_journal_append_loaded(const char *path, int arm, const struct eco_workload_loaded *l,
                              struct eco_err *err)
{
    struct eco_buf line = ECO_BUF_INIT;
    struct eco_json_writer j;
    open_line(&j, &line, "loaded");
    eco_jw_kv_i64(&j, "arm", arm);
    eco_jw_kv_str(&j, "engine", l->engine);
    eco_jw_kv_str(&j, "weights", l->weights);
    eco_jw_kv_str(&j, "backend", l->backend);
    eco_jw_kv_num(&j, "memory_bytes", l->memory_bytes);
    eco_jw_key(&j, "packages");
    eco_jw_array(&j);
    for (size_t i = 0; i < l->package_count; i++) {
        eco_jw_str(&j, l->packages[i].name);
        eco_jw_str(&j, l->packages[i].version ? l->packages[i].version : "");
    }
    eco_jw_array_end(&j);
    eco_jw_object_end(&j);
    return append(path, 0, &line, err);
}

int eco_journal_append_quality(const char *path, const struct eco_journal_quality *q,
                               struct eco_err *err)
{
    struct eco_buf line = ECO_BUF_INIT;
    struct eco_json_writer j;
    open_line(&j, &line, "quality");
    eco_jw_kv_i64(&j, "arm", q->arm);
    eco_jw_kv_num(&j, "mean_nll", q->mean_nll);
    eco_jw_kv_i64(&j, "tokens", q->tokens);
    eco_jw_kv_i64(&j, "windows", q->windows);
    eco_jw_kv_i64(&j, "seq_len", q->seq_len);
    eco_jw_kv_str(&j, "error", q->error);
    eco_jw_object_end(&j);
    return append(path, 0, &line, err);
}

int eco_journal_append_trial(const char *path, const struct eco_exp_trial *t, struct eco_err *err)
{
    struct eco_buf line = ECO_BUF_INIT;
    struct eco_json_writer j;
    open_line(&j, &line, "trial");
    for (size_t i = 0; i < MEMBERS; i++) {
        put_member(&j, &members[i], t);
    }
    eco_jw_object_end(&j);
    return append(path, 0, &line, err);
}

int eco_journal_append_idle(const char *path, const struct eco_journal_idle *idle,
                            struct eco_err *err)
{
    struct eco_buf line = ECO_BUF_INIT;
    struct eco_json_writer j;
    open_line(&j, &line, "idle");
    eco_jw_kv_i64(&j, "arm", idle->arm);
    eco_jw_kv_num(&j, "mean_w", idle->mean_w);
    eco_jw_kv_num(&j, "sd_w", idle->sd_w);
    eco_jw_kv_num(&j, "temp_c", idle->temp_c);
    eco_jw_object_end(&j);
    return append(path, 0, &line, err);
}

/* ---- reading -------------------------------------------------------------------------------- */

static const char *text_of(const struct eco_json *line, const char *key, struct eco_arena *arena)
{
    const struct eco_json *v = eco_json_get(line, key);
    return v && v->type == ECO_JSON_STRING ? eco_arena_strdup(arena, v->str, v->len) : NULL;
}

/* A whole number from lo to hi, or -1: nothing we write is negative. */
static int int_of(const struct eco_json *line, const char *key, int lo, int hi)
{
    const struct eco_json *v = eco_json_get(line, key);
    return v && v->is_integer && v->i64 >= lo && v->i64 <= hi ? (int)v->i64 : -1;
}

static int64_t whole_of(const struct eco_json *line, const char *key)
{
    const struct eco_json *v = eco_json_get(line, key);
    return v && v->is_integer ? v->i64 : -1;
}

static bool flag_of(const struct eco_json *line, const char *key)
{
    const struct eco_json *v = eco_json_get(line, key);
    return v && v->type == ECO_JSON_TRUE;
}

static double number_of(const struct eco_json *line, const char *key)
{
    const struct eco_json *v = eco_json_get(line, key);
    return v && v->type == ECO_JSON_NUMBER ? v->num : (double)NAN;
}

static bool take_arms(const struct eco_json *line, struct eco_exp_plan *p)
{
    const struct eco_json *arms = eco_json_get(line, "arms");
    p->arm_count = 0;
    if (!arms || arms->type != ECO_JSON_ARRAY || arms->count > ECO_EXP_MAX_ARMS) {
        return false;
    }
    for (const struct eco_json *v = arms->child; v; v = v->next) {
        enum eco_precision arm =
            v->type == ECO_JSON_STRING ? eco_precision_parse(v->str, v->len) : ECO_PREC_NONE;
        if (arm == ECO_PREC_NONE) {
            return false;
        }
        p->arms[p->arm_count++] = arm;
    }
    return p->arm_count > 0;
}

/* Members that older journals do not have are optional; a list that is there must be right. */
static bool take_surroundings(const struct eco_json *line, struct eco_arena *arena,
                              struct eco_exp_plan *p)
{
    const struct eco_json *batches = eco_json_get(line, "sweep_batches");
    const struct eco_json *limits = eco_json_get(line, "sweep_limits_w");
    double limit_w = number_of(line, "limit_w"), clock_mhz = number_of(line, "clock_mhz");
    p->source = text_of(line, "source", arena);
    p->source_sha256 = text_of(line, "source_sha256", arena);
    p->device = text_of(line, "device", arena);
    p->profile = text_of(line, "profile", arena);
    p->corpus = text_of(line, "corpus", arena);
    p->unmetered = flag_of(line, "unmetered");
    p->limit_w = limit_w > 0 ? limit_w : 0;
    p->clock_mhz = clock_mhz > 0 ? clock_mhz : 0;
    const struct eco_json *b = batches && batches->type == ECO_JSON_ARRAY ? batches->child : NULL;
    for (; b; b = b->next) {
        if (!b->is_integer || b->i64 < 1 || b->i64 > 65536 ||
            p->sweep.batch_count == ECO_EXP_MAX_SWEEP) {
            return false;
        }
        p->sweep.batch[p->sweep.batch_count++] = (int)b->i64;
    }
    const struct eco_json *l = limits && limits->type == ECO_JSON_ARRAY ? limits->child : NULL;
    for (; l; l = l->next) {
        if (l->type != ECO_JSON_NUMBER || !(l->num > 0) ||
            p->sweep.limit_count == ECO_EXP_MAX_SWEEP) {
            return false;
        }
        p->sweep.limit_w[p->sweep.limit_count++] = l->num;
    }
    return true;
}

static bool take_plan(const struct eco_json *line, struct eco_arena *arena, struct eco_exp_plan *p)
{
    const struct eco_json *seed = eco_json_get(line, "seed");
    const struct eco_json *started = eco_json_get(line, "started_unix_ms");
    *p = (struct eco_exp_plan){
        .model = text_of(line, "model", arena),
        .workload = text_of(line, "workload", arena),
        .gpu = text_of(line, "gpu", arena),
        .blocks = int_of(line, "blocks", 1, ECO_ORDER_MAX_BLOCKS),
        .iterations = int_of(line, "iterations", 1, ECO_WORKLOAD_MAX_ITERATIONS),
        .warmup = int_of(line, "warmup", 0, ECO_WORKLOAD_MAX_ITERATIONS),
        .tokens = int_of(line, "tokens", 1, 1 << 20),
        .prompt_tokens = int_of(line, "prompt_tokens", 1, 1 << 20),
        .batch = int_of(line, "batch", 1, 65536),
        .quick = flag_of(line, "quick"),
        .null_run = flag_of(line, "null"),
        .decode = flag_of(line, "decode"),
        .started_unix_ms = started && started->is_integer ? started->i64 : 0};
    if (seed && seed->type == ECO_JSON_STRING) {
        for (const char *c = seed->str; *c >= '0' && *c <= '9'; c++) {
            p->seed = p->seed * 10 + (uint64_t)(*c - '0');
        }
    }
    return take_arms(line, p) && take_surroundings(line, arena, p) && p->model && p->workload &&
           p->blocks > 0 && p->iterations > 0 && p->warmup >= 0 && p->tokens > 0 &&
           p->prompt_tokens > 0 && p->batch > 0;
}

static int wrong(const char *path, long number, const char *what, struct eco_err *err)
{
    return eco_err_set_at(err, ECO_E_CONTENT, path, number, 0, "'%.120s' line %ld: %s", path,
                          number, what);
}

static const char *kept(const struct eco_json *v, struct eco_arena *arena)
{
    return v->type == ECO_JSON_STRING ? eco_arena_strdup(arena, v->str, v->len) : NULL;
}

/* Name, version, name, version … */
static int read_loaded(const char *path, long number, const struct eco_json *line,
                       const struct eco_journal_reader *r, struct eco_arena *arena,
                       struct eco_err *err)
{
    const struct eco_json *list = eco_json_get(line, "packages");
    struct eco_run_package p[ECO_WORKLOAD_MAX_PACKAGES];
    int arm = int_of(line, "arm", 0, ECO_EXP_MAX_ARMS - 1);
    struct eco_workload_loaded l = {text_of(line, "engine", arena),
                                    text_of(line, "weights", arena),
                                    number_of(line, "memory_bytes"),
                                    p,
                                    0,
                                    text_of(line, "backend", arena)};
    const struct eco_json *v = list && list->type == ECO_JSON_ARRAY ? list->child : NULL;
    for (; v && v->next && l.package_count < ECO_WORKLOAD_MAX_PACKAGES; v = v->next->next) {
        p[l.package_count++] = (struct eco_run_package){kept(v, arena), kept(v->next, arena)};
    }
    return arm < 0     ? wrong(path, number, "arm", err)
           : r->loaded ? r->loaded(r->self, arm, &l, err)
                       : 0;
}

static int read_other(const char *path, long number, const char *name, const struct eco_json *line,
                      const struct eco_journal_reader *r, struct eco_arena *arena,
                      struct eco_err *err)
{
    if (strcmp(name, "loaded") == 0) {
        return read_loaded(path, number, line, r, arena, err);
    }
    const struct eco_json *text =
        eco_json_get(line, strcmp(name, "rest") == 0 ? "reason" : "error");
    const char *why = text && text->type == ECO_JSON_STRING ? text->str : "";
    if (strcmp(name, "rest") == 0) {
        struct eco_exp_rest rest = {number_of(line, "idle_w"), number_of(line, "observer_w"), ""};
        snprintf(rest.reason, sizeof(rest.reason), "%s", why);
        return r->rest ? r->rest(r->self, &rest, err) : 0;
    }
    if (strcmp(name, "quality") == 0) {
        struct eco_journal_quality q = {.done = true,
                                        .arm = int_of(line, "arm", 0, ECO_EXP_MAX_ARMS - 1),
                                        .mean_nll = number_of(line, "mean_nll"),
                                        .tokens = whole_of(line, "tokens"),
                                        .windows = whole_of(line, "windows"),
                                        .seq_len = whole_of(line, "seq_len")};
        snprintf(q.error, sizeof(q.error), "%s", why);
        return q.arm < 0    ? wrong(path, number, "arm", err)
               : r->quality ? r->quality(r->self, &q, err)
                            : 0;
    }
    return wrong(path, number, "no kind of line that is known", err);
}

static int read_line(const char *path, long number, const struct eco_json *line,
                     const struct eco_journal_reader *r, struct eco_arena *arena,
                     struct eco_err *err)
{
    const struct eco_json *kind = eco_json_get(line, "kind");
    const char *name = kind && kind->type == ECO_JSON_STRING ? kind->str : "";
    if ((number == 1) != (strcmp(name, "plan") == 0)) {
        return wrong(path, number, "the plan must be the first line, and only there", err);
    }
    if (number == 1) {
        struct eco_exp_plan plan;
        if (int_of(line, "journal", 1, 1 << 20) != ECO_JOURNAL_VERSION) {
            return wrong(path, number, "written by another version of this program", err);
        }
        return take_plan(line, arena, &plan) ? r->plan ? r->plan(r->self, &plan, err) : 0
                                             : wrong(path, number, "this is no plan", err);
    }
    if (strcmp(name, "trial") == 0) {
        struct eco_exp_trial t = {0};
        for (size_t i = 0; i < MEMBERS; i++) {
            if (!take_member(line, &members[i], &t)) {
                return wrong(path, number, members[i].name, err);
            }
        }
        return r->trial ? r->trial(r->self, &t, err) : 0;
    }
    if (strcmp(name, "idle") == 0) {
        struct eco_journal_idle idle = {int_of(line, "arm", 0, ECO_EXP_MAX_ARMS - 1),
                                        number_of(line, "mean_w"), number_of(line, "sd_w"),
                                        number_of(line, "temp_c")};
        return idle.arm < 0 ? wrong(path, number, "arm", err)
               : r->idle    ? r->idle(r->self, &idle, err)
                            : 0;
    }
    return read_other(path, number, name, line, r, arena, err);
}

/* Not even the plan was written: there is nothing to go on with, and nothing to lose. */
static int nothing_in(const char *path, struct eco_err *err)
{
    return eco_err_set_at(err, ECO_E_CONTENT, path, 1, 0,
                          "'%.120s' has no whole line: the run ended before its first line was on "
                          "the disk (a full disk, a crash), and nothing was measured; start it "
                          "again",
                          path);
}

bool eco_experiment_nothing_in(const char *journal)
{
    struct eco_buf text = ECO_BUF_INIT;
    bool none = eco_file_read(journal, ECO_JOURNAL_MAX_BYTES, &text, NULL) == 0 &&
                (text.len == 0 || !memchr(text.data, '\n', text.len));
    eco_buf_done(&text);
    return none;
}

int eco_journal_read(const char *path, const struct eco_journal_reader *reader,
                     struct eco_arena *arena, size_t *whole_bytes, struct eco_err *err)
{
    struct eco_buf text = ECO_BUF_INIT;
    struct eco_json_doc doc = {0};
    size_t at = 0;
    long number = 0;
    int rc = eco_file_read(path, ECO_JOURNAL_MAX_BYTES, &text, err);
    while (rc == 0 && at < text.len) {
        const char *end = memchr(text.data + at, '\n', text.len - at);
        bool last = !end || end + 1 == text.data + text.len;
        size_t len = end ? (size_t)(end - text.data) - at : text.len - at;
        struct eco_err why = {0};
        if (!end || eco_json_reparse(&doc, text.data + at, len, &why)) {
            if (last && number > 0) {
                break; /* torn by the crash */
            }
            if (last) {
                rc = nothing_in(path, err);
                break;
            }
            rc = wrong(path, number + 1, end ? why.message : "the line has no end", err);
            break;
        }
        rc = read_line(path, ++number, doc.root, reader, arena, err);
        at += len + 1;
    }
    if (rc == 0 && number == 0) {
        rc = nothing_in(path, err);
    }
    if (rc == 0) {
        *whole_bytes = at;
    }
    eco_json_done(&doc);
    eco_buf_done(&text);
    return rc;
}

int eco_journal_cut(const char *path, size_t bytes, bool *torn, struct eco_err *err)
{
    struct stat st;
    if (stat(path, &st)) {
        return io_error(path, "read", err);
    }
    *torn = (uintmax_t)st.st_size > bytes;
    return !*torn ? 0 : truncate(path, (off_t)bytes) ? io_error(path, "cut", err) : 0;
}
