/* The openai workload: settings into words for the helper program, which is a worker. */
#include "base/libexec.h"
#include "workload/arm_list.h"
#include "workload/workload.h"

#include <ctype.h>
#include <string.h>

#define MAX_PATH 4096
#define MAX_URL 1024

/* One argument for /bin/sh: in single quotes, those inside it as '\''. */
static void put_quoted(struct eco_buf *out, const char *word)
{
    eco_buf_putc(out, '\'');
    for (; *word; word++) {
        if (*word == '\'') {
            eco_buf_puts(out, "'\\''");
        } else {
            eco_buf_putc(out, *word);
        }
    }
    eco_buf_putc(out, '\'');
}

/* http or https, a host, no name and password, nothing a URL cannot hold. */
static int check_url(const char *url, struct eco_err *err)
{
    const char *host = strncmp(url, "http://", 7) == 0    ? url + 7
                       : strncmp(url, "https://", 8) == 0 ? url + 8
                                                          : "";
    size_t len = strcspn(host, "/?#");
    if (len == 0 || strpbrk(url, " \t\r\n\"<>")) {
        return eco_err_set(err, ECO_E_INVALID, "url",
                           "'url' is the address of a server, as http://127.0.0.1:8000/v1, not "
                           "'%.80s'",
                           url);
    }
    if (memchr(host, '@', len)) {
        return eco_err_set(err, ECO_E_INVALID, "url",
                           "'url' holds a name or password: the key belongs into the environment "
                           "variable that --key-env names");
    }
    return 0;
}

static int check(const struct eco_workload_openai *o, const enum eco_precision *arms, int arm_count,
                 struct eco_err *err)
{
    char value[MAX_URL];
    const char *key = o->key_env ? o->key_env : "OPENAI_API_KEY";
    if (!o->url) {
        return eco_err_set(err, ECO_E_MISSING, "url",
                           "the openai workload needs 'url', the address of a server: "
                           "http://127.0.0.1:8000/v1");
    }
    int rc = eco_arm_list_check(o->url, "url", err);
    if (rc == 0 && o->served_model) {
        rc = eco_arm_list_check(o->served_model, "served_model", err);
    }
    for (int i = 0; rc == 0 && i < arm_count; i++) {
        rc = eco_arm_list_get(o->url, "url", arms[i], value, sizeof(value), err);
        rc = rc ? rc : check_url(value, err);
        if (rc == 0 && o->served_model) {
            rc = eco_arm_list_get(o->served_model, "served_model", arms[i], value, sizeof(value),
                                  err);
        }
    }
    for (const char *c = key; rc == 0 && (*c || c == key); c++) {
        if (!isalnum((unsigned char)*c) && *c != '_') {
            rc = eco_err_set(err, ECO_E_INVALID, "key_env",
                             "'key_env' is the name of an environment variable, not the key");
        }
    }
    return rc;
}

int eco_workload_openai_text(const struct eco_workload_openai *o, const enum eco_precision *arms,
                             int arm_count, struct eco_buf *out, struct eco_err *err)
{
    int rc = check(o, arms, arm_count, err);
    if (rc) {
        return rc;
    }
    eco_buf_puts(out, "openai:--url ");
    put_quoted(out, o->url);
    if (o->served_model) {
        eco_buf_puts(out, " --served-model ");
        put_quoted(out, o->served_model);
    }
    if (o->key_env) {
        eco_buf_puts(out, " --key-env ");
        put_quoted(out, o->key_env);
    }
    return eco_buf_ok(out) ? 0 : eco_err_set(err, ECO_E_NO_MEMORY, NULL, "out of memory");
}

int eco_workload_open_openai(const char *arguments, const struct eco_worker_options *o,
                             struct eco_generator **out, struct eco_err *err)
{
    char path[MAX_PATH];
    struct eco_buf command = ECO_BUF_INIT;
    struct eco_worker_options with = *o;
    int rc = eco_libexec_find("openai", path, sizeof(path), err);
    if (rc) {
        return rc;
    }
    eco_buf_puts(&command, "exec ");
    put_quoted(&command, path);
    eco_buf_printf(&command, " %s", arguments);
    with.command = eco_buf_str(&command);
    rc = eco_buf_ok(&command) ? eco_workload_open_worker(&with, out, err)
                              : eco_err_set(err, ECO_E_NO_MEMORY, NULL, "out of memory");
    eco_buf_done(&command);
    return rc;
}
