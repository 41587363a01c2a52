/* Text lines: see report_text.h. */
#include "report_text.h"

#include <string.h>

static size_t sequence_len(const char *s)
{
    unsigned char c = (unsigned char)*s;
    size_t want = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4, n = 1;
    while (n < want && ((unsigned char)s[n] & 0xc0) == 0x80)
        n++;
    return n;
}

static const char *spelled(const char *s, size_t n)
{
    static const struct {
        const char *sign, *ascii;
    } known[] = {{"\xe2\x88\x92", "-"},  {"\xc2\xa0", " "},     {"\xe2\x80\xa6", "..."},
                 {"\xe2\x80\x93", "-"},  {"\xe2\x80\x94", "-"}, {"\xe2\x89\xa5", ">="},
                 {"\xc2\xb7", "."},      {"\xce\x94", "d"},     {"\xc2\xb1", "+-"},
                 {"\xe2\x86\x92", "->"}, {"\xc3\x97", "x"}};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strlen(known[i].sign) == n && memcmp(known[i].sign, s, n) == 0)
            return known[i].ascii;
    }
    return "?";
}

void eco_text_clean(struct eco_buf *out, const char *text, bool ascii)
{
    while (*text) {
        size_t n = sequence_len(text);
        unsigned char c = (unsigned char)*text;
        /* C1 controls are two bytes in UTF-8; terminals obey them too. */
        bool c1 = n == 2 && c == 0xc2 && (unsigned char)text[1] < 0xa0;
        if (n == 1 && (c < 0x20 || c == 0x7f))
            eco_buf_putc(out, ' ');
        else if (c1 || !eco_str_is_utf8(text, n))
            eco_buf_putc(out, '?');
        else if (n > 1 && ascii && eco_str_width(text, n) != 2) /* letters stay, signs do not */
            eco_buf_puts(out, spelled(text, n));
        else
            eco_buf_put(out, text, n);
        text += n;
    }
}

void eco_text_blanks(struct eco_buf *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        eco_buf_putc(out, ' ');
}

size_t eco_text_cut(struct eco_buf *out, const char *text, size_t width, bool ascii)
{
    struct eco_buf clean = ECO_BUF_INIT;
    eco_text_clean(&clean, text, ascii);
    const char *s = eco_buf_str(&clean);
    size_t total = eco_str_width(s, strlen(s)), used = 0;
    size_t dots = ascii ? 3 : 1, room = total > width && width > dots ? width - dots : width;
    while (*s) {
        size_t n = sequence_len(s), w = eco_str_width(s, n);
        if (used + w > room)
            break;
        eco_buf_put(out, s, n);
        used += w;
        s += n;
    }
    if (total > width && width > dots) {
        eco_buf_puts(out, ascii ? "..." : "\xe2\x80\xa6");
        used += dots;
    }
    eco_buf_done(&clean);
    return used;
}

void eco_text_pad(struct eco_buf *out, const char *text, size_t width, bool ascii)
{
    size_t used = eco_text_cut(out, text, width, ascii);
    eco_text_blanks(out, width > used ? width - used : 0);
}

void eco_text_wrap(struct eco_buf *out, const char *text, size_t width, size_t indent, bool ascii)
{
    struct eco_buf clean = ECO_BUF_INIT, word = ECO_BUF_INIT;
    size_t column = 0, gap = 0; /* blanks before the word: kept, up to three, within a line */
    bool first = true;
    eco_text_clean(&clean, text, ascii);
    for (const char *s = eco_buf_str(&clean); *s;) {
        size_t n = strcspn(s, " ");
        if (n) {
            size_t w = eco_str_width(s, n);
            if (!first && column + gap + w > width) {
                eco_buf_putc(out, '\n');
                eco_text_blanks(out, indent);
                column = indent;
            } else if (!first) {
                eco_text_blanks(out, gap);
                column += gap;
            }
            eco_buf_clear(&word);
            eco_buf_put(&word, s, n);
            column +=
                eco_text_cut(out, eco_buf_str(&word), width > column ? width - column : 1, ascii);
            first = false;
        }
        s += n;
        gap = strspn(s, " ");
        s += gap;
        gap = gap > 3 ? 3 : gap;
    }
    eco_buf_putc(out, '\n');
    eco_buf_done(&clean);
    eco_buf_done(&word);
}
