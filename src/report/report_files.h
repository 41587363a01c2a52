/* Files that hold secrets. Not part of the WebAssembly set. */
#ifndef ECO_REPORT_FILES_H
#define ECO_REPORT_FILES_H

#include "sign.h"

/**
 * Writes the secret key to `path` (mode 0600) and the public one to `path`.pub. A key is never
 * written over: ECO_E_INVALID when one of them is there. On failure neither is left behind.
 */
int eco_sign_key_save(const struct eco_sign_key *key, const char *path, struct eco_err *err);

#endif
