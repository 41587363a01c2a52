#include "experiment/order.h"
#include "experiment/random.h"

#include <string.h>

int eco_order_blocks(int arms, int wanted)
{
    return (wanted + arms - 1) / arms * arms;
}

/*
 * Row `row` of the Williams square of `k` symbols: 0, 1, k-1, 2, k-2 … shifted by the row. For odd
 * k a square alone is not balanced for neighbours; rows k .. 2k-1 are its mirror image.
 */
static void williams_row(int k, int row, int *out)
{
    bool mirrored = row >= k;
    for (int i = 0; i < k; i++) {
        int zigzag = i == 0 ? 0 : i % 2 ? (i + 1) / 2 : k - i / 2;
        int place = mirrored ? k - 1 - i : i;
        out[place] = (zigzag + row) % k;
    }
}

/* Rows first .. first + n of one square, its symbols renamed at random, in random order. */
static void put_square(struct eco_random *r, int k, int first, int n, int *out)
{
    int name[ECO_ORDER_MAX_ARMS], rows[ECO_ORDER_MAX_ARMS];
    for (int i = 0; i < k; i++) {
        name[i] = i;
        rows[i] = first + i;
    }
    eco_random_shuffle(r, name, (size_t)k);
    eco_random_shuffle(r, rows, (size_t)k);
    for (int b = 0; b < n; b++) {
        int *row = out + b * k;
        williams_row(k, rows[b], row);
        for (int i = 0; i < k; i++) {
            row[i] = name[row[i]];
        }
    }
}

/* Blocks change places, so that time of day and square do not go together. */
static void shuffle_blocks(struct eco_random *r, int k, int blocks, int *order)
{
    int swap[ECO_ORDER_MAX_ARMS];
    size_t size = (size_t)k * sizeof(*order);
    for (int i = blocks; i > 1; i--) {
        int *last = order + (i - 1) * k;
        int *other = order + (int)eco_random_below(r, (size_t)i) * k;
        memcpy(swap, last, size);
        memmove(last, other, size);
        memcpy(other, swap, size);
    }
}

bool eco_order_make(int arms, int blocks, uint64_t seed, int *order)
{
    struct eco_random r = {seed};
    int square = 0;
    for (int done = 0; done < blocks; done += arms, square++) {
        int n = blocks - done < arms ? blocks - done : arms;
        int first = arms % 2 && square % 2 ? arms : 0;
        put_square(&r, arms, first, n, order + done * arms);
    }
    shuffle_blocks(&r, arms, blocks, order);
    return blocks % arms == 0;
}
