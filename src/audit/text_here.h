/* Inside of audit's text scanners: texts inside a shell script that nobody runs. */
#ifndef ECO_AUDIT_TEXT_HERE_H
#define ECO_AUDIT_TEXT_HERE_H

#include <stdbool.h>
#include <stddef.h>

/** The word that ends the text; n 0: outside of one. */
struct eco_here {
    char word[64];
    size_t n;
};

/** Takes the next line; true when it is part of a text that is only shown or kept as prose. */
bool eco_here_line(struct eco_here *h, const char *line, size_t len);

#endif
