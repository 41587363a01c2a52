/*
 * Charts: SVG judged by an XML parser that is not ours (check_svg.py), terminal charts by their
 * columns and by where known points must stand; both refuse what cannot be drawn.
 */
#include "fixtures.h"

#include "report/chart_scale.h"
#include "report/chart_svg.h"
#include "report/chart_text.h"

#include <sys/wait.h>
#include <unistd.h>

static struct eco_chart_curve curve[60];
static const struct eco_chart_mark marks[] = {{0.5, 59, 1, "RTX 4090D <&> \"x\""},
                                              {1.5, 38.6, 2, "b"},
                                              {7, -28.5, 1, NULL},
                                              {14, -35, 3, "d"}};
static double times[5000], watts[5000];

/* 100 (S/(1+N/5) - 0.8): +20 % at N = 0, falling, zero at 1.25. */
static struct eco_chart_crossover crossover(void)
{
    for (int i = 0; i < 60; i++) {
        double b = 0.4 * pow(200, i / 59.0), m = 100 * (1 / (1 + b / 5) - 0.8), s = 4 + m * m / 200;
        curve[i].params_b = b;
        curve[i].delta_pct =
            (struct eco_band){m, m - s, m + s, m - 2 * s, m + 2 * s, m - 3 * s, m + 3 * s};
    }
    return (struct eco_chart_crossover){"NF4 on RTX 4090 \xc2\xb7 \"quoted\" <tag> & more",
                                        "change in energy per token",
                                        "basis: interpolated; n = 4; GPU board power; a source "
                                        "line that needs more room than one line of the chart "
                                        "has, then a second, and is cut where that one ends, too "
                                        "long as it is for any reader to follow",
                                        curve,
                                        60,
                                        marks,
                                        4,
                                        1.25,
                                        7,
                                        -22.4,
                                        -40.7,
                                        1.9,
                                        "Qwen2-7B",
                                        NULL,
                                        0,
                                        0,
                                        "interpolated"};
}

/* One trial is drawn hollow, two are filled, as with the circles. */
static void test_one_trial_is_hollow(void **state)
{
    (void)state;
    struct eco_chart_crossover c = crossover();
    struct eco_buf one = ECO_BUF_INIT, two = ECO_BUF_INIT;
    c.point_n = 1;
    assert_int_equal(eco_chart_svg_crossover(&c, NULL, &one, NULL), 0);
    c.point_n = 2;
    assert_int_equal(eco_chart_svg_crossover(&c, NULL, &two, NULL), 0);
    assert_null(strstr(one.data, "class=\"eco-you\""));
    assert_non_null(strstr(two.data, "class=\"eco-you\""));
    eco_buf_done(&one);
    eco_buf_done(&two);
}

static const struct eco_chart_bar bar_rows[] = {
    {"FP16", 5567, 5100, 6100, false, true, "n = 5"},
    {"INT8-MIXED", 11900, 8000, 17000, false, false, NULL},
    {"NF4", 4320, NAN, NAN, true, true, NULL},
    {"a name far too long for any chart at all to hold", 0, NAN, NAN, false, false, NULL}};
static const struct eco_chart_bars bars = {"Energy",          "lower is better", "source",
                                           "J per 1k tokens", bar_rows,          4};
static const struct eco_chart_candidate candidates[] = {
    {10, 900, "a", true, true, false, NULL},
    {20, 500, "b, the best of them all", true, true, true, NULL},
    {30, 450, "c", true, true, false, NULL},
    {25, 800, "d", false, true, false, NULL},
    {12, 300, "e", false, false, false, NULL}};
static const struct eco_chart_pareto pareto = {"Front",     NULL,       NULL, "latency, ms",
                                               "energy, J", candidates, 5};

static struct eco_chart_power power(void)
{
    static const struct eco_chart_window windows[] = {{10, 40, "FP16 #1", NULL},
                                                      {60, 90, "NF4 #1", "NF4, 99 W"}};
    for (int i = 0; i < 5000; i++) {
        times[i] = i * 0.02;
        watts[i] = i % 500 == 250 ? 499 : 100 + 20 * sin(i);
    }
    return (struct eco_chart_power){"Power", NULL, NULL, times, watts, 5000, windows, 2, 30};
}

static void save(const char *path, const struct eco_buf *b)
{
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(b->data, 1, b->len, f) != b->len || fclose(f) != 0)
        fail_msg("cannot write %s", path);
}

static void draw(int which, struct eco_buf *out)
{
    struct eco_chart_crossover c = crossover();
    struct eco_chart_power p = power();
    struct eco_err err = {0};
    int rc = 0;
    eco_buf_clear(out);
    switch (which) {
    case 0:
        rc = eco_chart_svg_crossover(&c, NULL, out, &err);
        break;
    case 1: /* one bare point */
        c = (struct eco_chart_crossover){.crossover_b = NAN,
                                         .point_b = 7,
                                         .point_pct = 3,
                                         .point_lo_pct = NAN,
                                         .point_hi_pct = NAN};
        rc = eco_chart_svg_crossover(&c, NULL, out, &err);
        break;
    case 2:
        rc = eco_chart_svg_bars(&bars, NULL, out, &err);
        break;
    case 3:
        rc = eco_chart_svg_pareto(&pareto, NULL, out, &err);
        break;
    default:
        rc = eco_chart_svg_power(&p, NULL, out, &err);
    }
    if (rc != 0)
        fail_msg("chart %d: %s", which, err.message);
}

static void test_svg_judged_by_another_parser(void **state)
{
    (void)state;
    char dir[] = "eco-chart-XXXXXX", path[64];
    struct eco_buf out = ECO_BUF_INIT, again = ECO_BUF_INIT, cmd = ECO_BUF_INIT;
    assert_non_null(mkdtemp(dir));
    eco_buf_printf(&cmd, "/usr/bin/python3 %s/unit/report/check_svg.py", ECO_TEST_DIR);
    for (int i = 0; i < 5; i++) {
        draw(i, &out);
        draw(i, &again);
        assert_int_equal(out.len, again.len);
        assert_memory_equal(out.data, again.data, out.len);
        snprintf(path, sizeof(path), "%s/%d.svg", dir, i);
        save(path, &out);
        eco_buf_printf(&cmd, " %s", path);
    }
    int status = system(cmd.data);
    eco_buf_clear(&cmd);
    eco_buf_printf(&cmd, "rm -r %s", dir);
    assert_int_equal(system(cmd.data), 0);
    eco_buf_done(&out);
    eco_buf_done(&again);
    eco_buf_done(&cmd);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
        print_message("SKIPPED: no /usr/bin/python3\n");
        skip();
    }
    assert_int_equal(status, 0);
}

static size_t count(const char *text, const char *word)
{
    size_t n = 0;
    for (const char *s = text; (s = strstr(s, word)); s += strlen(word))
        n++;
    return n;
}

static void test_svg_marks(void **state)
{
    (void)state;
    struct eco_buf out = ECO_BUF_INIT;
    draw(0, &out);
    /* One of each kind in the legend. */
    assert_int_equal(count(out.data, "class=\"eco-mark\""), 2 + 1);
    assert_int_equal(count(out.data, "class=\"eco-hollow\""), 2 + 1);
    assert_int_equal(count(out.data, "class=\"eco-you\""), 1);
    assert_int_equal(count(out.data, "<path class=\"eco-band\""), 3);
    /* Measured from 0.5 to 14 of 0.4 to 80: a dashed part on both sides of the solid one. */
    assert_int_equal(count(out.data, "<path class=\"eco-curve\""), 1);
    assert_int_equal(count(out.data, "<path class=\"eco-curve eco-dash\""), 2);
    assert_non_null(strstr(out.data, "&lt;tag&gt; &amp; more"));
    draw(3, &out);
    assert_int_equal(count(out.data, "<title>b, the best of them all"), 1);
    draw(4, &out); /* 5000 samples in 672 columns: small, and no peak lost */
    assert_true(out.len < 40000);
    assert_non_null(strstr(out.data, "peak 499 W"));
    eco_buf_done(&out);
}

/* Columns of each line without colour codes; fails when one is too wide. */
static void check_width(const char *text, size_t width)
{
    struct eco_buf line = ECO_BUF_INIT;
    for (const char *s = text; *s; s++) {
        if (*s == '\033') {
            s += strcspn(s, "m");
        } else if (*s == '\n') {
            size_t w = eco_str_width(eco_buf_str(&line), line.len);
            if (w > width)
                fail_msg("%zu columns at width %zu: %s", w, width, eco_buf_str(&line));
            if (line.len && line.data[line.len - 1] == ' ' && strchr(line.data, '|'))
                fail_msg("blanks at the end of '%s'", line.data);
            eco_buf_clear(&line);
        } else {
            eco_buf_putc(&line, *s);
        }
    }
    eco_buf_done(&line);
}

static void test_text_widths(void **state)
{
    (void)state;
    struct eco_buf out = ECO_BUF_INIT;
    struct eco_chart_crossover c = crossover();
    for (int width = 40; width <= 160; width += 7) {
        for (int mode = 0; mode < 4; mode++) {
            struct eco_chart_text_style s = {width, 8 + width / 10, mode & 1, mode & 2, NULL};
            eco_buf_clear(&out);
            assert_int_equal(eco_chart_text_crossover(&c, &s, &out, NULL), 0);
            assert_int_equal(eco_chart_text_bars(&bars, &s, &out, NULL), 0);
            check_width(out.data, (size_t)width);
            assert_int_equal(strchr(out.data, '\033') != NULL, (mode & 2) != 0);
            for (const char *p = out.data; (mode & 1) && *p; p++) {
                if ((unsigned char)*p >= 0x80)
                    fail_msg("not ASCII: %.30s", p);
            }
            assert_true(eco_str_is_utf8(out.data, out.len));
        }
    }
    eco_buf_done(&out);
}

/* The row and column where `sign` stands first in the plot; false when it does not. */
static bool find_sign(const char *text, char sign, int *row, int *column)
{
    *row = 0;
    for (const char *line = text; *line; (*row)++) {
        size_t len = strcspn(line, "\n");
        for (size_t i = 9; i < len; i++) {
            if (line[i] == sign && (line[8] == '|' || line[8] == '+')) {
                *column = (int)i - 9;
                return true;
            }
        }
        line += len + (line[len] == '\n');
    }
    return false;
}

/* A point at a known place of both axes lands on its cell. */
static void test_text_positions(void **state)
{
    (void)state;
    struct eco_buf out = ECO_BUF_INIT;
    struct eco_chart_text_style s = {109, 42, true, false, NULL};
    struct eco_chart_crossover c = {.crossover_b = NAN,
                                    .point_lo_pct = NAN,
                                    .point_hi_pct = NAN,
                                    .point_b = 10,
                                    .point_pct = 50};
    const struct eco_chart_mark ends[] = {{1, 0, 2, NULL}, {100, 100, 1, NULL}};
    struct eco_chart_range r;
    int row, column, row_lo, column_lo, row_hi, column_hi;
    c.marks = ends;
    c.mark_count = 2;
    assert_int_equal(eco_chart_crossover_range(&c, &r, NULL), 0);
    assert_int_equal(eco_chart_text_crossover(&c, &s, &out, NULL), 0);
    assert_true(find_sign(out.data, '#', &row, &column));
    assert_true(find_sign(out.data, '@', &row_lo, &column_lo));
    assert_true(find_sign(out.data, 'o', &row_hi, &column_hi));
    /* 10 is the middle of 1 and 100 on a logarithmic axis, 50 that of 0 and 100. */
    assert_true(abs(2 * column - column_lo - column_hi) <= 1);
    assert_true(abs(2 * row - row_lo - row_hi) <= 1);
    assert_true(row_hi < row_lo && column_lo < column_hi);
    eco_buf_done(&out);
}

static void test_bars_are_proportional(void **state)
{
    (void)state;
    static const struct eco_chart_bar two[] = {{"a", 100, NAN, NAN, false, true, NULL},
                                               {"b", 50, NAN, NAN, false, true, NULL},
                                               {"c", 0.001, NAN, NAN, false, true, NULL}};
    struct eco_chart_bars c = {NULL, NULL, NULL, "J", two, 3};
    struct eco_chart_text_style s = {90, 0, true, false, NULL};
    struct eco_buf out = ECO_BUF_INIT;
    assert_int_equal(eco_chart_text_bars(&c, &s, &out, NULL), 0);
    size_t longest = strspn(out.data + 2, "#");
    size_t half = strspn(strchr(out.data, '\n') + 3, "#");
    assert_true(longest > 60);
    assert_true(longest == 2 * half || longest + 1 == 2 * half);
    assert_int_equal(strspn(strrchr(out.data, 'c') + 2, "#"), 1); /* small is not nothing */
    eco_buf_done(&out);
}

static void test_refusals(void **state)
{
    (void)state;
    struct eco_buf out = ECO_BUF_INIT;
    struct eco_err err;
    struct eco_chart_text_style s = {72, 18, false, false, NULL},
                                bad = {39, 18, false, false, NULL};
    struct eco_chart_crossover c = crossover(), empty = {.crossover_b = NAN, .point_b = NAN};
    assert_int_equal(eco_chart_svg_crossover(&empty, NULL, &out, &err), ECO_E_INVALID);
    assert_int_equal(eco_chart_text_crossover(&c, &bad, &out, &err), ECO_E_RANGE);
    bad = (struct eco_chart_text_style){72, 101, false, false, NULL};
    assert_int_equal(eco_chart_text_crossover(&c, &bad, &out, &err), ECO_E_RANGE);
    curve[3].params_b = curve[2].params_b;
    assert_int_equal(eco_chart_svg_crossover(&c, NULL, &out, &err), ECO_E_INVALID);
    assert_int_equal(eco_chart_text_crossover(&c, &s, &out, &err), ECO_E_INVALID);
    c = crossover();
    curve[5].delta_pct.median = NAN;
    assert_int_equal(eco_chart_svg_crossover(&c, NULL, &out, &err), ECO_E_INVALID);
    c = crossover();
    c.point_b = -1;
    assert_int_equal(eco_chart_svg_crossover(&c, NULL, &out, &err), ECO_E_INVALID);
    c.curve_count = ECO_CHART_MAX_POINTS + 1;
    assert_int_equal(eco_chart_svg_crossover(&c, NULL, &out, &err), ECO_E_TOO_LARGE);
    struct eco_chart_bars none = {.bar_count = 0};
    assert_int_equal(eco_chart_svg_bars(&none, NULL, &out, &err), ECO_E_INVALID);
    assert_int_equal(eco_chart_text_bars(&none, &s, &out, &err), ECO_E_INVALID);
    struct eco_chart_pareto nothing = {.count = 0};
    assert_int_equal(eco_chart_svg_pareto(&nothing, NULL, &out, &err), ECO_E_INVALID);
    struct eco_chart_power p = power();
    times[7] = 0;
    assert_int_equal(eco_chart_svg_power(&p, NULL, &out, &err), ECO_E_INVALID);
    assert_int_equal(out.len, 0);
    eco_buf_done(&out);
}

static void test_ticks(void **state)
{
    (void)state;
    double t[ECO_CHART_MAX_TICKS];
    int n = eco_chart_ticks(-47, 63, 6, t);
    assert_int_equal(n, 6);
    for (int i = 0; i < n; i++)
        assert_near(t[i], -40 + 20 * i, 1e-9);
    n = eco_chart_log_ticks(0.5, 70, 8, t);
    static const double want[] = {0.5, 1, 2, 5, 10, 20, 50};
    assert_int_equal(n, 7);
    for (int i = 0; i < n; i++)
        assert_near_rel(t[i], want[i], 1e-12);
    assert_int_equal(eco_chart_ticks(1, 1, 5, t), 0);
    assert_int_equal(eco_chart_ticks(NAN, 1, 5, t), 0);
    assert_true(eco_chart_ticks(-1e300, 1e300, 15, t) <= ECO_CHART_MAX_TICKS);
    assert_true(eco_chart_log_ticks(1e-300, 1e300, 5, t) <= ECO_CHART_MAX_TICKS);
    char label[ECO_CHART_LABEL];
    eco_chart_label_pct(-22.44, 1, true, true, label);
    assert_string_equal(label, "-22.4%");
    eco_chart_label_pct(-0.04, 1, true, true, label);
    assert_string_equal(label, "0.0%");
    eco_chart_label_size(0.494, label);
    assert_string_equal(label, "0.49B");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_trial_is_hollow),
        cmocka_unit_test(test_svg_judged_by_another_parser),
        cmocka_unit_test(test_svg_marks),
        cmocka_unit_test(test_text_widths),
        cmocka_unit_test(test_text_positions),
        cmocka_unit_test(test_bars_are_proportional),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_ticks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
