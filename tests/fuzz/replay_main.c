/*
 * Runs a fuzz target over files instead of libFuzzer: every file of the given folders as it is,
 * then cut short at each length (up to a limit) and with each byte changed in turn. So a seed
 * corpus is an ordinary test with any compiler: replay FOLDER|FILE... Exit status 1 when no input
 * was found: a corpus that is gone must not look like a pass.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_INPUT_BYTES (16u << 20)
#define MAX_VARIANTS 512u /* of each kind, of one file; evenly spread over longer files */

static unsigned long n_files, n_runs;

/* A copy of exactly `size` bytes, so that a sanitizer sees a read past the end. */
static void run_copy(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);
    if (copy == NULL) {
        fprintf(stderr, "replay: out of memory\n");
        exit(2);
    }
    memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
    n_runs++;
}

static void run_variants(uint8_t *data, size_t size)
{
    size_t step = size / MAX_VARIANTS + 1;
    run_copy(data, size);
    for (size_t i = 0; i < size; i += step) {
        uint8_t keep = data[i];
        run_copy(data, i);
        data[i] = (uint8_t)(keep ^ (1u << (i % 8)));
        run_copy(data, size);
        data[i] = keep;
    }
}

static int replay_file(const char *path, off_t size)
{
    if (size < 0 || (uintmax_t)size > MAX_INPUT_BYTES) {
        fprintf(stderr, "replay: '%s' is over %u bytes\n", path, MAX_INPUT_BYTES);
        return -1;
    }
    FILE *f = fopen(path, "rb");
    uint8_t *data = malloc((size_t)size + 1);
    int rc = -1;
    if (f != NULL && data != NULL && fread(data, 1, (size_t)size, f) == (size_t)size) {
        run_variants(data, (size_t)size);
        n_files++;
        rc = 0;
    } else {
        fprintf(stderr, "replay: cannot read '%s'\n", path);
    }
    free(data);
    if (f != NULL) {
        fclose(f);
    }
    return rc;
}

static int replay(const char *path);

static int replay_folder(const char *path)
{
    DIR *dir = opendir(path);
    if (dir == NULL) {
        fprintf(stderr, "replay: cannot open '%s'\n", path);
        return -1;
    }
    int rc = 0;
    for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
        char name[4096];
        if (e->d_name[0] == '.') {
            continue;
        }
        int n = snprintf(name, sizeof name, "%s/%s", path, e->d_name);
        if (n < 0 || (size_t)n >= sizeof name || replay(name) != 0) {
            rc = -1;
        }
    }
    closedir(dir);
    return rc;
}

static int replay(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0) {
        fprintf(stderr, "replay: no '%s'\n", path);
        return -1;
    }
    return S_ISDIR(st.st_mode) ? replay_folder(path) : replay_file(path, st.st_size);
}

int main(int argc, char **argv)
{
    int rc = 0;
    for (int i = 1; i < argc; i++) {
        if (replay(argv[i]) != 0) {
            rc = 1;
        }
    }
    printf("%lu files, %lu runs\n", n_files, n_runs);
    return rc != 0 || n_files == 0 ? 1 : 0;
}
