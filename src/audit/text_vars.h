/* Inside of audit's text scanners: what a file's variables are assigned, and where that holds. */
#ifndef ECO_AUDIT_TEXT_VARS_H
#define ECO_AUDIT_TEXT_VARS_H

#include "scan.h"

#define ECO_VARS_MAX 512
#define ECO_VARS_MAX_BLOCK 1024
#define ECO_VARS_MAX_VALUE ((size_t)4 << 10)
#define ECO_VARS_HEADS 256u
#define ECO_VARS_NO UINT32_MAX

/* A branch, a loop, a function, a stage, a mapping: lines from..to. */
struct eco_vars_block {
    uint32_t from, to, parent, outer; /* outer: the outermost around it, but not the file */
};

struct eco_var {
    const char *name, *value; /* value NULL: it cannot be told */
    size_t name_len, value_len;
    uint32_t at, block, next;
    bool maybe;  /* behind && or ||: perhaps not run */
    bool scoped; /* nothing outside its block ever sees it */
    bool weak;   /* an ARG: an ENV of the same name wins, wherever it stands */
};

struct eco_vars {
    struct eco_var v[ECO_VARS_MAX];
    struct eco_vars_block blocks[ECO_VARS_MAX_BLOCK];
    uint32_t heads[ECO_VARS_HEADS]; /* the last one of each name's hash, or ECO_VARS_NO */
    uint32_t n, n_blocks;
    bool lost;                       /* too much to follow: nothing is known */
    bool told;                       /* a nightly value is told where it is assigned */
    bool functions;                  /* the order of lines is not the order of time */
    uint32_t literal[64], n_literal; /* blocks where $ is only a sign */
    uint32_t loads[64], n_loads;     /* lines that run another file, which may set anything */
};

/** Fills `v` from the file, by what it is. */
void eco_vars_read_shell(struct eco_scan *s, struct eco_vars *v);
void eco_vars_read_docker(struct eco_scan *s, struct eco_vars *v);
void eco_vars_read_yaml(struct eco_scan *s, struct eco_vars *v);

void eco_vars_init(struct eco_vars *v);
uint32_t eco_vars_open(struct eco_vars *v, uint32_t parent, uint32_t line);
/** One assignment, newest last; the value is raw text with its quotes, NULL: unknown. */
void eco_vars_set(struct eco_scan *s, struct eco_vars *v, const struct eco_var *var);
/** Takes the newest `count` back. */
void eco_vars_drop(struct eco_vars *v, uint32_t count);
bool eco_vars_name_char(char c);
/** The end of a shell's value: quotes and braces are passed over. */
const char *eco_vars_value_end(const char *p, const char *end);

#endif
