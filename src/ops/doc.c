#include "doc.h"

#include "base/num.h"
#include "texts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define KEY_COLUMNS 21
#define LEFT_OUT ((size_t)-1) /* the width of a column that is not shown */

void eco_doc_init(struct eco_doc *d, enum eco_doc_kind kind, struct eco_buf *out,
                  struct eco_arena *arena, int width)
{
    memset(d, 0, sizeof(*d));
    d->kind = kind;
    d->out = out;
    d->arena = arena;
    d->width = width < 40 ? 40 : width;
    d->blank = true;
}

/* ---- small pieces -------------------------------------------------------------------------- */

static void html_text(struct eco_buf *out, const char *s)
{
    for (; *s; s++) {
        switch (*s) {
        case '<':
            eco_buf_puts(out, "&lt;");
            break;
        case '>':
            eco_buf_puts(out, "&gt;");
            break;
        case '&':
            eco_buf_puts(out, "&amp;");
            break;
        case '"':
            eco_buf_puts(out, "&quot;");
            break;
        default:
            eco_buf_putc(out, *s);
        }
    }
}

/* Text with the letters escaped that Markdown would take as marks inside a table or a line. */
static void markdown_text(struct eco_buf *out, const char *s)
{
    for (; *s; s++) {
        if (*s == '|' || *s == '*' || *s == '<' || *s == '`') {
            eco_buf_putc(out, '\\');
        }
        eco_buf_putc(out, *s);
    }
}

static void put_text(struct eco_doc *d, const char *s)
{
    if (d->kind == ECO_DOC_HTML) {
        html_text(d->out, s);
    } else if (d->kind == ECO_DOC_MARKDOWN) {
        markdown_text(d->out, s);
    } else {
        eco_buf_puts(d->out, s);
    }
}

static const char *tone_code(enum eco_tone tone)
{
    switch (tone) {
    case ECO_TONE_GOOD:
        return "\033[32m";
    case ECO_TONE_WARN:
        return "\033[33m";
    case ECO_TONE_BAD:
        return "\033[31m";
    case ECO_TONE_QUIET:
        return "\033[2m";
    case ECO_TONE_PLAIN:
        break;
    }
    return "";
}

static const char *tone_class(enum eco_tone tone)
{
    switch (tone) {
    case ECO_TONE_GOOD:
        return "good";
    case ECO_TONE_WARN:
        return "warn";
    case ECO_TONE_BAD:
        return "bad";
    case ECO_TONE_QUIET:
        return "quiet";
    case ECO_TONE_PLAIN:
        break;
    }
    return "plain";
}

static void color_on(struct eco_doc *d, const char *code)
{
    if (d->kind == ECO_DOC_TEXT && d->color) {
        eco_buf_puts(d->out, code);
    }
}

static void color_off(struct eco_doc *d)
{
    color_on(d, "\033[0m");
}

static void blank_line(struct eco_doc *d)
{
    if (!d->blank) {
        eco_buf_putc(d->out, '\n');
    }
    d->blank = true;
}

static void close_list(struct eco_doc *d)
{
    if (d->in_list && d->kind == ECO_DOC_HTML) {
        eco_buf_puts(d->out, "</ul>\n");
    }
    d->in_list = false;
}

static void open_list(struct eco_doc *d)
{
    if (!d->in_list && d->kind == ECO_DOC_HTML) {
        eco_buf_puts(d->out, "<ul>\n");
    }
    if (!d->in_list && d->kind == ECO_DOC_MARKDOWN) {
        blank_line(d);
    }
    d->in_list = true;
}

static char *format(struct eco_doc *d, const char *fmt, va_list ap)
    __attribute__((format(printf, 2, 0)));

static char *format(struct eco_doc *d, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    char *s = n < 0 ? NULL : eco_arena_alloc(d->arena, (size_t)n + 1);
    if (s) {
        vsnprintf(s, (size_t)n + 1, fmt, again);
    }
    va_end(again);
    return s;
}

/* Chinese breaks between any two characters, but not before a mark that closes or ends. */
static bool closes(const char *s)
{
    static const char *const marks[] = {"，", "。", "；", "：", "、", "！", "？", "）", "”", "》"};
    for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
        if (strncmp(s, marks[i], strlen(marks[i])) == 0) {
            return true;
        }
    }
    return false;
}

static bool opens(const char *s)
{
    return strncmp(s, "（", strlen("（")) == 0 || strncmp(s, "“", strlen("“")) == 0 ||
           strncmp(s, "《", strlen("《")) == 0;
}

static size_t char_bytes(const char *s)
{
    size_t n = 1;
    while (((unsigned char)s[n] & 0xc0) == 0x80) {
        n++;
    }
    return n;
}

/* Bytes until the next place where a line may break: a blank, or beside a wide character. */
static size_t piece(const char *s)
{
    size_t n = 0;
    while (s[n] && s[n] != ' ') {
        size_t here = char_bytes(s + n);
        const char *next = s + n + here;
        bool wide = eco_str_width(s + n, here) == 2 || closes(s + n);
        bool next_wide = *next && *next != ' ' && eco_str_width(next, char_bytes(next)) == 2;
        bool may = (wide || next_wide) && !opens(s + n) && !closes(next);
        n += here;
        if (may) {
            break;
        }
    }
    return n;
}

/* Writes `s` broken at the width, later lines indented. */
static void wrap(struct eco_doc *d, const char *s, size_t column, size_t indent)
{
    size_t width = (size_t)d->width;
    bool first = true;
    for (const char *at = s; *at;) {
        size_t blanks = strspn(at, " ");
        size_t n = piece(at + blanks);
        if (n == 0) {
            break;
        }
        size_t w = eco_str_width(at + blanks, n);
        bool gap = blanks > 0 && !first;
        if (!first && column + gap + w > width) {
            eco_buf_printf(d->out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (gap) {
            eco_buf_putc(d->out, ' ');
            column++;
        }
        eco_buf_put(d->out, at + blanks, n);
        column += w;
        at += blanks + n;
        first = false;
    }
    eco_buf_putc(d->out, '\n');
}

/* ---- blocks -------------------------------------------------------------------------------- */

void eco_doc_verdict(struct eco_doc *d, enum eco_tone tone, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *s = format(d, fmt, ap);
    va_end(ap);
    if (!s) {
        return;
    }
    close_list(d);
    blank_line(d);
    switch (d->kind) {
    case ECO_DOC_TEXT:
        color_on(d, "\033[1m");
        color_on(d, tone_code(tone));
        wrap(d, s, 0, 0);
        color_off(d);
        break;
    case ECO_DOC_MARKDOWN:
        eco_buf_puts(d->out, "**");
        put_text(d, s);
        eco_buf_puts(d->out, "**\n");
        break;
    case ECO_DOC_HTML:
        eco_buf_printf(d->out, "<p class=\"verdict %s\"><strong>", tone_class(tone));
        put_text(d, s);
        eco_buf_puts(d->out, "</strong></p>\n");
        break;
    }
    d->blank = false;
}

void eco_doc_heading(struct eco_doc *d, const char *text)
{
    close_list(d);
    blank_line(d);
    switch (d->kind) {
    case ECO_DOC_TEXT:
        color_on(d, "\033[1m");
        eco_buf_puts(d->out, text);
        color_off(d);
        eco_buf_putc(d->out, '\n');
        break;
    case ECO_DOC_MARKDOWN:
        eco_buf_printf(d->out, "## %s\n\n", text);
        break;
    case ECO_DOC_HTML:
        eco_buf_puts(d->out, "<h2>");
        put_text(d, text);
        eco_buf_puts(d->out, "</h2>\n");
        break;
    }
    d->blank = d->kind != ECO_DOC_HTML; /* what comes next starts right under it */
}

void eco_doc_text(struct eco_doc *d, enum eco_tone tone, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *s = format(d, fmt, ap);
    va_end(ap);
    if (!s) {
        return;
    }
    close_list(d);
    switch (d->kind) {
    case ECO_DOC_TEXT:
        color_on(d, tone_code(tone));
        wrap(d, s, 0, 0);
        color_off(d);
        break;
    case ECO_DOC_MARKDOWN:
        blank_line(d);
        put_text(d, s);
        eco_buf_putc(d->out, '\n');
        break;
    case ECO_DOC_HTML:
        eco_buf_printf(d->out, "<p class=\"%s\">", tone_class(tone));
        put_text(d, s);
        eco_buf_puts(d->out, "</p>\n");
        break;
    }
    d->blank = false;
}

void eco_doc_item(struct eco_doc *d, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *s = format(d, fmt, ap);
    va_end(ap);
    if (!s) {
        return;
    }
    open_list(d);
    switch (d->kind) {
    case ECO_DOC_TEXT:
        eco_buf_puts(d->out, d->ascii ? "  - " : "  • ");
        wrap(d, s, 4, 4);
        break;
    case ECO_DOC_MARKDOWN:
        eco_buf_puts(d->out, "- ");
        put_text(d, s);
        eco_buf_putc(d->out, '\n');
        break;
    case ECO_DOC_HTML:
        eco_buf_puts(d->out, "<li>");
        put_text(d, s);
        eco_buf_puts(d->out, "</li>\n");
        break;
    }
    d->blank = false;
}

void eco_doc_kv(struct eco_doc *d, const char *key, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *s = format(d, fmt, ap);
    va_end(ap);
    if (!s) {
        return;
    }
    if (!key[0] && d->kind != ECO_DOC_TEXT) { /* more of the line above */
        eco_doc_item(d, "%s", s);
        return;
    }
    if (d->kind == ECO_DOC_TEXT) {
        size_t w = eco_str_width(key, strlen(key));
        eco_buf_puts(d->out, "  ");
        color_on(d, tone_code(ECO_TONE_QUIET));
        eco_buf_puts(d->out, key);
        color_off(d);
        eco_buf_printf(d->out, "%*s", w < KEY_COLUMNS - 2 ? (int)(KEY_COLUMNS - w) : 2, "");
        wrap(d, s, w < KEY_COLUMNS - 2 ? KEY_COLUMNS + 2 : w + 4, KEY_COLUMNS + 2);
    } else {
        open_list(d);
        bool html = d->kind == ECO_DOC_HTML;
        eco_buf_puts(d->out, html ? "<li><span class=\"key\">" : "- **");
        put_text(d, key);
        eco_buf_puts(d->out, html ? "</span> " : d->lang == ECO_LANG_ZH ? "：** " : ":** ");
        put_text(d, s);
        eco_buf_puts(d->out, html ? "</li>\n" : "\n");
    }
    d->blank = false;
}

void eco_doc_pre(struct eco_doc *d, const char *text)
{
    close_list(d);
    blank_line(d);
    switch (d->kind) {
    case ECO_DOC_TEXT:
        eco_buf_puts(d->out, text);
        break;
    case ECO_DOC_MARKDOWN:
        eco_buf_printf(d->out, "```text\n%s```\n", text);
        break;
    case ECO_DOC_HTML:
        eco_buf_puts(d->out, "<pre>");
        put_text(d, text);
        eco_buf_puts(d->out, "</pre>\n");
        break;
    }
    d->blank = false;
}

const char *eco_doc_num(struct eco_doc *d, double v, int significant)
{
    char text[ECO_NUM_MAX];
    double shown = v;
    if (isfinite(v) && v != 0.0) {
        double unit = pow(10.0, floor(log10(fabs(v))) - significant + 1);
        shown = unit >= 1.0 ? round(v / unit) * unit
                            : eco_num_round(v, significant - 1 - (int)floor(log10(fabs(v))));
    }
    size_t n = eco_num_format(shown, text);
    const char *copy = eco_arena_strdup(d->arena, text, n);
    return copy ? copy : "";
}

const char *eco_doc_signed(struct eco_doc *d, double v, int significant)
{
    const char *text = eco_doc_num(d, fabs(v), significant);
    const char *sign = strcmp(text, "0") == 0 ? "" : v < 0 ? "−" : "+";
    char *out = eco_arena_printf(d->arena, "%s%s", sign, text);
    return out ? out : "";
}

void eco_doc_raw(struct eco_doc *d, const char *text)
{
    close_list(d);
    eco_buf_puts(d->out, text);
    d->blank = false;
}

void eco_doc_next(struct eco_doc *d, const char *command, const char *why)
{
    if (d->quiet) {
        return;
    }
    switch (d->kind) {
    case ECO_DOC_TEXT:
        eco_buf_puts(d->out, "  ");
        color_on(d, "\033[36m");
        eco_buf_puts(d->out, command);
        color_off(d);
        if (eco_str_width(command, strlen(command)) + strlen(why) + 6 <= (size_t)d->width) {
            eco_buf_printf(d->out, "  # %s\n", why);
        } else {
            eco_buf_printf(d->out, "\n      # %s\n", why);
        }
        break;
    case ECO_DOC_MARKDOWN:
        open_list(d);
        eco_buf_printf(d->out, "- `%s`: %s\n", command, why);
        break;
    case ECO_DOC_HTML:
        open_list(d);
        eco_buf_puts(d->out, "<li><code>");
        put_text(d, command);
        eco_buf_puts(d->out, "</code>: ");
        put_text(d, why);
        eco_buf_puts(d->out, "</li>\n");
        break;
    }
    d->blank = false;
}

/* ---- tables -------------------------------------------------------------------------------- */

void eco_doc_table(struct eco_doc *d, const char *columns)
{
    close_list(d);
    d->n_columns = d->n_rows = d->cap_rows = 0;
    d->cells = NULL;
    for (const char *c = columns; *c && d->n_columns < ECO_DOC_MAX_COLUMNS;) {
        d->extra[d->n_columns] = *c == '~';
        c += *c == '~';
        d->right[d->n_columns] = *c == '>';
        c += *c == '>';
        size_t n = strcspn(c, "|");
        const char *copy = eco_arena_strdup(d->arena, c, n);
        d->header[d->n_columns++] = copy ? copy : "";
        c += n + (c[n] == '|');
    }
}

void eco_doc_cell(struct eco_doc *d, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *s = format(d, fmt, ap);
    va_end(ap);
    if (d->n_rows == d->cap_rows) { /* n_rows counts cells until the table ends */
        size_t cap = d->cap_rows ? d->cap_rows * 2 : 64;
        const char **grown = eco_arena_array(d->arena, cap, sizeof(*grown));
        if (!grown) {
            return;
        }
        if (d->n_rows) {
            memcpy(grown, d->cells, d->n_rows * sizeof(*grown));
        }
        d->cells = grown;
        d->cap_rows = cap;
    }
    d->cells[d->n_rows++] = s ? s : "";
}

static void table_text_row(struct eco_doc *d, const char *const *cell, const size_t *width)
{
    size_t last = 0;
    for (size_t c = 0; c < d->n_columns; c++) {
        last = width[c] != LEFT_OUT ? c : last;
    }
    eco_buf_puts(d->out, "  ");
    for (size_t c = 0; c < d->n_columns; c++) {
        size_t w = eco_str_width(cell[c], strlen(cell[c]));
        if (width[c] == LEFT_OUT) {
            continue;
        }
        int pad = w < width[c] ? (int)(width[c] - w) : 0;
        if (d->right[c]) {
            eco_buf_printf(d->out, "%*s%s", pad, "", cell[c]);
        } else if (c == last) {
            eco_buf_puts(d->out, cell[c]);
        } else {
            eco_buf_printf(d->out, "%s%*s", cell[c], pad, "");
        }
        eco_buf_puts(d->out, c == last ? "\n" : "  ");
    }
}

/* Leaves out extra columns, the last one first, until the table fits; how many. */
static size_t narrow(struct eco_doc *d, size_t *width)
{
    size_t total = 0, left_out = 0;
    for (size_t c = 0; c < d->n_columns; c++) {
        total += width[c] + 2;
    }
    for (size_t c = d->n_columns; c-- > 0 && total > (size_t)d->width;) {
        if (d->extra[c]) {
            total -= width[c] + 2;
            width[c] = LEFT_OUT;
            left_out++;
        }
    }
    return left_out;
}

static void table_text(struct eco_doc *d)
{
    size_t width[ECO_DOC_MAX_COLUMNS];
    for (size_t c = 0; c < d->n_columns; c++) {
        width[c] = eco_str_width(d->header[c], strlen(d->header[c]));
        for (size_t i = c; i < d->n_rows; i += d->n_columns) {
            size_t w = eco_str_width(d->cells[i], strlen(d->cells[i]));
            width[c] = w > width[c] ? w : width[c];
        }
    }
    size_t left_out = narrow(d, width);
    color_on(d, tone_code(ECO_TONE_QUIET));
    table_text_row(d, d->header, width);
    color_off(d);
    for (size_t i = 0; i + d->n_columns <= d->n_rows; i += d->n_columns) {
        table_text_row(d, d->cells + i, width);
    }
    if (left_out) {
        color_on(d, tone_code(ECO_TONE_QUIET));
        eco_buf_puts(d->out, "  ");
        eco_buf_printf(d->out, left_out == 1 ? TX(d, one_column_more) : TX(d, columns_more),
                       left_out);
        eco_buf_putc(d->out, '\n');
        color_off(d);
    }
}

static void table_markdown(struct eco_doc *d)
{
    blank_line(d);
    for (size_t c = 0; c < d->n_columns; c++) {
        eco_buf_puts(d->out, c ? " | " : "| ");
        put_text(d, d->header[c]);
    }
    eco_buf_puts(d->out, " |\n");
    for (size_t c = 0; c < d->n_columns; c++) {
        eco_buf_puts(d->out, d->right[c] ? "| ---: " : "| --- ");
    }
    eco_buf_puts(d->out, "|\n");
    for (size_t i = 0; i < d->n_rows; i++) {
        eco_buf_puts(d->out, i % d->n_columns ? " | " : "| ");
        put_text(d, d->cells[i]);
        if (i % d->n_columns + 1 == d->n_columns) {
            eco_buf_puts(d->out, " |\n");
        }
    }
}

static void table_html(struct eco_doc *d)
{
    eco_buf_puts(d->out, "<table><thead><tr>");
    for (size_t c = 0; c < d->n_columns; c++) {
        eco_buf_puts(d->out,
                     d->right[c] ? "<th scope=\"col\" class=\"num\">" : "<th scope=\"col\">");
        put_text(d, d->header[c]);
        eco_buf_puts(d->out, "</th>");
    }
    eco_buf_puts(d->out, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < d->n_rows; i++) {
        size_t c = i % d->n_columns;
        eco_buf_puts(d->out, c ? "" : "<tr>");
        eco_buf_puts(d->out, d->right[c] ? "<td class=\"num\">" : "<td>");
        put_text(d, d->cells[i]);
        eco_buf_puts(d->out, c + 1 == d->n_columns ? "</td></tr>\n" : "</td>");
    }
    eco_buf_puts(d->out, "</tbody></table>\n");
}

void eco_doc_table_end(struct eco_doc *d)
{
    if (d->n_columns == 0) {
        return;
    }
    switch (d->kind) {
    case ECO_DOC_TEXT:
        table_text(d);
        break;
    case ECO_DOC_MARKDOWN:
        table_markdown(d);
        break;
    case ECO_DOC_HTML:
        table_html(d);
        break;
    }
    d->n_columns = 0;
    d->blank = false;
}

void eco_doc_end(struct eco_doc *d)
{
    close_list(d);
}
