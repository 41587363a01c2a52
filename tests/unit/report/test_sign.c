/*
 * Signatures: the canonical form against known answers and against Python's json, signatures
 * against openssl, which shares no code with libsodium; and every way a signature can be wrong.
 */
#include "fixtures.h"
#include "samples.h"

#include "base/hash.h"
#include "report/report.h"
#include "report/report_files.h"
#include "report/sign.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct sample sample;

static void canonical_is(const char *text, const char *want)
{
    struct eco_buf out = ECO_BUF_INIT;
    struct eco_err err = {0};
    if (eco_report_canonical(text, strlen(text), &out, &err) != 0)
        fail_msg("%s: %s", text, err.message);
    assert_string_equal(eco_buf_str(&out), want);
    eco_buf_done(&out);
}

static void test_canonical_form(void **state)
{
    (void)state;
    canonical_is("{}", "{}");
    canonical_is(" { \"b\" : [ 1 , 2.50 , -0 ] , \"a\":null } ", "{\"a\":null,\"b\":[1,2.5,0]}");
    canonical_is("{\"a\": 1, \"signature\": {\"value\": \"x\"}}", "{\"a\":1}");
    /* only the member of the document itself is left out */
    canonical_is("{\"a\": {\"signature\": 1}}", "{\"a\":{\"signature\":1}}");
    /* RFC 8785, 3.2.2 and 3.2.3: numbers, escapes, order by UTF-16 code units */
    canonical_is("{\"numbers\":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001]}",
                 "{\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27]}");
    canonical_is("{\"string\":\"\\u20ac$\\u000F\\u000aA'\\u0042\\u0022\\u005c\\\\\\\"\\/\"}",
                 "{\"string\":\"\xe2\x82\xac$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}");
    canonical_is(
        "{\"\\u20ac\":1,\"\\r\":2,\"\\ufb33\":3,\"1\":4,\"\\ud83d\\ude00\":5,\"\\u0080\":6,"
        "\"\\u00f6\":7}",
        "{\"\\r\":2,\"1\":4,\"\xc2\x80\":6,\"\xc3\xb6\":7,\"\xe2\x82\xac\":1,"
        "\"\xf0\x9f\x98\x80\":5,\"\xef\xac\xb3\":3}");
    canonical_is("{\"e\":[1e21,1e20,123456789012345680000,1e-6,1e-7,9007199254740992]}",
                 "{\"e\":[1e+21,100000000000000000000,123456789012345680000,0.000001,1e-7,"
                 "9007199254740992]}");
}

static void test_what_has_no_canonical_form(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "[]",          "1", "{\"a\":9007199254740993}", "{\"a\":1,\"a\":2}",
        "{\"a\":NaN}", "{", "{\"a\":\"\\ud800\"}"};
    struct eco_buf out = ECO_BUF_INIT;
    struct eco_err err;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(eco_report_canonical(bad[i], strlen(bad[i]), &out, &err), ECO_E_CONTENT);
    }
    static const char large[] = "{\"a\":18446744073709551615}";
    assert_int_equal(eco_report_canonical(large, sizeof(large) - 1, &out, &err), ECO_E_CONTENT);
    assert_non_null(strstr(err.message, "2^53"));
    assert_int_equal(out.len, 0);
    eco_buf_done(&out);
}

static void make_key(struct eco_sign_key *key)
{
    struct eco_err err = {0};
    if (eco_sign_keygen(key, &err) != 0) {
        print_message("SKIPPED: %s\n", err.message);
        skip();
    }
}

static void report(struct eco_buf *out)
{
    sample_measured(&sample, ECO_PREC_NF4);
    assert_int_equal(eco_report_build(&sample.run, 0, out, NULL), 0);
}

static void signed_report(const struct eco_sign_key *key, struct eco_buf *out)
{
    struct eco_buf plain = ECO_BUF_INIT;
    struct eco_err err = {0};
    report(&plain);
    if (eco_report_sign(plain.data, plain.len, key, out, &err) != 0)
        fail_msg("%s", err.message);
    eco_buf_done(&plain);
}

/* RFC 8032, section 7.1, TEST 1: secret and public key. */
static void test_known_key(void **state)
{
    (void)state;
    static const uint8_t seed[32] = {0x9d, 0x61, 0xb1, 0x9d, 0xef, 0xfd, 0x5a, 0x60,
                                     0xba, 0x84, 0x4a, 0xf4, 0x92, 0xec, 0x2c, 0xc4,
                                     0x44, 0x49, 0xc5, 0x69, 0x7b, 0x32, 0x69, 0x19,
                                     0x70, 0x3b, 0xac, 0x03, 0x1c, 0xae, 0x7f, 0x60};
    static const uint8_t want[32] = {0xd7, 0x5a, 0x98, 0x01, 0x82, 0xb1, 0x0a, 0xb7,
                                     0xd5, 0x4b, 0xfe, 0xd3, 0xc9, 0x64, 0x07, 0x3a,
                                     0x0e, 0xe1, 0x72, 0xf3, 0xda, 0xa6, 0x23, 0x25,
                                     0xaf, 0x02, 0x1a, 0x68, 0xf7, 0x07, 0x51, 0x1a};
    struct eco_sign_key key = {.secret = true};
    make_key(&key); /* skips without libsodium */
    memcpy(key.seed, seed, sizeof(seed));
    assert_int_equal(eco_sign_complete(&key, NULL), 0);
    assert_memory_equal(key.public_key, want, sizeof(want));
}

static void test_good_and_every_wrong_one(void **state)
{
    (void)state;
    struct eco_sign_key key, other;
    struct eco_sign_check check;
    struct eco_buf text = ECO_BUF_INIT, compact = ECO_BUF_INIT;
    struct eco_err err = {0};
    make_key(&key);
    make_key(&other);
    signed_report(&key, &text);
    assert_int_equal(eco_report_verify(text.data, text.len, NULL, &check, &err), 0);
    assert_int_equal(eco_report_verify(text.data, text.len, key.public_key, &check, &err), 0);
    assert_int_equal(eco_report_verify(text.data, text.len, other.public_key, &check, &err),
                     ECO_E_CONTENT);
    assert_int_equal(check.verdict, ECO_SIGN_FOREIGN);
    assert_non_null(strstr(err.message, "another key"));
    /* spaces and order are not content */
    struct eco_json_doc doc;
    struct eco_json_writer w;
    assert_int_equal(eco_json_parse(&doc, text.data, text.len, NULL), 0);
    eco_jw_init(&w, &compact, 0);
    eco_jw_value(&w, doc.root);
    eco_json_done(&doc);
    assert_int_equal(eco_report_verify(compact.data, compact.len, NULL, &check, &err), 0);
    char *at = strstr(text.data, "\"value\": \"") + 10;
    char kept = *at;
    *at = kept == 'A' ? 'B' : 'A';
    assert_int_equal(eco_report_verify(text.data, text.len, NULL, &check, &err), ECO_E_CONTENT);
    assert_int_equal(check.verdict, ECO_SIGN_CHANGED);
    *at = '!';
    assert_int_equal(eco_report_verify(text.data, text.len, NULL, &check, &err), ECO_E_CONTENT);
    assert_int_equal(check.verdict, ECO_SIGN_MALFORMED);
    *at = kept;
    at = strstr(text.data, "ed25519");
    memcpy(at, "rsa2048", 7);
    assert_int_equal(eco_report_verify(text.data, text.len, NULL, &check, &err), ECO_E_CONTENT);
    assert_int_equal(check.verdict, ECO_SIGN_MALFORMED);
    report(&compact);
    eco_buf_clear(&text);
    report(&text);
    assert_int_equal(eco_report_verify(text.data, text.len, NULL, &check, &err), ECO_E_CONTENT);
    assert_int_equal(check.verdict, ECO_SIGN_MISSING);
    assert_string_equal(err.message, "the report is not signed");
    eco_buf_done(&text);
    eco_buf_done(&compact);
}

/* Every byte of the canonical form matters: change each digit and letter of it, one at a time. */
static void test_every_changed_byte_is_seen(void **state)
{
    (void)state;
    struct eco_sign_key key;
    struct eco_sign_check check;
    struct eco_buf text = ECO_BUF_INIT;
    size_t changed = 0;
    make_key(&key);
    signed_report(&key, &text);
    char *end = strstr(text.data, "\"signature\"");
    for (char *at = text.data; at < end; at += 7) {
        bool digit = *at >= '0' && *at <= '9', letter = *at >= 'a' && *at <= 'z';
        char kept = *at;
        if (!digit && !letter)
            continue;
        *at = kept == '9' ? '8' : kept == 'z' ? 'y' : (char)(kept + 1);
        if (eco_report_verify(text.data, text.len, NULL, &check, NULL) == 0)
            fail_msg("a changed byte at %zd was not seen", (ssize_t)(at - text.data));
        *at = kept;
        changed++;
    }
    assert_true(changed > 300);
    assert_int_equal(eco_report_verify(text.data, text.len, NULL, &check, NULL), 0);
    eco_buf_done(&text);
}

static void test_signing_again_replaces(void **state)
{
    (void)state;
    struct eco_sign_key key, other;
    struct eco_sign_check check;
    struct eco_buf once = ECO_BUF_INIT, twice = ECO_BUF_INIT;
    make_key(&key);
    make_key(&other);
    signed_report(&key, &once);
    assert_int_equal(eco_report_sign(once.data, once.len, &other, &twice, NULL), 0);
    assert_int_equal(eco_report_verify(twice.data, twice.len, other.public_key, &check, NULL), 0);
    assert_ptr_equal(strstr(strstr(twice.data, "\"signature\"") + 1, "\"signature\""), NULL);
    eco_buf_clear(&twice);
    assert_int_equal(eco_report_sign(once.data, once.len, &key, &twice, NULL), 0);
    assert_string_equal(once.data, twice.data); /* Ed25519 is deterministic */
    struct eco_err err;
    key.secret = false;
    assert_int_equal(eco_report_sign(once.data, once.len, &key, &twice, &err), ECO_E_INVALID);
    eco_buf_done(&once);
    eco_buf_done(&twice);
}

static void test_keys_as_text(void **state)
{
    (void)state;
    struct eco_sign_key key = {.secret = true}, back;
    struct eco_buf pem = ECO_BUF_INIT;
    struct eco_err err;
    char name[64];
    for (int i = 0; i < 32; i++) {
        key.seed[i] = (uint8_t)(i * 7);
        key.public_key[i] = (uint8_t)(255 - i);
    }
    eco_sign_key_write_secret(&key, &pem);
    assert_int_equal(eco_sign_key_read(pem.data, pem.len, &back, NULL), 0);
    assert_true(back.secret);
    assert_memory_equal(back.seed, key.seed, 32);
    eco_buf_clear(&pem);
    eco_sign_key_write_public(&key, &pem);
    assert_int_equal(eco_sign_key_read(pem.data, pem.len, &back, NULL), 0);
    assert_false(back.secret);
    assert_memory_equal(back.public_key, key.public_key, 32);
    eco_sign_key_name(key.public_key, name);
    assert_int_equal(eco_sign_key_read(name, strlen(name), &back, NULL), 0);
    assert_memory_equal(back.public_key, key.public_key, 32);
    static const char *const bad[] = {
        "",
        "hello",
        "-----BEGIN PRIVATE KEY-----\nAAAA",
        "-----BEGIN RSA PRIVATE KEY-----\n",
        "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2Vu\n-----END PRIVATE KEY-----\n",
        "-----BEGIN PUBLIC KEY-----\n*\n-----END PUBLIC KEY-----\n",
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(eco_sign_key_read(bad[i], strlen(bad[i]), &back, &err), ECO_E_CONTENT);
    eco_buf_done(&pem);
}

static void save(const char *dir, const char *name, const void *bytes, size_t len)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(bytes, 1, len, f) != len || fclose(f) != 0)
        fail_msg("cannot write %s", path);
}

/* Ours checked by openssl, openssl's checked by ours; the canonical form by Python's json. */
static void test_openssl_agrees(void **state)
{
    (void)state;
    char dir[] = "eco-sign-XXXXXX";
    struct eco_sign_key key;
    struct eco_buf text = ECO_BUF_INIT, plain = ECO_BUF_INIT, message = ECO_BUF_INIT,
                   cmd = ECO_BUF_INIT;
    char path[64];
    make_key(&key);
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/key", dir);
    assert_int_equal(eco_sign_key_save(&key, path, NULL), 0);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(eco_sign_key_save(&key, path, NULL), ECO_E_INVALID);
    signed_report(&key, &text);
    report(&plain);
    assert_int_equal(eco_report_canonical(text.data, text.len, &message, NULL), 0);
    save(dir, "signed.json", text.data, text.len);
    save(dir, "plain.json", plain.data, plain.len);
    save(dir, "message", message.data, message.len);
    eco_buf_printf(&cmd, "/usr/bin/python3 %s/conformance/check_signature.py %s", ECO_TEST_DIR,
                   dir);
    int status = system(cmd.data);
    bool skipped = WIFEXITED(status) && (WEXITSTATUS(status) == 77 || WEXITSTATUS(status) == 127);
    if (!skipped && status == 0) {
        struct eco_sign_check check;
        snprintf(path, sizeof(path), "%s/foreign.json", dir);
        eco_buf_clear(&text);
        read_whole(path, &text);
        assert_int_equal(eco_report_verify(text.data, text.len, key.public_key, &check, NULL), 0);
    }
    eco_buf_clear(&cmd);
    eco_buf_printf(&cmd, "rm -r %s", dir);
    assert_int_equal(system(cmd.data), 0);
    eco_buf_done(&text);
    eco_buf_done(&plain);
    eco_buf_done(&message);
    eco_buf_done(&cmd);
    if (skipped) {
        print_message("SKIPPED: openssl or python3 is not there\n");
        skip();
    }
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_canonical_form),
        cmocka_unit_test(test_what_has_no_canonical_form),
        cmocka_unit_test(test_known_key),
        cmocka_unit_test(test_good_and_every_wrong_one),
        cmocka_unit_test(test_every_changed_byte_is_seen),
        cmocka_unit_test(test_signing_again_replaces),
        cmocka_unit_test(test_keys_as_text),
        cmocka_unit_test(test_openssl_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
