/* Tokenizers: a second encoder, round trips, streams, special tokens, damaged and hostile input. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "base/file.h"
#include "eco_test.h"
#include "engine/tok_inside.h"
#include "engine/tok_unicode.h"
#include "tok_make_files.h"

#include <time.h>
#include <unistd.h>

static char folder[256], path[300];

static int setup(void **state)
{
    const char *base = getenv("TMPDIR");
    (void)state;
    snprintf(folder, sizeof(folder), "%s/eco-tok-XXXXXX", base ? base : P_tmpdir);
    return mkdtemp(folder) == NULL;
}

static int teardown(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static struct eco_tokenizer *open_family(size_t f)
{
    struct eco_tokenizer *t = NULL;
    struct eco_err err = {0};
    snprintf(path, sizeof(path), "%s/tokenizer.json", folder);
    assert_int_equal(make_family_file(&make_families[f], path), 0);
    if (eco_tokenizer_open(folder, &t, &err)) {
        fail_msg("%s: %s", make_families[f].name, err.message);
    }
    return t;
}

static struct eco_ids encode(const struct eco_tokenizer *t, const char *s, size_t len,
                             unsigned flags)
{
    struct eco_ids ids = {0};
    struct eco_err err = {0};
    assert_int_equal(eco_tokenizer_encode(t, s, len, flags, &ids, &err), 0);
    return ids;
}

/* The merges of one word, by the quadratic encoder. */
static void test_second_encoder(void **state)
{
    static struct make_vocab v;
    static const char *const texts[] = {"energy", "tokens", "measuredmeasured", "batchbatchx",
                                        "zzzzz",  "then",   "ofinandthe",       "abcabcabc"};
    struct eco_tokenizer *t = open_family(0);
    (void)state;
    make_bytes(&v, MAKE_PIECES);
    assert_true(v.merges > 60);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        int s[64], n = (int)strlen(texts[i]);
        for (int k = 0; k < n; k++) {
            s[k] = (unsigned char)texts[i][k];
        }
        n = make_encode(&v, s, n);
        struct eco_ids ids = encode(t, texts[i], strlen(texts[i]), 0);
        assert_int_equal(ids.n, n);
        assert_memory_equal(ids.v, s, (size_t)n * sizeof(int));
        eco_ids_done(&ids);
    }
    eco_tokenizer_free(t);
}

/* Text comes back; piece by piece it comes in whole characters. */
static void test_round_trip(void **state)
{
    (void)state;
    for (size_t f = 0; f < MAKE_FAMILIES; f++) {
        struct eco_tokenizer *t = open_family(f);
        struct eco_ids ids = encode(t, make_text, sizeof(make_text) - 1, ECO_TOK_WITH_ENDS);
        struct eco_tok_stream s;
        struct eco_buf out = ECO_BUF_INIT, whole = ECO_BUF_INIT;
        eco_tok_stream_start(t, &s);
        for (size_t i = 0; i < ids.n; i++) {
            eco_tok_stream_put(t, &s, ids.v[i], &out);
            assert_true(eco_str_is_utf8(eco_buf_str(&out), out.len));
        }
        eco_tok_stream_end(&s, &out);
        eco_tokenizer_decode(t, ids.v, ids.n, &whole);
        assert_string_equal(eco_buf_str(&out), make_text);
        assert_string_equal(eco_buf_str(&whole), make_text);
        eco_buf_done(&out);
        eco_buf_done(&whole);
        eco_ids_done(&ids);
        eco_tokenizer_free(t);
    }
}

/* Any bytes at all: whole UTF-8 comes out, and of a byte-level vocabulary the bytes come back. */
static void test_any_bytes(void **state)
{
    uint64_t rng = 9;
    (void)state;
    for (size_t f = 0; f < MAKE_FAMILIES; f++) {
        struct eco_tokenizer *t = open_family(f);
        for (int i = 0; i < 300; i++) {
            char bytes[64];
            size_t n = 0;
            for (; n < 1 + (size_t)i % 60; n++) {
                rng = rng * 6364136223846793005u + 1442695040888963407u;
                bytes[n] = (char)(rng >> 40);
            }
            struct eco_ids ids = encode(t, bytes, n, ECO_TOK_WITH_SPECIAL);
            struct eco_buf text = ECO_BUF_INIT, raw = ECO_BUF_INIT;
            eco_tokenizer_decode(t, ids.v, ids.n, &text);
            assert_true(eco_str_is_utf8(eco_buf_str(&text), text.len));
            for (size_t k = 0; k < ids.n; k++) {
                eco_tokenizer_piece(t, ids.v[k], &raw);
            }
            if (make_families[f].bytes) { /* NFC composes no bytes that are no text */
                assert_true(raw.len == n || strcmp(make_families[f].name, "qwen2") == 0);
            }
            eco_buf_done(&text);
            eco_buf_done(&raw);
            eco_ids_done(&ids);
        }
        eco_tokenizer_free(t);
    }
}

static void test_special(void **state)
{
    static const char chat[] = "<|im_start|>user\nHi<|im_end|>";
    struct eco_tokenizer *t = open_family(1);
    (void)state;
    int start = eco_tokenizer_find(t, "<|im_start|>", 12),
        end = eco_tokenizer_find(t, "<|im_end|>", 10);
    struct eco_ids special = encode(t, chat, strlen(chat), ECO_TOK_WITH_SPECIAL);
    struct eco_ids plain = encode(t, chat, strlen(chat), 0);
    struct eco_buf text = ECO_BUF_INIT;
    assert_int_equal(start, 601);
    assert_int_equal(special.v[0], start);
    assert_int_equal(special.v[special.n - 1], end);
    assert_true(plain.n > special.n);
    assert_true(eco_tokenizer_stops(t, end));
    assert_false(eco_tokenizer_stops(t, start));
    eco_tokenizer_decode(t, special.v, special.n, &text);
    assert_string_equal(eco_buf_str(&text), "user\nHi");
    eco_buf_done(&text);
    eco_ids_done(&special);
    eco_ids_done(&plain);
    eco_tokenizer_free(t);
    t = open_family(2); /* begins with a token of its own */
    struct eco_ids ids = encode(t, "", 0, ECO_TOK_WITH_ENDS);
    assert_int_equal(ids.n, 1);
    assert_int_equal(ids.v[0], 600);
    eco_ids_done(&ids);
    eco_tokenizer_free(t);
}

/* Texts that would take a quadratic encoder hours. */
static void test_hostile_length(void **state)
{
    enum { LONG = 2000000 };
    static const char *const units[] = {
        "a", "the", " ", "\n", "'", "1", "<", "\xF0\x9F\x98\x80", "\xCC\x81"};
    char *text = malloc(LONG + 8);
    (void)state;
    for (size_t f = 0; f < MAKE_FAMILIES; f++) {
        struct eco_tokenizer *t = open_family(f);
        for (size_t u = 0; u < sizeof(units) / sizeof(units[0]); u++) {
            size_t n = 0, len = strlen(units[u]);
            for (; n + len <= LONG / 10; n += len) {
                memcpy(text + n, units[u], len);
            }
            struct eco_ids ids = encode(t, text, n, ECO_TOK_WITH_SPECIAL);
            assert_true(ids.n > 0);
            eco_ids_done(&ids);
        }
        eco_tokenizer_free(t);
    }
    free(text);
}

/* CPU seconds a rule takes to cut len bytes into words: the least of three. */
static double cut_s(enum eco_tok_words words, const char *text, size_t len)
{
    clock_t least = 0;
    for (int i = 0; i < 3; i++) {
        clock_t begun = clock();
        for (size_t at = 0, end; at < len; at = end) {
            end = eco_tok_word_end(words, text, at, len);
            assert_true(end > at && end <= len);
        }
        clock_t took = clock() - begun;
        least = i == 0 || took < least ? took : least;
    }
    return (double)least / CLOCKS_PER_SEC;
}

/*
 * Many short words of which each might have looked at all the text behind it: as long as so many
 * plain ones, within a factor that no machine's haste or load reaches. Quadratic is 500 or more.
 */
static void test_hostile_words(void **state)
{
    enum { LONG = 64000 };
    static const char *const units[] = {
        "\342\202\254+", /* a sign that is no punctuation, one of falcon's */
        "\302\262123",   /* a number that is no digit, three that are */
        "\303\251A",     " \n", "  a", "'s", "1\344\270\200", "\342\226\201a"};
    static char text[LONG + 8], plain[LONG];
    (void)state;
    for (size_t i = 0; i < LONG; i++) {
        plain[i] = "a+"[i % 2];
    }
    for (int w = ECO_TOK_WORDS_NONE + 1; w <= ECO_TOK_WORDS_RUNS; w++) {
        double plain_s = cut_s((enum eco_tok_words)w, plain, LONG);
        for (size_t u = 0; u < sizeof(units) / sizeof(units[0]); u++) {
            size_t n = 0, len = strlen(units[u]);
            for (; n + len <= LONG; n += len) {
                memcpy(text + n, units[u], len);
            }
            double s = cut_s((enum eco_tok_words)w, text, n);
            if (s > 40 * (plain_s + 1e-4)) {
                fail_msg("rule %d, unit %zu: %g s, plain %g s", w, u, s, plain_s);
            }
        }
    }
}

/* Falcon's words end at its signs and before three digits, whatever run they stand in. */
static void test_falcon_words(void **state)
{
    static const char text[] = "\342\202\254+\342\202\254 \302\2621234  12 a.b \n\342\202\254.";
    static const size_t ends[] = {3, 4, 7, 10, 13, 14, 15, 18, 20, 21, 22, 23, 24, 27, 28};
    size_t at = 0;
    (void)state;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        at = eco_tok_word_end(ECO_TOK_WORDS_FALCON, text, at, sizeof(text) - 1);
        assert_int_equal(at, ends[i]);
    }
    assert_int_equal(at, sizeof(text) - 1);
}

/* ASCII's classes, which are not looked up, are the table's. */
static void test_ascii_classes(void **state)
{
    (void)state;
    for (uint32_t c = 0; c < 128; c++) {
        unsigned kind = 0;
        for (size_t i = 0; i < eco_unicode_classes_count; i++) {
            const struct eco_unicode_range *r = &eco_unicode_classes[i];
            kind = c >= r->lo && c <= r->hi ? r->kind : kind;
        }
        assert_int_equal(eco_unicode_class(c), kind);
    }
}

/* Files that are cut, or changed in any place, load or are refused; never more. */
static void mangle(const char *file, int steps)
{
    struct eco_buf b = ECO_BUF_INIT;
    bool json = strstr(file, ".json") != NULL;
    int loaded = 0, refused = 0;
    uint64_t rng = 3;
    assert_int_equal(eco_file_read(file, 1 << 24, &b, NULL), 0);
    for (int i = 0; i < steps; i++) {
        struct eco_tokenizer *t = NULL;
        struct eco_err err = {0};
        rng = rng * 6364136223846793005u + 1442695040888963407u;
        size_t at = (size_t)(rng >> 33) % b.len, len = i % 3 == 0 ? at : b.len;
        char *copy = malloc(b.len);
        memcpy(copy, b.data, b.len);
        copy[at] = (char)(rng >> 13);
        int rc = json ? eco_tokenizer_from_json("x", copy, len, &t, &err)
                      : eco_tokenizer_from_spm("x", copy, len, &t, &err);
        loaded += rc == 0;
        refused += rc != 0;
        if (rc == 0) {
            struct eco_ids ids = encode(t, make_text, sizeof(make_text) - 1, ECO_TOK_WITH_SPECIAL);
            eco_ids_done(&ids);
        } else {
            assert_true(err.message[0] != '\0');
        }
        eco_tokenizer_free(t);
        free(copy);
    }
    eco_buf_done(&b);
    print_message("%s: %d changed files: %d loaded, %d refused\n", file, steps, loaded, refused);
    assert_true(loaded > 0 && refused > 0);
}

static void test_damage(void **state)
{
    static struct make_vocab v;
    (void)state;
    eco_tokenizer_free(open_family(2));
    mangle(path, 200);
    unlink(path);
    make_characters(&v, MAKE_PIECES);
    snprintf(path, sizeof(path), "%s/tokenizer.model", folder);
    for (int kind = 1; kind <= 2; kind++) {
        assert_int_equal(make_spm(&v, kind, path), 0);
        mangle(path, 600);
    }
}

static void refused(const char *json, int code, const char *word)
{
    struct eco_tokenizer *t = NULL;
    struct eco_err err = {0};
    int rc = eco_tokenizer_from_json("tokenizer.json", json, strlen(json), &t, &err);
    if (rc != code || !strstr(err.message, word)) {
        fail_msg("%s: %d '%s'", json, rc, err.message);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    refused("{}", ECO_E_CONTENT, "vocabulary");
    refused("{\"model\": {\"type\": \"WordPiece\", \"vocab\": {}}}", ECO_E_UNSUPPORTED,
            "WordPiece");
    refused("{\"model\": {\"type\": \"BPE\", \"vocab\": {}}}", ECO_E_CONTENT, "0 pieces");
    refused("{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": -1}, \"merges\": []}}",
            ECO_E_CONTENT, "0 pieces");
    refused("{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0}, \"merges\": [\"a b\"]}}",
            ECO_E_CONTENT, "not in the vocabulary");
    refused(
        "{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0}, \"merges\": []}, \"normalizer\": "
        "{\"type\": \"Lowercase\"}}",
        ECO_E_UNSUPPORTED, "Lowercase");
    refused("{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0}, \"merges\": []}, "
            "\"pre_tokenizer\": {\"type\": \"Split\", \"pattern\": {\"Regex\": \"[0-9]+\"}, "
            "\"behavior\": \"Isolated\"}}",
            ECO_E_UNSUPPORTED, "[0-9]+");
    struct eco_tokenizer *t = NULL;
    struct eco_err err = {0};
    assert_int_equal(eco_tokenizer_open("/nowhere.json", &t, &err), ECO_E_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_second_encoder), cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_any_bytes),      cmocka_unit_test(test_special),
        cmocka_unit_test(test_hostile_length), cmocka_unit_test(test_hostile_words),
        cmocka_unit_test(test_falcon_words),   cmocka_unit_test(test_ascii_classes),
        cmocka_unit_test(test_damage),         cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
