/*
 * Tokenizers written into GGUF files by quantize, read by llama.cpp and by the engine: the same ids
 * of the same texts, random ones included.
 */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "eco_test.h"
#include "engine/quantize.h"
#include "engine/tok.h"
#include "llama_peer.h"
#include "reference.h"
#include "reference_folder.h"
#include "tok_make_files.h"

#include <unistd.h>

#define MAX_IDS 4096

static char folder[256], path[300], words[300];
static struct peer peer;

static int setup(void **state)
{
    const char *base = getenv("TMPDIR");
    struct ref_config c = {.type = "llama",
                           .hidden = 32,
                           .heads = 2,
                           .kv_heads = 1,
                           .head_dim = 16,
                           .inter = 64,
                           .vocab = 640,
                           .layers = 1,
                           .theta = 10000,
                           .eps = 1e-5};
    struct ref_model m;
    (void)state;
    snprintf(folder, sizeof(folder), "%s/eco-words-XXXXXX", base ? base : P_tmpdir);
    if (!mkdtemp(folder)) {
        return -1;
    }
    snprintf(path, sizeof(path), "%s/model.gguf", folder);
    snprintf(words, sizeof(words), "%s/tokenizer.json", folder);
    ref_make(&m, &c, 5);
    ref_write_folder(&m, folder, 1);
    ref_done(&m);
    return 0;
}

static int teardown(void **state)
{
    static const char *const names[] = {"config.json", "model.safetensors", "model.gguf",
                                        "tokenizer.json"};
    char name[600];
    (void)state;
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof(name), "%s/%s", folder, names[i]);
        unlink(name);
    }
    return rmdir(folder);
}

/* Words, spaces and letters of many scripts; well-formed, for llama.cpp takes nothing else. */
static void random_text(uint64_t *rng, struct eco_buf *out)
{
    static const char *const parts[] = {" ",
                                        " ",
                                        " ",
                                        "  ",
                                        "\n",
                                        "\t",
                                        "\r\n",
                                        "the",
                                        "energy",
                                        " token",
                                        "It's",
                                        "'LL",
                                        "123",
                                        "4",
                                        "x",
                                        "y->z",
                                        "();",
                                        "ß",
                                        "é",
                                        "Größe",
                                        "слов",
                                        "世界",
                                        "日本",
                                        "مرحبا",
                                        "\xF0\x9F\x98\x80",
                                        "\xC2\xA0",
                                        "\xE2\x80\x83",
                                        "½",
                                        "٣",
                                        "\xE2\x96\x81",
                                        "e\xCC\x81",
                                        "…",
                                        "!!!",
                                        "--",
                                        "_",
                                        "/",
                                        "HTTPServer",
                                        "ÀÉA",
                                        "Ö",
                                        "iPhone",
                                        "1234",
                                        "=>",
                                        "$5",
                                        "a^b",
                                        "。",
                                        "“",
                                        "ｆ！",
                                        "ა",
                                        "  x"};
    size_t count = sizeof(parts) / sizeof(parts[0]);
    *rng = *rng * 6364136223846793005u + 1442695040888963407u;
    int n = 1 + (int)(*rng >> 33) % 20;
    for (int i = 0; i < n; i++) {
        *rng = *rng * 6364136223846793005u + 1442695040888963407u;
        eco_buf_puts(out, parts[(*rng >> 33) % count]);
    }
}

static void compare(const struct eco_tokenizer *t, const void *vocab, const char *name,
                    const char *text, size_t len)
{
    struct eco_ids ours = {0};
    int32_t theirs[MAX_IDS];
    struct eco_err err = {0};
    assert_int_equal(eco_tokenizer_encode(t, text, len, ECO_TOK_WITH_ENDS, &ours, &err), 0);
    int n = peer.tokenize(vocab, text, (int32_t)len, theirs, MAX_IDS, true, false);
    if (n != (int)ours.n || memcmp(theirs, ours.v, (size_t)n * sizeof(int)) != 0) {
        fail_msg("%s: '%s' gives %zu ids here and %d in llama.cpp, or others", name, text, ours.n,
                 n);
    }
    eco_ids_done(&ours);
}

/*
 * The file's rule for words by another. A key without meaning in front takes up the difference in
 * length, so that the tensors stay where they are modulo their alignment.
 */
static void rename_rule(const char *from, const char *to)
{
    static char bytes[1 << 20];
    static const char zeros[32] = "";
    static char key[4] = "pa0";
    uint64_t keys, pad, len = strlen(to), old = strlen(from), name = 3;
    const uint32_t text = 8;
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(bytes, 1, sizeof(bytes), f), at = 32;
    assert_true(n < sizeof(bytes) && fclose(f) == 0);
    while (at + old < n && memcmp(bytes + at, from, old) != 0) {
        at++;
    }
    assert_true(at + old < n);
    memcpy(&keys, bytes + 16, 8);
    keys++;
    key[2]++; /* another name each time */
    pad = (64 - (8 + name + 4 + 8 + len - old) % 32) % 32;
    f = fopen(path, "wb");
    assert_non_null(f);
    fwrite(bytes, 1, 16, f);
    fwrite(&keys, 8, 1, f);
    fwrite(&name, 8, 1, f);
    fwrite(key, 1, 3, f);
    fwrite(&text, 4, 1, f);
    fwrite(&pad, 8, 1, f);
    fwrite(zeros, 1, pad, f);
    fwrite(bytes + 24, 1, at - 8 - 24, f);
    fwrite(&len, 8, 1, f);
    fwrite(to, 1, len, f);
    fwrite(bytes + at + old, 1, n - at - old, f);
    assert_int_equal(fclose(f), 0);
}

/* The file at `path` in both: 501 texts. */
static void same_ids(const char *name, uint64_t rng)
{
    struct eco_tokenizer *t = NULL;
    struct eco_err err = {0};
    if (eco_tokenizer_open(path, &t, &err)) {
        fail_msg("%s: %s", name, err.message);
    }
    void *model = peer.load(path, peer.model_defaults());
    assert_non_null(model);
    const void *vocab = peer.vocab(model);
    compare(t, vocab, name, make_text, sizeof(make_text) - 1);
    for (int i = 0; i < 500; i++) {
        struct eco_buf text = ECO_BUF_INIT;
        random_text(&rng, &text);
        compare(t, vocab, name, eco_buf_str(&text), text.len);
        eco_buf_done(&text);
    }
    print_message("%-10s 501 texts: the same ids as llama.cpp\n", name);
    peer.free_model(model);
    eco_tokenizer_free(t);
}

static void test_same_ids(void **state)
{
    static const char *const rules[] = {"smollm", "tekken",       "exaone",        "command-r",
                                        "falcon", "deepseek-llm", "deepseek-coder"};
    bool renamed = false;
    (void)state;
    if (!peer.load) {
        skip();
    }
    for (size_t f = 0; f < MAKE_FAMILIES; f++) {
        struct eco_quantized q;
        struct eco_err err = {0};
        assert_int_equal(make_family_file(&make_families[f], words), 0);
        if (eco_engine_quantize(folder, path, ECO_PREC_FP16, 1, true, &q, &err)) {
            fail_msg("%s: %s", make_families[f].name, err.message);
        }
        assert_string_equal(q.warning, "");
        same_ids(make_families[f].name, f + 1);
        if (strcmp(make_families[f].name, "smollm") == 0) { /* rules that no family here has */
            for (size_t i = 1; i < sizeof(rules) / sizeof(rules[0]); i++) {
                rename_rule(rules[i - 1], rules[i]);
                same_ids(rules[i], f + 100 * i);
            }
            renamed = true;
        }
    }
    assert_true(renamed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_ids)};
    peer_open(&peer);
    return cmocka_run_group_tests(tests, setup, teardown);
}
