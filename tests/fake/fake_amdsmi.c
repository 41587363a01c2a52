/*
 * A stand-in for libamd_smi: two sockets of one card each, 250 W, no power call. ECO_FAKE_AMD says
 * what is wrong: "stuck" (the count does not move), "back" (it goes back after half a second),
 * "fails" (it fails after half a second), "none" (no count at all), "mute" (init refuses).
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))
#define RESOLUTION_UJ 15.3f
#define WATTS 250.0
#define TURN_S 0.5

static int cards[2];
static double start_s;

static double mono_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int wrong(const char *how)
{
    const char *set = getenv("ECO_FAKE_AMD");
    return set && strcmp(set, how) == 0;
}

EXPORT int amdsmi_init(uint64_t flags);
EXPORT int amdsmi_init(uint64_t flags)
{
    start_s = mono_s();
    return flags == 0 || wrong("mute");
}

EXPORT int amdsmi_shut_down(void);
EXPORT int amdsmi_shut_down(void)
{
    return 0;
}

EXPORT int amdsmi_get_socket_handles(uint32_t *n, void **out);
EXPORT int amdsmi_get_socket_handles(uint32_t *n, void **out)
{
    *n = 2;
    for (int i = 0; out && i < 2; i++) {
        out[i] = &cards[i];
    }
    return 0;
}

EXPORT int amdsmi_get_processor_handles(void *socket, uint32_t *n, void **out);
EXPORT int amdsmi_get_processor_handles(void *socket, uint32_t *n, void **out)
{
    *n = 1;
    if (out) {
        out[0] = socket;
    }
    return 0;
}

EXPORT int amdsmi_get_energy_count(void *card, uint64_t *count, float *resolution_uj,
                                   uint64_t *stamp_ns);
EXPORT int amdsmi_get_energy_count(void *card, uint64_t *count, float *resolution_uj,
                                   uint64_t *stamp_ns)
{
    double t_s = mono_s() - start_s;
    int late = t_s > TURN_S;
    (void)card;
    if (wrong("none") || (wrong("fails") && late)) {
        return 2;
    }
    t_s = wrong("stuck") ? 0 : wrong("back") && late ? t_s - TURN_S : t_s;
    *resolution_uj = RESOLUTION_UJ;
    *stamp_ns = (uint64_t)(mono_s() * 1e9);
    *count = 1000000 + (uint64_t)(WATTS * 1e6 * t_s / (double)RESOLUTION_UJ);
    return 0;
}
