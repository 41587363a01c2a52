/* Where helpers are looked for, and what is said when they are nowhere. */
#include "base/libexec.h"
#include "eco_test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void finds_in_the_named_folder(void **state)
{
    (void)state;
    char folder[] = "eco-libexec-XXXXXX";
    char file[64];
    char path[256];
    struct eco_err err = {0};
    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/ecocompute-nothing", folder);
    setenv("ECOCOMPUTE_LIBEXEC", folder, 1);
    assert_int_equal(eco_libexec_find("nothing", path, sizeof path, &err), ECO_E_NOT_FOUND);
    assert_non_null(strstr(err.message, folder));
    int fd = open(file, O_CREAT | O_WRONLY, 0600);
    assert_true(fd >= 0);
    close(fd);
    /* there, but nothing that can be run */
    assert_int_equal(eco_libexec_find("nothing", path, sizeof path, &err), ECO_E_NOT_FOUND);
    assert_int_equal(chmod(file, 0700), 0);
    assert_int_equal(eco_libexec_find("nothing", path, sizeof path, &err), 0);
    assert_string_equal(path, file);
    /* a path that does not fit is not cut */
    assert_int_equal(eco_libexec_find("nothing", path, 8, &err), ECO_E_NOT_FOUND);
    unlink(file);
    rmdir(folder);
    unsetenv("ECOCOMPUTE_LIBEXEC");
}

static void names_the_folders_it_looked_in(void **state)
{
    (void)state;
    char path[256];
    struct eco_err err = {0};
    unsetenv("ECOCOMPUTE_LIBEXEC");
    assert_int_equal(eco_libexec_find("never-built", path, sizeof path, &err), ECO_E_NOT_FOUND);
    assert_non_null(strstr(err.message, "libexec"));
    assert_non_null(strstr(err.message, "never-built"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_in_the_named_folder),
        cmocka_unit_test(names_the_folders_it_looked_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
