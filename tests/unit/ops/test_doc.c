/* One document, three faces: escapes, widths, tables. */
#include "eco_test.h"

#include "ops/doc.h"

static void make(enum eco_doc_kind kind, struct eco_buf *out, int width)
{
    struct eco_arena arena;
    struct eco_doc d;
    eco_arena_init(&arena, 0);
    eco_doc_init(&d, kind, out, &arena, width);
    eco_doc_verdict(&d, ECO_TONE_GOOD, "saves <b>%d</b> | %%", 5);
    eco_doc_heading(&d, "Figures");
    eco_doc_kv(&d, "change", "%s",
               "a rather long text that has to be broken somewhere because it is long");
    eco_doc_table(&d, "name|>value");
    eco_doc_cell(&d, "%s", "a|b");
    eco_doc_cell(&d, "%d", 7);
    eco_doc_cell(&d, "%s", "中文");
    eco_doc_cell(&d, "%d", 1234);
    eco_doc_table_end(&d);
    eco_doc_item(&d, "one & two");
    eco_doc_pre(&d, "<chart>\n");
    eco_doc_next(&d, "ecocompute gpus", "cards");
    eco_doc_end(&d);
    eco_arena_done(&arena);
}

static void test_text_keeps_the_width(void **state)
{
    (void)state;
    struct eco_buf b = ECO_BUF_INIT;
    make(ECO_DOC_TEXT, &b, 50);
    for (const char *line = b.data; *line;) {
        size_t n = strcspn(line, "\n");
        assert_true(eco_str_width(line, n) <= 50);
        line += n + (line[n] == '\n');
    }
    /* wide characters count two columns: the right edge of both rows is the same */
    assert_non_null(strstr(b.data, "  a|b       7\n"));
    assert_non_null(strstr(b.data, "  中文   1234\n"));
    eco_buf_done(&b);
}

static void test_markdown_escapes(void **state)
{
    (void)state;
    struct eco_buf b = ECO_BUF_INIT;
    make(ECO_DOC_MARKDOWN, &b, 80);
    assert_non_null(strstr(b.data, "**saves \\<b>5\\</b> \\| %**"));
    assert_non_null(strstr(b.data, "| a\\|b | 7 |"));
    assert_non_null(strstr(b.data, "| --- | ---: |"));
    assert_non_null(strstr(b.data, "```text\n<chart>\n```"));
    assert_non_null(strstr(b.data, "- `ecocompute gpus`: cards"));
    eco_buf_done(&b);
}

static void test_html_escapes(void **state)
{
    (void)state;
    struct eco_buf b = ECO_BUF_INIT;
    make(ECO_DOC_HTML, &b, 80);
    assert_null(strstr(b.data, "<b>"));
    assert_non_null(strstr(b.data, "saves &lt;b&gt;5"));
    assert_non_null(strstr(b.data, "<pre>&lt;chart&gt;"));
    assert_non_null(strstr(b.data, "<td class=\"num\">1234</td>"));
    /* every list that is opened is closed */
    size_t open = 0, closed = 0;
    for (const char *p = b.data; (p = strstr(p, "<ul>")); p++) {
        open++;
    }
    for (const char *p = b.data; (p = strstr(p, "</ul>")); p++) {
        closed++;
    }
    assert_true(open > 0);
    assert_int_equal(open, closed);
    eco_buf_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_keeps_the_width),
        cmocka_unit_test(test_markdown_escapes),
        cmocka_unit_test(test_html_escapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
