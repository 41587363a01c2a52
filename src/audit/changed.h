/* What changed since a revision, as a unified diff without context. Runs git in this folder. */
#ifndef ECO_AUDIT_CHANGED_H
#define ECO_AUDIT_CHANGED_H

#include "base/buf.h"
#include "eco_err.h"

/** ECO_E_NOT_FOUND when git is not there, or knows no such revision (git says why on stderr). */
int eco_audit_git_diff(const char *base, struct eco_buf *out, struct eco_err *err);

#endif
