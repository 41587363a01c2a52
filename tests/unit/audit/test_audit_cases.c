/* Every case of tests/conformance/audit.jsonl: a finding outside `want` and `may` is a false alarm,
 * a `want` without a finding is a miss; at most 2 % of the cases may be wrong. audit_more.jsonl are
 * our own cases of code that was not there when the rules were written. */
#include "eco_test.h"

#include "audit/audit.h"
#include "base/file.h"
#include "base/json.h"

#include <stdio.h>

struct score {
    int want, hit, false_alarm;
};

static bool matches(const struct eco_json *w, const struct eco_audit_finding *f)
{
    const struct eco_json *span = eco_json_get(w, "span");
    const char *rule = eco_json_get(w, "rule")->str;
    return strcmp(rule, eco_audit_rule(f->rule)->id) == 0 &&
           strcmp(eco_json_get(w, "severity")->str, eco_severity_name(f->severity)) == 0 &&
           f->line >= (uint32_t)span->child->num && f->line <= (uint32_t)span->child->next->num;
}

static bool listed(const struct eco_json *list, const struct eco_audit_finding *f)
{
    for (const struct eco_json *w = list ? list->child : NULL; w; w = w->next) {
        if (matches(w, f)) {
            return true;
        }
    }
    return false;
}

/* Counts one case; true when all of it is right. */
static bool judge(const struct eco_json *c, const struct eco_audit *a, struct score *s)
{
    const struct eco_json *want = eco_json_get(c, "want"), *may = eco_json_get(c, "may");
    bool right = true;
    for (const struct eco_json *w = want->child; w; w = w->next) {
        bool found = false;
        for (size_t i = 0; i < a->n; i++) {
            found |= matches(w, &a->findings[i]);
        }
        struct score *r =
            &s[eco_audit_rule_find(eco_json_get(w, "rule")->str, eco_json_get(w, "rule")->len)];
        r->want++;
        r->hit += found;
        if (!found) {
            print_message("%s (%s): missed %s at line %g\n", eco_json_get(c, "id")->str,
                          eco_json_get(c, "tag")->str, eco_json_get(w, "rule")->str,
                          eco_json_get(w, "line")->num);
            right = false;
        }
    }
    for (size_t i = 0; i < a->n; i++) {
        if (!listed(want, &a->findings[i]) && !listed(may, &a->findings[i])) {
            s[a->findings[i].rule].false_alarm++;
            print_message("%s (%s): false alarm %s at line %u: %s\n", eco_json_get(c, "id")->str,
                          eco_json_get(c, "tag")->str, eco_audit_rule(a->findings[i].rule)->id,
                          a->findings[i].line, a->findings[i].message);
            right = false;
        }
    }
    return right;
}

static void run_case(const char *line, size_t len, struct score *s, int *wrong, int *stretch_wrong)
{
    struct eco_json_doc doc;
    struct eco_err err = {0};
    struct eco_audit a;
    assert_int_equal(eco_json_parse(&doc, line, len, &err), 0);
    const struct eco_json *text = eco_json_get(doc.root, "text");
    eco_audit_init(&a);
    assert_int_equal(
        eco_audit_text(&a, eco_json_get(doc.root, "path")->str, text->str, text->len, &err), 0);
    eco_audit_sort(&a);
    bool right = judge(doc.root, &a, s);
    if (eco_json_get(doc.root, "stretch")) {
        *stretch_wrong += !right;
    } else {
        *wrong += !right;
    }
    eco_audit_done(&a);
    eco_json_done(&doc);
}

struct cases {
    const char *path;
    int at_least;
};

static void test_file(void **state)
{
    const struct cases *c = *state;
    struct eco_buf b = ECO_BUF_INIT;
    struct score s[ECO_AUDIT_RULES_COUNT] = {{0}};
    int n = 0, wrong = 0, stretch_wrong = 0;
    if (!eco_audit_available()) {
        print_message("skipped: audit is not built in (no node_modules)\n");
        skip();
    }
    assert_int_equal(eco_file_read(c->path, 1 << 24, &b, NULL), 0);
    for (const char *p = b.data, *nl; (nl = strchr(p, '\n')) != NULL; p = nl + 1, n++) {
        run_case(p, (size_t)(nl - p), s, &wrong, &stretch_wrong);
    }
    eco_buf_done(&b);
    for (int r = 0; r < ECO_AUDIT_RULES_COUNT; r++) {
        print_message("%-16s wanted %2d found %2d false alarms %d\n",
                      eco_audit_rule((enum eco_audit_rule)r)->id, s[r].want, s[r].hit,
                      s[r].false_alarm);
    }
    print_message("%d cases, %d wrong, %d stretch cases wrong\n", n, wrong, stretch_wrong);
    assert_true(n >= c->at_least);
    assert_true(wrong * 50 <= n);
    assert_true(stretch_wrong <= 1);
}

#define CASES(file, n)                                                                             \
    &(struct cases)                                                                                \
    {                                                                                              \
        ECO_TEST_DIR "/conformance/" file ".jsonl", n                                              \
    }
#define TEST(file, n)                                                                              \
    {                                                                                              \
        file, test_file, NULL, NULL, CASES(file, n)                                                \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST("audit", 99),        TEST("audit_more", 246),
        TEST("audit_new", 105),   /* labelled before the program saw them, see docs/audit.md */
        TEST("audit_third", 138), /* flow of values, other libraries' keywords, build files */
        TEST("audit_held", 75),   /* kept from the rules' authors until these were done */
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
