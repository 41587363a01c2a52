/*
 * measure_energy runs the machine for minutes, so it runs as a child of its own: the session goes
 * on answering, and a cancelled call ends it with a signal. A client chooses numbers and
 * switches; programs, libraries and folders are what the owner said when he started this.
 */
#include "mcp_parts.h"
#include "ops/args.h"
#include "ops/args_words.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define OUTPUT_LIMIT ((size_t)4 << 20)
#define TICK_MS 500
#define PATIENCE 6 /* ticks between SIGTERM and SIGKILL */

bool eco_mcp_is_local(const struct eco_op *op)
{
    return op->tool && !op->path;
}

bool eco_mcp_measure_takes(const struct eco_param *p)
{
    bool harmless = p->type != ECO_T_STR && p->type != ECO_T_LIST_STR;
    return (!(p->flags & ECO_PF_NATIVE) || harmless) && strcmp(p->name, "force") != 0;
}

static int check_names(const struct eco_op *op, const struct eco_json *arguments,
                       struct eco_err *err)
{
    for (const struct eco_json *v = arguments ? arguments->child : NULL; v; v = v->next) {
        const struct eco_param *p = eco_args_find(op, v->key, v->key_len);
        if (p && !eco_mcp_measure_takes(p)) {
            return eco_err_set(err, ECO_E_UNKNOWN_PARAM, p->name,
                               "'%s' is what the owner of this machine sets, not a client",
                               p->name);
        }
    }
    return 0;
}

/* The child's words: the client's values after the same checks, then the owner's. */
static char **child_words(struct eco_mcp_message *x, const struct eco_op *op,
                          const struct eco_json *arguments, struct eco_err *err)
{
    const struct eco_mcp_options *o = &x->m->o;
    void *args = eco_arena_alloc(x->arena, op->args_size);
    char *out = eco_arena_printf(x->arena, "--out=%s/mcp-%d-%u", o->measure_out, (int)getpid(),
                                 atomic_fetch_add(&x->m->runs, 1));
    char *workload = eco_arena_printf(x->arena, "--workload=%s", o->measure_workload);
    char *program = eco_arena_printf(x->arena, "%s", o->measure_program);
    const char *first[] = {program, op->name, "--json", workload, out};
    if (!args || !out || !workload || !program) {
        eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
        return NULL;
    }
    int rc = check_names(op, arguments, err);
    rc = rc ? rc : eco_args_init(op, args, x->arena, err);
    if (rc == 0 && arguments) {
        rc = eco_args_set_json(op, args, x->arena, arguments, true, err);
    }
    rc = rc ? rc : eco_args_finish(op, args, err);
    return rc ? NULL : eco_args_words(op, args, x->arena, first, ECO_COUNT(first), err);
}

static void run_child(char **words, int out, int err)
{
    int nothing = open("/dev/null", O_RDONLY);
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* nobody would read the report */
    dup2(nothing, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    execv(words[0], words);
    _exit(70);
}

/* Both pipes until both end. What is over the limit is dropped. A cancelled child that is deep in
 * work ends in a few seconds, whatever it does. */
static void read_both(int out, int err, struct eco_mcp_call *call, struct eco_buf *text,
                      struct eco_buf *said)
{
    int patience = PATIENCE;
    struct pollfd fd[2] = {{out, POLLIN, 0}, {err, POLLIN, 0}};
    struct eco_buf *to[2] = {text, said};
    while (fd[0].fd >= 0 || fd[1].fd >= 0) {
        char chunk[4096];
        if (poll(fd, 2, TICK_MS) < 0 && errno != EINTR) {
            return;
        }
        if (atomic_load(&call->cancelled) && --patience == 0) {
            kill(atomic_load(&call->child), SIGKILL);
        }
        for (size_t i = 0; i < 2; i++) {
            ssize_t n = fd[i].fd >= 0 && fd[i].revents ? read(fd[i].fd, chunk, sizeof chunk) : 1;
            if (n <= 0 && !(n < 0 && errno == EINTR)) {
                fd[i].fd = -1;
            } else if (fd[i].fd >= 0 && fd[i].revents && to[i]->len < OUTPUT_LIMIT) {
                eco_buf_put(to[i], chunk, (size_t)n);
            }
        }
    }
}

static int wait_child(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* The first line that the child said is why it failed. */
static int child_failed(int status, struct eco_buf *said, struct eco_err *err)
{
    static const char program[] = "ecocompute: ";
    const char *line = eco_buf_str(said);
    line += strncmp(line, program, sizeof program - 1) == 0 ? sizeof program - 1 : 0;
    int code = status == 4 ? ECO_E_DEVICE : status == 3 ? ECO_E_CONTENT : ECO_E_INVALID;
    return eco_err_set(err, status >= 70 ? ECO_E_INTERRUPTED : code, "", "%.*s",
                       (int)strcspn(line, "\n"), line);
}

int eco_mcp_measure(struct eco_mcp_message *x, const struct eco_op *op,
                    const struct eco_json *arguments, struct eco_buf *out, struct eco_err *err)
{
    struct eco_buf said = ECO_BUF_INIT;
    int pipes[2][2];
    char **words = child_words(x, op, arguments, err);
    if (!words) {
        return err->code;
    }
    if (pipe(pipes[0])) {
        return eco_err_set(err, ECO_E_IO, "", "no pipe: %s", strerror(errno));
    }
    if (pipe(pipes[1])) {
        close(pipes[0][0]);
        close(pipes[0][1]);
        return eco_err_set(err, ECO_E_IO, "", "no pipe: %s", strerror(errno));
    }
    pid_t child = fork();
    if (child == 0) {
        close(pipes[0][0]);
        close(pipes[1][0]);
        run_child(words, pipes[0][1], pipes[1][1]);
    }
    close(pipes[0][1]);
    close(pipes[1][1]);
    int status = 128;
    if (child > 0) {
        atomic_store(&x->call->child, (int)child);
        if (atomic_load(&x->call->cancelled)) { /* it came between */
            eco_mcp_cancel(x->call);
        }
        read_both(pipes[0][0], pipes[1][0], x->call, out, &said);
        status = wait_child(child);
        atomic_store(&x->call->child, 0);
    }
    close(pipes[0][0]);
    close(pipes[1][0]);
    int rc = child < 0 ? eco_err_set(err, ECO_E_IO, "", "cannot start a child: %s", strerror(errno))
             : status > 1 ? child_failed(status, &said, err)
                          : 0;
    eco_buf_done(&said);
    return rc;
}
