/* The changed lines of a repository: asks git. */
#include "changed.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_DIFF ((size_t)64 << 20)

static void child(int out, const char *base)
{
    dup2(out, STDOUT_FILENO);
    /* --relative: paths as they are from here, none in octal; no external tools, no colours */
    execlp("git", "git", "-c", "core.quotePath=off", "diff", "--relative", "--unified=0",
           "--no-color", "--no-ext-diff", "--src-prefix=a/", "--dst-prefix=b/", base, "--", ".",
           (char *)NULL);
    _exit(127);
}

int eco_audit_git_diff(const char *base, struct eco_buf *out, struct eco_err *err)
{
    int fd[2];
    char chunk[65536];
    ssize_t n;
    if (base[0] == '-') {
        return eco_err_set(err, ECO_E_INVALID, "diff", "'%.60s' is no revision", base);
    }
    if (pipe(fd) != 0) {
        return eco_err_set(err, ECO_E_IO, "diff", "cannot make a pipe: %s", strerror(errno));
    }
    pid_t pid = fork();
    if (pid < 0) {
        close(fd[0]);
        close(fd[1]);
        return eco_err_set(err, ECO_E_IO, "diff", "cannot start git: %s", strerror(errno));
    }
    if (pid == 0) {
        close(fd[0]);
        child(fd[1], base);
    }
    close(fd[1]);
    out->limit = MAX_DIFF;
    while ((n = read(fd[0], chunk, sizeof(chunk))) > 0 || (n < 0 && errno == EINTR)) {
        eco_buf_put(out, chunk, n > 0 ? (size_t)n : 0);
    }
    close(fd[0]);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        return eco_err_set(err, ECO_E_NOT_FOUND, "diff", "git cannot compare with '%.60s'", base);
    }
    return eco_buf_ok(out) ? 0 : eco_err_set(err, ECO_E_TOO_LARGE, "diff", "the diff is too large");
}
