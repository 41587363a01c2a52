/*
 * The page: every file of one folder, read once at the start. A request finds a name in this table
 * or nothing at all, so no request can climb out of the folder.
 */
#include "base/file.h"
#include "base/hash.h"
#include "server_parts.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_PAGES 1024
#define MAX_DEPTH 8
#define MAX_FILE ((size_t)16 << 20)
#define MAX_ALL ((size_t)64 << 20)

/* Nothing from elsewhere, nothing inline but styles; WebAssembly may be compiled. */
#define CSP                                                                                        \
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'%s; style-src 'self' "                \
    "'unsafe-inline'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; "           \
    "worker-src 'self' blob:; manifest-src 'self'; base-uri 'none'; form-action 'self'; "          \
    "frame-ancestors 'none'"

/* What / answers when the server was started without --web: where its addresses are. */
static const char start_page[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
    "<meta name=\"viewport\" content=\"width=device-width\"><title>ecocompute</title>\n"
    "<style>body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:3rem auto;"
    "padding:0 1rem}code{background:#eee;padding:0 .2em}</style></head><body>\n"
    "<h1>ecocompute</h1>\n<p>Does quantization lower the energy per token here, or raise it? "
    "This server answers over HTTP; it was started without a page (<code>--web DIR</code>).</p>\n"
    "<ul><li><a href=\"/v1/estimate?model=Qwen2.5-7B&amp;gpu=rtx4090&amp;precision=NF4\">an "
    "estimate</a></li>\n<li><a href=\"/openapi.json\">every address, as OpenAPI</a></li>\n"
    "<li><a href=\"/metrics\">metrics</a></li></ul>\n</body></html>\n";

static const char *type_of(const char *path)
{
    static const char *const types[][2] = {{".html", "text/html; charset=utf-8"},
                                           {".js", "text/javascript; charset=utf-8"},
                                           {".mjs", "text/javascript; charset=utf-8"},
                                           {".css", "text/css; charset=utf-8"},
                                           {".wasm", "application/wasm"},
                                           {".json", "application/json; charset=utf-8"},
                                           {".svg", "image/svg+xml"},
                                           {".png", "image/png"},
                                           {".ico", "image/x-icon"},
                                           {".woff2", "font/woff2"},
                                           {".txt", "text/plain; charset=utf-8"},
                                           {".csv", "text/csv; charset=utf-8"},
                                           {".webmanifest", "application/manifest+json"}};
    size_t n = strlen(path);
    for (size_t i = 0; i < ECO_COUNT(types); i++) {
        size_t k = strlen(types[i][0]);
        if (n > k && strcmp(path + n - k, types[i][0]) == 0) {
            return types[i][1];
        }
    }
    return "application/octet-stream";
}

static int no_memory(struct eco_err *err)
{
    return eco_err_set(err, ECO_E_NO_MEMORY, "web", "out of memory");
}

/* " 'sha256-…'" of each inline script: allowed by what it is, not by where it stands. */
static void inline_scripts(const char *html, size_t len, struct eco_buf *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = html;
    while (at && (at = strstr(at, "<script")) != NULL && at < html + len) {
        const char *open = strchr(at, '>');
        const char *end = open ? strstr(open, "</script") : NULL;
        if (!end) {
            return;
        }
        if (end > open + 1) {
            struct eco_sha256 sha;
            uint8_t sum[33] = {0};
            eco_sha256_init(&sha);
            eco_sha256_update(&sha, open + 1, (size_t)(end - open - 1));
            eco_sha256_final(&sha, sum);
            eco_buf_puts(out, " 'sha256-");
            for (size_t i = 0; i < 33; i += 3) {
                unsigned v = (unsigned)sum[i] << 16 | (unsigned)sum[i + 1] << 8 |
                             (i + 2 < 33 ? sum[i + 2] : 0u);
                eco_buf_putc(out, digits[v >> 18 & 63]);
                eco_buf_putc(out, digits[v >> 12 & 63]);
                eco_buf_putc(out, digits[v >> 6 & 63]);
                eco_buf_putc(out, i == 30 ? '=' : digits[v & 63]);
            }
            eco_buf_putc(out, '\'');
        }
        at = end;
    }
}

static int add_page(struct eco_pages *p, const char *path, const char *body, size_t len,
                    struct eco_err *err)
{
    char sum[65];
    struct eco_buf hashes = ECO_BUF_INIT;
    if (p->n == p->cap) {
        size_t cap = p->cap ? p->cap * 2 : 32;
        struct eco_page *grown = cap > MAX_PAGES ? NULL : realloc(p->page, cap * sizeof(*grown));
        if (!grown) {
            return eco_err_set(err, ECO_E_TOO_LARGE, "web", "the page has over %d files",
                               MAX_PAGES);
        }
        p->page = grown;
        p->cap = cap;
    }
    struct eco_page *g = &p->page[p->n];
    eco_sha256_hex(body, len, sum);
    *g = (struct eco_page){.path = eco_arena_strdup(&p->arena, path, strlen(path)),
                           .type = type_of(path),
                           .body = eco_arena_strdup(&p->arena, body, len),
                           .len = len,
                           .etag = eco_arena_printf(&p->arena, "\"%.32s\"", sum)};
    if (strncmp(g->type, "text/html", 9) == 0 && g->body) {
        inline_scripts(g->body, len, &hashes);
        g->csp = eco_arena_printf(&p->arena, CSP, eco_buf_str(&hashes));
    }
    eco_buf_done(&hashes);
    if (!g->path || !g->body || !g->etag) {
        return no_memory(err);
    }
    p->bytes += len;
    p->n++;
    return p->bytes > MAX_ALL ? eco_err_set(err, ECO_E_TOO_LARGE, "web",
                                            "the page is larger than %zu bytes", MAX_ALL)
                              : 0;
}

static int add_file(struct eco_pages *p, const char *file, const char *path, struct eco_err *err)
{
    struct eco_buf b = ECO_BUF_INIT;
    size_t n = strlen(path), index = strlen("index.html");
    int rc = eco_file_read(file, MAX_FILE, &b, err);
    rc = rc ? rc : add_page(p, path, eco_buf_str(&b), b.len, err);
    if (rc == 0 && n > index && strcmp(path + n - index, "index.html") == 0 &&
        path[n - index - 1] == '/') { /* "/" is "/index.html" */
        char *folder = eco_arena_strdup(&p->arena, path, n - index);
        rc = folder ? add_page(p, folder, eco_buf_str(&b), b.len, err) : no_memory(err);
        if (rc == 0) {
            p->page[p->n - 1].type = "text/html; charset=utf-8";
            p->page[p->n - 1].csp = p->page[p->n - 2].csp;
        }
    }
    eco_buf_done(&b);
    return rc;
}

static int add_folder(struct eco_pages *p, const char *dir, const char *path, int depth,
                      struct eco_err *err)
{
    DIR *d = opendir(dir);
    if (!d || depth > MAX_DEPTH) {
        if (d) {
            closedir(d);
        }
        return eco_err_set(err, ECO_E_NOT_FOUND, "web", "cannot read the folder '%.120s'", dir);
    }
    int rc = 0;
    for (struct dirent *e; rc == 0 && (e = readdir(d)) != NULL;) {
        struct stat st = {0};
        if (e->d_name[0] == '.') { /* "." and "..", and what is hidden stays so */
            continue;
        }
        char *file = eco_arena_printf(&p->arena, "%s/%s", dir, e->d_name);
        char *name = eco_arena_printf(&p->arena, "%s/%s", path, e->d_name);
        if (!file || !name) {
            rc = no_memory(err);
        } else if (lstat(file, &st) == 0 && S_ISDIR(st.st_mode)) {
            rc = add_folder(p, file, name, depth + 1, err);
        } else if (S_ISREG(st.st_mode)) { /* a link could lead out of the folder */
            rc = add_file(p, file, name, err);
        }
    }
    closedir(d);
    return rc;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct eco_page *)a)->path, ((const struct eco_page *)b)->path);
}

/* Before the table is sorted. */
static bool has(const struct eco_pages *p, const char *path)
{
    for (size_t i = 0; i < p->n; i++) {
        if (strcmp(p->page[i].path, path) == 0) {
            return true;
        }
    }
    return false;
}

int eco_pages_load(struct eco_pages *p, const char *dir, bool form, struct eco_err *err)
{
    *p = (struct eco_pages){0};
    eco_arena_init(&p->arena, 0);
    int rc;
    if (dir) {
        rc = add_folder(p, dir, "", 0, err);
        if (rc == 0 && !eco_pages_find(p, "/", 1) && p->n == 0) {
            rc = eco_err_set(err, ECO_E_NOT_FOUND, "web", "the folder '%.120s' is empty", dir);
        }
    } else {
        rc = add_page(p, "/index.html", start_page, sizeof start_page - 1, err);
        rc = rc ? rc : add_page(p, "/", start_page, sizeof start_page - 1, err);
        if (rc == 0) {
            p->page[1].type = p->page[0].type;
            p->page[1].csp = p->page[0].csp;
        }
    }
    if (rc == 0 && form && !has(p, "/submit.html")) {
        rc = add_page(p, "/submit.html", eco_submit_page, strlen(eco_submit_page), err);
    }
    if (p->n) {
        qsort(p->page, p->n, sizeof(*p->page), by_path);
    }
    return rc;
}

void eco_pages_done(struct eco_pages *p)
{
    free(p->page);
    eco_arena_done(&p->arena);
    *p = (struct eco_pages){0};
}

const struct eco_page *eco_pages_find(const struct eco_pages *p, const char *path, size_t len)
{
    size_t lo = 0, hi = p->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        int d = strncmp(path, p->page[mid].path, len);
        d = d ? d : p->page[mid].path[len] ? -1 : 0;
        if (d == 0) {
            return &p->page[mid];
        }
        if (d < 0) {
            hi = mid;
        } else {
            lo = mid + 1;
        }
    }
    return NULL;
}
