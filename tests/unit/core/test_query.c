/* The question parser with look-ups of its own: three cards, two models, one place. */
#include "eco_test.h"

#include "eco_query.h"

#include <stdlib.h>
#include <string.h>

static bool starts(const char *text, size_t len, const char *name)
{
    size_t n = strlen(name);
    if (len < n) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        char c = text[i];
        if ((c >= 'A' && c <= 'Z' ? (char)(c + 32) : c) != name[i]) {
            return false;
        }
    }
    return true;
}

static bool card(void *self, const char *text, size_t len, struct eco_query_card *out)
{
    (void)self;
    if (starts(text, len, "a100")) {
        out->arch = ECO_ARCH_AMPERE;
    } else if (starts(text, len, "4090") || starts(text, len, "rtx 4090")) {
        out->arch = ECO_ARCH_ADA;
    } else if (starts(text, len, "t4")) {
        out->arch = ECO_ARCH_TURING;
    }
    bool row = out->arch != ECO_ARCH_UNKNOWN && len <= strlen("rtx 4090") && text[len - 1] != ' ' &&
               text[len - 1] != 's';
    if (row) {
        memcpy(out->name, text, len);
        out->name[len] = '\0';
    }
    return out->arch != ECO_ARCH_UNKNOWN;
}

static bool model(void *self, const char *text, size_t len, struct eco_query_model *out)
{
    (void)self;
    if (len == strlen("qwen2.5-3b") && starts(text, len, "qwen2.5-3b")) {
        strcpy(out->name, "qwen2.5-3b");
        out->params_b = 3;
    }
    return out->name[0] != '\0';
}

static bool region(void *self, const char *text, size_t len, char out[ECO_QUERY_NAME])
{
    (void)self;
    if (len == strlen("Norway") && starts(text, len, "norway")) {
        strcpy(out, "Norway");
        return true;
    }
    return false;
}

static const struct eco_query_names names = {NULL, card, model, region};

static struct eco_query ask(const char *text)
{
    struct eco_query q;
    struct eco_err err = {0};
    void *work = malloc(eco_query_work_size());
    assert_non_null(work);
    memset(work, 0xA5, eco_query_work_size()); /* what is there before must not matter */
    if (eco_query_parse(text, strlen(text), &names, work, &q, &err)) {
        fail_msg("'%s': %s", text, err.message);
    }
    free(work);
    return q;
}

static void number_is(const char *text, enum eco_query_number n, double want)
{
    struct eco_query q = ask(text);
    if (!eco_query_has(&q, n)) {
        fail_msg("'%s': no %s", text, eco_query_number_name(n));
    }
    assert_near(q.number[n], want, 1e-9 * want);
}

static void number_absent(const char *text, enum eco_query_number n)
{
    struct eco_query q = ask(text);
    if (eco_query_has(&q, n)) {
        fail_msg("'%s': %s is %g", text, eco_query_number_name(n), q.number[n]);
    }
}

static void test_sizes(void **state)
{
    static const struct {
        const char *text;
        double b;
    } cases[] = {{"13B", 13},
                 {"13 b", 13},
                 {"13 billion", 13},
                 {"1,5B", 1.5},
                 {".5B", 0.5},
                 {"350M", 0.35},
                 {"7e9 params", 7},
                 {"7000000000 parameters", 7},
                 {"1T params", 1000},
                 {"130亿", 13},
                 {"七十亿参数", 7},
                 {"1.3億參數", 0.13},
                 {"千亿参数", 100},
                 {"两百亿参数", 20},
                 {"３Ｂ", 3},
                 {"thirty-two billion", 32},
                 {"size=7", 7},
                 {"一点五B", 1.5},
                 {"1,300 million parameters", 1.3}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        number_is(cases[i].text, ECO_QUERY_PARAMS_B, cases[i].b);
    }
}

static void test_not_sizes(void **state)
{
    static const char *const texts[] = {"80 GB",        "-7B",        "0B",     "300B tokens",
                                        "p99",          "8 bit",      "13",     "5M requests a day",
                                        "$1.5M a year", "7B and 13B", "100万字"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        number_absent(texts[i], ECO_QUERY_PARAMS_B);
    }
    struct eco_query q = ask("7B and 13B");
    assert_int_equal(q.n_sizes, 2);
}

static void test_batch_and_context(void **state)
{
    (void)state;
    number_is("batch 8", ECO_QUERY_BATCH, 8);
    number_is("b32", ECO_QUERY_BATCH, 32);
    number_is("batch_size = 4", ECO_QUERY_BATCH, 4);
    number_is("batched x16", ECO_QUERY_BATCH, 16);
    number_is("32 batch", ECO_QUERY_BATCH, 32);
    number_is("批大小设为4", ECO_QUERY_BATCH, 4);
    number_is("single stream", ECO_QUERY_BATCH, 1);
    number_absent("13 b 8 bit", ECO_QUERY_BATCH);
    number_absent("batch 0", ECO_QUERY_BATCH);
    number_absent("batch -4", ECO_QUERY_BATCH);
    number_absent("b16 floats", ECO_QUERY_BATCH);
    number_is("8k context", ECO_QUERY_CTX, 8192);
    number_is("ctx 16,384", ECO_QUERY_CTX, 16384);
    number_is("ctx 128K", ECO_QUERY_CTX, 131072);
    number_is("上下文8k", ECO_QUERY_CTX, 8192);
    number_is("2048-token context", ECO_QUERY_CTX, 2048);
    number_is("13B@8k", ECO_QUERY_CTX, 8192);
    number_is("--max-model-len 32768", ECO_QUERY_CTX, 32768);
    number_absent("issue #4096", ECO_QUERY_CTX);
}

static void precision_is(const char *text, const char *class_name, enum eco_precision exact)
{
    struct eco_query q = ask(text);
    if (!q.precision != !class_name || (class_name && strcmp(q.precision, class_name) != 0)) {
        fail_msg("'%s': %s, not %s", text, q.precision ? q.precision : "none",
                 class_name ? class_name : "none");
    }
    assert_int_equal(q.precision_exact, exact);
}

static void test_precisions(void **state)
{
    (void)state;
    precision_is("4bit", "NF4", ECO_PREC_NF4);
    precision_is("int 8", "INT8", ECO_PREC_INT8_MIXED);
    precision_is("load_in_8bit=True, llm_int8_threshold=0.0", "INT8", ECO_PREC_INT8_PURE);
    precision_is("四比特", "NF4", ECO_PREC_NF4);
    precision_is("GPTQ 4-bit", "NF4", ECO_PREC_GPTQ_INT4);
    precision_is("gptq 8 bit", "INT8", ECO_PREC_GPTQ_INT8);
    precision_is("gguf 8bit", "INT8", ECO_PREC_GGUF_Q8_0);
    precision_is("Q5_K_M", NULL, ECO_PREC_GGUF_Q5_K_M);
    precision_is("fp8", "FP8", ECO_PREC_FP8);
    precision_is("fp4", "FP4", ECO_PREC_NONE);
    precision_is("3-bit", NULL, ECO_PREC_NONE);
    precision_is("unquantized", "FP16", ECO_PREC_FP16);
    precision_is("bf16", "FP16", ECO_PREC_BF16);
    precision_is("", NULL, ECO_PREC_NONE);
}

static void test_negation(void **state)
{
    (void)state;
    precision_is("don't want int8, use nf4", "NF4", ECO_PREC_NF4);
    precision_is("nf4 instead of int8", "NF4", ECO_PREC_NF4);
    precision_is("from int8 to nf4", "NF4", ECO_PREC_NF4);
    precision_is("not int8 or fp8 but nf4", "NF4", ECO_PREC_NF4);
    precision_is("不要int8，用nf4", "NF4", ECO_PREC_NF4);
    precision_is("用不用4bit", "NF4", ECO_PREC_NF4); /* "whether": no refusal */
    precision_is("no int8 please", NULL, ECO_PREC_NONE);
    precision_is("nf4 vs int8", NULL, ECO_PREC_NONE);
    precision_is("nf4 vs fp16", "NF4", ECO_PREC_NF4);
    precision_is("avoid int8, fp8", NULL, ECO_PREC_NONE);
    precision_is("avoid int8, use fp8", "FP8", ECO_PREC_FP8);
    precision_is("not int8, nf4", "NF4", ECO_PREC_NF4);
    assert_int_equal(ask("avoid int8 and fp8").n_missed, 2); /* refused, and nothing chosen */
    assert_int_equal(ask("avoid int8, use nf4").n_missed, 0);
    struct eco_query q = ask("compare fp16, nf4 and int8");
    assert_int_equal(q.n_precisions, 3);
    assert_int_equal(q.op, ECO_QUERY_COMPARE);
}

static void test_cards(void **state)
{
    (void)state;
    static const char *const ampere[] = {
        "A100",      "A100s", "8xA100", "ISO 4090, A100", "amper card", "安培", "issue #4090: A100",
        "7bA100int8"};
    for (size_t i = 0; i < sizeof ampere / sizeof ampere[0]; i++) {
        struct eco_query q = ask(ampere[i]);
        if (q.arch != ECO_ARCH_AMPERE) {
            fail_msg("'%s' is %s", ampere[i], eco_arch_name(q.arch));
        }
    }
    struct eco_query q = ask("4090 or A100?");
    assert_int_equal(q.n_gpus, 2);
    assert_int_equal(q.arch, ECO_ARCH_UNKNOWN);
    assert_string_equal(q.gpu, "");
    assert_int_equal(ask("fine-tuning").arch, ECO_ARCH_UNKNOWN); /* one letter from turing */
    assert_int_equal(ask("4090 tokens").arch, ECO_ARCH_UNKNOWN);
    number_is("two 4090s", ECO_QUERY_N_GPUS, 2);
}

static void test_models_and_places(void **state)
{
    (void)state;
    struct eco_query q = ask("Qwen/Qwen2.5-3B on T4 in Norway");
    assert_string_equal(q.model, "qwen2.5-3b");
    assert_near(q.number[ECO_QUERY_PARAMS_B], 3.0, 0.0);
    assert_string_equal(q.region, "Norway");
    q = ask("starcoder2-15b on T4"); /* no such row: its size counts, and that is said */
    assert_string_equal(q.model, "");
    assert_near(q.number[ECO_QUERY_PARAMS_B], 15.0, 0.0);
    assert_int_equal(q.n_missed, 1);
    q = ask("Qwen2.5 on T4");
    assert_false(eco_query_has(&q, ECO_QUERY_PARAMS_B));
    assert_int_equal(q.n_missed, 1);
}

static void test_volume(void **state)
{
    (void)state;
    number_is("10,000 users/day", ECO_QUERY_REQUESTS, 10000.0 * 5 * 30);
    number_is("1 million requests per month", ECO_QUERY_REQUESTS, 1e6);
    number_is("每天2万次请求", ECO_QUERY_REQUESTS, 20000.0 * 30);
    number_is("20 requests per second", ECO_QUERY_REQUESTS, 20.0 * 86400 * 30);
    number_is("100万字", ECO_QUERY_TOKENS, 500000);
    number_is("100 wan zi", ECO_QUERY_TOKENS, 500000);
    number_is("1 GB of text", ECO_QUERY_TOKENS, 250e6);
    number_is("8 hours a day", ECO_QUERY_HOURS_PER_DAY, 8);
    number_is("$0.15/kWh", ECO_QUERY_PRICE, 0.15);
    number_is("$0 per kWh", ECO_QUERY_PRICE, 0);
    number_is("0,15 dollars per kWh", ECO_QUERY_PRICE, 0.15);
    number_is("1,5 million requests/mo", ECO_QUERY_REQUESTS, 1.5e6);
    number_is("1.500.000 requests", ECO_QUERY_REQUESTS, 1.5e6);
    number_is("half a million requests", ECO_QUERY_REQUESTS, 5e5);
    number_absent("1e400 requests", ECO_QUERY_REQUESTS);
    assert_int_equal(ask("1e400 requests").n_missed, 1);
    assert_string_equal(ask("99999999999999999999B").missed[0].why, "outside");
    assert_string_equal(ask("99999999999999999999B").missed[0].what, "params_b");
    number_absent("8x22B", ECO_QUERY_PARAMS_B); /* this test's table has no such mixture */
    assert_int_equal(ask("8x22B").n_missed, 1);
    number_is("每千token耗9000焦耳", ECO_QUERY_ENERGY, 9000);
    number_is("每秒9.5个token", ECO_QUERY_THROUGHPUT, 9.5);
    number_is("18 cents per kWh", ECO_QUERY_PRICE, 0.18);
    number_is("$0.34/h", ECO_QUERY_GPU_USD_PER_HOUR, 0.34);
    number_is("9 tok/s", ECO_QUERY_THROUGHPUT, 9);
    number_is("PUE 1.2", ECO_QUERY_PUE, 1.2);
    number_absent("0.6元每度", ECO_QUERY_PRICE); /* not converted, listed */
    assert_int_equal(ask("0.6元每度").n_missed, 1);
    number_absent("trained on 2T tokens", ECO_QUERY_TOKENS);
    number_absent("power cap 250W", ECO_QUERY_POWER_W);
}

static void test_operations(void **state)
{
    static const struct {
        const char *text;
        enum eco_query_op op;
    } cases[] = {{"hello", ECO_QUERY_NONE},
                 {"量化是什么", ECO_QUERY_NONE},
                 {"省电吗", ECO_QUERY_NONE},
                 {"7B nf4 T4", ECO_QUERY_ESTIMATE},
                 {"7B T4", ECO_QUERY_COMPARE},
                 {"greenest config for 7B on T4", ECO_QUERY_OPTIMIZE},
                 {"how much does 7B on T4 cost", ECO_QUERY_COST},
                 {"why is 7B int8 so slow on T4", ECO_QUERY_DIAGNOSE},
                 {"7B int8 T4 5 tok/s", ECO_QUERY_DIAGNOSE},
                 {"推荐配置 7B T4", ECO_QUERY_OPTIMIZE},
                 {"7B T4 一个月多少钱", ECO_QUERY_COST},
                 {"audit my script", ECO_QUERY_AUDIT}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        enum eco_query_op op = ask(cases[i].text).op;
        if (op != cases[i].op) {
            fail_msg("'%s' is %s", cases[i].text, eco_query_op_name(op));
        }
    }
}

static void test_limits(void **state)
{
    char text[ECO_QUERY_MAX_BYTES + 2];
    struct eco_query q;
    struct eco_err err = {0};
    void *work = malloc(eco_query_work_size());
    (void)state;
    memset(text, 'x', sizeof text);
    assert_int_equal(eco_query_parse(text, sizeof text, &names, work, &q, &err), ECO_E_TOO_LARGE);
    assert_int_equal(eco_query_parse(text, 4096, &names, work, &q, &err), 0);
    assert_int_equal(eco_query_parse("7B", 2, NULL, work, &q, &err), ECO_E_INVALID);
    for (size_t i = 0; i < 4096; i++) { /* more of everything than is kept */
        text[i] = "7B 8 bit A100, "[i % 15];
    }
    assert_int_equal(eco_query_parse(text, 4096, &names, work, &q, &err), 0);
    assert_near(q.number[ECO_QUERY_PARAMS_B], 7.0, 0.0);
    assert_int_equal(q.arch, ECO_ARCH_AMPERE);
    assert_int_equal(eco_query_parse("7B\xff\xfe T4", 6, &names, work, &q, &err), 0);
    assert_near(q.number[ECO_QUERY_PARAMS_B], 7.0, 0.0);
    free(work);
}

/* "All 5 precisions" names the five of the skill; any other count, or a name, does not. */
static void test_counted(void **state)
{
    static const char *const five[] = {"Compare all 5 precisions for 7B on a T4.",
                                       "five precision methods, 7B on T4",
                                       "the 5 different precisions of 7B on T4",
                                       "比较7B在T4上的所有5种精度",
                                       "五种精度对比 7B T4",
                                       "7B T4 5种量化方式"};
    static const char *const others[] = {
        "Compare 4 precisions for 7B on a T4", "all precisions of 7B on T4", "比较7B在T4的三种精度",
        "5 requests, 7B, precision on T4", "batch 5 precision int8 7B T4"};
    static const enum eco_precision want[] = {ECO_PREC_FP16, ECO_PREC_FP8, ECO_PREC_NF4,
                                              ECO_PREC_INT8_MIXED, ECO_PREC_INT8_PURE};
    (void)state;
    for (size_t i = 0; i < sizeof five / sizeof five[0]; i++) {
        struct eco_query q = ask(five[i]);
        if (!q.counted || q.n_precisions != 5 || q.op != ECO_QUERY_COMPARE || q.n_missed) {
            fail_msg("'%s': %zu precisions", five[i], q.n_precisions);
        }
        assert_memory_equal(q.precisions, want, sizeof want);
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        struct eco_query q = ask(others[i]);
        if (q.counted || q.n_precisions) {
            fail_msg("'%s': %zu precisions", others[i], q.n_precisions);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_not_sizes),
        cmocka_unit_test(test_batch_and_context),
        cmocka_unit_test(test_precisions),
        cmocka_unit_test(test_negation),
        cmocka_unit_test(test_cards),
        cmocka_unit_test(test_models_and_places),
        cmocka_unit_test(test_volume),
        cmocka_unit_test(test_operations),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
