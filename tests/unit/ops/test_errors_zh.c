/*
 * Every error that a parameter can give, told in Chinese: it has Chinese signs, keeps the
 * parameter's name and the numbers of its bounds, and none falls back to the English text.
 */
#include "eco_test.h"

#include "ops/args.h"
#include "ops/params.h"
#include "ops/voice.h"

#include <ctype.h>
#include <string.h>

static bool has_chinese(const char *s)
{
    for (; *s; s++) {
        if ((unsigned char)*s >= 0xe4 && (unsigned char)*s <= 0xe9) {
            return true;
        }
    }
    return false;
}

/* Every number of the English message stands in the Chinese one. */
static bool keeps_numbers(const char *en, const char *zh)
{
    for (const char *p = en; *p;) {
        char number[32];
        size_t n = 0;
        while (n < sizeof(number) - 1 && (isdigit((unsigned char)p[n]) || (n && p[n] == '.'))) {
            number[n] = p[n];
            n++;
        }
        while (n && number[n - 1] == '.') {
            n--;
        }
        number[n] = '\0';
        if (n && !strstr(zh, number)) {
            return false;
        }
        p += n ? n : 1;
    }
    return true;
}

static void check(const struct eco_op *op, const char *name, const struct eco_err *err)
{
    struct eco_err zh = *err;
    eco_error_tell(ECO_LANG_ZH, &zh);
    if (!eco_error_known(err->message) || !has_chinese(zh.message) ||
        (name && !strstr(zh.message, name)) || !keeps_numbers(err->message, zh.message) ||
        zh.code != err->code) {
        fail_msg("%s --%s: '%s' -> '%s'", op->name, name ? name : "", err->message, zh.message);
    }
}

/* The value is refused, at once or when all are in. */
static bool refused(const struct eco_op *op, const struct eco_param *p, const char *text,
                    size_t len, struct eco_err *err)
{
    struct eco_arena arena;
    *err = (struct eco_err){0};
    eco_arena_init(&arena, 0);
    void *args = eco_arena_alloc(&arena, op->args_size);
    assert_int_equal(eco_args_init(op, args, &arena, err), 0);
    int rc = eco_args_set(op, args, &arena, p, text, len, err);
    rc = rc ? rc : eco_args_finish(op, args, err);
    eco_arena_done(&arena);
    return rc != 0;
}

static void each_bad_value(const struct eco_op *op, const struct eco_param *p, int *seen)
{
    static char longest[(2u << 20) + 1];
    struct eco_err err;
    char text[64];
    bool text_type = p->type == ECO_T_STR || p->type == ECO_T_LIST_STR;
    if (!text_type) {
        assert_true(refused(op, p, "much", 4, &err));
        check(op, p->name, &err);
        ++*seen;
    }
    if (p->lo < p->hi) {
        snprintf(text, sizeof(text), "%.17g", p->lo - 1);
        assert_true(refused(op, p, text, strlen(text), &err));
        check(op, p->name, &err);
        snprintf(text, sizeof(text), "%.17g", p->hi * 2);
        assert_true(refused(op, p, text, strlen(text), &err));
        check(op, p->name, &err);
        *seen += 2;
    }
    if (p->choices && p->choices[0] != '@') {
        assert_true(refused(op, p, "zzzzzzzz", 8, &err));
        check(op, p->name, &err);
        ++*seen;
    }
    if (text_type) {
        memset(longest, 'a', sizeof(longest) - 1);
        assert_true(refused(op, p, longest, sizeof(longest) - 1, &err));
        check(op, p->name, &err);
        assert_true(refused(op, p, "\xff", 1, &err));
        check(op, p->name, &err);
        *seen += 2;
    }
}

static void test_every_parameter(void **state)
{
    int seen = 0;
    (void)state;
    for (size_t o = 0; o < eco_ops_count; o++) {
        const struct eco_op *op = &eco_ops[o];
        struct eco_err err = {0};
        for (size_t i = 0; i < op->n_params; i++) {
            each_bad_value(op, &op->params[i], &seen);
        }
        eco_args_unknown(op, "no_such_thing_here", 18, &err);
        check(op, "no_such_thing_here", &err);
    }
    print_message("%d errors of parameters\n", seen);
    assert_true(seen > 300);
}

static void test_twice_and_missing(void **state)
{
    const struct eco_op *op = eco_op_find("ask");
    struct eco_arena arena;
    struct eco_err err = {0};
    (void)state;
    eco_arena_init(&arena, 0);
    void *args = eco_arena_alloc(&arena, op->args_size);
    assert_int_equal(eco_args_init(op, args, &arena, &err), 0);
    assert_int_equal(eco_args_finish(op, args, &err), ECO_E_MISSING);
    check(op, "q", &err);
    const struct eco_param *p = eco_args_find(op, "q", 1);
    assert_int_equal(eco_args_set(op, args, &arena, p, "x", 1, &err), 0);
    assert_int_equal(eco_args_set(op, args, &arena, p, "x", 1, &err), ECO_E_INVALID);
    check(op, "q", &err);
    eco_arena_done(&arena);
}

/* What the table lacks keeps its English behind the kind; English stays as it is. */
static void test_unknown_message(void **state)
{
    struct eco_err err = {0};
    (void)state;
    eco_err_set(&err, ECO_E_DEVICE, "x", "the flux capacitor is cold");
    eco_error_tell(ECO_LANG_EN, &err);
    assert_string_equal(err.message, "the flux capacitor is cold");
    eco_error_tell(ECO_LANG_ZH, &err);
    assert_string_equal(err.message, "设备错误：the flux capacitor is cold");
    assert_int_equal(err.code, ECO_E_DEVICE);
    assert_string_equal(err.arg, "x");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_parameter),
                                       cmocka_unit_test(test_twice_and_missing),
                                       cmocka_unit_test(test_unknown_message)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
