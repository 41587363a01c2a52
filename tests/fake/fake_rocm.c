/* A stand-in for librocm_smi64: two dies of one card, the second of which counts nothing; 300 W. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))
#define RESOLUTION_UJ 15.3f

EXPORT int rsmi_init(uint64_t flags);
EXPORT int rsmi_init(uint64_t flags)
{
    return flags != 0;
}

EXPORT int rsmi_shut_down(void);
EXPORT int rsmi_shut_down(void)
{
    return 0;
}

EXPORT int rsmi_num_monitor_devices(uint32_t *n);
EXPORT int rsmi_num_monitor_devices(uint32_t *n)
{
    *n = 2;
    return 0;
}

EXPORT int rsmi_dev_name_get(uint32_t i, char *out, size_t len);
EXPORT int rsmi_dev_name_get(uint32_t i, char *out, size_t len)
{
    snprintf(out, len, "AMD Instinct MI250X die %u", i);
    return 0;
}

EXPORT int rsmi_dev_power_ave_get(uint32_t i, uint32_t sensor, uint64_t *uw);
EXPORT int rsmi_dev_power_ave_get(uint32_t i, uint32_t sensor, uint64_t *uw)
{
    *uw = i == 0 && sensor == 0 ? 300000000 : 0;
    return 0;
}

EXPORT int rsmi_dev_energy_count_get(uint32_t i, uint64_t *count, float *resolution_uj,
                                     uint64_t *stamp_ns);
EXPORT int rsmi_dev_energy_count_get(uint32_t i, uint64_t *count, float *resolution_uj,
                                     uint64_t *stamp_ns)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    double s = (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
    *resolution_uj = RESOLUTION_UJ;
    *stamp_ns = (uint64_t)(s * 1e9);
    *count = i == 0 ? (uint64_t)(300e6 * s / (double)RESOLUTION_UJ) : 0;
    return 0;
}
