/* file.c on a bad day: calls that are interrupted, cut short, or fail; no hard links. */
#define _XOPEN_SOURCE 700 /* as file.c */
#include "eco_test.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/types.h>
#include <unistd.h>

enum fault { NONE, INTERRUPTED, SHORT, READ_FAILS, WRITE_FAILS, SYNC_FAILS, NO_SYNC, CLOSE_FAILS };

static enum fault fault;
static bool no_links;
static unsigned turn;

static bool interrupt(void)
{
    errno = EINTR;
    return fault == INTERRUPTED && turn++ % 2 == 0;
}

static ssize_t bad_read(int fd, void *p, size_t n)
{
    if (interrupt() || (fault == READ_FAILS && turn++ > 0)) {
        errno = fault == INTERRUPTED ? EINTR : EIO;
        return -1;
    }
    return read(fd, p, fault == SHORT && n > 7 ? 7 : n);
}

static ssize_t bad_write(int fd, const void *p, size_t n)
{
    if (interrupt() || fault == WRITE_FAILS) {
        errno = fault == INTERRUPTED ? EINTR : EIO;
        return -1;
    }
    return write(fd, p, fault == SHORT && n > 7 ? 7 : n);
}

static int bad_fsync(int fd)
{
    errno = fault == NO_SYNC ? EINVAL : EIO;
    return fault == NO_SYNC || fault == SYNC_FAILS ? -1 : fsync(fd);
}

static int bad_close(int fd)
{
    int code = close(fd);

    errno = EIO;
    return fault == CLOSE_FAILS ? -1 : code;
}

static int bad_link(const char *from, const char *to)
{
    errno = EPERM;
    return no_links ? -1 : link(from, to);
}

#undef fail /* a macro of cmocka; file.c has a function */
#define read(fd, p, n) bad_read(fd, p, n)
#define write(fd, p, n) bad_write(fd, p, n)
#define fsync(fd) bad_fsync(fd)
#define close(fd) bad_close(fd)
#define link(from, to) bad_link(from, to)
#include "../../../src/base/file.c" /* NOLINT(bugprone-suspicious-include) */
#undef read
#undef write
#undef fsync
#undef close
#undef link

#define PATH "eco-test-faults/file"

static char text[1000];

static int set_up(void **unused)
{
    (void)unused;
    fault = NONE;
    no_links = false;
    turn = 0;
    memset(text, 'x', sizeof text);
    return eco_file_mkdirs("eco-test-faults", NULL);
}

/* Fails when anything but the file itself was left behind. */
static int tear_down(void **unused)
{
    (void)unused;
    (void)unlink(PATH);
    return rmdir("eco-test-faults");
}

static void assert_holds(const char *wanted, size_t len)
{
    struct eco_buf b = ECO_BUF_INIT;

    assert_int_equal(eco_file_read(PATH, 1 << 20, &b, NULL), 0);
    assert_int_equal(b.len, len);
    assert_memory_equal(b.data, wanted, len);
    eco_buf_done(&b);
}

static void test_no_failure(void **unused)
{
    static const enum fault harmless[] = {NONE, INTERRUPTED, SHORT, NO_SYNC};

    (void)unused;
    for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++) {
        for (int links = 0; links < 2; links++) {
            fault = harmless[i];
            no_links = links == 0;
            assert_int_equal(eco_file_write(PATH, text, sizeof text, false, NULL), 0);
            assert_holds(text, sizeof text);
            assert_int_equal(eco_file_write(PATH, "x", 1, false, NULL), ECO_E_EXISTS);
            assert_holds(text, sizeof text);
            assert_int_equal(unlink(PATH), 0);
        }
    }
}

static void test_write_failures(void **unused)
{
    static const enum fault harmful[] = {WRITE_FAILS, SYNC_FAILS, CLOSE_FAILS};
    struct eco_err e = {0};

    (void)unused;
    assert_int_equal(eco_file_write(PATH, "old", 3, false, NULL), 0);
    for (size_t i = 0; i < sizeof harmful / sizeof harmful[0]; i++) {
        fault = harmful[i];
        assert_int_equal(eco_file_write(PATH, text, sizeof text, true, &e), ECO_E_IO);
        assert_non_null(strstr(e.message, PATH));
        fault = NONE;
        assert_holds("old", 3);
    }
}

static void test_read_failure(void **unused)
{
    struct eco_buf b = ECO_BUF_INIT;
    struct eco_err e = {0};

    (void)unused;
    assert_int_equal(eco_file_write(PATH, text, sizeof text, false, NULL), 0);
    fault = READ_FAILS; /* from the second call on */
    assert_int_equal(eco_file_read(PATH, sizeof text, &b, &e), ECO_E_IO);
    assert_int_equal(b.len, 0);
    eco_buf_done(&b);
}

/* Without hard links a name is claimed first: of two writers one still gets EXISTS. */
static void test_claimed_name(void **unused)
{
    (void)unused;
    no_links = true;
    assert_int_equal(symlink("nowhere", PATH), 0); /* what stat does not see, O_EXCL does */
    assert_int_equal(eco_file_write(PATH, "x", 1, false, NULL), ECO_E_EXISTS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_no_failure, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_write_failures, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_read_failure, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_claimed_name, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
