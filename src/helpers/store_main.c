/* ecocompute-store: looks after a store of reports. Usage: see below and docs/store.md. */
#include "store/store.h"

#include "base/arena.h"
#include "store_port.h"

#include <stdio.h>
#include <string.h>

static const char usage[] =
    "usage: ecocompute-store URL check\n"
    "       ecocompute-store URL list [pending|accepted|rejected]\n"
    "       ecocompute-store URL export [csv|json]\n"
    "       ecocompute-store URL accept ID\n"
    "       ecocompute-store URL reject ID format|personal-data|spam|same-run\n"
    "       ecocompute-store URL withdraw ID TOKEN\n"
    "URL: sqlite:FILE or postgresql://…\n";

static int fail(const struct eco_err *err)
{
    fprintf(stderr, "ecocompute-store: %s\n", err->message);
    return eco_err_exit_status(err->code);
}

static int wrong_usage(void)
{
    fputs(usage, stderr);
    return 2;
}

/* All rows of one state, or of all, one a line. */
static int list(struct eco_store *s, const char *state, struct eco_err *err)
{
    struct eco_store_query q;
    struct eco_store_page page = {.next = ""};
    struct eco_arena arena;
    char cursor[sizeof(page.next)] = "";
    int rc;
    eco_store_query_init(&q);
    q.any_state = state == NULL;
    q.cursor = cursor;
    if (state && !eco_store_state_parse(state, &q.state))
        return eco_err_set(err, ECO_E_INVALID, "state", "unknown state '%.40s'", state);
    eco_arena_init(&arena, 0);
    do {
        eco_arena_reset(&arena);
        rc = eco_store_list(s, &q, &arena, &page, err);
        for (size_t i = 0; rc == 0 && i < page.count; i++) {
            const struct eco_store_row *r = &page.rows[i];
            printf("%s %s%s%s %s %s %s %+.2f %%\n", r->id, eco_store_state_name(r->state),
                   r->reason ? ":" : "", eco_store_reason_name(r->reason), r->gpu, r->model,
                   r->precision, r->delta_pct);
        }
        snprintf(cursor, sizeof(cursor), "%s", page.next);
    } while (rc == 0 && cursor[0]);
    eco_arena_done(&arena);
    return rc;
}

static int export_all(struct eco_store *s, bool csv, struct eco_err *err)
{
    struct eco_store_query q;
    struct eco_buf out = ECO_BUF_INIT;
    eco_store_query_init(&q);
    int rc = eco_store_export(s, &q, csv, &out, err);
    if (rc == 0 && (fwrite(out.data, 1, out.len, stdout) != out.len || fflush(stdout) != 0))
        rc = eco_err_set(err, ECO_E_IO, "", "cannot write the output");
    eco_buf_done(&out);
    return rc;
}

static int check(struct eco_store *s, struct eco_err *err)
{
    int rc = eco_store_check(s, err);
    if (rc == 0)
        puts("every page, index and report is whole");
    return rc;
}

/* 1: these words are no command. */
static int act(struct eco_store *s, int argc, char **argv, struct eco_err *err)
{
    const char *verb = argv[2];
    enum eco_store_reason reason;
    if (strcmp(verb, "check") == 0 && argc == 3)
        return check(s, err);
    if (strcmp(verb, "list") == 0 && argc <= 4)
        return list(s, argc == 4 ? argv[3] : NULL, err);
    if (strcmp(verb, "export") == 0 && argc <= 4)
        return export_all(s, argc < 4 || strcmp(argv[3], "json") != 0, err);
    if (strcmp(verb, "accept") == 0 && argc == 4)
        return eco_store_moderate(s, argv[3], ECO_STORE_ACCEPTED, ECO_STORE_NO_REASON, err);
    if (strcmp(verb, "reject") == 0 && argc == 5 && eco_store_reason_parse(argv[4], &reason))
        return eco_store_moderate(s, argv[3], ECO_STORE_REJECTED, reason, err);
    if (strcmp(verb, "withdraw") == 0 && argc == 5)
        return eco_store_withdraw(s, argv[3], argv[4], err);
    return 1;
}

int main(int argc, char **argv)
{
    struct eco_store *s = NULL;
    struct eco_err err = {0};
    if (argc < 3)
        return wrong_usage();
    if (eco_store_port_open(argv[1], false, 0, &s, &err) != 0)
        return fail(&err);
    int rc = act(s, argc, argv, &err);
    eco_store_close(s);
    return rc == 1 ? wrong_usage() : rc ? fail(&err) : 0;
}
