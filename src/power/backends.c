#include "backend.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const struct eco_power_backend *const eco_power_backends[] = {
    &eco_power_nvml, &eco_power_amdgpu, &eco_power_intel, &eco_power_rapl, &eco_power_hwmon, NULL};

void eco_power_unavailable(struct eco_run_source *s, const struct eco_power_backend *b,
                           const char *reason)
{
    eco_run_source_init(s);
    s->name = b->name;
    s->boundary = b->boundary;
    s->status = "unavailable";
    s->reason = reason;
}

void eco_power_available(struct eco_run_source *s, const struct eco_power_backend *b,
                         const char *device, const char *field)
{
    eco_run_source_init(s);
    s->name = b->name;
    s->boundary = b->boundary;
    s->status = "available";
    s->device = device;
    s->field = field;
}

size_t eco_power_probe_all(const struct eco_power_roots *roots, struct eco_arena *arena,
                           struct eco_run_source *out, size_t cap)
{
    size_t n = 0;
    for (size_t i = 0; eco_power_backends[i] && n < cap; i++) {
        n += eco_power_backends[i]->probe(roots, arena, out + n, cap - n);
    }
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
