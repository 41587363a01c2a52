/* Requirement files, Dockerfiles, YAML, TOML, shell: by lines, comments taken off. */
#include "scan.h"
#include "text_here.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORDS 256
#define MAX_BESIDE 32                  /* lines around a key that are looked at */
#define MAX_LOGICAL ((size_t)64 << 10) /* bytes of one joined command that are looked at */

struct line {
    const char *s;
    size_t len;
    uint32_t number;
    size_t indent;
};

static bool found_in(const char *s, size_t len, const char *what)
{
    size_t n = strlen(what);
    for (size_t i = 0; i + n <= len; i++) {
        if (memcmp(s + i, what, n) == 0) {
            return true;
        }
    }
    return false;
}

/* Cuts a comment off ('#' at the start or after a blank, outside quotes) and blanks at the end. */
static size_t without_comment(const char *s, size_t len)
{
    char quote = 0;
    for (size_t i = 0; i < len; i++) {
        if (quote) {
            quote = s[i] == quote ? 0 : quote;
        } else if (s[i] == '"' || s[i] == '\'') {
            bool inside_word = i > 0 && isalnum((unsigned char)s[i - 1]);
            quote = inside_word ? 0 : s[i];
        } else if (s[i] == '#' && (i == 0 || s[i - 1] == ' ' || s[i - 1] == '\t')) {
            len = i;
        }
    }
    while (len && strchr(" \t\r", s[len - 1])) {
        len--;
    }
    return len;
}

static bool next_line(const struct eco_scan *s, size_t *at, struct line *l)
{
    if (*at >= s->len) {
        return false;
    }
    const char *from = s->text + *at, *nl = memchr(from, '\n', s->len - *at);
    size_t len = nl ? (size_t)(nl - from) : s->len - *at;
    *at += len + 1;
    *l = (struct line){from, without_comment(from, len), l->number + 1, 0};
    while (l->len && (*l->s == ' ' || *l->s == '\t')) {
        l->s++;
        l->len--;
        l->indent++;
    }
    return true;
}

/* What still fits: of a longer command the beginning is looked at. */
static void put_some(struct eco_buf *b, const char *text, size_t len)
{
    size_t room = b->limit - b->len;
    eco_buf_put(b, text, len < room ? len : room);
}

static struct eco_spot at_line(uint32_t line, uint32_t end)
{
    return (struct eco_spot){.line = line, .end_line = end, .column = 1};
}

static void nightly(struct eco_scan *s, const struct line *l, const char *verb)
{
    char name[120];
    if (l->len && eco_scan_nightly(l->s, l->len, name, sizeof(name))) {
        struct eco_spot spot = at_line(l->number, l->number);
        eco_scan_add(s, ECO_AUDIT_NIGHTLY_PIN, &spot, "%s %s", verb, name);
    }
}

void eco_scan_requirements(struct eco_scan *s)
{
    struct line l = {0}, pre = {0};
    char name[120];
    bool loose = false;
    size_t at = 0, before = s->a->n;
    while (next_line(s, &at, &l)) {
        nightly(s, &l, "requires");
        if (l.len == 5 && memcmp(l.s, "--pre", 5) == 0) {
            pre = l;
        } else if (l.len && l.s[0] != '-' &&
                   eco_scan_loose_package(l.s, l.len, name, sizeof(name))) {
            loose = true;
        }
    }
    if (pre.number && loose && s->a->n == before) {
        struct eco_spot spot = at_line(pre.number, pre.number);
        eco_scan_add(s, ECO_AUDIT_NIGHTLY_PIN, &spot, "--pre takes any pre-release of %s", name);
    }
}

void eco_scan_toml(struct eco_scan *s)
{
    struct line l = {0};
    size_t at = 0;
    while (next_line(s, &at, &l)) {
        bool label = l.len > 4 && memcmp(l.s, "name", 4) == 0 && strchr(" =", l.s[4]);
        if (!label) { /* an index's name: its address is on another line */
            nightly(s, &l, "requires");
        }
    }
}

/* ---- commands -------------------------------------------------------------------------------- */

struct words {
    const char *s[MAX_WORDS];
    size_t len[MAX_WORDS];
    size_t n;
};

static void split(const char *text, size_t len, struct words *w)
{
    size_t i = 0;
    w->n = 0;
    while (i < len && w->n < MAX_WORDS) {
        while (i < len && strchr(" \t\r\n\"'`[],\\;()|&", text[i])) {
            i++;
        }
        size_t from = i;
        while (i < len && !strchr(" \t\r\n\"'`[],\\;()|&", text[i])) {
            i++;
        }
        if (i > from) {
            w->s[w->n] = text + from;
            w->len[w->n++] = i - from;
        }
    }
}

static bool word_is(const struct words *w, size_t i, const char *what)
{
    return i < w->n && strlen(what) == w->len[i] && memcmp(w->s[i], what, w->len[i]) == 0;
}

static bool has(const struct words *w, const char *what)
{
    for (size_t i = 0; i < w->n; i++) {
        if (word_is(w, i, what)) {
            return true;
        }
    }
    return false;
}

/* "--name value" or "--name=value". */
static bool option(const struct words *w, const char *name, const char **value, size_t *len)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < w->n; i++) {
        if (word_is(w, i, name)) {
            *value = i + 1 < w->n ? w->s[i + 1] : "";
            *len = i + 1 < w->n ? w->len[i + 1] : 0;
            return true;
        }
        if (w->len[i] > n && memcmp(w->s[i], name, n) == 0 && w->s[i][n] == '=') {
            *value = w->s[i] + n + 1;
            *len = w->len[i] - n - 1;
            return true;
        }
    }
    return false;
}

static bool equals(const char *s, size_t len, const char *what)
{
    return strlen(what) == len && memcmp(s, what, len) == 0;
}

/* The model a server is started for: --model X, or the word behind "serve". */
static bool served_model(const struct words *w, const char **id, size_t *len)
{
    bool found = option(w, "--model", id, len) || option(w, "--model-id", id, len);
    for (size_t i = 0; !found && i + 1 < w->n; i++) {
        if (word_is(w, i, "serve") && w->s[i + 1][0] != '-') {
            *id = w->s[i + 1];
            *len = w->len[i + 1];
            found = true;
        }
    }
    return found;
}

static void small_model(struct eco_scan *s, const struct words *w, const struct eco_spot *spot)
{
    const char *id;
    size_t len;
    if (!served_model(w, &id, &len)) {
        return;
    }
    double b = eco_audit_model_size(id, len);
    if (b > 0 && b < s->a->crossover_b) {
        struct eco_spot small = *spot;
        small.params_b = b;
        eco_scan_add(s, ECO_AUDIT_SMALL_4BIT, &small, "4 bit on %.*s (%.3gB)",
                     (int)(len < 120 ? len : 120), id, b);
    }
}

/* vLLM's bitsandbytes is 4 bit. */
static bool vllm_bits(const struct words *w)
{
    const char *v;
    size_t n;
    return (option(w, "--quantization", &v, &n) && equals(v, n, "bitsandbytes")) ||
           (option(w, "-q", &v, &n) && equals(v, n, "bitsandbytes"));
}

static void check_eager(struct eco_scan *s, const struct words *w, const struct eco_spot *spot)
{
    const char *v;
    size_t n;
    if (has(w, "--enforce-eager")) {
        bool fp8 = option(w, "--quantization", &v, &n) && n >= 3 && memcmp(v, "fp8", 3) == 0;
        eco_scan_add(s, fp8 ? ECO_AUDIT_FP8_EAGER : ECO_AUDIT_VLLM_EAGER, spot, "%s",
                     fp8 ? "FP8 with --enforce-eager runs without captured graphs"
                         : "--enforce-eager");
    }
}

static void check_vllm(struct eco_scan *s, const struct words *w, const struct eco_spot *spot)
{
    const char *v;
    size_t n;
    check_eager(s, w, spot);
    if (option(w, "--max-num-seqs", &v, &n) && equals(v, n, "1")) {
        eco_scan_add(s, ECO_AUDIT_VLLM_ONE_SEQ, spot, "--max-num-seqs 1");
    }
    if (option(w, "--cpu-offload-gb", &v, &n) && n && v[0] >= '1' && v[0] <= '9') {
        eco_scan_add(s, ECO_AUDIT_CPU_OFFLOAD, spot,
                     "--cpu-offload-gb keeps weights in main memory");
    }
    if (vllm_bits(w)) {
        small_model(s, w, spot);
    }
}

/* Text Generation Inference: --quantize bitsandbytes is default LLM.int8(). */
static void check_tgi(struct eco_scan *s, const struct words *w, const struct eco_spot *spot)
{
    const char *v;
    size_t n;
    if (!option(w, "--quantize", &v, &n)) {
        return;
    }
    if (equals(v, n, "bitsandbytes")) {
        eco_scan_add(s, ECO_AUDIT_INT8_DEFAULT, spot,
                     "--quantize bitsandbytes is LLM.int8() with the default threshold");
    } else if (equals(v, n, "bitsandbytes-nf4") || equals(v, n, "bitsandbytes-fp4")) {
        small_model(s, w, spot);
    }
}

static void check_install(struct eco_scan *s, const char *text, size_t len, const struct words *w,
                          const struct eco_spot *spot)
{
    char name[120];
    bool installs = has(w, "install") || has(w, "add") || has(w, "sync") || has(w, "create");
    if (!installs) {
        return;
    }
    if (eco_scan_nightly(text, len, name, sizeof(name))) {
        eco_scan_add(s, ECO_AUDIT_NIGHTLY_PIN, spot, "installs %s", name);
    } else if (has(w, "--pre") && eco_scan_loose_package(text, len, name, sizeof(name))) {
        eco_scan_add(s, ECO_AUDIT_NIGHTLY_PIN, spot, "--pre takes any pre-release of %s", name);
    }
}

/* lm_eval --model_args pretrained=…,load_in_8bit=True */
static void check_harness(struct eco_scan *s, const struct words *w, const struct eco_spot *spot)
{
    if (has(w, "--model_args") && has(w, "load_in_8bit=True") &&
        !has(w, "llm_int8_threshold=0.0") && !has(w, "llm_int8_threshold=0")) {
        eco_scan_add(s, ECO_AUDIT_INT8_DEFAULT, spot,
                     "load_in_8bit with the default outlier threshold (6.0)");
    }
}

static void check_words(struct eco_scan *s, const char *text, size_t len,
                        const struct eco_spot *spot)
{
    struct words w;
    split(text, len, &w);
    if (word_is(&w, 0, "echo") || word_is(&w, 0, "printf")) {
        return;
    }
    check_install(s, text, len, &w, spot);
    check_vllm(s, &w, spot);
    check_tgi(s, &w, spot);
    check_harness(s, &w, spot);
}

/* CMD ["vllm", "$X"]: run without a shell, which would put something in for $X. */
static bool no_shell(const struct eco_scan *s, const char *text, size_t len)
{
    while (len && *text == ' ') {
        text++;
        len--;
    }
    return s->vars_in == ECO_VARS_DOCKER && len && *text == '[' && !found_in(text, len, "\"-c\"");
}

/* The command of the lines first..spot's last. */
static void check_command(struct eco_scan *s, const char *text, size_t len, uint32_t first,
                          const struct eco_spot *spot)
{
    size_t before = s->a->n;
    len = len < MAX_LOGICAL ? len : MAX_LOGICAL;
    if (!eco_vars_used(text, len) || no_shell(s, text, len)) {
        check_words(s, text, len, spot);
    } else {
        struct eco_buf b = {.limit = MAX_LOGICAL};
        eco_vars_expand(s, text, len, first, spot->end_line, &b);
        if (eco_buf_ok(&b)) {
            check_words(s, eco_buf_str(&b), b.len, spot);
        } else { /* too long with the values put in: what is written is still looked at */
            check_words(s, text, len, spot);
        }
        eco_buf_done(&b);
    }
    if (s->a->n > before && s->vars_in == ECO_VARS_SHELL && eco_vars_only_sets(s, text, len)) {
        s->a->n = before;
    }
}

void eco_scan_command(struct eco_scan *s, const char *text, size_t len, uint32_t line)
{
    struct eco_spot spot = at_line(line, line);
    check_command(s, text, without_comment(text, len), line, &spot);
}

/* Lines joined by a trailing backslash, with the place of the first that names what is wrong. */
struct logical {
    struct eco_buf text;
    uint32_t first, last, marked;
};

static bool flagged(const struct line *l)
{
    static const char *const flags[] = {"--enforce", "--quantiz", "--max-num-seqs",
                                        "--cpu-offload"};
    for (size_t i = 0; l->len > 2 && i < sizeof(flags) / sizeof(flags[0]); i++) {
        if (found_in(l->s, l->len, flags[i])) {
            return true;
        }
    }
    return false;
}

static void join(struct logical *g, const struct line *l, bool more)
{
    char name[8];
    if (g->text.len == 0) {
        g->first = l->number;
        g->marked = 0;
    }
    g->last = l->number;
    if (!g->marked && (eco_scan_nightly(l->s, l->len, name, sizeof(name)) || flagged(l))) {
        g->marked = l->number;
    }
    put_some(&g->text, l->s, more ? l->len - 1 : l->len);
    put_some(&g->text, " ", 1);
}

static bool continues(const struct line *l)
{
    return l->len && l->s[l->len - 1] == '\\';
}

static void finish(struct eco_scan *s, struct logical *g, size_t skip)
{
    const char *text = eco_buf_str(&g->text);
    if (eco_buf_ok(&g->text) && g->text.len > skip) {
        struct eco_spot spot = at_line(g->marked ? g->marked : g->first, g->last);
        check_command(s, text + skip, g->text.len - skip, g->first, &spot);
    }
    eco_buf_clear(&g->text);
}

void eco_scan_shell(struct eco_scan *s)
{
    struct logical g = {.text = {.limit = MAX_LOGICAL}};
    struct line l = {0};
    s->vars_in = ECO_VARS_SHELL;
    struct eco_here here = {.n = 0};
    for (size_t at = 0; next_line(s, &at, &l);) {
        if (eco_here_line(&here, l.s, l.len)) {
            continue;
        }
        join(&g, &l, continues(&l));
        if (!continues(&l)) {
            finish(s, &g, 0);
        }
    }
    finish(s, &g, 0);
    eco_buf_done(&g.text);
}

static bool instruction(const struct logical *g, const char *name)
{
    size_t n = strlen(name);
    return g->text.len > n && eco_str_ncasecmp(g->text.data, name, n) == 0 &&
           g->text.data[n] == ' ';
}

static void docker_instruction(struct eco_scan *s, struct logical *g)
{
    static const char *const runs[] = {"RUN", "CMD", "ENTRYPOINT"};
    char name[120];
    if (!eco_buf_ok(&g->text) || g->text.len == 0) {
        eco_buf_clear(&g->text);
        return;
    }
    if (instruction(g, "FROM") || instruction(g, "ENV") || instruction(g, "ARG")) {
        bool image = instruction(g, "FROM") && found_in(g->text.data, g->text.len, "nightly");
        if (image || eco_scan_nightly(g->text.data, g->text.len, name, sizeof(name))) {
            struct eco_spot spot = at_line(g->marked ? g->marked : g->first, g->last);
            eco_scan_add(s, ECO_AUDIT_NIGHTLY_PIN, &spot, "%s",
                         image ? "the image is a nightly build" : "a nightly index or version");
        }
    }
    for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
        if (instruction(g, runs[i])) {
            finish(s, g, strlen(runs[i]));
            return;
        }
    }
    eco_buf_clear(&g->text);
}

void eco_scan_dockerfile(struct eco_scan *s)
{
    struct logical g = {.text = {.limit = MAX_LOGICAL}};
    struct line l = {0};
    size_t at = 0;
    s->vars_in = ECO_VARS_DOCKER;
    while (next_line(s, &at, &l)) {
        if (l.len == 0 && g.text.len) {
            continue; /* comments and blank lines inside a continued instruction */
        }
        bool more = continues(&l);
        join(&g, &l, more);
        if (!more) {
            docker_instruction(s, &g);
        }
    }
    docker_instruction(s, &g);
    eco_buf_done(&g.text);
}

/* ---- YAML ------------------------------------------------------------------------------------ */

static bool key_is(const struct line *l, const char *key, const char **value, size_t *len)
{
    const char *p = l->s, *end = l->s + l->len;
    while (p < end && (*p == '-' || *p == ' ')) {
        p++;
    }
    size_t n = strlen(key);
    if ((size_t)(end - p) <= n || memcmp(p, key, n) != 0 || p[n] != ':') {
        return false;
    }
    p += n + 1;
    while (p < end && strchr(" \t\"'", *p)) {
        p++;
    }
    *value = p;
    *len = (size_t)(end - p);
    while (*len && strchr("\"' ", p[*len - 1])) {
        (*len)--;
    }
    return true;
}

static bool is_true(const char *v, size_t n)
{
    return eco_str_ieq(v, n, "true") || eco_str_ieq(v, n, "yes") || eco_str_ieq(v, n, "on");
}

struct yaml {
    uint32_t eight, four; /* lines where they are switched on */
    bool threshold_zero;
    struct line held; /* a flag that waits for its value on the next line */
    const char *id;   /* the one model that is named */
    size_t id_len;
    int ids;
    bool folded;         /* inside "key: >": the lines are one command */
    bool prose;          /* … or nothing to run */
    size_t indent;       /* of that key */
    struct eco_buf list; /* the items of a list, as one command */
    size_t list_indent;
    uint32_t list_at;  /* the line that says how the weights are kept */
    uint32_t eager_at; /* an item that is --enforce-eager: of FP8 or not, the list says */
};

/* A key that names the model: the size of the one that a document has is known. */
static void yaml_model(const struct line *l, struct yaml *y)
{
    static const char *const keys[] = {"base_model",         "model",
                                       "model_id",           "model_name",
                                       "model_name_or_path", "pretrained_model_name_or_path"};
    const char *v;
    size_t n;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (key_is(l, keys[i], &v, &n) && n) {
            y->ids += !(y->id && y->id_len == n && memcmp(y->id, v, n) == 0);
            y->id = v;
            y->id_len = n;
            return;
        }
    }
}

static size_t key_column(const struct line *l)
{
    size_t n = 0;
    while (n < l->len && (l->s[n] == '-' || l->s[n] == ' ')) {
        n++;
    }
    return l->indent + n;
}

static bool names_image(const struct line *l)
{
    const char *v;
    size_t n;
    return key_is(l, "repository", &v, &n) || key_is(l, "image", &v, &n) ||
           key_is(l, "imageRepository", &v, &n);
}

/* Where the line before `at` begins; false at the start of the file. */
static bool line_before(const struct eco_scan *s, size_t *at)
{
    size_t i = *at;
    if (i == 0) {
        return false;
    }
    for (i--; i > 0 && s->text[i - 1] != '\n'; i--) {
    }
    *at = i;
    return true;
}

/* A "tag" may be anybody's: an image's has its repository beside it, or "image" above. */
static bool tag_of_image(const struct eco_scan *s, const struct line *tag)
{
    size_t column = key_column(tag), from = (size_t)(tag->s - s->text) - tag->indent, at = from;
    struct line l = *tag;
    bool first = column > tag->indent; /* "- tag: …" */
    for (int i = 0; i < MAX_BESIDE && !first && line_before(s, &at); i++) {
        size_t next = at;
        next_line(s, &next, &l);
        bool inside = l.len == 0 || l.indent >= column;
        first = !inside;
        if (!inside && key_column(&l) < column) { /* the key above */
            const char *v;
            size_t n;
            if (key_is(&l, "image", &v, &n)) {
                return true;
            }
            break;
        }
        from = at;
    }
    at = from;
    for (int i = 0; i < 2 * MAX_BESIDE && next_line(s, &at, &l); i++) {
        if (l.len && i > 0 && l.indent < column) {
            return false;
        }
        if (key_column(&l) == column && names_image(&l)) {
            return true;
        }
    }
    return false;
}

static bool nightly_tag(const char *v, size_t n)
{
    for (size_t i = 0; i + 7 <= n; i++) {
        bool word = i == 0 || !isalnum((unsigned char)v[i - 1]); /* not "fortnightly" */
        if (word && memcmp(v + i, "nightly", 7) == 0) {
            return true;
        }
    }
    return false;
}

/* A key that names a nightly image. */
static bool nightly_image(const struct eco_scan *s, const struct line *l)
{
    static const char *const keys[] = {"image", "newTag", "imageTag", "image_tag"};
    const char *v;
    size_t n;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (key_is(l, keys[i], &v, &n)) {
            return nightly_tag(v, n);
        }
    }
    return key_is(l, "tag", &v, &n) && nightly_tag(v, n) && tag_of_image(s, l);
}

static void yaml_keys(struct eco_scan *s, const struct line *l, struct yaml *y)
{
    const char *v;
    size_t n;
    struct eco_spot spot = at_line(l->number, l->number);
    yaml_model(l, y);
    if (key_is(l, "load_in_8bit", &v, &n) && is_true(v, n)) {
        y->eight = l->number;
    } else if (key_is(l, "load_in_4bit", &v, &n) && is_true(v, n)) {
        y->four = l->number;
    } else if (key_is(l, "llm_int8_threshold", &v, &n) && n && strtod(v, NULL) == 0) {
        y->threshold_zero = true;
    } else if (key_is(l, "enforce_eager", &v, &n) && is_true(v, n)) {
        eco_scan_add(s, ECO_AUDIT_VLLM_EAGER, &spot, "enforce_eager=true");
    } else if (key_is(l, "max_num_seqs", &v, &n) && equals(v, n, "1")) {
        eco_scan_add(s, ECO_AUDIT_VLLM_ONE_SEQ, &spot, "max_num_seqs=1");
    } else if (nightly_image(s, l)) {
        eco_scan_add(s, ECO_AUDIT_NIGHTLY_PIN, &spot, "the image is a nightly build");
    }
}

static void yaml_flags(struct eco_scan *s, const struct line *l, struct yaml *y)
{
    struct eco_buf b = {.limit = MAX_LOGICAL};
    struct eco_spot spot = at_line(l->number, l->number);
    bool item = l->len > 2 && l->s[0] == '-' && l->s[1] == ' ';
    bool starts = item && l->len > 4 && l->s[2] == '-'; /* a flag is no flag's value */
    if (y->held.len && !starts) {
        put_some(&b, y->held.s, y->held.len);
        put_some(&b, " ", 1);
        spot.line = y->held.number;
    }
    put_some(&b, item ? l->s + 2 : l->s, item ? l->len - 2 : l->len);
    if (eco_buf_ok(&b)) {
        struct words w;
        split(eco_buf_str(&b), b.len, &w);
        if (item && w.n == 1 && has(&w, "--enforce-eager")) {
            y->eager_at = l->number;
        } else {
            check_vllm(s, &w, &spot);
        }
        check_tgi(s, &w, &spot);
    }
    eco_buf_done(&b);
    bool flag = item && l->len > 5 && found_in(l->s, l->len, "--") && !memchr(l->s, '=', l->len);
    y->held = flag ? (struct line){l->s + 2, l->len - 2, l->number, l->indent} : (struct line){0};
}

static void yaml_end(struct eco_scan *s, const struct yaml *y)
{
    if (y->eight && y->four) {
        struct eco_spot spot = at_line(y->four, y->four);
        eco_scan_add(s, ECO_AUDIT_MIXED_BITS, &spot, "load_in_8bit and load_in_4bit are both true");
    } else if (y->eight && !y->threshold_zero) {
        struct eco_spot spot = at_line(y->eight, y->eight);
        eco_scan_add(s, ECO_AUDIT_INT8_DEFAULT, &spot,
                     "load_in_8bit with the default outlier threshold (6.0)");
    } else if (y->four && y->ids == 1) {
        double b = eco_audit_model_size(y->id, y->id_len);
        if (b > 0 && b < s->a->crossover_b) {
            struct eco_spot spot = at_line(y->four, y->four);
            spot.params_b = b;
            eco_scan_add(s, ECO_AUDIT_SMALL_4BIT, &spot, "4 bit on %.*s (%.3gB)",
                         (int)(y->id_len < 120 ? y->id_len : 120), y->id, b);
        }
    }
}

/* "- --model", "- x": what the items say together. */
static void yaml_list_end(struct eco_scan *s, struct yaml *y)
{
    if ((y->list_at || y->eager_at) && eco_buf_ok(&y->list)) {
        struct words w;
        struct eco_spot spot = at_line(y->list_at, y->list_at),
                        eager = at_line(y->eager_at, y->eager_at);
        split(eco_buf_str(&y->list), y->list.len, &w);
        if (y->eager_at) {
            check_eager(s, &w, &eager);
        }
        if (vllm_bits(&w)) {
            small_model(s, &w, &spot);
        }
        check_tgi(s, &w, &spot);
    }
    eco_buf_clear(&y->list);
    y->list_at = y->eager_at = 0;
}

static void yaml_list(struct eco_scan *s, const struct line *l, struct yaml *y)
{
    bool item = l->len > 2 && l->s[0] == '-' && l->s[1] == ' ';
    if (y->list.len && l->len && (!item || l->indent != y->list_indent)) {
        yaml_list_end(s, y);
    }
    if (!item) {
        return;
    }
    y->list_indent = l->indent;
    put_some(&y->list, l->s + 2, l->len - 2);
    put_some(&y->list, " ", 1);
    if (!y->list_at && found_in(l->s, l->len, "--quantiz")) {
        y->list_at = l->number;
    }
}

static bool is_prose(const struct line *l)
{
    static const char *const keys[] = {"note",    "notes",   "description", "doc",
                                       "help",    "comment", "message",     "title",
                                       "summary", "text",    "annotations"};
    const char *v;
    size_t n;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (key_is(l, keys[i], &v, &n)) {
            return true;
        }
    }
    return false;
}

/* "command: >" opens a text whose lines are one; it goes on while they are indented. */
static bool yaml_folds(const struct line *l, struct yaml *y)
{
    size_t n = l->len;
    if (y->folded && l->len && l->indent <= y->indent) {
        y->folded = false;
    }
    bool inside = y->folded;
    n -= n > 1 && (l->s[n - 1] == '-' || l->s[n - 1] == '+') ? 1 : 0;
    if (!inside && n > 2 && l->s[n - 1] == '>' && strchr(" :", l->s[n - 2])) {
        y->folded = true;
        y->prose = is_prose(l);
        y->indent = l->indent;
    }
    return inside;
}

void eco_scan_yaml(struct eco_scan *s)
{
    struct logical g = {.text = {.limit = MAX_LOGICAL}};
    struct yaml y = {0};
    struct line l = {0};
    size_t at = 0;
    y.list.limit = MAX_LOGICAL;
    s->vars_in = ECO_VARS_YAML;
    while (next_line(s, &at, &l)) {
        bool more = continues(&l), was = y.folded, inside = yaml_folds(&l, &y);
        if (l.len == 3 && memcmp(l.s, "---", 3) == 0) { /* another document */
            yaml_end(s, &y);
            y.eight = y.four = 0;
            y.threshold_zero = false;
            y.ids = 0;
        }
        if (was && !inside) {
            finish(s, &g, 0);
        }
        if (inside) {
            if (!y.prose) {
                join(&g, &l, more);
            }
            continue;
        }
        yaml_keys(s, &l, &y);
        yaml_flags(s, &l, &y);
        yaml_list(s, &l, &y);
        join(&g, &l, more);
        if (more) {
            continue;
        }
        bool item = g.text.len > 2 && g.text.data[0] == '-' && g.text.data[1] == ' ';
        if (item && g.first == g.last) {
            nightly(s, &l, "requires");
        }
        finish(s, &g, 0);
    }
    finish(s, &g, 0);
    yaml_list_end(s, &y);
    yaml_end(s, &y);
    eco_buf_done(&y.list);
    eco_buf_done(&g.text);
}
