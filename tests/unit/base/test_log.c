#include "base/log.h"
#include "eco_test.h"

#include <errno.h>
#include <unistd.h>

static char seen[8192];

/* Runs `call` with standard error in a pipe; what it wrote is in `seen`. */
static void capture(void (*call)(void))
{
    int fds[2], saved = dup(STDERR_FILENO);

    assert_int_equal(pipe(fds), 0);
    assert_int_equal(dup2(fds[1], STDERR_FILENO), STDERR_FILENO);
    close(fds[1]);
    call();
    dup2(saved, STDERR_FILENO);
    close(saved);
    memset(seen, 0, sizeof seen);
    for (size_t at = 0; at < sizeof seen - 1;) {
        ssize_t n = read(fds[0], seen + at, sizeof seen - 1 - at);
        if (n <= 0) {
            break;
        }
        at += (size_t)n;
    }
    close(fds[0]);
}

static void all_levels(void)
{
    eco_log(ECO_LOG_QUIET, "never");
    eco_log(ECO_LOG_ERROR, "e %d", 1);
    eco_log(ECO_LOG_WARN, "w");
    eco_log(ECO_LOG_INFO, "i");
    eco_log(ECO_LOG_DEBUG, "d");
}

static void test_levels(void **unused)
{
    (void)unused;
    assert_int_equal(eco_log_get_level(), ECO_LOG_WARN);
    capture(all_levels);
    assert_string_equal(seen, "ecocompute: error: e 1\necocompute: warning: w\n");
    eco_log_set_level(ECO_LOG_DEBUG);
    capture(all_levels);
    assert_string_equal(seen, "ecocompute: error: e 1\necocompute: warning: w\n"
                              "ecocompute: i\necocompute: debug: d\n");
    eco_log_set_level(ECO_LOG_QUIET);
    capture(all_levels);
    assert_string_equal(seen, "");
    eco_log_set_level(ECO_LOG_WARN);
}

static void hostile(void)
{
    eco_log(ECO_LOG_ERROR, "'%s'", "a\nb\x1B[2J\x7F\xC3\xA9");
}

static void test_control_characters(void **unused)
{
    (void)unused;
    capture(hostile);
    assert_string_equal(seen, "ecocompute: error: 'a?b?[2J?\xC3\xA9'\n");
}

static char letters[3000];

static void long_line(void)
{
    eco_log(ECO_LOG_ERROR, "%s", letters);
}

static void test_lengths(void **unused)
{
    const size_t head = strlen("ecocompute: error: ");

    (void)unused;
    for (size_t len = 900; len < sizeof letters; len++) {
        memset(letters, 'x', len);
        letters[len] = '\0';
        capture(long_line);
        size_t got = strlen(seen);
        assert_true(got <= ECO_LOG_MAX_LINE && seen[got - 1] == '\n');
        if (head + len + 1 <= ECO_LOG_MAX_LINE) {
            assert_int_equal(got, head + len + 1);
            assert_int_equal(seen[got - 2], 'x');
        } else {
            assert_int_equal(got, ECO_LOG_MAX_LINE);
            assert_memory_equal(seen + got - 4, "...\n", 4);
        }
    }
}

static void no_reader(void)
{
    close(STDERR_FILENO);
    errno = ENOENT;
    eco_log(ECO_LOG_ERROR, "lost");
    assert_int_equal(errno, ENOENT);
}

static void test_errno_is_kept(void **unused)
{
    (void)unused;
    capture(no_reader);
    assert_string_equal(seen, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_control_characters),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_errno_is_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
