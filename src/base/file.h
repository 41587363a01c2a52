/*
 * Files: read whole with a limit, write whole or not at all (temporary beside it, write, fsync,
 * rename). Nothing is written over without `force`. Not part of the WebAssembly set.
 */
#ifndef ECO_BASE_FILE_H
#define ECO_BASE_FILE_H

#include "buf.h"
#include "eco_err.h"

#include <stdbool.h>

/** Reads `path` ("-" = standard input) up to `limit` bytes into `out`. */
int eco_file_read(const char *path, size_t limit, struct eco_buf *out, struct eco_err *err);
/** Writes atomically; ECO_E_EXISTS without `force` when it is there, ECO_E_IO on a full disk. */
int eco_file_write(const char *path, const void *bytes, size_t len, bool force,
                   struct eco_err *err);
int eco_file_mkdirs(const char *path, struct eco_err *err); /* like mkdir -p, mode 0777 & umask */
bool eco_file_is_dir(const char *path);
bool eco_file_exists(const char *path);

#endif
