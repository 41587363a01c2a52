/* Signing and checking; the arithmetic is libsodium's, loaded on the first use. */
#include "sign.h"
#include "report_read.h"

#include "base/hash.h"

#include <dlfcn.h>
#include <string.h>

/* The four functions that are used; their types have not changed since libsodium 0.4. */
struct sodium {
    int (*seed_keypair)(unsigned char *public_key, unsigned char *secret,
                        const unsigned char *seed);
    int (*sign)(unsigned char *signature, unsigned long long *signature_len,
                const unsigned char *message, unsigned long long len, const unsigned char *secret);
    int (*verify)(const unsigned char *signature, const unsigned char *message,
                  unsigned long long len, const unsigned char *public_key);
    void (*random)(void *bytes, size_t len);
};

static bool bind(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof(found)); /* ISO C has no cast from object to function pointer */
    return found != NULL;
}

/* Stays loaded until the program ends: a later call finds it there, and nothing is kept here. */
static int load(struct sodium *s, struct eco_err *err)
{
    static const char *const names[] = {"libsodium.so.23", "libsodium.so.26", "libsodium.so"};
    void *library = NULL;
    for (size_t i = 0; !library && i < sizeof(names) / sizeof(names[0]); i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return eco_err_set(err, ECO_E_UNSUPPORTED, "libsodium",
                           "signatures need libsodium, which is not installed (Debian: apt install "
                           "libsodium23)");
    bool ok = bind(library, "crypto_sign_ed25519_seed_keypair", &s->seed_keypair) &&
              bind(library, "crypto_sign_ed25519_detached", &s->sign) &&
              bind(library, "crypto_sign_ed25519_verify_detached", &s->verify) &&
              bind(library, "randombytes_buf", &s->random);
    int (*init)(void) = NULL;
    ok = ok && bind(library, "sodium_init", &init) && init() >= 0;
    if (ok)
        return 0;
    return eco_err_set(err, ECO_E_UNSUPPORTED, "libsodium",
                       "the libsodium of this machine lacks Ed25519 or cannot start");
}

int eco_sign_complete(struct eco_sign_key *key, struct eco_err *err)
{
    struct sodium s;
    unsigned char secret[64];
    int rc = load(&s, err);
    if (rc != 0)
        return rc;
    s.seed_keypair(key->public_key, secret, key->seed);
    eco_sign_wipe(secret, sizeof(secret));
    return 0;
}

int eco_sign_keygen(struct eco_sign_key *out, struct eco_err *err)
{
    struct sodium s;
    int rc = load(&s, err);
    if (rc != 0)
        return rc;
    s.random(out->seed, sizeof(out->seed));
    out->secret = true;
    return eco_sign_complete(out, err);
}

static int sign_bytes(const struct eco_sign_key *key, const struct eco_buf *message,
                      uint8_t signature[ECO_SIGN_BYTES], uint8_t public_key[ECO_SIGN_KEY_BYTES],
                      struct eco_err *err)
{
    struct sodium s;
    unsigned char secret[64];
    int rc = load(&s, err);
    if (rc != 0)
        return rc;
    s.seed_keypair(public_key, secret, key->seed);
    s.sign(signature, NULL, (const unsigned char *)message->data, message->len, secret);
    eco_sign_wipe(secret, sizeof(secret));
    return 0;
}

static void put_base64(struct eco_json_writer *w, const char *name, const uint8_t *bytes,
                       size_t len)
{
    struct eco_buf b = ECO_BUF_INIT;
    eco_base64url_encode(&b, bytes, len);
    eco_jw_kv_str(w, name, eco_buf_str(&b));
    eco_buf_done(&b);
}

/* The document again, its members in their order, the signature last. */
static int write_signed(const struct eco_json *root, const uint8_t *signature,
                        const uint8_t *public_key, struct eco_buf *out, struct eco_err *err)
{
    struct eco_json_writer w;
    size_t start = out->len;
    eco_jw_init(&w, out, 2);
    eco_jw_object(&w);
    for (const struct eco_json *m = root->child; m; m = m->next) {
        if (strcmp(m->key, "signature") != 0) {
            eco_jw_key(&w, m->key);
            eco_jw_value(&w, m);
        }
    }
    eco_jw_key(&w, "signature");
    eco_jw_object(&w);
    eco_jw_kv_str(&w, "algorithm", "ed25519");
    put_base64(&w, "public_key", public_key, ECO_SIGN_KEY_BYTES);
    put_base64(&w, "value", signature, ECO_SIGN_BYTES);
    eco_jw_object_end(&w);
    eco_jw_object_end(&w);
    eco_buf_putc(out, '\n');
    if (eco_buf_ok(out))
        return 0;
    out->len = out->data ? start : 0;
    return eco_err_set(err, ECO_E_NO_MEMORY, NULL, "out of memory");
}

int eco_report_sign(const char *text, size_t len, const struct eco_sign_key *key,
                    struct eco_buf *out, struct eco_err *err)
{
    struct eco_buf message = ECO_BUF_INIT;
    struct eco_json_doc doc;
    uint8_t signature[ECO_SIGN_BYTES], public_key[ECO_SIGN_KEY_BYTES];
    if (!key->secret)
        return eco_err_set(err, ECO_E_INVALID, "key",
                           "signing takes the secret key, and this is a public one");
    int rc = eco_report_canonical(text, len, &message, err);
    rc = rc ? rc : sign_bytes(key, &message, signature, public_key, err);
    rc = rc ? rc : eco_json_parse(&doc, text, len, err);
    if (rc == 0) {
        rc = write_signed(doc.root, signature, public_key, out, err);
        eco_json_done(&doc);
    }
    eco_buf_done(&message);
    return rc;
}

/* ---- checking ------------------------------------------------------------------------------ */

struct claim {
    uint8_t public_key[ECO_SIGN_KEY_BYTES], value[ECO_SIGN_BYTES];
};

static bool bytes_of(const struct eco_json *v, uint8_t *out, size_t len)
{
    struct eco_buf b = ECO_BUF_INIT;
    bool ok = v && v->type == ECO_JSON_STRING && eco_base64url_decode(&b, v->str, v->len) == 0 &&
              b.len == len;
    if (ok)
        memcpy(out, b.data, len);
    eco_buf_done(&b);
    return ok;
}

static enum eco_sign_verdict read_claim(const struct eco_json *signature, struct claim *out)
{
    const struct eco_json *algorithm = eco_json_get(signature, "algorithm");
    if (!signature || signature->type == ECO_JSON_NULL)
        return ECO_SIGN_MISSING;
    if (!algorithm || algorithm->type != ECO_JSON_STRING ||
        strcmp(algorithm->str, "ed25519") != 0 ||
        !bytes_of(eco_json_get(signature, "public_key"), out->public_key, ECO_SIGN_KEY_BYTES) ||
        !bytes_of(eco_json_get(signature, "value"), out->value, ECO_SIGN_BYTES))
        return ECO_SIGN_MALFORMED;
    return ECO_SIGN_GOOD;
}

static int judge(const struct eco_json *root, const uint8_t *expected, struct eco_sign_check *out,
                 struct eco_err *err)
{
    struct claim claim;
    struct eco_buf message = ECO_BUF_INIT;
    struct sodium s;
    out->verdict = read_claim(eco_json_get(root, "signature"), &claim);
    if (out->verdict != ECO_SIGN_GOOD)
        return 0;
    eco_sign_key_name(claim.public_key, out->key);
    int rc = eco_report_canonical_value(root, "signature", &message, err);
    rc = rc ? rc : load(&s, err);
    if (rc == 0) {
        if (s.verify(claim.value, (const unsigned char *)message.data, message.len,
                     claim.public_key) != 0)
            out->verdict = ECO_SIGN_CHANGED;
        else if (expected && memcmp(expected, claim.public_key, ECO_SIGN_KEY_BYTES) != 0)
            out->verdict = ECO_SIGN_FOREIGN;
    }
    eco_buf_done(&message);
    return rc;
}

int eco_report_verify(const char *text, size_t len, const uint8_t expected[ECO_SIGN_KEY_BYTES],
                      struct eco_sign_check *out, struct eco_err *err)
{
    struct eco_json_doc doc;
    *out = (struct eco_sign_check){ECO_SIGN_MALFORMED, ""};
    int rc = eco_report_open(text, len, &doc, err);
    if (rc != 0)
        return rc;
    rc = judge(doc.root, expected, out, err);
    eco_json_done(&doc);
    if (rc != 0)
        return rc;
    switch (out->verdict) {
    case ECO_SIGN_GOOD:
        return 0;
    case ECO_SIGN_MISSING:
        return eco_err_set(err, ECO_E_CONTENT, "signature", "the report is not signed");
    case ECO_SIGN_CHANGED:
        return eco_err_set(
            err, ECO_E_CONTENT, "signature",
            "the signature does not fit: the report was changed after it was signed, "
            "or key %.50s never signed it",
            out->key);
    case ECO_SIGN_FOREIGN:
        return eco_err_set(err, ECO_E_CONTENT, "signature",
                           "signed by another key, %.50s: the content is as that key's owner left "
                           "it",
                           out->key);
    case ECO_SIGN_MALFORMED:
        break;
    }
    return eco_err_set(err, ECO_E_CONTENT, "signature",
                       "'signature' is not an Ed25519 signature (algorithm, public_key, value)");
}
