/* Small files of the kernel, as the sysfs backends read them. */
#include "backend.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define NUMBER_BYTES 64

bool eco_power_first_line(const char *path, char *out, size_t cap)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    ssize_t got = read(fd, out, cap - 1);
    int saved = errno;
    close(fd);
    errno = saved;
    if (got < 0) {
        return false;
    }
    out[got] = '\0';
    out[strcspn(out, "\n")] = '\0';
    return true;
}

/* Decimal digits and a newline, nothing else; EILSEQ otherwise. */
static int parse_u64(const char *text, size_t len, uint64_t *out)
{
    uint64_t v = 0;
    size_t digits = 0;
    for (; digits < len && text[digits] >= '0' && text[digits] <= '9'; digits++) {
        uint64_t digit = (uint64_t)(text[digits] - '0');
        if (v > (UINT64_MAX - digit) / 10) {
            return ERANGE;
        }
        v = v * 10 + digit;
    }
    if (digits == 0 || (digits < len && text[digits] != '\n')) {
        return EILSEQ;
    }
    *out = v;
    return 0;
}

int eco_power_pread_u64(int fd, uint64_t *out)
{
    char text[NUMBER_BYTES];
    ssize_t got = pread(fd, text, sizeof(text), 0);
    return got < 0 ? errno : parse_u64(text, (size_t)got, out);
}

int eco_power_read_u64(const char *path, uint64_t *out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return errno;
    }
    int rc = eco_power_pread_u64(fd, out);
    close(fd);
    return rc;
}
