#include "base/hash.h"
#include "eco_err.h"
#include "eco_test.h"

/* The examples of FIPS 180-4 (NIST CSRC) and of NESSIE. */
static void test_sha256_known(void **unused)
{
    static char million[1000000];
    char out[65];

    (void)unused;
    eco_sha256_hex("", 0, out);
    assert_string_equal(out, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    eco_sha256_hex("abc", 3, out);
    assert_string_equal(out, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    eco_sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, out);
    assert_string_equal(out, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    memset(million, 'a', sizeof million);
    eco_sha256_hex(million, sizeof million, out);
    assert_string_equal(out, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* However the bytes are cut into calls, the sum is one. */
static void test_sha256_pieces(void **unused)
{
    uint8_t text[300], whole[32], pieces[32];
    struct eco_sha256 s;

    (void)unused;
    for (size_t i = 0; i < sizeof text; i++) {
        text[i] = (uint8_t)(i * 37);
    }
    for (size_t len = 0; len <= sizeof text; len++) {
        eco_sha256_init(&s);
        eco_sha256_update(&s, text, len);
        eco_sha256_final(&s, whole);
        eco_sha256_init(&s);
        for (size_t at = 0, step = 1; at < len; at += step, step = step * 5 % 97) {
            eco_sha256_update(&s, text + at, len - at < step ? len - at : step);
        }
        eco_sha256_update(&s, NULL, 0);
        eco_sha256_final(&s, pieces);
        assert_memory_equal(whole, pieces, 32);
    }
}

/* RFC 4648 section 10, in the alphabet of section 5. */
static void test_base64url_known(void **unused)
{
    static const char *const text[] = {"", "f", "fo", "foo", "foob", "fooba", "foobar"};
    static const char *const code[] = {"", "Zg", "Zm8", "Zm9v", "Zm9vYg", "Zm9vYmE", "Zm9vYmFy"};
    static const char *const padded[] = {"",         "Zg==",     "Zm8=",    "Zm9v",
                                         "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
    struct eco_buf b = ECO_BUF_INIT;

    (void)unused;
    for (size_t i = 0; i < 7; i++) {
        eco_buf_clear(&b);
        eco_base64url_encode(&b, text[i], strlen(text[i]));
        assert_string_equal(eco_buf_str(&b), code[i]);
        eco_buf_clear(&b);
        assert_int_equal(eco_base64url_decode(&b, code[i], strlen(code[i])), 0);
        assert_string_equal(eco_buf_str(&b), text[i]);
        eco_buf_clear(&b);
        assert_int_equal(eco_base64url_decode(&b, padded[i], strlen(padded[i])), 0);
        assert_string_equal(eco_buf_str(&b), text[i]);
    }
    eco_buf_clear(&b);
    eco_base64url_encode(&b, "\xFB\xFF\xBF", 3);
    assert_string_equal(b.data, "-_-_");
    eco_buf_clear(&b);
    assert_int_equal(eco_base64url_decode(&b, "+/-_", 4), 0);
    assert_memory_equal(b.data, "\xFB\xFF\xBF", 3);
    eco_buf_done(&b);
}

static void test_base64url_bad(void **unused)
{
    static const char *const bad[] = {"A",    "AAAAA", "AA=",  "AAA==",  "====", "=",   "A===",
                                      "AA A", "AA\n",  "A*AA", "AA==AA", "AB",   "AAB", "AAAA="};
    struct eco_buf b = ECO_BUF_INIT;

    (void)unused;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(eco_base64url_decode(&b, bad[i], strlen(bad[i])), ECO_E_CONTENT);
        assert_int_equal(b.len, 0);
    }
    eco_buf_done(&b);
    b.limit = 2;
    assert_int_equal(eco_base64url_decode(&b, "AAAA", 4), ECO_E_NO_MEMORY);
    eco_buf_done(&b);
}

static void test_base64url_round(void **unused)
{
    uint8_t bytes[256];
    struct eco_buf code = ECO_BUF_INIT, back = ECO_BUF_INIT;

    (void)unused;
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(i * 151 + 3);
    }
    for (size_t len = 0; len <= sizeof bytes; len++) {
        eco_buf_clear(&code);
        eco_buf_clear(&back);
        eco_base64url_encode(&code, bytes, len);
        assert_int_equal(code.len, (len * 4 + 2) / 3);
        assert_int_equal(eco_base64url_decode(&back, eco_buf_str(&code), code.len), 0);
        assert_int_equal(back.len, len);
        assert_memory_equal(eco_buf_str(&back), bytes, len);
    }
    eco_buf_done(&code);
    eco_buf_done(&back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sha256_known),    cmocka_unit_test(test_sha256_pieces),
        cmocka_unit_test(test_base64url_known), cmocka_unit_test(test_base64url_bad),
        cmocka_unit_test(test_base64url_round),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
