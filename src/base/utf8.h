/* One UTF-8 sequence at a time; the inside of str.c that JSON shares. Private to base. */
#ifndef ECO_BASE_UTF8_H
#define ECO_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/** Length of the well-formed sequence at s[0..len), len > 0, and its code point; 0: malformed. */
size_t eco_utf8_decode(const char *s, size_t len, uint32_t *out);
/** Writes a code point (no surrogate, <= 0x10FFFF): 1..4 bytes. */
size_t eco_utf8_encode(uint32_t c, char out[4]);

#endif
