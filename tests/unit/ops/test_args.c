/* Arguments: what is accepted, what is refused, and what the refusal says. */
#include "eco_test.h"

#include "ops/args.h"
#include "ops/params.h"

struct fixture {
    struct eco_arena arena;
    const struct eco_op *op;
    struct eco_args_estimate args;
    struct eco_err err;
};

static int setup(void **state)
{
    static struct fixture f;
    memset(&f, 0, sizeof(f));
    eco_arena_init(&f.arena, 0);
    f.op = eco_op_find("estimate");
    *state = &f;
    return eco_args_init(f.op, &f.args, &f.arena, &f.err);
}

static int teardown(void **state)
{
    eco_arena_done(&((struct fixture *)*state)->arena);
    return 0;
}

static int set(struct fixture *f, const char *name, const char *value)
{
    const struct eco_param *p = eco_args_find(f->op, name, strlen(name));
    assert_non_null(p);
    return eco_args_set(f->op, &f->args, &f->arena, p, value, strlen(value), &f->err);
}

static int set_json(struct fixture *f, const char *text)
{
    struct eco_json_doc doc;
    assert_int_equal(eco_json_parse(&doc, text, strlen(text), &f->err), 0);
    int rc = eco_args_set_json(f->op, &f->args, &f->arena, doc.root, false, &f->err);
    eco_json_done(&doc);
    return rc;
}

static void test_defaults(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(f->args.load.batch, 1);
    assert_int_equal(f->args.load.prompt_tokens, 512);
    assert_int_equal(f->args.load.gen_tokens, 256);
    assert_string_equal(f->args.calibration, "ecocompute");
    assert_near(f->args.money.requests, 1e6, 0);
    assert_null(f->args.target.model);
    assert_int_equal(f->args.head.have, 0);
}

static void test_names_and_aliases(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(set(f, "N", "7"), 0);
    assert_near(f->args.target.params_b, 7, 0);
    assert_int_equal(set(f, "batch-size", "8"), 0);
    assert_int_equal(f->args.load.batch, 8);
    assert_null(eco_args_find(f->op, "n", 1)); /* N is the size, n is nothing */
    assert_true(eco_args_have(f->op, &f->args, offsetof(struct eco_args_estimate, load.batch)));
    assert_false(eco_args_have(f->op, &f->args, offsetof(struct eco_args_estimate, load.ctx)));
}

static void test_numbers_are_never_coerced(void **state)
{
    struct fixture *f = *state;
    static const char *const bad[] = {"13abc", "7B", "",    " 7", "7 ",  "0x10", "nan",
                                      "inf",   "1e", "--7", ".",  "1,5", "１",   "1e400"};
    for (size_t i = 0; i < ECO_COUNT(bad); i++) {
        f->args.head.have = 0;
        assert_int_not_equal(set(f, "params_b", bad[i]), 0);
        assert_string_equal(f->err.arg, "params_b");
    }
    assert_int_not_equal(set(f, "batch", "8.5"), 0);
    assert_int_equal(set(f, "batch", "8.0"), 0);
}

static void test_range_is_named(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(set(f, "batch", "0"), ECO_E_RANGE);
    assert_non_null(strstr(f->err.message, "from 1 to"));
    assert_int_equal(set(f, "params_b", "0"), ECO_E_RANGE);
    assert_non_null(strstr(f->err.message, "from 0.001 to 1000000 billion"));
    assert_int_equal(set(f, "params_b", "-7"), ECO_E_RANGE);
    assert_int_equal(set(f, "pue", "0.5"), ECO_E_RANGE);
}

static void test_choices_suggest(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(set(f, "calibration", "publisched"), ECO_E_UNKNOWN_NAME);
    assert_non_null(strstr(f->err.message, "did you mean published"));
    assert_int_equal(set(f, "calibration", "zzzzzzzzzzzz"), ECO_E_UNKNOWN_NAME);
    assert_non_null(strstr(f->err.message, "ecocompute|published"));
    assert_int_equal(set(f, "calibration", "PUBLISHED"), 0);
}

static void test_unknown_parameter_suggests(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(eco_args_unknown(f->op, "precison", 8, &f->err), ECO_E_UNKNOWN_PARAM);
    assert_non_null(strstr(f->err.message, "did you mean 'precision'"));
}

static void test_twice_is_refused(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(set(f, "params_b", "7"), 0);
    assert_int_equal(set(f, "N", "8"), ECO_E_INVALID);
    assert_int_equal(set_json(f, "{\"N\": 9}"), ECO_E_INVALID);
}

static void test_json_kinds(void **state)
{
    struct fixture *f = *state;
    static const char *const bad[] = {"{\"params_b\": [7]}",
                                      "{\"params_b\": {}}",
                                      "{\"params_b\": true}",
                                      "{\"params_b\": \"7B\"}",
                                      "{\"params_b\": \"\"}",
                                      "{\"params_b\": -1}",
                                      "{\"batch\": 1.5}",
                                      "{\"batch\": false}",
                                      "{\"arch\": 1}",
                                      "{\"precision\": []}",
                                      "{\"precision\": \"\"}",
                                      "{\"production\": 1}",
                                      "{\"production\": \"yes\"}",
                                      "{\"nothing\": 1}",
                                      "[1]",
                                      "7",
                                      "null",
                                      "{\"model\": \"a\\u0000b\"}"};
    for (size_t i = 0; i < ECO_COUNT(bad); i++) {
        f->args.head.have = 0;
        if (set_json(f, bad[i]) == 0) {
            fail_msg("accepted: %s", bad[i]);
        }
    }
    f->args.head.have = 0;
    assert_int_equal(set_json(f, "{\"params_b\": \"7\", \"batch\": 8.0, \"ctx\": null}"), 0);
    assert_near(f->args.target.params_b, 7, 0);
    assert_int_equal(f->args.load.batch, 8);
}

static void test_native_parameters_stay_native(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(set_json(f, "{\"svg\": \"chart.svg\"}"), ECO_E_UNKNOWN_PARAM);
}

static void test_long_text_is_refused(void **state)
{
    struct fixture *f = *state;
    char big[6000];
    memset(big, 'x', sizeof(big) - 1);
    big[sizeof(big) - 1] = '\0';
    assert_int_equal(set(f, "model", big), ECO_E_TOO_LARGE);
    assert_int_equal(set(f, "model", "bad\xff"), ECO_E_INVALID);
}

static void test_lists(void **state)
{
    (void)state;
    struct eco_arena arena;
    struct eco_args_optimize args;
    struct eco_err err = {0};
    const struct eco_op *op = eco_op_find("optimize");
    const struct eco_param *p = eco_args_find(op, "batches", 7);
    eco_arena_init(&arena, 0);
    assert_int_equal(eco_args_init(op, &args, &arena, &err), 0);
    assert_int_equal(eco_args_set(op, &args, &arena, p, "1,8,32", 6, &err), 0);
    assert_int_equal(args.batches.n, 3);
    assert_near(args.batches.v[2], 32, 0);
    args.head.have = 0;
    assert_int_not_equal(eco_args_set(op, &args, &arena, p, "1,,2", 4, &err), 0);
    assert_int_not_equal(eco_args_set(op, &args, &arena, p, "1,0", 3, &err), 0);
    eco_arena_done(&arena);
}

static void test_zero_given_is_zero(void **state)
{
    struct fixture *f = *state;
    assert_true(isnan(f->args.money.price));
    assert_true(isnan(f->args.money.carbon_intensity));
    assert_true(isnan(f->args.money.gpu_usd_per_hour));
    assert_int_equal(set(f, "price", "0"), 0);
    assert_int_equal(set(f, "carbon_intensity", "0"), 0);
    assert_true(f->args.money.price == 0 && f->args.money.carbon_intensity == 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_defaults),
        T(test_names_and_aliases),
        T(test_numbers_are_never_coerced),
        T(test_range_is_named),
        T(test_choices_suggest),
        T(test_unknown_parameter_suggests),
        T(test_twice_is_refused),
        T(test_json_kinds),
        T(test_native_parameters_stay_native),
        T(test_long_text_is_refused),
        T(test_lists),
        T(test_zero_given_is_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
