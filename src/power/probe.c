/* Short looks at the machine: all sources as a report's rows, the card's name without a library. */
#include "power.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

size_t eco_power_probe_all(const struct eco_power_options *o, struct eco_arena *arena,
                           struct eco_run_source *out, size_t cap)
{
    struct eco_power_set *set = NULL;
    size_t n = 0;
    if (eco_power_open(o, &set, NULL) != 0) {
        return 0;
    }
    for (; n < cap && n < eco_power_count(set); n++) {
        struct eco_run_source *s = &out[n];
        eco_power_describe(eco_power_at(set, n), false, s);
        /* the set goes, its texts with it */
        const char **texts[] = {&s->device, &s->reason, &s->driver};
        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
            *texts[i] = *texts[i] ? eco_arena_strdup(arena, *texts[i], strlen(*texts[i])) : NULL;
        }
    }
    eco_power_close(set);
    return n;
}

/* "Model: \t NVIDIA GeForce RTX 4090" in /proc/driver/nvidia/gpus/<bus>/information */
static const char *model_line(const char *path, struct eco_arena *arena)
{
    char text[2048];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (fd >= 0) {
        close(fd);
    }
    if (got <= 0) {
        return NULL;
    }
    text[got] = '\0';
    const char *at = strstr(text, "Model:");
    if (!at) {
        return NULL;
    }
    at += strlen("Model:");
    at += strspn(at, " \t");
    return eco_arena_strdup(arena, at, strcspn(at, "\n"));
}

const char *eco_power_gpu_name(struct eco_arena *arena)
{
    const char *const root = "/proc/driver/nvidia/gpus";
    DIR *dir = opendir(root);
    const char *name = NULL;
    for (struct dirent *e; dir && !name && (e = readdir(dir));) {
        if (e->d_name[0] != '.') {
            char path[512];
            snprintf(path, sizeof(path), "%s/%s/information", root, e->d_name);
            name = model_line(path, arena);
        }
    }
    if (dir) {
        closedir(dir);
    }
    return name;
}
