#include "libexec.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool runnable(char *path, size_t size, const char *folder, const char *name)
{
    int len = snprintf(path, size, "%s/ecocompute-%s", folder, name);
    return len > 0 && (size_t)len < size && access(path, X_OK) == 0;
}

/* Debian's package of the library that each helper links; without it the helper is not built. */
static const char *package_of(const char *name)
{
    static const char *const packages[][2] = {{"serve", "libmicrohttpd-dev"},
                                              {"openai", "libcurl4-openssl-dev"},
                                              {"store", "libsqlite3-dev"}};
    for (size_t i = 0; i < sizeof packages / sizeof packages[0]; i++) {
        if (strcmp(packages[i][0], name) == 0) {
            return packages[i][1];
        }
    }
    return "libraries";
}

int eco_libexec_find(const char *name, char *path, size_t size, struct eco_err *err)
{
    char here[4096] = "";
    char installed[4128];
    const char *set = getenv("ECOCOMPUTE_LIBEXEC");
    if (set && *set) {
        if (runnable(path, size, set, name)) {
            return 0;
        }
        return eco_err_set(err, ECO_E_NOT_FOUND, "ECOCOMPUTE_LIBEXEC",
                           "no 'ecocompute-%s' in '%s', where ECOCOMPUTE_LIBEXEC points", name,
                           set);
    }
    ssize_t len = readlink("/proc/self/exe", here, sizeof here - 1);
    char *slash = len > 0 ? strrchr(here, '/') : NULL;
    if (!slash) {
        return eco_err_set(err, ECO_E_NOT_FOUND, "",
                           "cannot tell where this program lies (/proc/self/exe): set "
                           "ECOCOMPUTE_LIBEXEC to the folder of 'ecocompute-%s'",
                           name);
    }
    *slash = '\0';
    snprintf(installed, sizeof installed, "%s/../libexec/ecocompute", here);
    if (runnable(path, size, here, name) || runnable(path, size, installed, name)) {
        return 0;
    }
    return eco_err_set(err, ECO_E_NOT_FOUND, "",
                       "'ecocompute-%s' is neither in '%.80s' nor in its ../libexec/ecocompute; "
                       "it needs %s: install that, then make build",
                       name, here, package_of(name));
}
