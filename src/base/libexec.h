/*
 * The helper programs: what links network and database libraries lives in executables beside the
 * main one, so that the main one starts in no time (docs/architecture.md, Start-up).
 */
#ifndef ECO_BASE_LIBEXEC_H
#define ECO_BASE_LIBEXEC_H

#include "eco_err.h"

#include <stddef.h>

/**
 * The path of helper `name` ("serve" -> .../ecocompute-serve), from the first of: the folder in
 * ECOCOMPUTE_LIBEXEC, the folder of the running program (a build tree), ../libexec/ecocompute from
 * there (an installed one). ECO_E_NOT_FOUND names the folders that were looked in.
 */
int eco_libexec_find(const char *name, char *path, size_t size, struct eco_err *err);

#endif
