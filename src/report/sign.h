/*
 * Signatures of reports: Ed25519 (RFC 8032) over the canonical form of the document without its
 * member "signature". Keys are PEM files as openssl reads and writes them: PKCS #8 for the secret
 * one, SubjectPublicKeyInfo for the public one; a public key may also be its 32 bytes in base64url,
 * as it stands in a report. docs/report.md has the form.
 *
 * libsodium does the arithmetic. It is loaded when the first signature is made or checked: linked
 * statically it would be 209 kB of a program that signs once a month. Where it is not installed:
 * ECO_E_UNSUPPORTED with its package. Threads: no shared state but the loaded library.
 * Secrets are wiped from the caller's struct by eco_sign_key_done.
 */
#ifndef ECO_REPORT_SIGN_H
#define ECO_REPORT_SIGN_H

#include "base/json.h"
#include "report.h"

#include <stdbool.h>
#include <stdint.h>

#define ECO_SIGN_KEY_BYTES 32
#define ECO_SIGN_BYTES 64
#define ECO_SIGN_MAX_KEY_FILE ((size_t)16 << 10)

struct eco_sign_key {
    uint8_t seed[ECO_SIGN_KEY_BYTES];
    uint8_t public_key[ECO_SIGN_KEY_BYTES];
    bool secret; /* seed is there */
};

/* ---- canonical form (canonical.c; pure) --------------------------------------------------- */

/**
 * Appends the canonical form of the report without "signature": RFC 8785. ECO_E_CONTENT for what
 * is no JSON object, and for integers beyond 2^53, which two readers may read differently.
 */
int eco_report_canonical(const char *text, size_t len, struct eco_buf *out, struct eco_err *err);
/** The same of a parsed value; a member of `root` named `without` (or NULL) is left out. */
int eco_report_canonical_value(const struct eco_json *root, const char *without,
                               struct eco_buf *out, struct eco_err *err);

/* ---- keys (sign_key.c; pure) -------------------------------------------------------------- */

/** A PEM text, secret or public, or a bare public key. ECO_E_CONTENT says what it is instead. */
int eco_sign_key_read(const char *text, size_t len, struct eco_sign_key *out, struct eco_err *err);
void eco_sign_key_write_secret(const struct eco_sign_key *key, struct eco_buf *out);
void eco_sign_key_write_public(const struct eco_sign_key *key, struct eco_buf *out);
/** "r4dn…": base64url of the public key, as reports show it. */
void eco_sign_key_name(const uint8_t public_key[ECO_SIGN_KEY_BYTES], char out[64]);
/** Overwrites memory that held a secret; not optimized away. */
void eco_sign_wipe(void *bytes, size_t len);
void eco_sign_key_done(struct eco_sign_key *key); /* wipes; accepts NULL */

/* ---- signatures (sign.c) ------------------------------------------------------------------ */

/** A new key from the system's random numbers. */
int eco_sign_keygen(struct eco_sign_key *out, struct eco_err *err);
/** Fills the public key of a secret one. */
int eco_sign_complete(struct eco_sign_key *key, struct eco_err *err);
/** The report again with a "signature" member at its end; an older signature is replaced. */
int eco_report_sign(const char *text, size_t len, const struct eco_sign_key *key,
                    struct eco_buf *out, struct eco_err *err);

enum eco_sign_verdict {
    ECO_SIGN_GOOD = 0,
    ECO_SIGN_MISSING,   /* the report carries no signature */
    ECO_SIGN_MALFORMED, /* it carries something that is none */
    ECO_SIGN_CHANGED,   /* not the signature of this content by the key it names */
    ECO_SIGN_FOREIGN    /* good, but by another key than the expected one */
};

struct eco_sign_check {
    enum eco_sign_verdict verdict;
    char key[64]; /* the key that the signature names; "" */
};

/**
 * Checks the report's signature. `expected` NULL: by whatever key it names, which says only that
 * the content is as that key's owner left it. ECO_E_CONTENT (err.arg "signature") unless good;
 * `out` is filled either way.
 */
int eco_report_verify(const char *text, size_t len, const uint8_t expected[ECO_SIGN_KEY_BYTES],
                      struct eco_sign_check *out, struct eco_err *err);

#endif
