/* SHA-256 (FIPS 180-4) and base64url (RFC 4648 section 5, no padding); pure, for data digests. */
#ifndef ECO_BASE_HASH_H
#define ECO_BASE_HASH_H
#include "buf.h"
#include <stddef.h>
#include <stdint.h>
struct eco_sha256 {
    uint32_t h[8];
    uint64_t bytes;
    uint8_t block[64];
};
void eco_sha256_init(struct eco_sha256 *s);
void eco_sha256_update(struct eco_sha256 *s, const void *bytes, size_t len);
void eco_sha256_final(struct eco_sha256 *s, uint8_t out[32]);
void eco_sha256_hex(const void *bytes, size_t len, char out[65]);
void eco_base64url_encode(struct eco_buf *out, const void *bytes, size_t len);
/** Accepts base64url, and standard base64, with or without padding. 0 or ECO_E_CONTENT. */
int eco_base64url_decode(struct eco_buf *out, const char *text, size_t len);
#endif
