/* Byte search for the names that rules look at: files without any of them are passed over. */
#ifndef ECO_AUDIT_NEEDLES_H
#define ECO_AUDIT_NEEDLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct eco_needles {
    uint8_t shift[65536]; /* by two bytes: how far the window may move */
};

void eco_needles_init(struct eco_needles *n);
bool eco_needles_in(const struct eco_needles *n, const char *text, size_t len);

#endif
