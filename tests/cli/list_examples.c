/* Prints "VERB<tab>COMMAND" for every example in the table of operations (for examples.py). */
#include "ops/op.h"

#include <stdio.h>
#include <string.h>

int main(void)
{
    int bad = 0;
    for (size_t i = 0; i < eco_ops_count; i++) {
        const char *line = eco_ops[i].examples;
        if (line == NULL || line[0] == '\0') {
            fprintf(stderr, "examples: '%s' has none\n", eco_ops[i].name);
            bad = 1;
            continue;
        }
        while (*line != '\0') {
            size_t len = strcspn(line, "\n");
            if (len > 0) {
                printf("%s\t%.*s\n", eco_ops[i].name, (int)len, line);
            }
            line += len + (line[len] == '\n');
        }
    }
    return bad;
}
