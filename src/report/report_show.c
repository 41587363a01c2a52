/* A report for the terminal and as Markdown: two layouts of one view. */
#include "report.h"
#include "report_text.h"
#include "report_view.h"

#include <string.h>

static const char *paint(const struct eco_report_style *s, const char *code)
{
    return s->color ? code : "";
}

static void show_notes(struct eco_buf *out, const char *heading, const char *const *notes, size_t n,
                       const struct eco_report_style *s)
{
    if (n == 0)
        return;
    eco_buf_printf(out, "\n%s%s%s\n", paint(s, "\033[1m"), heading, paint(s, "\033[0m"));
    for (size_t i = 0; i < n; i++) {
        eco_buf_puts(out, "  ");
        eco_text_wrap(out, notes[i] ? notes[i] : "", (size_t)s->width - 2, 2, s->ascii);
    }
}

int eco_report_show(const char *text, size_t len, const struct eco_report_style *style,
                    struct eco_buf *out, struct eco_err *err)
{
    struct eco_report_style s = *style;
    struct eco_view v;
    if (s.width == 0)
        s.width = 80;
    if (s.width < 40 || s.width > 400)
        return eco_err_set(err, ECO_E_RANGE, "width", "a report is 40 to 400 columns wide, not %d",
                           s.width);
    int rc = eco_report_view(text, len, &v, err);
    if (rc != 0)
        return rc;
    size_t width = (size_t)s.width;
    /* Sign and word say it as well; the colour only repeats them. */
    const char *tone = v.kind == 's' ? "\033[32m" : v.kind == 'c' ? "\033[31m" : "\033[33m";
    eco_buf_puts(out, paint(&s, "\033[1m"));
    eco_text_wrap(out, v.title, width, 2, s.ascii);
    eco_buf_puts(out, paint(&s, "\033[0m"));
    eco_buf_puts(out, paint(&s, tone));
    eco_text_wrap(out, v.verdict, width, 2, s.ascii);
    eco_buf_puts(out, paint(&s, "\033[0m"));
    eco_text_wrap(out, v.basis, width, 2, s.ascii);
    eco_buf_putc(out, '\n');
    for (size_t i = 0; i < v.row_count; i++) {
        eco_buf_puts(out, "  ");
        eco_text_pad(out, v.rows[i].label, 18, s.ascii);
        eco_text_wrap(out, v.rows[i].value, width - 20, 20, s.ascii);
    }
    show_notes(out, "How it was obtained", v.how, v.how_count, &s);
    show_notes(out, "Limits", v.limits, v.limit_count, &s);
    eco_buf_putc(out, '\n');
    eco_text_wrap(out, v.citation, width, 2, s.ascii);
    eco_report_view_done(&v);
    return eco_buf_ok(out) ? 0 : eco_err_set(err, ECO_E_NO_MEMORY, NULL, "out of memory");
}

/* What Markdown or HTML would read as its own is escaped; a report is somebody else's text. */
static void markdown_text(struct eco_buf *out, const char *text)
{
    struct eco_buf clean = ECO_BUF_INIT;
    eco_text_clean(&clean, text, false);
    for (const char *s = eco_buf_str(&clean); *s; s++) {
        if (strchr("\\`*_[]<>|#!~", *s))
            eco_buf_putc(out, '\\');
        if (*s == '&')
            eco_buf_puts(out, "&amp;");
        else
            eco_buf_putc(out, *s);
    }
    eco_buf_done(&clean);
}

static void markdown_list(struct eco_buf *out, const char *heading, const char *const *notes,
                          size_t n)
{
    if (n == 0)
        return;
    eco_buf_printf(out, "\n## %s\n\n", heading);
    for (size_t i = 0; i < n; i++) {
        eco_buf_puts(out, "- ");
        markdown_text(out, notes[i] ? notes[i] : "");
        eco_buf_putc(out, '\n');
    }
}

int eco_report_markdown(const char *text, size_t len, struct eco_buf *out, struct eco_err *err)
{
    struct eco_view v;
    int rc = eco_report_view(text, len, &v, err);
    if (rc != 0)
        return rc;
    eco_buf_puts(out, "# ");
    markdown_text(out, v.title);
    eco_buf_puts(out, "\n\n**");
    markdown_text(out, v.verdict);
    eco_buf_puts(out, "**\n\n");
    markdown_text(out, v.basis);
    eco_buf_puts(out, "\n\n| | |\n| --- | --- |\n");
    for (size_t i = 0; i < v.row_count; i++) {
        eco_buf_puts(out, "| ");
        markdown_text(out, v.rows[i].label);
        eco_buf_puts(out, " | ");
        markdown_text(out, v.rows[i].value);
        eco_buf_puts(out, " |\n");
    }
    markdown_list(out, "How it was obtained", v.how, v.how_count);
    markdown_list(out, "Limits", v.limits, v.limit_count);
    eco_buf_puts(out, "\n## Citation\n\n");
    markdown_text(out, v.citation);
    eco_buf_putc(out, '\n');
    eco_report_view_done(&v);
    return eco_buf_ok(out) ? 0 : eco_err_set(err, ECO_E_NO_MEMORY, NULL, "out of memory");
}
