#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static atomic_int shown = ECO_LOG_WARN;

void eco_log_set_level(enum eco_log_level level)
{
    atomic_store(&shown, (int)level);
}

enum eco_log_level eco_log_get_level(void)
{
    return (enum eco_log_level)atomic_load(&shown);
}

/* A file name may hold anything; it must not move the cursor or fake a second line. */
static void defuse(char *s)
{
    for (; *s != '\0'; s++) {
        if ((unsigned char)*s < 0x20 || *s == 0x7F) {
            *s = '?';
        }
    }
}

void eco_log(enum eco_log_level level, const char *fmt, ...)
{
    static const char *const heads[] = {"", "error: ", "warning: ", "", "debug: "};
    char line[ECO_LOG_MAX_LINE + 1];
    int saved = errno; /* a message must not change what its caller looks at next */
    va_list ap;

    if (level <= ECO_LOG_QUIET || level > ECO_LOG_DEBUG || level > eco_log_get_level()) {
        return;
    }
    size_t at = (size_t)snprintf(line, sizeof line, "ecocompute: %s", heads[level]);
    va_start(ap, fmt);
    int len = vsnprintf(line + at, sizeof line - at - 1, fmt, ap);
    va_end(ap);
    if (len < 0) {
        len = 0;
        line[at] = '\0';
    }
    if ((size_t)len >= sizeof line - at - 1) {
        memcpy(line + sizeof line - 5, "...", 4);
    }
    defuse(line);
    at = strlen(line);
    line[at++] = '\n';
    ssize_t ignored = write(STDERR_FILENO, line, at); /* nobody is left to tell of a failure */
    (void)ignored;
    errno = saved;
}
