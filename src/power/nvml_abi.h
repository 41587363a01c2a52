/*
 * The few types and numbers of NVML's public API that are used, declared here so that building
 * needs no driver. Layouts are those of nvml.h (API 11 and later); the fake library of tests/fake
 * is built from this header too. Vendor integers keep the vendor's units.
 */
#ifndef ECO_POWER_NVML_ABI_H
#define ECO_POWER_NVML_ABI_H

#include <stdint.h>

typedef void *nvml_device; /* opaque to everybody but the driver */

enum nvml_return {
    NVML_SUCCESS = 0,
    NVML_UNINITIALIZED = 1,
    NVML_INVALID_ARGUMENT = 2,
    NVML_NOT_SUPPORTED = 3,
    NVML_NO_PERMISSION = 4,
    NVML_NOT_FOUND = 6,
    NVML_INSUFFICIENT_SIZE = 7,
    NVML_TIMEOUT = 10,
    NVML_FUNCTION_NOT_FOUND = 13,
    NVML_GPU_IS_LOST = 15,
    NVML_RESET_REQUIRED = 16,
    NVML_UNKNOWN = 999
};

enum nvml_field {
    NVML_FIELD_TOTAL_ENERGY = 83,   /* mJ since the driver was loaded */
    NVML_FIELD_POWER_AVERAGE = 185, /* mW over 1 s */
    NVML_FIELD_POWER_INSTANT = 186  /* mW */
};

enum nvml_value_type {
    NVML_VALUE_DOUBLE,
    NVML_VALUE_UINT,
    NVML_VALUE_ULONG,
    NVML_VALUE_ULLONG,
    NVML_VALUE_SLLONG,
    NVML_VALUE_SINT
};

struct nvml_field_value {
    unsigned field_id, scope_id; /* scope of power: 0 GPU, 1 module, 2 memory */
    long long timestamp_us, latency_us;
    int value_type, rc;
    union {
        double d;
        unsigned u;
        unsigned long ul;
        unsigned long long ull;
        long long sll;
        int s;
    } value;
};
_Static_assert(sizeof(struct nvml_field_value) == 40, "nvmlFieldValue_t has 40 bytes");

struct nvml_memory {
    unsigned long long total, free, used;
};

struct nvml_process { /* nvmlProcessInfo_v2_t: also of the _v3 calls */
    unsigned pid;
    unsigned long long used_bytes; /* ULLONG_MAX: not known */
    unsigned gpu_instance, compute_instance;
};
_Static_assert(sizeof(struct nvml_process) == 24, "nvmlProcessInfo_v2_t has 24 bytes");

enum nvml_throttle {
    NVML_THROTTLE_SW_POWER_CAP = 0x4,
    NVML_THROTTLE_HW_SLOWDOWN = 0x8,
    NVML_THROTTLE_SW_THERMAL = 0x20,
    NVML_THROTTLE_HW_THERMAL = 0x40,
    NVML_THROTTLE_POWER_BRAKE = 0x80
};

enum nvml_virtualization { NVML_VIRTUAL_NONE, NVML_VIRTUAL_PASSTHROUGH, NVML_VIRTUAL_VGPU };

#endif
