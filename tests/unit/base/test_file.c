#define _XOPEN_SOURCE 700
#include "base/file.h"
#include "eco_err.h"
#include "eco_test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[64];

static int set_up(void **unused)
{
    (void)unused;
    snprintf(dir, sizeof dir, "eco-test-file-XXXXXX");
    return mkdtemp(dir) == NULL;
}

static int tear_down(void **unused)
{
    char command[200];

    (void)unused;
    snprintf(command, sizeof command, "chmod -R u+w %s; rm -rf %s", dir, dir);
    return system(command) != 0; /* NOLINT(cert-env33-c) */
}

static const char *in_dir(const char *name)
{
    static char paths[4][300];
    static int turn;

    turn = (turn + 1) % 4;
    snprintf(paths[turn], sizeof paths[turn], "%s/%s", dir, name);
    return paths[turn];
}

static int files_in_dir(void)
{
    DIR *d = opendir(dir);
    int n = 0;

    assert_non_null(d);
    for (const struct dirent *e = readdir(d); e != NULL; e = readdir(d)) {
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    }
    closedir(d);
    return n;
}

static void assert_holds(const char *path, const char *text)
{
    struct eco_buf b = ECO_BUF_INIT;

    assert_int_equal(eco_file_read(path, 1 << 20, &b, NULL), 0);
    assert_string_equal(eco_buf_str(&b), text);
    assert_int_equal(b.len, strlen(text));
    eco_buf_done(&b);
}

static void test_write_and_read(void **unused)
{
    struct eco_err e = {0};
    const char *path = in_dir("a.json");
    struct stat st;

    (void)unused;
    mode_t mask = umask(022);
    assert_int_equal(eco_file_write(path, "one", 3, false, &e), 0);
    assert_holds(path, "one");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0644);
    assert_int_equal(eco_file_write(path, "two", 3, false, &e), ECO_E_EXISTS);
    assert_non_null(strstr(e.message, "a.json"));
    assert_string_equal(e.arg, path);
    assert_holds(path, "one");
    assert_int_equal(chmod(path, 0600), 0);
    assert_int_equal(eco_file_write(path, "", 0, true, &e), 0);
    assert_holds(path, "");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600); /* the rights of what was there */
    assert_int_equal(files_in_dir(), 1);
    assert_int_equal(unlink(path), 0);
    umask(mask);
}

static void test_read_limit(void **unused)
{
    struct eco_buf b = ECO_BUF_INIT;
    struct eco_err e = {0};
    static char large[200000];
    const char *path = in_dir("large");

    (void)unused;
    memset(large, 'x', sizeof large);
    assert_int_equal(eco_file_write(path, large, sizeof large, false, &e), 0);
    assert_int_equal(eco_file_read(path, sizeof large, &b, &e), 0);
    assert_int_equal(b.len, sizeof large);
    eco_buf_clear(&b);
    eco_buf_puts(&b, "kept");
    assert_int_equal(eco_file_read(path, sizeof large - 1, &b, &e), ECO_E_TOO_LARGE);
    assert_non_null(strstr(e.message, "199999"));
    assert_string_equal(b.data, "kept"); /* untouched */
    assert_int_equal(eco_file_read(path, 0, &b, &e), ECO_E_TOO_LARGE);
    assert_int_equal(eco_file_read("/dev/zero", 100000, &b, &e), ECO_E_TOO_LARGE);
    assert_int_equal(eco_file_read("/dev/null", 0, &b, &e), 0);
    assert_string_equal(b.data, "kept");
    eco_buf_done(&b);
    assert_int_equal(unlink(path), 0);
}

static void test_read_failures(void **unused)
{
    struct eco_buf b = ECO_BUF_INIT;
    struct eco_err e = {0};

    (void)unused;
    assert_int_equal(eco_file_read(in_dir("nope"), 10, &b, &e), ECO_E_NOT_FOUND);
    assert_non_null(strstr(e.message, "nope"));
    assert_non_null(strstr(e.message, "No such file"));
    assert_int_equal(eco_file_read("/dev/null/x", 10, &b, &e), ECO_E_NOT_FOUND);
    assert_int_equal(eco_file_read(dir, 10, &b, &e), ECO_E_INVALID);
    assert_non_null(strstr(e.message, "directory"));
    if (access("/proc/self/mem", R_OK) == 0) { /* its first page is never mapped: a read error */
        assert_int_equal(eco_file_read("/proc/self/mem", 10, &b, &e), ECO_E_IO);
    }
    if (geteuid() != 0) {
        const char *path = in_dir("secret");
        assert_int_equal(eco_file_write(path, "x", 1, false, &e), 0);
        assert_int_equal(chmod(path, 0), 0);
        assert_int_equal(eco_file_read(path, 10, &b, &e), ECO_E_PERMISSION);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(b.len, 0);
    eco_buf_done(&b);
}

static void test_read_standard_input(void **unused)
{
    struct eco_buf b = ECO_BUF_INIT;
    int fds[2], saved = dup(STDIN_FILENO);

    (void)unused;
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(write(fds[1], "piped", 5), 5);
    close(fds[1]);
    assert_int_equal(dup2(fds[0], STDIN_FILENO), STDIN_FILENO);
    close(fds[0]);
    assert_int_equal(eco_file_read("-", 100, &b, NULL), 0);
    assert_string_equal(b.data, "piped");
    if (saved >= 0) {
        dup2(saved, STDIN_FILENO);
        close(saved);
    }
    eco_buf_done(&b);
}

static void test_write_refusals(void **unused)
{
    struct eco_err e = {0};

    (void)unused;
    assert_int_equal(eco_file_write(dir, "x", 1, true, &e), ECO_E_INVALID);
    assert_non_null(strstr(e.message, "is a directory"));
    assert_int_equal(eco_file_write(in_dir("no/such"), "x", 1, false, &e), ECO_E_NOT_FOUND);
    assert_int_equal(eco_file_write("", "x", 1, true, &e), ECO_E_NOT_FOUND);
    assert_int_equal(symlink("nowhere", in_dir("dangling")), 0);
    assert_int_equal(eco_file_write(in_dir("dangling"), "x", 1, false, &e), ECO_E_EXISTS);
    assert_int_equal(unlink(in_dir("dangling")), 0);
    if (geteuid() != 0) {
        assert_int_equal(chmod(dir, 0500), 0);
        assert_int_equal(eco_file_write(in_dir("x"), "x", 1, false, &e), ECO_E_PERMISSION);
        assert_int_equal(chmod(dir, 0700), 0);
    }
    assert_int_equal(files_in_dir(), 0);
}

static void test_write_through_links(void **unused)
{
    struct stat st;

    (void)unused;
    assert_int_equal(eco_file_write(in_dir("target"), "old", 3, false, NULL), 0);
    assert_int_equal(symlink("target", in_dir("link")), 0);
    assert_int_equal(eco_file_write(in_dir("link"), "new", 3, true, NULL), 0);
    assert_holds(in_dir("target"), "new");
    assert_int_equal(lstat(in_dir("link"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(files_in_dir(), 2);
    assert_int_equal(unlink(in_dir("link")), 0);
    assert_int_equal(unlink(in_dir("target")), 0);
}

static void test_devices(void **unused)
{
    struct eco_err e = {0};

    (void)unused;
    assert_int_equal(eco_file_write("/dev/null", "x", 1, false, &e), 0);
    if (access("/dev/full", W_OK) == 0) {
        assert_int_equal(eco_file_write("/dev/full", "x", 1, false, &e), ECO_E_IO);
        assert_non_null(strstr(e.message, "No space left"));
    }
}

/* A disk that fills half-way: the old file stays, no temporary is left. */
static void test_full_disk(void **unused)
{
    static char large[100000];
    const char *path = in_dir("kept"), *fresh = in_dir("fresh");

    (void)unused;
    assert_int_equal(eco_file_write(path, "old", 3, false, NULL), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit = {50000, 50000};
        struct eco_err e = {0};
        signal(SIGXFSZ, SIG_IGN);
        bool ok = setrlimit(RLIMIT_FSIZE, &limit) == 0 &&
                  eco_file_write(path, large, sizeof large, true, &e) == ECO_E_IO &&
                  strstr(e.message, "kept") != NULL &&
                  eco_file_write(fresh, large, sizeof large, false, &e) == ECO_E_IO;
        _exit(ok ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_holds(path, "old");
    assert_int_equal(files_in_dir(), 1);
    assert_int_equal(unlink(path), 0);
}

/* Of many that create one name without force, one wins, and its text is whole. */
static void test_race(void **unused)
{
    static char text[20000];
    const char *path = in_dir("raced");
    int won = 0;

    (void)unused;
    fflush(NULL);
    for (int i = 0; i < 8; i++) {
        pid_t child = fork();
        if (child == 0) {
            memset(text, 'a' + i, sizeof text);
            int code = eco_file_write(path, text, sizeof text, false, NULL);
            _exit(code == 0 ? 0 : code == ECO_E_EXISTS ? 1 : 2);
        }
        assert_true(child > 0);
    }
    for (int i = 0; i < 8; i++) {
        int status = 0;
        wait(&status);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
        won += WEXITSTATUS(status) == 0;
    }
    assert_int_equal(won, 1);
    struct eco_buf b = ECO_BUF_INIT;
    assert_int_equal(eco_file_read(path, sizeof text, &b, NULL), 0);
    assert_int_equal(b.len, sizeof text);
    memset(text, b.data[0], sizeof text);
    assert_memory_equal(b.data, text, sizeof text);
    eco_buf_done(&b);
    assert_int_equal(files_in_dir(), 1);
    assert_int_equal(unlink(path), 0);
}

static void test_mkdirs(void **unused)
{
    struct eco_err e = {0};

    (void)unused;
    assert_false(eco_file_exists(in_dir("a")));
    assert_int_equal(eco_file_mkdirs(in_dir("a/b//c/"), &e), 0);
    assert_true(eco_file_is_dir(in_dir("a/b/c")));
    assert_int_equal(eco_file_mkdirs(in_dir("a/b"), &e), 0);
    assert_int_equal(eco_file_mkdirs("/", &e), 0);
    assert_int_equal(eco_file_write(in_dir("a/file"), "x", 1, false, &e), 0);
    assert_true(eco_file_exists(in_dir("a/file")));
    assert_false(eco_file_is_dir(in_dir("a/file")));
    assert_int_equal(eco_file_mkdirs(in_dir("a/file/x"), &e), ECO_E_NOT_FOUND);
    assert_int_equal(eco_file_mkdirs(in_dir("a/file"), &e), ECO_E_NOT_FOUND);
    assert_non_null(strstr(e.message, "Not a directory"));
    assert_int_equal(eco_file_mkdirs("", &e), ECO_E_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_write_and_read), cmocka_unit_test(test_read_limit),
        cmocka_unit_test(test_read_failures),  cmocka_unit_test(test_read_standard_input),
        cmocka_unit_test(test_write_refusals), cmocka_unit_test(test_write_through_links),
        cmocka_unit_test(test_devices),        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_race),           cmocka_unit_test(test_mkdirs),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
