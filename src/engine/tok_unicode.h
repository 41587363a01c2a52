/*
 * Inside the module: what the tokenizers must know of Unicode (tables by tools/make-unicode), and
 * the composed form NFC (UAX 15) that some models want their text in.
 */
#ifndef ECO_ENGINE_TOK_UNICODE_H
#define ECO_ENGINE_TOK_UNICODE_H

#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>

#define ECO_UNICODE_LETTER 1u
#define ECO_UNICODE_NUMBER 2u
#define ECO_UNICODE_MARK 4u
#define ECO_UNICODE_SPACE 8u
#define ECO_UNICODE_PUNCTUATION 16u

struct eco_unicode_range {
    uint32_t lo, hi;
    uint8_t kind;
};

extern const struct eco_unicode_range eco_unicode_classes[], eco_unicode_combining[];
extern const size_t eco_unicode_classes_count, eco_unicode_combining_count;
extern const uint32_t eco_unicode_pairs[]; /* [count][3]: whole, first, second or 0; by whole */
extern const size_t eco_unicode_pairs_count;
extern const uint16_t eco_unicode_composed[]; /* pairs that compose, by (first, second) */
extern const size_t eco_unicode_composed_count;

/** ECO_UNICODE_* bits of a code point. */
unsigned eco_unicode_class(uint32_t c);
/** The next code point of s[0..len), len > 0, and its bytes; a malformed byte is U+FFFD of 1. */
size_t eco_unicode_next(const char *s, size_t len, uint32_t *c);
/** Appends s[0..len) in NFC; malformed bytes are kept as they are. */
void eco_unicode_nfc(const char *s, size_t len, struct eco_buf *out);

#endif
