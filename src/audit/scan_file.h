/* Inside of audit: what the walk over a tree uses of the scan of one file. */
#ifndef ECO_AUDIT_SCAN_FILE_H
#define ECO_AUDIT_SCAN_FILE_H

#include "audit.h"

struct eco_needles;

/** As eco_audit_text, with the byte search's table made once. */
int eco_audit_scan_text(struct eco_audit *a, const struct eco_needles *needles, const char *path,
                        const char *text, size_t len, struct eco_err *err);
/** Notes that a file was not looked into. */
void eco_audit_skip(struct eco_audit *a, const char *path, const char *reason);

#endif
