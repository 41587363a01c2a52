/* Inside of audit: loops, and how an input of generate() depends on them. */
#ifndef ECO_AUDIT_PY_LOOP_H
#define ECO_AUDIT_PY_LOOP_H

#include "scan.h"

#define ECO_LOOP_TARGETS 8

/** A loop, or a function taken as the body of one (map, a helper called in a loop). */
struct eco_loop {
    uint32_t node;
    uint32_t first, last; /* nodes of the body [first, last) */
    const char *targets[ECO_LOOP_TARGETS];
    uint32_t n;
    bool batched; /* each turn brings several items */
    bool tensors; /* a DataLoader of batch size 1: encoded items */
    int depth;    /* of lists made from lists */
};

/** How an expression depends on a loop. */
struct eco_use {
    bool dep;
    bool batch;         /* several items at once */
    bool text;          /* the item is text that is encoded here */
    bool no_claim;      /* typed in by a person, carried from turn to turn, a sweep of lengths */
    const char *target; /* the loop variable it comes from */
    uint32_t unpadded;  /* a batch encoded without padding, or ECO_PY_NO */
};

/** Fills `l` when node `i` is a loop (for, while, comprehension). */
bool eco_loop_of(struct eco_scan *s, uint32_t i, struct eco_loop *l);
/** What an iterable brings each turn: `batched`, `tensors`. */
void eco_loop_judge(struct eco_scan *s, uint32_t iterable, struct eco_loop *l);
/** A function whose parameters stand for the items. */
void eco_loop_of_function(struct eco_scan *s, uint32_t function, struct eco_loop *l);
void eco_loop_use(struct eco_scan *s, const struct eco_loop *l, uint32_t node, int depth,
                  struct eco_use *u);

#endif
