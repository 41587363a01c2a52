/*
 * A child process and its lines: spawn, send a line, receive a line before a deadline, end it.
 * The child runs in a process group of its own, so that Ctrl-C reaches us and not it, and so that
 * killing the group ends what it started. Memory and descriptors belong to the struct.
 */
#ifndef ECO_WORKLOAD_WORKER_PROCESS_H
#define ECO_WORKLOAD_WORKER_PROCESS_H

#include "base/buf.h"
#include "eco_err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct eco_worker_process {
    pid_t pid;            /* 0: none */
    int to, from;         /* -1: closed */
    struct eco_buf input; /* received, not yet taken */
    size_t taken;         /* of input */
    bool ended;           /* end of its output was seen */
};

enum eco_worker_line { ECO_LINE_READY, ECO_LINE_TIMEOUT, ECO_LINE_END, ECO_LINE_TOO_LONG };

int eco_worker_spawn(struct eco_worker_process *p, const char *command, const char *log,
                     struct eco_err *err);
/** false: the child no longer reads. `line` ends in a newline. */
bool eco_worker_send(struct eco_worker_process *p, const char *line, size_t len);
/** The next line, without its newline; valid until the next call. */
enum eco_worker_line eco_worker_receive(struct eco_worker_process *p, int64_t until_mono_ns,
                                        size_t limit, const char **line, size_t *len);
/** Closes its input, waits `grace_s`, then kills the group. How it ended: a wait status, or -1. */
int eco_worker_end(struct eco_worker_process *p, double grace_s);

#endif
