/*
 * What a reader sees: every number in the text stands in the document, the words that a number must
 * carry are there, hostile text cannot escape its place, and no line is wider than asked.
 */
#include "fixtures.h"
#include "samples.h"

#include "base/num.h"
#include "report/report.h"
#include "report/report_text.h"

static struct sample sample;
static void (*const fill[])(struct sample *, enum eco_precision) = {
    sample_fallback, sample_measured, sample_nothing};

static void build(struct eco_buf *out)
{
    struct eco_err err = {0};
    eco_buf_clear(out);
    if (eco_report_build(&sample.run, 0, out, &err) != 0)
        fail_msg("%s", err.message);
}

/* A number of the text: sign, digits, places. False at the end. */
static bool next_number(const char **at, double *value, int *places, const char **start)
{
    const char *s = *at;
    while (*s && !(*s >= '0' && *s <= '9'))
        s++;
    if (!*s)
        return false;
    *start = s;
    char text[64];
    size_t n = strspn(s, "0123456789");
    *places = 0;
    if (s[n] == '.' && s[n + 1] >= '0' && s[n + 1] <= '9') {
        *places = (int)strspn(s + n + 1, "0123456789");
        n += 1 + (size_t)*places;
    }
    *at = s + n;
    n = n < sizeof(text) ? n : sizeof(text) - 1;
    memcpy(text, s, n);
    text[n] = '\0';
    *value = strtod(text, NULL);
    return true;
}

/* Rounded to the places shown (or to 4 digits, for large values) some number of the file is it. */
static bool occurs(const struct eco_json *v, double shown, int places)
{
    if (v->type == ECO_JSON_NUMBER) {
        double half = 0.5000001 * pow(10, -places);
        return fabs(fabs(v->num) - shown) <= half;
    }
    for (const struct eco_json *m = v->child; m; m = m->next) {
        if (occurs(m, shown, places))
            return true;
    }
    return false;
}

/* Digits inside the document's own strings (names, versions, digests) are quotations. */
static bool quoted(const struct eco_json *v, const char *token)
{
    if (v->type == ECO_JSON_STRING) {
        double value;
        int places;
        const char *start;
        for (const char *at = v->str; next_number(&at, &value, &places, &start);) {
            if ((size_t)(at - start) == strlen(token) && memcmp(start, token, strlen(token)) == 0)
                return true;
        }
    }
    for (const struct eco_json *m = v->child; m; m = m->next) {
        if (quoted(m, token))
            return true;
    }
    return false;
}

/* The first number of `text` that the document does not have, or NULL. */
static const char *strange_number(const char *text, const struct eco_buf *json)
{
    static const char *const fixed[] = {"16-bit", "95\xc2\xa0", "95 %"};
    struct eco_json_doc doc;
    double shown;
    int places;
    const char *start, *strange = NULL;
    assert_int_equal(eco_json_parse(&doc, json->data, json->len, NULL), 0);
    for (const char *at = text; !strange && next_number(&at, &shown, &places, &start);) {
        char token[80];
        bool ours = start - text >= 3 && strncmp(start - 3, "sha256", 6) == 0;
        snprintf(token, sizeof(token), "%.*s", (int)(at - start), start);
        for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
            ours = ours || strncmp(start, fixed[i], strlen(fixed[i])) == 0;
        if (!ours && !occurs(doc.root, shown, places) && !quoted(doc.root, token))
            strange = start;
    }
    eco_json_done(&doc);
    return strange;
}

static void check_numbers(const char *text, const struct eco_buf *json)
{
    const char *strange = strange_number(text, json);
    if (strange)
        fail_msg("not in the document: %.40s", strange);
}

static void test_the_number_check_can_fail(void **state)
{
    (void)state;
    struct eco_buf json = ECO_BUF_INIT;
    sample_fallback(&sample, ECO_PREC_NF4);
    build(&json);
    assert_null(strange_number("4320 mJ on RTX 4090, Qwen2-7B, 22.4 %", &json));
    assert_non_null(strange_number("4321 mJ", &json));
    assert_non_null(strange_number("432 mJ", &json));
    assert_non_null(strange_number("22.5 %", &json));
    eco_buf_done(&json);
}

static void test_every_number_is_in_the_document(void **state)
{
    (void)state;
    struct eco_buf json = ECO_BUF_INIT, out = ECO_BUF_INIT;
    struct eco_report_style style = {400, false, true};
    for (int i = 0; i < 3; i++) {
        fill[i](&sample, ECO_PREC_NF4);
        /* Unusual values, so that a number shown by mistake is not found by luck. */
        sample.arms[0].j_per_token *= 1.0371;
        sample.arms[0].tokens_per_s *= 0.9127;
        build(&json);
        eco_buf_clear(&out);
        assert_int_equal(eco_report_show(json.data, json.len, &style, &out, NULL), 0);
        check_numbers(out.data, &json);
        eco_buf_clear(&out);
        assert_int_equal(eco_report_markdown(json.data, json.len, &out, NULL), 0);
        check_numbers(out.data, &json);
    }
    eco_buf_done(&json);
    eco_buf_done(&out);
}

static void test_words_that_must_be_there(void **state)
{
    (void)state;
    static const char *const always[] = {"n ",
                                         "spread",
                                         "boundary",
                                         "source",
                                         "Limits",
                                         "How it was obtained",
                                         "10.5281/zenodo.19647290",
                                         "Not a certified benchmark result"};
    static const char *const own[] = {"cannot tell", "costs energy", "no answer"};
    static const char *const basis[] = {"not measured", "measured in the run", "unavailable"};
    struct eco_buf json = ECO_BUF_INIT, out = ECO_BUF_INIT;
    struct eco_report_style style = {200, false, false};
    for (int i = 0; i < 3; i++) {
        fill[i](&sample, ECO_PREC_NF4);
        build(&json);
        for (int form = 0; form < 2; form++) {
            eco_buf_clear(&out);
            int rc = form ? eco_report_markdown(json.data, json.len, &out, NULL)
                          : eco_report_show(json.data, json.len, &style, &out, NULL);
            assert_int_equal(rc, 0);
            for (size_t k = 0; k < sizeof(always) / sizeof(always[0]); k++) {
                if (!strstr(out.data, always[k]))
                    fail_msg("sample %d lacks '%s':\n%s", i, always[k], out.data);
            }
            assert_non_null(strstr(out.data, own[i]));
            assert_non_null(strstr(out.data, basis[i]));
        }
    }
    assert_null(strstr(out.data, "NaN"));
    assert_null(strstr(out.data, "nan"));
    eco_buf_done(&json);
    eco_buf_done(&out);
}

/* Columns of the widest line, colour codes not counted. */
static size_t widest(const char *text)
{
    size_t most = 0;
    struct eco_buf line = ECO_BUF_INIT;
    for (const char *s = text; *s; s++) {
        if (*s == '\033') {
            s += strcspn(s, "m");
        } else if (*s == '\n') {
            size_t w = eco_str_width(eco_buf_str(&line), line.len);
            most = w > most ? w : most;
            eco_buf_clear(&line);
        } else {
            eco_buf_putc(&line, *s);
        }
    }
    assert_int_equal(line.len, 0); /* ends with a newline */
    eco_buf_done(&line);
    return most;
}

static const char *line_of(const char *text, const char *label)
{
    static char line[400];
    const char *at = strstr(text, label);
    if (!at)
        fail_msg("no '%s' in:\n%s", label, text);
    snprintf(line, sizeof(line), "%.*s", (int)strcspn(at, "\n"), at);
    return line;
}

static void must_hold(const char *text, const char *label, const char *what)
{
    if (!strstr(line_of(text, label), what))
        fail_msg("'%s' is not in: %s", what, line_of(text, label));
}

/* Terminal and Markdown lead with the counter; what the samples say is beside it. */
static void test_the_counter_leads(void **state)
{
    (void)state;
    struct eco_buf json = ECO_BUF_INIT, out = ECO_BUF_INIT;
    struct eco_report_style style = {200, false, true};
    sample_two_instruments(&sample);
    build(&json);
    for (int form = 0; form < 2; form++) {
        eco_buf_clear(&out);
        assert_int_equal(form ? eco_report_markdown(json.data, json.len, &out, NULL)
                              : eco_report_show(json.data, json.len, &style, &out, NULL),
                         0);
        must_hold(out.data, "saves energy", form ? "34.3\xc2\xa0%" : "-34.3 %");
        must_hold(out.data, "saves energy", form ? "35.3\xc2\xa0%" : "-35.3 %");
        assert_non_null(strstr(out.data, "513 mJ by the hardware counter"));
        must_hold(out.data, "cross-check", "318 mJ by sampled power");
        must_hold(out.data, "cross-check", form ? "5.6\xc2\xa0%" : "-5.6 %");
        must_hold(out.data, "cross-check", form ? "32.5\xc2\xa0%" : "-32.5 %");
        must_hold(out.data, "spread", "2.7 mJ");
        assert_non_null(strstr(out.data, "337 mJ by the hardware counter"));
        must_hold(out.data, "another session", "one session: unknown");
        check_numbers(out.data, &json);
    }
    /* where the counter knows no change but the samples do, they lead and it is beside them */
    sample.arms[0].counter_delta.pct = NAN;
    build(&json);
    eco_buf_clear(&out);
    assert_int_equal(eco_report_show(json.data, json.len, &style, &out, NULL), 0);
    must_hold(out.data, "saves energy", "-32.5 %");
    must_hold(out.data, "cross-check", "337 mJ by the hardware counter");
    eco_buf_done(&json);
    eco_buf_done(&out);
}

/* What ran is the title; whose joules are told is said where they are. */
static void test_times_only_names_what_ran(void **state)
{
    (void)state;
    struct eco_buf json = ECO_BUF_INIT, out = ECO_BUF_INIT;
    sample_times_only(&sample);
    build(&json);
    assert_int_equal(eco_report_markdown(json.data, json.len, &out, NULL), 0);
    must_hold(out.data, "# ", "NF4 on AMD EPYC 9355: Qwen/Qwen2-7B");
    must_hold(out.data, "**", "the data set's answer for NVIDIA GeForce RTX 4090");
    must_hold(out.data, "throughput", "8.4 tokens/s");
    must_hold(out.data, "| energy per token", "4320 mJ on NVIDIA GeForce RTX 4090, by the data");
    must_hold(out.data, "| 16-bit baseline", "RTX 4090, by the data set");
    assert_non_null(strstr(out.data, "backend ecocompute-cpu"));
    eco_buf_done(&json);
    eco_buf_done(&out);
}

static void test_lines_keep_their_width(void **state)
{
    (void)state;
    struct eco_buf json = ECO_BUF_INIT, out = ECO_BUF_INIT;
    for (int i = 0; i < 3; i++) {
        fill[i](&sample, ECO_PREC_GGUF_Q4_K_M);
        snprintf(sample.run.model.name, sizeof(sample.run.model.name),
                 "\xe6\xa8\xa1\xe5\x9e\x8b-a-very-long-name-without-a-single-blank-in-it-that-no-"
                 "narrow-terminal-can-hold");
        build(&json);
        for (int width = 40; width <= 130; width += 9) {
            for (int color = 0; color < 2; color++) {
                struct eco_report_style style = {width, color, width % 2 == 0};
                eco_buf_clear(&out);
                assert_int_equal(eco_report_show(json.data, json.len, &style, &out, NULL), 0);
                if (widest(out.data) > (size_t)width)
                    fail_msg("a line is %zu columns at width %d:\n%s", widest(out.data), width,
                             out.data);
                assert_int_equal(strchr(out.data, '\033') != NULL, color);
            }
        }
    }
    struct eco_report_style narrow = {39, false, false};
    assert_int_equal(eco_report_show(json.data, json.len, &narrow, &out, NULL), ECO_E_RANGE);
    eco_buf_done(&json);
    eco_buf_done(&out);
}

static void test_hostile_text_stays_text(void **state)
{
    (void)state;
    struct eco_buf json = ECO_BUF_INIT, out = ECO_BUF_INIT;
    struct eco_report_style style = {80, false, false};
    sample_fallback(&sample, ECO_PREC_NF4);
    sample.run.gpu_name = "\033[31mred\033[0m\n# heading | <img src=x onerror=alert(1)> \xc2\x9b";
    build(&json);
    assert_int_equal(eco_report_show(json.data, json.len, &style, &out, NULL), 0);
    assert_null(strchr(out.data, '\033'));
    assert_null(strstr(out.data, "\xc2\x9b"));
    eco_buf_clear(&out);
    assert_int_equal(eco_report_markdown(json.data, json.len, &out, NULL), 0);
    assert_null(strstr(out.data, " <img"));
    assert_null(strstr(out.data, "\n# heading"));
    assert_non_null(strstr(out.data, "\\<img src=x"));
    eco_buf_done(&json);
    eco_buf_done(&out);
}

static void test_documents_that_are_not_reports(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "", "null", "[]", "7", "{", "{\"results\":{\"basis\":NaN}}", "{}", "{\"results\":7}"};
    static const char *const odd[] = {
        "{\"results\":{}}",
        "{\"results\":{\"basis\":7},\"warnings\":{\"a\":1},\"energy_sources\":[1,null,{}],"
        "\"ecocompute\":3,\"sessions\":[],\"headline\":\"x\"}",
        "{\"results\":{\"vs_fp16_energy_pct\":1e308,\"vs_fp16_ci95_pct\":[-1e308,1e308]}}",
        "{\"results\":{},\"prediction\":{\"vs_fp16_energy_pct\":-3,\"ci95_pct\":[1]},"
        "\"partial\":true}"};
    struct eco_buf out = ECO_BUF_INIT;
    struct eco_report_style style = {60, false, true};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(eco_report_show(bad[i], strlen(bad[i]), &style, &out, NULL),
                         ECO_E_CONTENT);
        assert_int_equal(eco_report_markdown(bad[i], strlen(bad[i]), &out, NULL), ECO_E_CONTENT);
    }
    assert_int_equal(out.len, 0);
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        assert_int_equal(eco_report_show(odd[i], strlen(odd[i]), &style, &out, NULL), 0);
        assert_int_equal(eco_report_markdown(odd[i], strlen(odd[i]), &out, NULL), 0);
    }
    eco_buf_done(&out);
}

/* Every writer stops at a full buffer, says so, and leaks nothing (the sanitizer build looks). */
static void test_full_buffers(void **state)
{
    (void)state;
    struct eco_buf json = ECO_BUF_INIT;
    struct eco_report_style style = {80, false, false};
    struct eco_err err;
    sample_measured(&sample, ECO_PREC_NF4);
    build(&json);
    for (size_t limit = 1; limit < 1000; limit = limit * 3 + 1) {
        struct eco_buf out[4] = {{.limit = limit},
                                 {.limit = limit},
                                 {.limit = limit},
                                 {.limit = limit > 100 ? 100 : limit}};
        assert_int_equal(eco_report_build(&sample.run, 0, &out[0], &err), ECO_E_NO_MEMORY);
        assert_int_equal(eco_report_show(json.data, json.len, &style, &out[1], &err),
                         ECO_E_NO_MEMORY);
        assert_int_equal(eco_report_markdown(json.data, json.len, &out[2], &err), ECO_E_NO_MEMORY);
        assert_int_equal(eco_report_share(json.data, json.len, NULL, &out[3], &err),
                         ECO_E_NO_MEMORY);
        for (int i = 0; i < 4; i++)
            eco_buf_done(&out[i]);
    }
    eco_buf_done(&json);
}

static void test_wrapping(void **state)
{
    (void)state;
    struct eco_buf out = ECO_BUF_INIT;
    eco_text_wrap(&out, "one two  three four", 9, 2, false);
    assert_string_equal(out.data, "one two\n  three\n  four\n");
    eco_buf_clear(&out);
    assert_int_equal(eco_text_cut(&out, "\xe6\xa8\xa1\xe5\x9e\x8b\xe6\xa8\xa1", 5, false), 5);
    assert_string_equal(out.data, "\xe6\xa8\xa1\xe5\x9e\x8b\xe2\x80\xa6");
    eco_buf_clear(&out);
    eco_text_clean(&out,
                   "a\xff"
                   "b\xe2\x88\x92",
                   true);
    assert_string_equal(out.data, "a?b-");
    eco_buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_number_check_can_fail),
        cmocka_unit_test(test_every_number_is_in_the_document),
        cmocka_unit_test(test_words_that_must_be_there),
        cmocka_unit_test(test_the_counter_leads),
        cmocka_unit_test(test_times_only_names_what_ran),
        cmocka_unit_test(test_lines_keep_their_width),
        cmocka_unit_test(test_hostile_text_stays_text),
        cmocka_unit_test(test_documents_that_are_not_reports),
        cmocka_unit_test(test_full_buffers),
        cmocka_unit_test(test_wrapping),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
