/*
 * Messages for people, on standard error: one line each, written in one piece, so that threads
 * and child processes do not cut each other's lines. The level is the one piece of mutable
 * file-scope state of the program; cli and servers set it, libraries below them return errors
 * instead of logging. Not part of the WebAssembly set.
 */
#ifndef ECO_BASE_LOG_H
#define ECO_BASE_LOG_H

enum eco_log_level {
    ECO_LOG_QUIET, /* nothing at all */
    ECO_LOG_ERROR,
    ECO_LOG_WARN, /* what is shown at first */
    ECO_LOG_INFO,
    ECO_LOG_DEBUG
};

#define ECO_LOG_MAX_LINE 1024 /* bytes; what is longer ends in "..." */

void eco_log_set_level(enum eco_log_level level);
enum eco_log_level eco_log_get_level(void);
/** Writes "ecocompute: warning: …"; control characters in the message become '?'. */
void eco_log(enum eco_log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
