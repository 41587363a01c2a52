/*
 * The order of the arms in each block: balanced, so that being first (colder, or after a certain
 * neighbour) is shared out evenly. Whole squares are Williams designs: every arm equally often in
 * every place and, over a full design, after every other arm. Pure; no shared state.
 */
#ifndef ECO_EXPERIMENT_ORDER_H
#define ECO_EXPERIMENT_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#define ECO_ORDER_MAX_ARMS 8
#define ECO_ORDER_MAX_BLOCKS 1000

/** Fewest blocks, >= `wanted`, that share the places out evenly among `arms`. */
int eco_order_blocks(int arms, int wanted);
/**
 * order[block * arms + place] = arm. 1 <= arms <= ECO_ORDER_MAX_ARMS, 1 <= blocks <=
 * ECO_ORDER_MAX_BLOCKS. Returns true when every arm is equally often in every place (blocks is a
 * multiple of arms); otherwise the counts differ by at most 1. The same seed gives the same order.
 */
bool eco_order_make(int arms, int blocks, uint64_t seed, int *order);

#endif
