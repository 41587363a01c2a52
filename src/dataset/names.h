/*
 * Comparing names as people write them: case, blanks and punctuation do not count. Private to
 * src/dataset.
 */
#ifndef ECO_DATASET_NAMES_H
#define ECO_DATASET_NAMES_H

#include "dataset/dataset.h"

#include <stdbool.h>
#include <stddef.h>

#define ECO_NAME_MAX 96

/**
 * Letters (folded) and digits of s[0..len) into out, and dots when `dots`; everything else is left
 * out. Returns the length; longer names are cut.
 */
size_t eco_name_key(const char *s, size_t len, bool dots, char out[ECO_NAME_MAX]);
/** key equals eco_name_key(text), without a copy. */
bool eco_name_is(const char *key, size_t len, bool dots, const char *text);
/** key is one of the blank-separated words of `words`. */
bool eco_name_in(const char *key, size_t len, const char *words);

/** Appends to the NUL-terminated out, cut at `size`. */
void eco_name_add(char *out, size_t size, const char *text, size_t len);
void eco_name_adds(char *out, size_t size, const char *text);

/** The nearest names to a miss; fill with eco_nearest_try, print with eco_nearest_text. */
struct eco_nearest {
    const char *key;
    size_t len;
    const char *name[3];
    int distance; /* of all of them */
    size_t count;
};
void eco_nearest_try(struct eco_nearest *n, const char *text, const char *show);
/** ": did you mean 'a', 'b' or 'c'?", or "" when nothing is near. */
void eco_nearest_text(const struct eco_nearest *n, char *out, size_t size);

/** As eco_dataset_match_gpu, but a miss is false and costs no search for the nearest name. */
bool eco_dataset_try_gpu(const char *name, size_t len, struct eco_match *out);

#endif
