/* Any bytes as a report and as a share link: every reader of them, and what must hold between. */
#include "report/report.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void must(bool holds)
{
    if (!holds)
        abort();
}

/* Nothing that a terminal obeys, and well-formed UTF-8. */
static void check_text(const struct eco_buf *out)
{
    must(eco_str_is_utf8(eco_buf_str(out), out->len));
    for (size_t i = 0; i < out->len; i++) {
        unsigned char c = (unsigned char)out->data[i];
        must(c >= 0x20 || c == '\n');
    }
}

static void read_as_link(const char *text, size_t size)
{
    struct eco_report_points points = {0};
    struct eco_buf out = ECO_BUF_INIT;
    if (eco_report_overlay(text, size, &points, NULL) == 0)
        eco_report_points_json(&points, &out);
    for (size_t i = 0; i < points.count; i++) {
        must(points.items[i].params_b >= ECO_REPORT_MIN_PARAMS_B);
        must(points.items[i].delta_pct >= -100);
        must(points.items[i].prec != ECO_PREC_NONE);
    }
    eco_report_points_done(&points);
    eco_buf_done(&out);
}

static void read_as_report(const char *text, size_t size)
{
    static struct eco_report_check check;
    struct eco_report_points points = {0};
    struct eco_report_replication r;
    struct eco_report_style style = {60, false, true};
    struct eco_buf out = ECO_BUF_INIT;
    must((eco_report_validate(text, size, &check, NULL) == 0) == check.valid);
    must(check.valid == (check.json && check.error_count == 0));
    eco_report_check_json(&check, &out);
    eco_buf_clear(&out);
    if (eco_report_show(text, size, &style, &out, NULL) == 0)
        check_text(&out);
    eco_buf_clear(&out);
    if (eco_report_markdown(text, size, &out, NULL) == 0)
        check_text(&out);
    eco_buf_clear(&out);
    /* A link of ours can be read again, or is refused for its bounds; it never fails otherwise. */
    if (eco_report_share(text, size, NULL, &out, NULL) == 0 && out.len < ECO_REPORT_MAX_QUERY) {
        must(eco_report_overlay(out.data, out.len, &points, NULL) == 0);
        must(points.count + points.refused == 1);
        eco_report_points_done(&points);
    }
    eco_report_replicate(text, size, NULL, 0, &points, &r, NULL);
    eco_report_points_done(&points);
    eco_buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct eco_buf text = ECO_BUF_INIT;
    if (size > 1u << 20)
        return 0;
    eco_buf_put(&text, data, size);
    read_as_link(eco_buf_str(&text), size);
    read_as_report(eco_buf_str(&text), size);
    eco_buf_done(&text);
    return 0;
}
