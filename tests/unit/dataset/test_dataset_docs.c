/*
 * docs/data.md says what the tables say: row counts, counts by grade, the columns, the checks. A
 * line that is missing is printed as it should stand there.
 */
#include "base/file.h"
#include "dataset/audit_table.h"
#include "dataset/dataset.h"
#include "eco_test.h"

static struct eco_buf doc;
static size_t missing;

static int load(void **state)
{
    (void)state;
    missing = 0;
    return eco_file_read(ECO_SOURCE_DIR "/docs/data.md", 1u << 20, &doc, NULL);
}

static int unload(void **state)
{
    (void)state;
    eco_buf_done(&doc);
    return 0;
}

static void want_line(const char *line)
{
    char whole[512];

    snprintf(whole, sizeof whole, "\n%s\n", line);
    if (strstr(eco_buf_str(&doc), whole) == NULL) {
        print_message("docs/data.md lacks: %s\n", line);
        missing++;
    }
}

/* Counts by grade of the rows that `same` puts together with row `first`. */
static void grades(bool (*same)(const struct eco_row *, const char *), const char *key, size_t n[5])
{
    struct eco_row r;

    memset(n, 0, 5 * sizeof n[0]);
    for (size_t i = 0; eco_dataset_row(i, &r); i++) {
        if (same(&r, key)) {
            n[r.grade]++;
            n[0]++;
        }
    }
}

static bool on_card(const struct eco_row *r, const char *card)
{
    return r->table == ECO_ROWS_MEASUREMENTS && (*card == '\0' || strcmp(r->gpu, card) == 0);
}

static bool of_source(const struct eco_row *r, const char *file)
{
    return r->table == ECO_ROWS_EXTERNAL && strncmp(r->session, file, strlen(file)) == 0;
}

static void test_grades(void **state)
{
    char line[256];
    size_t n[5];
    struct eco_row r;

    (void)state;
    for (size_t i = 0; eco_dataset_row(i, &r) && r.table == ECO_ROWS_MEASUREMENTS; i++) {
        grades(on_card, r.gpu, n);
        snprintf(line, sizeof line, "| %s | %zu | %zu | %zu | %zu | %zu |", r.gpu, n[0], n[1], n[2],
                 n[3], n[4]);
        want_line(line);
    }
    grades(on_card, "", n);
    snprintf(line, sizeof line, "| **all** | %zu | %zu | %zu | %zu | %zu |", n[0], n[1], n[2], n[3],
             n[4]);
    want_line(line);
    assert_int_equal(missing, 0);
}

static void test_sources(void **state)
{
    (void)state;
    for (size_t i = 0; i < eco_dataset_digest_count(); i++) {
        const char *path = eco_dataset_digest(i)->path;
        char name[64], line[256];
        size_t n[5];
        struct eco_row r;

        if (strncmp(path, "data/external/", 14) != 0)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(strlen(path) - 18), path + 14);
        grades(of_source, name, n);
        for (size_t k = 0; eco_dataset_row(k, &r) && !of_source(&r, name); k++)
            ;
        snprintf(line, sizeof line, "| `%s.csv` | %zu | %zu | %zu | %zu | %zu | %s |", name, n[0],
                 n[1], n[2], n[3], n[4], r.licence);
        want_line(line);
        assert_int_equal(n[0], eco_dataset_digest(i)->rows);
    }
    assert_int_equal(missing, 0);
}

/* "| `models.csv` | 89 |" for every file that stands alone, and the two folders. */
static void test_row_counts(void **state)
{
    size_t measurements = 0, external = 0;
    char cell[128];

    (void)state;
    for (size_t i = 0; i < eco_dataset_digest_count(); i++) {
        const struct eco_digest *d = eco_dataset_digest(i);

        if (strncmp(d->path, "data/measurements/", 18) == 0) {
            measurements += d->rows;
        } else if (strncmp(d->path, "data/external/", 14) == 0) {
            external += d->rows;
        } else if (strstr(d->path, ".csv") != NULL) {
            snprintf(cell, sizeof cell, "\n| `%s` | %zu |", d->path + 5, d->rows);
            if (strstr(eco_buf_str(&doc), cell) == NULL)
                fail_msg("docs/data.md lacks: %s", cell + 1);
        }
    }
    snprintf(cell, sizeof cell, "\n| `measurements/` | %zu |", measurements);
    assert_non_null(strstr(eco_buf_str(&doc), cell));
    snprintf(cell, sizeof cell, "\n| `external/` | %zu |", external);
    assert_non_null(strstr(eco_buf_str(&doc), cell));
}

static void test_columns_and_checks(void **state)
{
    char line[512];

    (void)state;
    for (size_t i = 0; i < eco_dataset_column_count(); i++) {
        const struct eco_column *c = eco_dataset_column(i);

        snprintf(line, sizeof line, "| `%s` | %s | %s | %s | %s |", c->name, c->type, c->unit,
                 c->required == 'Y'   ? "yes"
                 : c->required == 'N' ? "no"
                                      : "D",
                 c->meaning);
        want_line(line);
    }
    for (int k = 0; k < ECO_TABLE_CHECK_COUNT; k++) {
        snprintf(line, sizeof line, "| `%s` | %s |", eco_table_check_name((enum eco_table_check)k),
                 eco_table_check_question((enum eco_table_check)k));
        want_line(line);
    }
    assert_int_equal(missing, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_grades, load, unload),
        cmocka_unit_test_setup_teardown(test_sources, load, unload),
        cmocka_unit_test_setup_teardown(test_row_counts, load, unload),
        cmocka_unit_test_setup_teardown(test_columns_and_checks, load, unload),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
