/* Fixes, baseline, changed lines, silencing, sizes of models, and hostile texts in linear time. */
#include "eco_test.h"

#include "audit/audit.h"
#include "base/json.h"

#include <stdlib.h>
#include <time.h>

#define LOAD "m = AutoModelForCausalLM.from_pretrained(\"Qwen/Qwen2-7B\", device_map=\"auto\")\n"

static void scan(struct eco_audit *a, const char *path, const char *text, size_t len)
{
    struct eco_err err = {0};
    eco_audit_init(a);
    assert_int_equal(eco_audit_text(a, path, text, len, &err), 0);
    eco_audit_sort(a);
}

static void need(void)
{
    if (!eco_audit_available()) {
        print_message("skipped: audit is not built in (no node_modules)\n");
        skip();
    }
}

static void expect_fixed(const char *was, const char *now, bool unsafe)
{
    struct eco_audit a;
    struct eco_buf out = ECO_BUF_INIT;
    scan(&a, "x.py", was, strlen(was));
    assert_true(a.n > 0);
    eco_audit_apply(a.findings, a.n, unsafe, was, strlen(was), &out);
    assert_string_equal(eco_buf_str(&out), now);
    eco_audit_done(&a);
    eco_buf_done(&out);
}

static void test_fixes(void **state)
{
    (void)state;
    need();
    expect_fixed("c = BitsAndBytesConfig(load_in_4bit=True, llm_int8_threshold=0.0)\n",
                 "c = BitsAndBytesConfig(load_in_4bit=True)\n", false);
    expect_fixed("c = BitsAndBytesConfig(llm_int8_threshold=0.0, load_in_4bit=True)\n",
                 "c = BitsAndBytesConfig(load_in_4bit=True)\n", false);
    expect_fixed(
        "c = BitsAndBytesConfig(\n    load_in_4bit=True,\n    llm_int8_threshold=0.0,\n)\n",
        "c = BitsAndBytesConfig(\n    load_in_4bit=True,\n)\n", false);
    expect_fixed("m = AutoModel.from_pretrained(\"a/b\")\n",
                 "m = AutoModel.from_pretrained(\"a/b\", device_map=\"auto\")\n", false);
    expect_fixed("c = BitsAndBytesConfig(load_in_8bit=True)\n",
                 "c = BitsAndBytesConfig(load_in_8bit=True)\n", false); /* changes answers */
    expect_fixed("c = BitsAndBytesConfig(load_in_8bit=True)\n",
                 "c = BitsAndBytesConfig(load_in_8bit=True, llm_int8_threshold=0.0)\n", true);
}

/* A fixed text has nothing left to fix. */
static void test_fix_is_final(void **state)
{
    static const char was[] = "c = BitsAndBytesConfig(load_in_8bit=True)\n"
                              "d = BitsAndBytesConfig(load_in_4bit=True, llm_int8_threshold=6.0)\n"
                              "m = AutoModel.from_pretrained(\"a/b\")\n";
    struct eco_audit a, b;
    struct eco_buf out = ECO_BUF_INIT;
    (void)state;
    need();
    scan(&a, "x.py", was, sizeof(was) - 1);
    assert_int_equal(a.n, 3);
    assert_int_equal(eco_audit_apply(a.findings, a.n, true, was, sizeof(was) - 1, &out), 3);
    scan(&b, "x.py", out.data, out.len);
    assert_int_equal(b.n, 0);
    eco_audit_done(&a);
    eco_audit_done(&b);
    eco_buf_done(&out);
}

static void test_patch(void **state)
{
    static const char text[] = "import x\nm = AutoModel.from_pretrained(\"a/b\")\n";
    struct eco_audit a;
    (void)state;
    need();
    scan(&a, "d/x.py", text, sizeof(text) - 1);
    assert_int_equal(a.n, 1);
    assert_string_equal(eco_audit_patch(&a, &a.findings[0], text, sizeof(text) - 1),
                        "--- a/d/x.py\n+++ b/d/x.py\n@@ -2,1 +2,1 @@\n"
                        "-m = AutoModel.from_pretrained(\"a/b\")\n"
                        "+m = AutoModel.from_pretrained(\"a/b\", device_map=\"auto\")\n");
    eco_audit_done(&a);
}

static void test_baseline(void **state)
{
    static const char text[] = "c = BitsAndBytesConfig(load_in_8bit=True)\n";
    static const char moved[] = "\n\n# more\nc = BitsAndBytesConfig(load_in_8bit=True)\n"
                                "d = BitsAndBytesConfig(load_in_8bit=True, llm_int8_threshold=6)\n";
    struct eco_audit a, b;
    struct eco_buf base = ECO_BUF_INIT;
    struct eco_err err = {0};
    (void)state;
    need();
    scan(&a, "x.py", text, sizeof(text) - 1);
    eco_audit_baseline_write(&a, &base);
    scan(&b, "x.py", moved, sizeof(moved) - 1);
    assert_int_equal(b.n, 2);
    assert_int_equal(eco_audit_baseline_read(&b, base.data, base.len, &err), 0);
    assert_true(b.findings[0].in_baseline);
    assert_false(b.findings[1].in_baseline);
    assert_int_equal(eco_audit_baseline_read(&b, "{}", 2, &err), ECO_E_CONTENT);
    eco_audit_done(&a);
    eco_audit_done(&b);
    eco_buf_done(&base);
}

static void test_changed(void **state)
{
    static const char text[] = "c = BitsAndBytesConfig(load_in_8bit=True)\n"
                               "d = BitsAndBytesConfig(load_in_8bit=True)\n"
                               "e = BitsAndBytesConfig(load_in_8bit=True)\n";
    static const char diff[] = "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n"
                               "@@ -2 +2 @@\n-d\n+d\n--- a/y.py\n+++ b/y.py\n@@ -1 +1 @@\n";
    struct eco_audit a;
    (void)state;
    need();
    scan(&a, "./x.py", text, sizeof(text) - 1);
    assert_int_equal(a.n, 3);
    eco_audit_keep_changed(&a, diff, sizeof(diff) - 1);
    assert_int_equal(a.n, 1);
    assert_int_equal(a.findings[0].line, 2);
    eco_audit_keep_changed(&a, "", 0);
    assert_int_equal(a.n, 0);
    eco_audit_done(&a);
}

static size_t count(const char *text)
{
    struct eco_audit a;
    scan(&a, "x.py", text, strlen(text));
    size_t n = a.n;
    eco_audit_done(&a);
    return n;
}

static void test_silenced(void **state)
{
    (void)state;
    need();
#define BAD "c = BitsAndBytesConfig(load_in_8bit=True)"
    assert_int_equal(count(BAD "\n"), 1);
    assert_int_equal(count(BAD "  # ecocompute: ignore\n"), 0);
    assert_int_equal(count(BAD "  # ecocompute: ignore[int8-default, bs1-loop] measured\n"), 0);
    assert_int_equal(count(BAD "  # ecocompute: ignore[bs1-loop]\n"), 1);
    assert_int_equal(count("# ecocompute: ignore\n" BAD "\n"), 0);
    assert_int_equal(count("x = 1  # ecocompute: ignore\n" BAD "\n"), 1);
    assert_int_equal(count("# ecocompute: ignore-file\n\n" BAD "\n"), 0);
}

static void test_sizes(void **state)
{
    static const struct {
        const char *id;
        double b;
    } cases[] = {{"Qwen/Qwen2.5-7B-Instruct", 7},
                 {"facebook/opt-350m", 0.35},
                 {"internlm/internlm2-1_8b", 1.8},
                 {"Qwen/Qwen3-30B-A3B", 30},
                 {"microsoft/Phi-3-mini-4k-instruct", 3.82},
                 {"gpt2", 0.124},
                 {"models/qwen-1.5b/final", 1.5},
                 {"a/w4a16-tool", 0},
                 {"lmsys/vicuna-13b-v1.5-16k", 13},
                 {"gpt-2024-05-13", 0},
                 {"x/4bit-quant", 0},
                 {"", 0}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_near(eco_audit_model_size(cases[i].id, strlen(cases[i].id)), cases[i].b, 1e-9);
    }
    double moe = eco_audit_model_size("mistralai/Mixtral-8x7B-v0.1", 27);
    assert_true(moe > 40 && moe < 56);
}

/* ---- hostile texts: done at all, in a time that grows with the length alone ---------- */

static double seconds(const char *path, const char *text, size_t len)
{
    struct eco_audit a;
    clock_t t0 = clock(); /* of the processor: others work on this machine too */
    scan(&a, path, text, len);
    eco_audit_done(&a);
    return (double)(clock() - t0) / CLOCKS_PER_SEC;
}

static double repeated(const char *path, const char *head, const char *unit, size_t len)
{
    struct eco_buf b = ECO_BUF_INIT;
    eco_buf_puts(&b, head);
    while (b.len < len) {
        eco_buf_puts(&b, unit);
    }
    double s = seconds(path, b.data, b.len);
    eco_buf_done(&b);
    return s;
}

static void test_hostile(void **state)
{
    static const struct {
        const char *path, *head, *unit;
    } cases[] = {
        {"x.py", "from_pretrained ", "a"}, /* one line */
        {"x.py", "from_pretrained", "("},  /* brackets never closed */
        {"x.py", "from_pretrained", "[{("},
        {"x.py", "from_pretrained\n", "x = f(x)\n"}, /* one name, defined again and again */
        {"x.py", "from_pretrained\n", "x.update(load_in_8bit=x)\n"},
        {"x.py", "from_pretrained\n", "for p in q: model.generate(**t(p))\n"},
        {"x.py", "from_pretrained\n", "def f(a): return f(f(a))\n"},
        {"x.py", "from_pretrained\n",
         "m = AutoModel.from_pretrained(\"a/b-1b\", load_in_4bit=1)\n"},
        {"x.py", "from_pretrained\n", "!pip install x\n"},
        {"x.py", "from_pretrained\n", "\"\"\"\n"},
        {"x.py", "from_pretrained\n", "\xff\xfe\x80 = 1\n"},
        {"x.py", "from_pretrained\n", "if a:\n "},
        {"x.py", "from_pretrained\n", "lambda x: "},
        {"x.py", "from_pretrained\n",
         "# a\n"}, /* the grammar reads to the end of comments at each */
        {"Dockerfile", "RUN pip install \\\n", "torch \\\n"},
        {"x.yml", "a:\n", "- --max-num-seqs\n"},
        {"x.yml", "env:\n  B: 1\n", "- env:\n    A: $B\n  run: vllm $A\n"},
        {"run.sh", "B=1\n", "if x; then A=$B$A; vllm $A; fi\n"},
        {"requirements.txt", "", "torch==1.dev"},
        {"x.ipynb", "{\"cells\":", "[from_pretrained"}};
    (void)state;
    need();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        double half = repeated(cases[i].path, cases[i].head, cases[i].unit, 128 << 10);
        double whole = repeated(cases[i].path, cases[i].head, cases[i].unit, 256 << 10);
        /* twice the text: twice the time, with room for a busy machine; quadratic would be 4 */
        if (whole > 3.2 * half + 0.5) {
            print_message("case %zu (%s): %.3f s, %.3f s\n", i, cases[i].unit, half, whole);
        }
        assert_true(whole <= 3.2 * half + 0.5);
        assert_true(whole < 20);
    }
}

/* What people write is not given up: behind 1,500 lines of comments a trap is still found. */
static void test_long_comment(void **state)
{
    struct eco_audit a;
    struct eco_buf b = ECO_BUF_INIT;
    (void)state;
    need();
    for (int i = 0; i < 1500; i++) {
        eco_buf_puts(&b, "# a line of a comment that somebody has left here\n");
    }
    eco_buf_puts(&b, "m = AutoModel.from_pretrained(\"a/b-1b\", load_in_8bit=True)\n");
    scan(&a, "x.py", b.data, b.len);
    assert_true(a.n > 0);
    assert_int_equal(a.findings[0].line, 1501);
    eco_audit_done(&a);
    eco_buf_done(&b);
}

/* Functions that all call each other with their own parameters: the ways from one to another are
 * as many as 8^40, and what stands behind them must still be seen. */
static void test_tangled(void **state)
{
    struct eco_audit a;
    struct eco_buf b = ECO_BUF_INIT;
    (void)state;
    need();
    for (int i = 0; i < 60; i++) {
        eco_buf_printf(&b, "def f%d(s, t=None):\n", i);
        for (int k = 1; k <= 8; k++) {
            eco_buf_printf(&b, "    s.update(f%d(f%d(s, t=t), t=s))\n", (i + k) % 60,
                           (i + 7 * k) % 60);
        }
        eco_buf_puts(&b, "    return s\n");
    }
    eco_buf_puts(&b, LOAD "c = BitsAndBytesConfig(load_in_8bit=True)\n"
                          "m = AutoModelForCausalLM.from_pretrained(\"a/b-7b\", "
                          "quantization_config=c, device_map=\"auto\")\n");
    clock_t t0 = clock();
    scan(&a, "x.py", b.data, b.len);
    assert_true((double)(clock() - t0) / CLOCKS_PER_SEC < 5); /* 0.1 s alone; sanitizers */
    assert_int_equal(a.n, 1);
    assert_int_equal(a.findings[0].rule, ECO_AUDIT_INT8_DEFAULT);
    eco_audit_done(&a);
    eco_buf_done(&b);
}

/* One line of a megabyte with a finding every 18 bytes: no patch repeats it for each of them. */
static void test_long_line(void **state)
{
    static const char call[] = "f(load_in_8bit=1),";
    struct eco_buf b = ECO_BUF_INIT;
    struct eco_err err = {0};
    struct eco_audit a;
    (void)state;
    need();
    eco_buf_puts(&b, "import peft\nx = [");
    for (int i = 0; i < 50000; i++) {
        eco_buf_puts(&b, call);
    }
    eco_buf_puts(&b, "]\n");
    eco_audit_init(&a);
    assert_int_equal(eco_audit_text(&a, "x.py", eco_buf_str(&b), b.len, &err), 0);
    assert_int_equal(a.n, ECO_AUDIT_MAX_FINDINGS);
    for (size_t i = 0; i < a.n; i++) {
        assert_null(eco_audit_patch(&a, &a.findings[i], eco_buf_str(&b), b.len));
        assert_true(i == 0 || strcmp(a.findings[i].print, a.findings[i - 1].print) != 0);
    }
    eco_audit_done(&a);
    eco_buf_done(&b);
}

/* More than 64 KB, with the values put in or as it stands: what it begins with is still seen. */
static void test_long_command(void **state)
{
    static const char *const heads[] = {"vllm serve m --enforce-eager", "RUN vllm serve m -O0"};
    struct eco_audit a;
    struct eco_buf b = ECO_BUF_INIT;
    (void)state;
    need();
    eco_buf_puts(&b, "A=");
    for (int i = 0; i < 100; i++) {
        eco_buf_puts(&b, "0123456789");
    }
    eco_buf_printf(&b, "\n%s", heads[0]);
    for (int i = 0; i < 80; i++) {
        eco_buf_puts(&b, " $A");
    }
    eco_buf_puts(&b, " --max-num-seqs 1\n"); /* behind them, and seen too */
    scan(&a, "run.sh", b.data, b.len);
    assert_int_equal(a.n, 2);
    eco_audit_done(&a);
    eco_buf_clear(&b);
    for (int docker = 0; docker < 2; docker++) {
        eco_buf_printf(&b, "%s --enforce-eager", heads[docker]);
        for (int i = 0; i < 8000; i++) {
            eco_buf_puts(&b, " \\\n  --x 12345");
        }
        eco_buf_puts(&b, "\n");
        assert_true(b.len > (size_t)64 << 10);
        scan(&a, docker ? "Dockerfile" : "run.sh", b.data, b.len);
        assert_int_equal(a.n, 1);
        assert_int_equal(a.findings[0].rule, ECO_AUDIT_VLLM_EAGER);
        eco_audit_done(&a);
        eco_buf_clear(&b);
    }
    eco_buf_done(&b);
}

static void test_limits(void **state)
{
    struct eco_audit a;
    size_t big = ECO_AUDIT_MAX_FILE + 1;
    char *text = calloc(big + 1, 1);
    (void)state;
    need();
    assert_non_null(text);
    memset(text, ' ', big);
    scan(&a, "x.py", text, big);
    assert_int_equal(a.n_skipped, 1);
    assert_non_null(strstr(a.skipped[0].reason, "8 MiB"));
    eco_audit_done(&a);
    scan(&a, "x.py", "from_pretrained\0(", 17);
    assert_int_equal(a.n_skipped, 1);
    assert_non_null(strstr(a.skipped[0].reason, "NUL"));
    eco_audit_done(&a);
    scan(&a, "x.py", "", 0);
    assert_int_equal(a.n_skipped, 0);
    assert_int_equal(a.files, 1);
    eco_audit_done(&a);
    scan(&a, "x.py", "print(1)\n", 9); /* names nothing relevant: not parsed */
    assert_int_equal(a.parsed, 0);
    eco_audit_done(&a);
    free(text);
}

static void test_sarif_shape(void **state)
{
    static const char text[] = LOAD "c = BitsAndBytesConfig(load_in_8bit=True)\n";
    struct eco_audit a;
    struct eco_buf b = ECO_BUF_INIT;
    struct eco_json_doc doc;
    (void)state;
    need();
    scan(&a, "dir with blank/\xc3\xa4.py", text, sizeof(text) - 1);
    eco_audit_sarif(&a, &b);
    assert_int_equal(eco_json_parse(&doc, b.data, b.len, NULL), 0);
    assert_string_equal(eco_json_at(doc.root, "/runs/0/results/0/ruleId")->str, "int8-default");
    assert_string_equal(eco_json_at(doc.root, "/runs/0/results/0/locations/0/physicalLocation/"
                                              "artifactLocation/uri")
                            ->str,
                        "dir%20with%20blank/%C3%A4.py");
    eco_json_done(&doc);
    eco_buf_done(&b);
    eco_audit_done(&a);
}

/* In characters, as the SARIF says; Python's str.index + 1 is the oracle. */
static void test_columns(void **state)
{
    static const char *const lines[] = {
        "c = BitsAndBytesConfig(load_in_8bit=True)\n",
        "\xE5\x8F\x98\xE9\x87\x8F = BitsAndBytesConfig(load_in_8bit=True)\n",
        ("\xEF\xBB\xBF"
         "c = BitsAndBytesConfig(load_in_8bit=True)\n")};
    static const uint32_t want[] = {24, 25, 24};
    (void)state;
    need();
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct eco_audit a;
        scan(&a, "x.py", lines[i], strlen(lines[i]));
        assert_int_equal(a.n, 1);
        assert_int_equal(a.findings[0].column, want[i]);
        eco_audit_done(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixes),        cmocka_unit_test(test_fix_is_final),
        cmocka_unit_test(test_patch),        cmocka_unit_test(test_baseline),
        cmocka_unit_test(test_changed),      cmocka_unit_test(test_silenced),
        cmocka_unit_test(test_sizes),        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_long_comment), cmocka_unit_test(test_tangled),
        cmocka_unit_test(test_long_line),    cmocka_unit_test(test_limits),
        cmocka_unit_test(test_sarif_shape),  cmocka_unit_test(test_long_command),
        cmocka_unit_test(test_columns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
