/* The chart of measured pairs, and overlays on the crossover chart. */
#include "eco_test.h"

#include "report/chart_svg.h"

#include <math.h>
#include <string.h>

static size_t count(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, what)); at++) {
        n++;
    }
    return n;
}

static const struct eco_chart_mark ada[] = {
    {0.5, 60, 2, "a <half>"}, {1.5, 30, 2, "b"}, {3, 5, 1, "c"}, {7, -30, 1, "d"}};
static const struct eco_chart_mark turing[] = {{1.1, 40, 1, "e"}};

static void draws_every_pair(void **state)
{
    (void)state;
    const struct eco_chart_series series[] = {
        {.label = "RTX 4090", .marks = ada, .mark_count = 4, .highlight = true},
        {.label = "T4", .marks = turing, .mark_count = 1}};
    const struct eco_chart_measured c = {"NF4", "by size", "rows", series, 2};
    struct eco_buf out = ECO_BUF_INIT;
    assert_int_equal(eco_chart_svg_measured(&c, NULL, &out, NULL), 0);
    const char *svg = eco_buf_str(&out);
    assert_int_equal(count(svg, "class=\"eco-you\""), 2);    /* repeated: filled */
    assert_int_equal(count(svg, "class=\"eco-range\""), 2);  /* once: hollow */
    assert_int_equal(count(svg, "class=\"eco-hollow\""), 2); /* the other card, and the legend */
    assert_int_equal(count(svg, "class=\"eco-curve\""), 3);  /* neighbours are joined */
    assert_int_equal(count(svg, "opacity=\".45\""), 2);      /* a single trial at one end */
    assert_int_equal(count(svg, "a &lt;half&gt;"), 1);
    assert_non_null(strstr(svg, "RTX 4090: 0.5B +60.0"));
    eco_buf_done(&out);
}

/* Between two cards of one family the last words tell; only a crowd of cards is cut. */
static void names_cards_whole(void **state)
{
    (void)state;
    enum { CARDS = 20 };
    struct eco_chart_series series[CARDS];
    for (int i = 0; i < CARDS; i++) {
        series[i] = (struct eco_chart_series){
            .label = "RTX PRO 6000 Blackwell Server Edition", .marks = turing, .mark_count = 1};
    }
    struct eco_chart_measured c = {NULL, NULL, NULL, series, 2};
    for (int narrow = 0; narrow < 2; narrow++) {
        const struct eco_chart_look look = {.width_px = narrow ? 360 : 760};
        struct eco_buf out = ECO_BUF_INIT;
        assert_int_equal(eco_chart_svg_measured(&c, &look, &out, NULL), 0);
        assert_int_equal(count(eco_buf_str(&out), ">RTX PRO 6000<"), 2);
        assert_int_equal(count(eco_buf_str(&out), "Edition<"), 2);
        assert_int_equal(count(eco_buf_str(&out), "\xe2\x80\xa6"), 0);
        eco_buf_done(&out);
    }
    struct eco_buf crowd = ECO_BUF_INIT;
    c.series_count = CARDS;
    assert_int_equal(eco_chart_svg_measured(&c, NULL, &crowd, NULL), 0);
    assert_int_equal(count(eco_buf_str(&crowd), "\xe2\x80\xa6<"), CARDS);
    eco_buf_done(&crowd);
}

static void joins_no_loose_pairs(void **state)
{
    (void)state;
    const struct eco_chart_series series = {.marks = ada, .mark_count = 4, .loose = true};
    const struct eco_chart_measured c = {NULL, NULL, NULL, &series, 1};
    struct eco_buf out = ECO_BUF_INIT;
    assert_int_equal(eco_chart_svg_measured(&c, NULL, &out, NULL), 0);
    assert_int_equal(count(eco_buf_str(&out), "<g opacity"), 0);
    assert_int_equal(count(eco_buf_str(&out), "class=\"eco-mark\""), 3); /* two, and the legend */
    eco_buf_done(&out);
}

static void refuses_what_is_no_curve(void **state)
{
    (void)state;
    const struct eco_chart_mark falling[] = {{3, 5, 1, NULL}, {1, 30, 1, NULL}};
    const struct eco_chart_mark nowhere[] = {{0, 5, 1, NULL}};
    const struct eco_chart_mark nothing[] = {{1, (double)NAN, 1, NULL}};
    const struct eco_chart_series bad[] = {{.marks = falling, .mark_count = 2},
                                           {.marks = nowhere, .mark_count = 1},
                                           {.marks = nothing, .mark_count = 1},
                                           {.marks = ada, .mark_count = 0}};
    for (size_t i = 0; i < 4; i++) {
        const struct eco_chart_measured c = {NULL, NULL, NULL, &bad[i], 1};
        struct eco_buf out = ECO_BUF_INIT;
        struct eco_err err = {0};
        assert_int_equal(eco_chart_svg_measured(&c, NULL, &out, &err), ECO_E_INVALID);
        assert_string_equal(err.arg, "series");
        assert_int_equal(out.len, 0);
        eco_buf_done(&out);
    }
}

static void overlays_and_never_extends_what_was_measured(void **state)
{
    (void)state;
    const struct eco_chart_mark yours = {50, -70, 1, "mine <b>"};
    struct eco_chart_curve curve[20];
    for (int i = 0; i < 20; i++) {
        double y = 60 - 6.0 * i;
        curve[i] = (struct eco_chart_curve){0.3 * pow(1.36, i),
                                            {y, y - 5, y + 5, y - 9, y + 9, y - 15, y + 15}};
    }
    struct eco_chart_crossover c = {.curve = curve,
                                    .curve_count = 20,
                                    .marks = ada,
                                    .mark_count = 4,
                                    .crossover_b = (double)NAN,
                                    .point_b = (double)NAN,
                                    .point_pct = (double)NAN};
    struct eco_buf without = ECO_BUF_INIT, with = ECO_BUF_INIT;
    assert_int_equal(eco_chart_svg_crossover(&c, NULL, &without, NULL), 0);
    c.yours = &yours, c.yours_count = 1;
    assert_int_equal(eco_chart_svg_crossover(&c, NULL, &with, NULL), 0);
    assert_int_equal(count(eco_buf_str(&without), "eco-yours"), 0);
    assert_int_equal(count(eco_buf_str(&with), "<g class=\"eco-yours\"><title>mine &lt;b&gt;"), 1);
    assert_int_equal(count(eco_buf_str(&with), "eco-dash"),
                     count(eco_buf_str(&without), "eco-dash"));
    eco_buf_clear(&with);
    const struct eco_chart_mark wrong = {-1, 3, 1, NULL};
    c.yours = &wrong;
    assert_int_equal(eco_chart_svg_crossover(&c, NULL, &with, NULL), ECO_E_INVALID);
    eco_buf_done(&without);
    eco_buf_done(&with);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_every_pair),
        cmocka_unit_test(names_cards_whole),
        cmocka_unit_test(joins_no_loose_pairs),
        cmocka_unit_test(refuses_what_is_no_curve),
        cmocka_unit_test(overlays_and_never_extends_what_was_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
