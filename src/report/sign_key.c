/* Keys as PEM: the fixed DER heads of RFC 8410 before 32 bytes, in base64 between two lines. */
#include "sign.h"

#include "base/hash.h"

#include <stdio.h>
#include <string.h>

static const uint8_t secret_head[16] = {0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06,
                                        0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20};
static const uint8_t public_head[12] = {0x30, 0x2a, 0x30, 0x05, 0x06, 0x03,
                                        0x2b, 0x65, 0x70, 0x03, 0x21, 0x00};

static int refuse(struct eco_err *err, const char *why)
{
    return eco_err_set(err, ECO_E_CONTENT, "key", "%s", why);
}

void eco_sign_wipe(void *bytes, size_t len)
{
    volatile unsigned char *b = bytes;
    while (len--)
        *b++ = 0;
}

void eco_sign_key_done(struct eco_sign_key *key)
{
    if (key)
        eco_sign_wipe(key, sizeof(*key));
}

/* The base64 between "-----BEGIN <label>-----" and its end, decoded. */
static int pem_body(const char *text, const char *label, struct eco_buf *der, struct eco_err *err)
{
    char begin[64], end[64];
    struct eco_buf body = ECO_BUF_INIT;
    snprintf(begin, sizeof(begin), "-----BEGIN %.30s-----", label);
    snprintf(end, sizeof(end), "-----END %.30s-----", label);
    const char *at = strstr(text, begin), *stop = at ? strstr(at, end) : NULL;
    if (!stop)
        return refuse(err, "the key file has no end line");
    for (at += strlen(begin); at < stop; at++) {
        if (*at != '\n' && *at != '\r' && *at != ' ' && *at != '\t')
            eco_buf_putc(&body, *at);
    }
    int rc = eco_buf_ok(&body) ? eco_base64url_decode(der, eco_buf_str(&body), body.len)
                               : ECO_E_NO_MEMORY;
    if (body.data)
        eco_sign_wipe(body.data, body.len);
    eco_buf_done(&body);
    return rc ? refuse(err, "the key file's body is not base64") : 0;
}

static int take(const struct eco_buf *der, const uint8_t *head, size_t head_len, uint8_t out[32],
                struct eco_err *err)
{
    if (der->len != head_len + ECO_SIGN_KEY_BYTES || memcmp(der->data, head, head_len) != 0)
        return refuse(err, "the key is not an Ed25519 key (make one: ecocompute report keygen, or "
                           "openssl genpkey -algorithm ed25519)");
    memcpy(out, der->data + head_len, ECO_SIGN_KEY_BYTES);
    return 0;
}

static int read_bare(const char *text, size_t len, struct eco_sign_key *out, struct eco_err *err)
{
    struct eco_buf bytes = ECO_BUF_INIT;
    while (len && (text[len - 1] == '\n' || text[len - 1] == '\r' || text[len - 1] == ' '))
        len--;
    int rc = len && len < 64 ? eco_base64url_decode(&bytes, text, len) : ECO_E_CONTENT;
    if (rc == 0 && bytes.len == ECO_SIGN_KEY_BYTES) {
        *out = (struct eco_sign_key){0};
        memcpy(out->public_key, bytes.data, ECO_SIGN_KEY_BYTES);
    } else {
        rc = refuse(err, "this is no key: a PEM file, or a public key of 43 base64url characters");
    }
    eco_buf_done(&bytes);
    return rc;
}

int eco_sign_key_read(const char *text, size_t len, struct eco_sign_key *out, struct eco_err *err)
{
    struct eco_sign_key key = {0};
    struct eco_buf der = ECO_BUF_INIT;
    if (len > ECO_SIGN_MAX_KEY_FILE || memchr(text, '\0', len))
        return refuse(err, "this is no key file");
    if (strstr(text, "-----BEGIN ENCRYPTED PRIVATE KEY-----"))
        return refuse(err, "the key file is encrypted; give one without a pass phrase");
    int rc;
    if (strstr(text, "-----BEGIN PRIVATE KEY-----")) {
        rc = pem_body(text, "PRIVATE KEY", &der, err);
        rc = rc ? rc : take(&der, secret_head, sizeof(secret_head), key.seed, err);
        key.secret = rc == 0;
    } else if (strstr(text, "-----BEGIN PUBLIC KEY-----")) {
        rc = pem_body(text, "PUBLIC KEY", &der, err);
        rc = rc ? rc : take(&der, public_head, sizeof(public_head), key.public_key, err);
    } else {
        return read_bare(text, len, out, err);
    }
    if (der.data)
        eco_sign_wipe(der.data, der.len);
    eco_buf_done(&der);
    if (rc == 0)
        *out = key;
    eco_sign_wipe(&key, sizeof(key));
    return rc;
}

/* PEM wants standard base64 with padding; 44 and 48 bytes are one line of at most 64 characters. */
static void put_pem(struct eco_buf *out, const char *label, const uint8_t *der, size_t len)
{
    size_t start;
    eco_buf_printf(out, "-----BEGIN %s-----\n", label);
    start = out->len;
    eco_base64url_encode(out, der, len);
    for (size_t i = start; i < out->len; i++) {
        out->data[i] = out->data[i] == '-' ? '+' : out->data[i] == '_' ? '/' : out->data[i];
    }
    while ((out->len - start) % 4 && eco_buf_ok(out))
        eco_buf_putc(out, '=');
    eco_buf_printf(out, "\n-----END %s-----\n", label);
}

void eco_sign_key_write_secret(const struct eco_sign_key *key, struct eco_buf *out)
{
    uint8_t der[sizeof(secret_head) + ECO_SIGN_KEY_BYTES];
    memcpy(der, secret_head, sizeof(secret_head));
    memcpy(der + sizeof(secret_head), key->seed, ECO_SIGN_KEY_BYTES);
    put_pem(out, "PRIVATE KEY", der, sizeof(der));
    eco_sign_wipe(der, sizeof(der));
}

void eco_sign_key_write_public(const struct eco_sign_key *key, struct eco_buf *out)
{
    uint8_t der[sizeof(public_head) + ECO_SIGN_KEY_BYTES];
    memcpy(der, public_head, sizeof(public_head));
    memcpy(der + sizeof(public_head), key->public_key, ECO_SIGN_KEY_BYTES);
    put_pem(out, "PUBLIC KEY", der, sizeof(der));
}

void eco_sign_key_name(const uint8_t public_key[ECO_SIGN_KEY_BYTES], char out[64])
{
    struct eco_buf b = ECO_BUF_INIT;
    eco_base64url_encode(&b, public_key, ECO_SIGN_KEY_BYTES);
    snprintf(out, 64, "%s", eco_buf_str(&b));
    eco_buf_done(&b);
}
