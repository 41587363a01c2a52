/*
 * Share links and overlays against the cases of the published encoder and pages. The cases where
 * ours is stricter on purpose stand in `stricter`, each with its reason; one that stops differing
 * fails the test too.
 */
#include "fixtures.h"

#include "base/hash.h"
#include "dataset/dataset.h"
#include "report/report.h"

static const struct {
    const char *id, *reason;
} stricter[] = {
    {"share-url-0310", "duplicate keys make a document invalid"},
    {"share-url-0357", "'constructor' is no architecture"},
    {"share-url-0359", "'__proto__' is no architecture"},
};

struct tally {
    size_t kinds[4], wrong, differ;
    bool seen[sizeof(stricter) / sizeof(stricter[0])];
    const struct eco_published_curve *curves;
    size_t curve_count;
};

static void report_wrong(struct tally *t, const struct eco_json *c, const char *what)
{
    const char *id = text_of(c, "id");
    for (size_t i = 0; i < sizeof(stricter) / sizeof(stricter[0]); i++) {
        if (strcmp(stricter[i].id, id) == 0) {
            t->seen[i] = true;
            t->differ++;
            return;
        }
    }
    t->wrong++;
    print_error("%s %s (%s): %s\n", id, text_of(c, "kind"),
                text_of(c, "tag") ? text_of(c, "tag") : "", what);
}

static bool is_null(const struct eco_json *v)
{
    return v && v->type == ECO_JSON_NULL;
}

static void compare_encode(struct tally *t, const struct eco_json *c)
{
    struct eco_buf report = ECO_BUF_INIT, url = ECO_BUF_INIT;
    struct eco_json_writer w;
    struct eco_err err = {0};
    const struct eco_json *in = eco_json_get(c, "in"), *out = eco_json_get(c, "out");
    eco_jw_init(&w, &report, 0);
    eco_jw_value(&w, eco_json_get(in, "report"));
    int rc = eco_report_share(report.data, report.len, text_of(in, "site"), &url, &err);
    const struct eco_json *want_n = eco_json_get(c, "want_N");
    bool refuse = is_null(eco_json_at(c, "/want/url")) || !text_of(out, "url");
    if (refuse && rc == 0)
        report_wrong(t, c, "made a link");
    else if (!refuse && rc != 0)
        report_wrong(t, c, err.message);
    else if (want_n) {
        struct eco_report_points points = {0};
        assert_int_equal(eco_report_overlay(url.data, url.len, &points, &err), 0);
        if (points.count != 1 || points.items[0].params_b != want_n->num)
            report_wrong(t, c, "another size");
        eco_report_points_done(&points);
    } else if (!refuse && strcmp(url.data, text_of(out, "url")) != 0)
        report_wrong(t, c, url.data);
    eco_buf_done(&report);
    eco_buf_done(&url);
}

static bool same_text(const struct eco_json *want, const char *got)
{
    if (!want || want->type == ECO_JSON_NULL)
        return got == NULL;
    return want->type == ECO_JSON_STRING && got && strcmp(want->str, got) == 0;
}

/* `p` is one member of the "points" that eco_report_points_json wrote. */
static const char *point_differs(const struct eco_json *c, const struct eco_json *want,
                                 const struct eco_json *p)
{
    static const char *const texts[] = {"arch", "precision", "basis", "model", "gpu"};
    const struct eco_json *n = eco_json_get(want, "N"), *d = eco_json_get(want, "dE");
    if (n->type != ECO_JSON_NUMBER || n->num != eco_json_get(p, "N")->num)
        return "another size";
    if (d->type != ECO_JSON_NUMBER || d->num != eco_json_get(p, "dE")->num)
        return "another change";
    const char *not_basis = text_of(c, "basis_must_not_be");
    if (not_basis && strcmp(not_basis, text_of(p, "basis")) == 0)
        return "an invented basis";
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        const struct eco_json *w = eco_json_get(want, texts[i]);
        if (i == 0 && eco_json_get(c, "want_arch"))
            w = eco_json_get(c, "want_arch");
        if ((i == 2 && not_basis) || same_text(w, text_of(p, texts[i])))
            continue;
        return texts[i];
    }
    return NULL;
}

static void compare_decode(struct tally *t, const struct eco_json *c)
{
    struct eco_report_points points = {0};
    struct eco_buf made = ECO_BUF_INIT;
    struct eco_err err = {0};
    struct eco_json_doc doc;
    const struct eco_json *query = eco_json_at(c, "/in/query");
    const struct eco_json *want =
        eco_json_get(c, "want") ? eco_json_get(c, "want") : eco_json_get(c, "out");
    assert_int_equal(eco_report_overlay(query->str, query->len, &points, &err), 0);
    eco_report_points_json(&points, &made);
    assert_int_equal(eco_json_parse(&doc, made.data, made.len, &err), 0);
    size_t count = (size_t)eco_json_get(want, "count")->num;
    const struct eco_json *p = eco_json_get(doc.root, "points")->child;
    const struct eco_json *w = eco_json_get(want, "points")->child;
    if (points.count != count) {
        if (points.count > count || !true_at(c, "may_refuse"))
            report_wrong(t, c, points.refused ? points.first_refusal : "another count");
    } else {
        for (; w; w = w->next, p = p->next) {
            const char *what = point_differs(c, w, p);
            if (what)
                report_wrong(t, c, what);
        }
    }
    eco_json_done(&doc);
    eco_buf_done(&made);
    eco_report_points_done(&points);
}

/*
 * The readers of a whole report. Ours refuses, besides what the pages refuse: a change or a version
 * that is no number or text (booleans, lists, 1.1), a size of zero or below, and 1e999. The
 * replications page also keeps a point without a size; ours has nothing to place.
 */
static bool stricter_report(const struct eco_json *root)
{
    const struct eco_json *d = eco_json_at(root, "/results/vs_fp16_energy_pct");
    const struct eco_json *n = eco_json_at(root, "/workload/params_b");
    const struct eco_json *v = eco_json_get(root, "schema_version");
    if (d && d->type != ECO_JSON_NUMBER && d->type != ECO_JSON_STRING)
        return true;
    if (v && (v->type != ECO_JSON_STRING || strncmp(v->str, "ecocompute-energy", 17) != 0))
        return true;
    if (n && (n->type == ECO_JSON_STRING || (n->type == ECO_JSON_NUMBER && n->num <= 0)))
        return true;
    return false;
}

static void compare_point(struct tally *t, const struct eco_json *c, const struct eco_json *want,
                          const struct eco_report_points *points, bool page_words)
{
    struct eco_buf made = ECO_BUF_INIT;
    struct eco_json_doc doc;
    eco_report_points_json(points, &made);
    assert_int_equal(eco_json_parse(&doc, made.data, made.len, NULL), 0);
    const struct eco_json *p = eco_json_get(doc.root, "points")->child;
    const struct eco_json *basis = eco_json_get(want, "basis");
    const char *what = NULL;
    if (eco_json_get(want, "N")->num != eco_json_get(p, "N")->num)
        what = "another size";
    else if (eco_json_get(want, "dE")->num != eco_json_get(p, "dE")->num)
        what = "another change";
    else if (page_words)
        what = point_differs(c, want, p);
    if (what && page_words && strcmp(what, "basis") == 0 &&
        strcmp(text_of(p, "basis"), "unverified") == 0 && strcmp(basis->str, "measured") != 0)
        what = NULL; /* an invented basis is shown as unverified */
    if (what)
        report_wrong(t, c, what);
    eco_json_done(&doc);
    eco_buf_done(&made);
}

static void compare_classes(struct tally *t, const struct eco_json *c,
                            const struct eco_report_replication *r)
{
    const struct eco_json *missing = eco_json_at(c, "/out/missing");
    const struct eco_json *want = eco_json_at(c, "/out/classify");
    size_t i = 0;
    for (const struct eco_json *m = missing->child; m; m = m->next, i++) {
        if (i >= r->missing_count || strcmp(m->str, r->missing[i]) != 0)
            report_wrong(t, c, "another list of missing fields");
    }
    if (i != r->missing_count)
        report_wrong(t, c, "more missing fields");
    bool wanted = want && want->type == ECO_JSON_OBJECT;
    if (wanted != r->classified) {
        report_wrong(t, c, wanted ? "not classified" : "classified");
        return;
    }
    if (!wanted)
        return;
    if (fabs(eco_json_get(want, "pred")->num - r->pred_pct) > 6e-5 ||
        fabs(eco_json_get(want, "band")->num - r->band_pct) > 6e-5 ||
        fabs(eco_json_get(want, "outside")->num - r->outside_pct) > 2e-4 ||
        true_at(want, "agrees") != r->agrees ||
        strcmp(text_of(want, "arch"), eco_arch_name(r->arch_used)) != 0)
        report_wrong(t, c, "another class");
}

static void compare_report(struct tally *t, const struct eco_json *c, bool replications)
{
    struct eco_report_points points = {0};
    struct eco_report_replication r = {0};
    struct eco_err err = {0};
    struct eco_json_doc doc;
    const struct eco_json *text = eco_json_at(c, "/in/text");
    const char *error = text_of(eco_json_get(c, "out"), "error");
    const struct eco_json *want = eco_json_at(c, "/out/point");
    bool strict = false, size = want && eco_json_get(want, "N")->type == ECO_JSON_NUMBER;
    if (eco_json_parse(&doc, text->str, text->len, NULL) == 0) {
        strict = stricter_report(doc.root);
        eco_json_done(&doc);
    }
    int rc =
        eco_report_replicate(text->str, text->len, t->curves, t->curve_count, &points, &r, &err);
    if (rc != 0) {
        bool word = error && strcmp(error, err.arg) == 0;
        if (strict || (replications && want && !size))
            t->differ++;
        else if (!error)
            report_wrong(t, c, err.message);
        else if (!word && !replications && strcmp(err.arg, "not_json") != 0)
            report_wrong(t, c, err.arg);
    } else if (error) {
        report_wrong(t, c, "made a point");
    } else if (!replications || size) {
        compare_point(t, c, want, &points, !replications);
        if (replications)
            compare_classes(t, c, &r);
    }
    eco_report_points_done(&points);
}

static void compare(const struct eco_json *c, void *arg)
{
    static const char *const kinds[] = {"encode", "decode", "run_tab", "replications"};
    struct tally *t = arg;
    size_t k = 0;
    while (strcmp(kinds[k], text_of(c, "kind")) != 0)
        assert_true(++k < 4);
    t->kinds[k]++;
    if (k == 0)
        compare_encode(t, c);
    else if (k == 1)
        compare_decode(t, c);
    else
        compare_report(t, c, k == 3);
}

static void test_cases(void **state)
{
    (void)state;
    static struct tally t;
    t.curves = eco_dataset_published()->curves;
    t.curve_count = eco_dataset_published()->n_curves;
    size_t n = each_case("share_url.jsonl", compare, &t);
    print_message("share: %zu encode, %zu decode, %zu run_tab, %zu replications; %zu wrong, "
                  "%zu stricter on purpose\n",
                  t.kinds[0], t.kinds[1], t.kinds[2], t.kinds[3], t.wrong, t.differ);
    assert_int_equal(n, 375);
    assert_int_equal(t.wrong, 0);
    for (size_t i = 0; i < sizeof(stricter) / sizeof(stricter[0]); i++) {
        if (!t.seen[i])
            fail_msg("%s no longer differs (%s)", stricter[i].id, stricter[i].reason);
    }
}

/* The number text of the encoder, as Python's repr prints it. */
static void test_python_floats(void **state)
{
    (void)state;
    static const struct {
        const char *in, *want;
    } cases[] = {
        {"7", "7.0"},
        {"1e16", "1e+16"},
        {"9999999999999998", "9999999999999998.0"},
        {"0.125", "0.12"},
        {"0.375", "0.38"},
        {"-0.001", "-0.0"},
        {"1e300", "1e+300"},
        {"123456.789", "123456.79"},
        {"1.5e17", "1.5e+17"},
        {"0.1", "0.1"},
        {"100", "100.0"},
        {"-75", "-75.0"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct eco_buf url = ECO_BUF_INIT, text = ECO_BUF_INIT, blob = ECO_BUF_INIT;
        eco_buf_printf(&text,
                       "{\"workload\":{\"params_b\":7},\"results\":"
                       "{\"vs_fp16_energy_pct\":%s}}",
                       cases[i].in);
        assert_int_equal(eco_report_share(text.data, text.len, "https://x.example/", &url, NULL),
                         0);
        const char *at = strstr(url.data, "overlay=");
        assert_memory_equal(url.data, "https://x.example/?tab=run&overlay=", 35);
        assert_int_equal(eco_base64url_decode(&blob, at + 8, strlen(at + 8)), 0);
        char want[64];
        snprintf(want, sizeof(want), "\"e\":%s,", cases[i].want);
        if (!strstr(blob.data, want))
            fail_msg("%s gives %s", cases[i].in, blob.data);
        eco_buf_done(&url);
        eco_buf_done(&text);
        eco_buf_done(&blob);
    }
}

static void test_links_in_every_form(void **state)
{
    (void)state;
    static const char blob[] = "eyJOIjo3LCJlIjoxfQ"; /* {"N":7,"e":1} */
    static const char *const forms[][2] = {{"", ""},
                                           {"?overlay=", ""},
                                           {"overlay=", ""},
                                           {"tab=run&overlay=", "&x"},
                                           {"https://a.example/?tab=run&overlay=", ""},
                                           {"https://a.example/?tab=run&overlay=", "#top"},
                                           {"https://a.example/#overlay=", ""}};
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        char link[256];
        struct eco_report_points points = {0};
        snprintf(link, sizeof(link), "%s%s%s", forms[i][0], blob, forms[i][1]);
        assert_int_equal(eco_report_overlay(link, strlen(link), &points, NULL), 0);
        if (points.count != 1)
            fail_msg("%s: %s", link, points.first_refusal);
        assert_near(points.items[0].params_b, 7, 0);
        eco_report_points_done(&points);
    }
}

/* A field that share links do not have is a claim nobody checked: the link is refused, by name. */
static void test_invented_fields(void **state)
{
    (void)state;
    static const char *const blobs[] = {
        "{\"N\":7,\"e\":1,\"verified\":true}",
        "{\"N\":7,\"e\":-60,\"signature\":{\"algorithm\":\"ed25519\"}}",
        "{\"N\":7,\"e\":1,\"boundary\":\"wall\"}",
        "{\"N\":7,\"e\":1,\"n\":500}",
        "{\"N\":7,\"e\":1,\"\\u001b[31m\":1}",
    };
    for (size_t i = 0; i < sizeof(blobs) / sizeof(blobs[0]); i++) {
        struct eco_buf link = ECO_BUF_INIT;
        struct eco_report_points points = {0};
        eco_buf_puts(&link, "https://quantenergy.tech/?tab=run&overlay=");
        eco_base64url_encode(&link, blobs[i], strlen(blobs[i]));
        assert_int_equal(eco_report_overlay(link.data, link.len, &points, NULL), 0);
        assert_int_equal(points.count, 0);
        assert_int_equal(points.refused, 1);
        if (!strstr(points.first_refusal, "which share links do not have") ||
            strchr(points.first_refusal, 0x1b))
            fail_msg("%s: %s", blobs[i], points.first_refusal);
        eco_report_points_done(&points);
        eco_buf_done(&link);
    }
}

static void test_limits(void **state)
{
    (void)state;
    struct eco_report_points points = {0};
    struct eco_err err = {0};
    size_t len = ECO_REPORT_MAX_QUERY + 1;
    char *link = malloc(len);
    memset(link, 'A', len);
    assert_int_equal(eco_report_overlay(link, len, &points, &err), ECO_E_TOO_LARGE);
    free(link);
    struct eco_buf many = ECO_BUF_INIT;
    for (int i = 0; i <= ECO_REPORT_MAX_POINTS; i++)
        eco_buf_puts(&many, "&overlay=eyJOIjo3LCJlIjoxfQ");
    assert_int_equal(eco_report_overlay(many.data, many.len, &points, &err), ECO_E_TOO_LARGE);
    assert_int_equal(points.count, ECO_REPORT_MAX_POINTS);
    eco_report_points_done(&points);
    eco_buf_done(&many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_python_floats),
        cmocka_unit_test(test_links_in_every_form),
        cmocka_unit_test(test_invented_fields),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
