/*
 * Validation against the cases that jsonschema (draft 7) judged, and against hostile input.
 */
#include "fixtures.h"

#include "report/report.h"
#include "report/report_rules.h"

struct tally {
    size_t agree, refused_as_allowed, accepted_as_allowed, wrong;
};

static bool has_error(const struct eco_report_check *check, const struct eco_json *want)
{
    const char *path = text_of(want, "path"), *missing = text_of(want, "missing");
    for (size_t i = 0; i < check->error_count && i < ECO_REPORT_MAX_FINDINGS; i++) {
        const struct eco_report_finding *f = &check->errors[i];
        const char *pointer = f->pointer[0] ? f->pointer : "/";
        if (strcmp(pointer, path) == 0 && strcmp(f->keyword, text_of(want, "keyword")) == 0 &&
            (!missing || strcmp(f->missing, missing) == 0))
            return true;
    }
    return false;
}

static void compare(const struct eco_json *c, void *arg)
{
    struct tally *t = arg;
    static struct eco_report_check check;
    const struct eco_json *text = eco_json_get(c, "text"), *errors = eco_json_get(c, "errors");
    struct eco_err err = {0};
    int rc = eco_report_validate(text->str, text->len, &check, &err);
    bool want = true_at(c, "valid");
    assert_int_equal(rc == 0, check.valid);
    if (check.valid != want) {
        if (want && true_at(c, "may_refuse"))
            t->refused_as_allowed++;
        else if (!want && true_at(c, "may_accept"))
            t->accepted_as_allowed++;
        else {
            t->wrong++;
            print_error("%s (%s): valid is %d, wanted %d: %s\n", text_of(c, "id"),
                        text_of(c, "tag"), check.valid, want, err.message);
        }
        return;
    }
    bool same = !true_at(c, "json") || check.error_count == errors->count;
    for (const struct eco_json *e = errors->child; e; e = e->next)
        same = same && has_error(&check, e);
    if (text_of(c, "advice") && check.advice_count == 0)
        same = false;
    if (!same) {
        t->wrong++;
        print_error("%s (%s): other findings: %s\n", text_of(c, "id"), text_of(c, "tag"),
                    err.message);
        return;
    }
    t->agree++;
}

static void test_schema_cases(void **state)
{
    (void)state;
    struct tally t = {0};
    size_t n = each_case("schema.jsonl", compare, &t);
    print_message("schema: %zu cases, %zu agree, %zu refused and %zu accepted as allowed\n", n,
                  t.agree, t.refused_as_allowed, t.accepted_as_allowed);
    assert_int_equal(n, 174);
    assert_int_equal(t.wrong, 0);
}

static struct eco_report_check check;

static int validate(const char *text, size_t len)
{
    return eco_report_validate(text, len, &check, NULL);
}

static void test_hostile_input(void **state)
{
    (void)state;
    size_t deep = 200000;
    char *nested = malloc(deep);
    memset(nested, '[', deep);
    assert_int_not_equal(validate(nested, deep), 0);
    free(nested);
    assert_int_equal(validate("", 0), ECO_E_CONTENT);
    assert_int_equal(validate("{\"a\":\"\xff\"}", 9), ECO_E_CONTENT);
    assert_int_equal(validate("{\"a\":1}\0", 8), ECO_E_CONTENT);
    assert_int_equal(validate("{\"a\":NaN}", 9), ECO_E_CONTENT);
    assert_int_equal(validate("{\"a\":1,\"a\":2}", 13), ECO_E_CONTENT);
    assert_false(check.json);
    size_t huge = (size_t)ECO_REPORT_MAX_BYTES + 1;
    char *blanks = malloc(huge);
    memset(blanks, ' ', huge);
    assert_int_equal(validate(blanks, huge), ECO_E_TOO_LARGE);
    free(blanks);
}

static void test_errors_name_the_place(void **state)
{
    (void)state;
    struct eco_err err = {0};
    const char *text = "{\"report_version\":1,\"results\":{\"basis\":\"guessed\"}}";
    assert_int_equal(eco_report_validate(text, strlen(text), &check, &err), ECO_E_CONTENT);
    assert_true(check.ours);
    assert_true(check.error_count > 10);
    assert_int_equal(err.arg[0] == '\0' || err.arg[0] == '/', 1);
    struct eco_buf out = ECO_BUF_INIT;
    eco_report_check_json(&check, &out);
    assert_non_null(strstr(out.data, "\"/results/basis\""));
    struct eco_json_doc doc;
    assert_int_equal(eco_json_parse(&doc, out.data, out.len, NULL), 0);
    eco_json_done(&doc);
    eco_buf_done(&out);
}

/* More findings than are kept, keys longer than a pointer: counted, cut, never overrun. */
static void test_many_findings(void **state)
{
    (void)state;
    struct eco_buf text = ECO_BUF_INIT;
    eco_buf_puts(&text, "{\"report_version\":1,\"software\":{\"packages\":{");
    for (int i = 0; i < 500; i++)
        eco_buf_printf(&text, "%s\"%0300d~/\\u0007\":1", i ? "," : "", i);
    eco_buf_puts(&text, "}}}");
    assert_int_equal(validate(text.data, text.len), ECO_E_CONTENT);
    assert_true(check.error_count >= 500);
    eco_buf_done(&text);
}

/* Rows are in tree order, every one of ours is documented, and no path stands twice. */
static void test_table_is_well_formed(void **state)
{
    (void)state;
    for (int ours = 0; ours < 2; ours++) {
        size_t n;
        const struct eco_report_rule *r = eco_report_rules(ours, &n);
        assert_string_equal(r[0].path, "");
        for (size_t i = 1; i < n; i++) {
            size_t parents = 0, start = 0;
            for (size_t j = 0; j < i; j++) {
                assert_string_not_equal(r[i].path, r[j].path);
                if (eco_report_rule_key(&r[j], &r[i])) {
                    parents++;
                    start = j;
                }
            }
            assert_int_equal(parents, 1);
            for (size_t j = start; j < i; j++)
                assert_true(eco_report_rule_within(&r[start], &r[j]));
            size_t brothers = 0;
            for (size_t j = 0; j < n; j++)
                brothers += eco_report_rule_key(&r[start], &r[j]) != NULL;
            assert_true(brothers <= 64);
            if (ours) {
                assert_non_null(r[i].help);
                assert_true(strlen(r[i].help) > 0);
            }
        }
    }
}

/* What the published table requires or types, ours requires and types at least as strictly. */
static void test_ours_implies_published(void **state)
{
    (void)state;
    size_t n, m;
    const struct eco_report_rule *theirs = eco_report_rules(false, &n);
    const struct eco_report_rule *ours = eco_report_rules(true, &m);
    for (size_t i = 0; i < n; i++) {
        const struct eco_report_rule *o = NULL;
        for (size_t j = 0; j < m && !o; j++)
            o = strcmp(theirs[i].path, ours[j].path) == 0 ? &ours[j] : NULL;
        if (!o)
            fail_msg("our table lacks '%s'", theirs[i].path);
        assert_true(o->required || !theirs[i].required);
        for (const char *t = o->types; *t; t++) {
            bool integer_is_number = *t == 'i' && strchr(theirs[i].types, 'n');
            if (!strchr(theirs[i].types, *t) && !integer_is_number &&
                strncmp(o->path, "scenario_note", 13) != 0)
                fail_msg("'%s' allows '%c', the published rules do not", o->path, *t);
        }
        if (!isnan(theirs[i].min))
            assert_true(o->min >= theirs[i].min);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schema_cases),          cmocka_unit_test(test_hostile_input),
        cmocka_unit_test(test_errors_name_the_place), cmocka_unit_test(test_many_findings),
        cmocka_unit_test(test_table_is_well_formed),  cmocka_unit_test(test_ours_implies_published),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
