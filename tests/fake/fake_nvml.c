/*
 * A stand-in for libnvidia-ml.so.1, loaded by dlopen in place of the real one. What the cards draw
 * and what their driver says is a script: the file named by ECO_FAKE_NVML, one setting a line, `G`
 * a card's number or * for all. Without a script: one RTX 4090 at 250 W.
 *
 *   gpus N                      how many cards (up to 16)         driver 535.104.05
 *   name G TEXT                 uuid G TEXT     cc G 8.9          limit G WATTS
 *   memory G TOTAL_GIB FREE_GIB temp G DEGREES  throttle G BITS   process G PID MIB
 *   mig G    vgpu G    ecc G
 *   wave G W1 S1 W2 S2 …        true power: W1 for S1 seconds, then W2 …, again and again
 *   phase WORD WATTS            phases FILE: lines "WORD [t_mono_ns]" appended by the workload say
 *                               what it is doing; true power follows (all cards)
 *   refresh G MS                averaging G FIELD MS   (FIELD: default, average, instant; 0: none)
 *   counter G TICK_MS COUNT_MJ  stuck G                sentinel G FIELD
 *   fail CALL G RC [FROM_S TO_S]  a call, or "field185" …, returns RC in that time since init
 *   lost G AT_S                 every call on the card returns 15 from then on
 *   delay CALL MS               the call takes this long
 *   settings FILE               power limits and clocks that are set are appended to it
 */
#include "power/nvml_abi.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))
#define MAX_GPUS 16
#define MAX_STEPS 32
#define MAX_RULES 64
#define MAX_HISTORY 4096
#define MAX_PHASES 16
#define LINE_BYTES 512

enum { FIELD_DEFAULT, FIELD_AVERAGE, FIELD_INSTANT, FIELDS };
static const char *const field_names[FIELDS] = {"default", "average", "instant"};

struct card {
    char name[96], uuid[96];
    int cc_major, cc_minor;
    double limit_w, total_gib, free_gib, temp_c;
    unsigned long long throttle;
    unsigned pid[8];
    double pid_mib[8];
    unsigned processes;
    int mig, vgpu, ecc, stuck;
    double wave_w[MAX_STEPS], wave_s[MAX_STEPS];
    int steps;
    double refresh_s, averaging_s[FIELDS], tick_s, count_mj;
    int sentinel[FIELDS];
    double lost_s;
    unsigned limit_mw;
};

struct rule {
    char call[64];
    int card, rc; /* card -1: all */
    double from_s, to_s, delay_s;
};

static struct {
    int started;
    double start_s;
    unsigned gpus;
    char driver[64];
    struct card card[MAX_GPUS];
    struct rule rule[MAX_RULES];
    int rules;
    char phases[256], settings[256];
    char word[MAX_PHASES][32];
    double word_w[MAX_PHASES];
    int words;
    double history_s[MAX_HISTORY], history_w[MAX_HISTORY], history_j[MAX_HISTORY];
    int history;
    long phases_at;
} fake;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static double mono_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- the script ---------------------------------------------------------------------------- */

static void card_defaults(struct card *c, int i)
{
    memset(c, 0, sizeof(*c));
    snprintf(c->name, sizeof(c->name), "NVIDIA GeForce RTX 4090");
    snprintf(c->uuid, sizeof(c->uuid), "GPU-0000000%d-1111-2222-3333-444444444444", i);
    c->cc_major = 8;
    c->cc_minor = 9;
    c->limit_w = 450;
    c->total_gib = 24;
    c->free_gib = 23.5;
    c->temp_c = 40;
    c->wave_w[0] = 250;
    c->wave_s[0] = 1;
    c->steps = 1;
    c->refresh_s = 0.1;
    c->averaging_s[FIELD_DEFAULT] = 1;
    c->averaging_s[FIELD_AVERAGE] = 1;
    c->averaging_s[FIELD_INSTANT] = 0.1;
    c->tick_s = 0.02;
    c->count_mj = 1;
    c->lost_s = INFINITY;
}

static int field_of(const char *name)
{
    for (int f = 0; f < FIELDS; f++) {
        if (strcmp(name, field_names[f]) == 0) {
            return f;
        }
    }
    return FIELD_DEFAULT;
}

static void set_wave(struct card *c, const char *rest)
{
    int used;
    c->steps = 0;
    while (c->steps < MAX_STEPS &&
           sscanf(rest, "%lf %lf%n", &c->wave_w[c->steps], &c->wave_s[c->steps], &used) == 2) {
        rest += used;
        c->steps++;
    }
}

/* "KEY G REST" for one card */
static void set_card(struct card *c, const char *key, const char *rest)
{
    char word[32] = "";
    double a = 0, b = 0;
    int n = sscanf(rest, "%lf %lf", &a, &b);
    if (strcmp(key, "name") == 0) {
        snprintf(c->name, sizeof(c->name), "%.95s", rest);
    } else if (strcmp(key, "uuid") == 0) {
        snprintf(c->uuid, sizeof(c->uuid), "%.95s", rest);
    } else if (strcmp(key, "cc") == 0) {
        sscanf(rest, "%d.%d", &c->cc_major, &c->cc_minor);
    } else if (strcmp(key, "limit") == 0) {
        c->limit_w = a;
    } else if (strcmp(key, "memory") == 0) {
        c->total_gib = a;
        c->free_gib = b;
    } else if (strcmp(key, "temp") == 0) {
        c->temp_c = a;
    } else if (strcmp(key, "throttle") == 0) {
        c->throttle = strtoull(rest, NULL, 0);
    } else if (strcmp(key, "process") == 0 && c->processes < 8) {
        c->pid[c->processes] = (unsigned)a;
        c->pid_mib[c->processes++] = b;
    } else if (strcmp(key, "wave") == 0) {
        set_wave(c, rest);
    } else if (strcmp(key, "refresh") == 0) {
        c->refresh_s = a * 1e-3;
    } else if (strcmp(key, "averaging") == 0 && sscanf(rest, "%31s %lf", word, &a) == 2) {
        c->averaging_s[field_of(word)] = a * 1e-3;
    } else if (strcmp(key, "sentinel") == 0 && sscanf(rest, "%31s", word) == 1) {
        c->sentinel[field_of(word)] = 1;
    } else if (strcmp(key, "counter") == 0 && n == 2) {
        c->tick_s = a * 1e-3;
        c->count_mj = b;
    } else if (strcmp(key, "lost") == 0) {
        c->lost_s = a;
    } else {
        c->mig |= strcmp(key, "mig") == 0;
        c->vgpu |= strcmp(key, "vgpu") == 0;
        c->ecc |= strcmp(key, "ecc") == 0;
        c->stuck |= strcmp(key, "stuck") == 0;
    }
}

static int add_rule(const char *line)
{
    struct rule *r = &fake.rule[fake.rules];
    char who[8];
    double ms;
    if (fake.rules == MAX_RULES) {
        return 0;
    }
    *r = (struct rule){.card = -1, .to_s = INFINITY};
    if (sscanf(line, "fail %63s %7s %d %lf %lf", r->call, who, &r->rc, &r->from_s, &r->to_s) >= 3) {
        r->card = who[0] == '*' ? -1 : atoi(who);
        fake.rules++;
        return 1;
    }
    if (sscanf(line, "delay %63s %lf", r->call, &ms) == 2) {
        r->delay_s = ms * 1e-3;
        fake.rules++;
        return 1;
    }
    return 0;
}

static void read_line(char *line)
{
    char key[32], who[8];
    int used = 0;
    line[strcspn(line, "\r\n")] = '\0';
    if (line[0] == '#' || add_rule(line) || sscanf(line, "gpus %u", &fake.gpus) == 1 ||
        sscanf(line, "driver %63s", fake.driver) == 1 ||
        sscanf(line, "phases %255s", fake.phases) == 1 ||
        sscanf(line, "settings %255s", fake.settings) == 1) {
        return;
    }
    if (fake.words < MAX_PHASES &&
        sscanf(line, "phase %31s %lf", fake.word[fake.words], &fake.word_w[fake.words]) == 2) {
        fake.words++;
        return;
    }
    if (sscanf(line, "%31s %7s %n", key, who, &used) < 2) {
        return;
    }
    for (int i = 0; i < MAX_GPUS; i++) {
        if (who[0] == '*' || atoi(who) == i) {
            set_card(&fake.card[i], key, line + used);
        }
    }
}

static void read_script(void)
{
    const char *path = getenv("ECO_FAKE_NVML");
    char line[LINE_BYTES];
    FILE *f = path ? fopen(path, "r") : NULL;
    memset(&fake, 0, sizeof(fake));
    fake.gpus = 1;
    snprintf(fake.driver, sizeof(fake.driver), "535.104.05");
    for (int i = 0; i < MAX_GPUS; i++) {
        card_defaults(&fake.card[i], i);
    }
    while (f && fgets(line, sizeof(line), f)) {
        read_line(line);
    }
    if (f) {
        fclose(f);
    }
    fake.gpus = fake.gpus > MAX_GPUS ? MAX_GPUS : fake.gpus;
    for (int i = 0; i < MAX_GPUS; i++) {
        fake.card[i].limit_mw = (unsigned)(fake.card[i].limit_w * 1000);
    }
    fake.start_s = mono_s();
    fake.started = 1;
}

/* ---- true power and energy ----------------------------------------------------------------- */

static void enter(double t_s, double w)
{
    int n = fake.history;
    if (n == MAX_HISTORY) {
        return;
    }
    fake.history_s[n] = t_s;
    fake.history_w[n] = w;
    fake.history_j[n] =
        n ? fake.history_j[n - 1] + fake.history_w[n - 1] * (t_s - fake.history_s[n - 1])
          : fake.word_w[0] * t_s;
    fake.history++;
}

/* Takes the lines that the workload has appended to the phases file. */
static void follow_phases(double now_s)
{
    char line[LINE_BYTES], word[32];
    FILE *f = fake.phases[0] ? fopen(fake.phases, "r") : NULL;
    if (!f) {
        return;
    }
    fseek(f, fake.phases_at, SEEK_SET);
    while (fgets(line, sizeof(line), f) && strchr(line, '\n')) {
        double at_ns = 0;
        int n = sscanf(line, "%31s %lf", word, &at_ns);
        fake.phases_at = ftell(f);
        for (int i = 0; n >= 1 && i < fake.words; i++) {
            if (strcmp(word, fake.word[i]) == 0) {
                double t_s = n == 2 ? at_ns * 1e-9 - fake.start_s : now_s;
                double last_s = fake.history ? fake.history_s[fake.history - 1] : t_s;
                enter(t_s > last_s ? t_s : last_s, fake.word_w[i]);
            }
        }
    }
    fclose(f);
}

static double energy_at(const struct card *c, double t_s)
{
    double period_s = 0, period_j = 0;
    if (fake.phases[0] && fake.words) {
        int i = fake.history - 1;
        while (i >= 0 && fake.history_s[i] > t_s) {
            i--;
        }
        if (i < 0) { /* before the first word: the first phase of the script */
            return fake.word_w[0] * t_s;
        }
        return fake.history_j[i] + fake.history_w[i] * (t_s - fake.history_s[i]);
    }
    for (int i = 0; i < c->steps; i++) {
        period_s += c->wave_s[i];
        period_j += c->wave_w[i] * c->wave_s[i];
    }
    double whole = floor(t_s / period_s), rest_s = t_s - whole * period_s, j = whole * period_j;
    for (int i = 0; i < c->steps && rest_s > 0; i++) {
        double s = rest_s < c->wave_s[i] ? rest_s : c->wave_s[i];
        j += s * c->wave_w[i];
        rest_s -= s;
    }
    return j;
}

static double reading_w(const struct card *c, int field, double t_s)
{
    double tick_s = c->refresh_s > 0 ? floor(t_s / c->refresh_s) * c->refresh_s : t_s;
    double window_s = c->averaging_s[field] > 0 ? c->averaging_s[field] : 1e-6;
    return (energy_at(c, tick_s) - energy_at(c, tick_s - window_s)) / window_s;
}

/* ---- what every call does first ------------------------------------------------------------ */

static double since_s(void)
{
    return mono_s() - fake.start_s;
}

/* The code a rule of the script asks for; also its delay. Card -1: a call on no card. */
static int rule_rc(const char *call, int card)
{
    double t_s = since_s();
    int rc = fake.started ? NVML_SUCCESS : NVML_UNINITIALIZED;
    for (int i = 0; i < fake.rules; i++) {
        const struct rule *r = &fake.rule[i];
        if (strcmp(r->call, call) != 0 || (r->card >= 0 && r->card != card)) {
            continue;
        }
        if (r->delay_s > 0) {
            struct timespec d = {0, (long)(r->delay_s * 1e9)};
            nanosleep(&d, NULL);
        } else if (t_s >= r->from_s && t_s < r->to_s) {
            rc = r->rc;
        }
    }
    if (card >= 0 && t_s >= fake.card[card].lost_s) {
        rc = NVML_GPU_IS_LOST;
    }
    return rc;
}

/* Handles are the card's address. */
static int index_of(nvml_device d)
{
    const struct card *c = d;
    return (int)(c - fake.card);
}

#define BEGIN(call)                                                                                \
    pthread_mutex_lock(&lock);                                                                     \
    int rc = rule_rc(call, index_of(d));                                                           \
    struct card *c = &fake.card[index_of(d)];                                                      \
    (void)c
#define END                                                                                        \
    pthread_mutex_unlock(&lock);                                                                   \
    return rc

EXPORT int nvmlInit_v2(void);
EXPORT int nvmlInit_v2(void)
{
    pthread_mutex_lock(&lock);
    read_script();
    int rc = rule_rc("nvmlInit_v2", -1);
    pthread_mutex_unlock(&lock);
    return rc;
}

EXPORT int nvmlShutdown(void);
EXPORT int nvmlShutdown(void)
{
    return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetCount_v2(unsigned *n);
EXPORT int nvmlDeviceGetCount_v2(unsigned *n)
{
    pthread_mutex_lock(&lock);
    int rc = rule_rc("nvmlDeviceGetCount_v2", -1);
    *n = fake.gpus;
    pthread_mutex_unlock(&lock);
    return rc;
}

EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned i, nvml_device *out);
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned i, nvml_device *out)
{
    if (i >= fake.gpus) {
        return NVML_INVALID_ARGUMENT;
    }
    nvml_device d = &fake.card[i];
    BEGIN("nvmlDeviceGetHandleByIndex_v2");
    *out = c;
    END;
}

EXPORT int nvmlSystemGetDriverVersion(char *out, unsigned len);
EXPORT int nvmlSystemGetDriverVersion(char *out, unsigned len)
{
    snprintf(out, len, "%s", fake.driver);
    return rule_rc("nvmlSystemGetDriverVersion", -1);
}

EXPORT const char *nvmlErrorString(int rc);
EXPORT const char *nvmlErrorString(int rc)
{
    switch (rc) {
    case NVML_NOT_SUPPORTED:
        return "Not Supported";
    case NVML_NO_PERMISSION:
        return "Insufficient Permissions";
    case NVML_GPU_IS_LOST:
        return "GPU is lost";
    default:
        return "Unknown Error";
    }
}

EXPORT int nvmlDeviceGetName(nvml_device d, char *out, unsigned len);
EXPORT int nvmlDeviceGetName(nvml_device d, char *out, unsigned len)
{
    BEGIN("nvmlDeviceGetName");
    snprintf(out, len, "%s", c->name);
    END;
}

EXPORT int nvmlDeviceGetUUID(nvml_device d, char *out, unsigned len);
EXPORT int nvmlDeviceGetUUID(nvml_device d, char *out, unsigned len)
{
    BEGIN("nvmlDeviceGetUUID");
    snprintf(out, len, "%s", c->uuid);
    END;
}

/* ---- power and energy ---------------------------------------------------------------------- */

/* What the card has truly drawn since init, at a time of CLOCK_MONOTONIC: for tests alone. */
EXPORT double eco_fake_true_j(unsigned card, double mono_s);
EXPORT double eco_fake_true_j(unsigned card, double mono_s)
{
    pthread_mutex_lock(&lock);
    double j = energy_at(&fake.card[card], mono_s - fake.start_s);
    pthread_mutex_unlock(&lock);
    return j;
}

static unsigned reading_mw(const struct card *c, int field)
{
    double t_s = since_s();
    follow_phases(t_s);
    double mw = reading_w(c, field, t_s) * 1000;
    return c->sentinel[field] ? (unsigned)(3 * c->limit_w * 1000) : (unsigned)(mw + 0.5);
}

static unsigned long long energy_mj(const struct card *c)
{
    double t_s = c->stuck ? 0 : since_s();
    follow_phases(since_s());
    t_s = c->tick_s > 0 ? floor(t_s / c->tick_s) * c->tick_s : t_s;
    double mj = energy_at(c, t_s) * 1000 + 123456000;
    return (unsigned long long)(floor(mj / c->count_mj) * c->count_mj);
}

EXPORT int nvmlDeviceGetPowerUsage(nvml_device d, unsigned *mw);
EXPORT int nvmlDeviceGetPowerUsage(nvml_device d, unsigned *mw)
{
    BEGIN("nvmlDeviceGetPowerUsage");
    *mw = reading_mw(c, FIELD_DEFAULT);
    END;
}

EXPORT int nvmlDeviceGetTotalEnergyConsumption(nvml_device d, unsigned long long *mj);
EXPORT int nvmlDeviceGetTotalEnergyConsumption(nvml_device d, unsigned long long *mj)
{
    BEGIN("nvmlDeviceGetTotalEnergyConsumption");
    *mj = energy_mj(c);
    END;
}

static void one_field(const struct card *c, int card, struct nvml_field_value *v)
{
    char name[32];
    snprintf(name, sizeof(name), "field%u", v->field_id);
    v->rc = rule_rc(name, card);
    v->value_type = NVML_VALUE_UINT;
    if (v->field_id == NVML_FIELD_POWER_AVERAGE) {
        v->value.u = reading_mw(c, FIELD_AVERAGE);
    } else if (v->field_id == NVML_FIELD_POWER_INSTANT) {
        v->value.u = reading_mw(c, FIELD_INSTANT);
    } else if (v->field_id == NVML_FIELD_TOTAL_ENERGY) {
        v->value_type = NVML_VALUE_ULLONG;
        v->value.ull = energy_mj(c);
    } else {
        v->rc = NVML_NOT_SUPPORTED;
    }
}

EXPORT int nvmlDeviceGetFieldValues(nvml_device d, int n, struct nvml_field_value *v);
EXPORT int nvmlDeviceGetFieldValues(nvml_device d, int n, struct nvml_field_value *v)
{
    BEGIN("nvmlDeviceGetFieldValues");
    for (int i = 0; i < n; i++) {
        one_field(c, index_of(d), &v[i]);
    }
    END;
}

/* ---- state --------------------------------------------------------------------------------- */

#define GETTER(call, type, value)                                                                  \
    EXPORT int call(nvml_device d, type *out);                                                     \
    EXPORT int call(nvml_device d, type *out)                                                      \
    {                                                                                              \
        BEGIN(#call);                                                                              \
        *out = (type)(value);                                                                      \
        END;                                                                                       \
    }

GETTER(nvmlDeviceGetEnforcedPowerLimit, unsigned, c->limit_mw)
GETTER(nvmlDeviceGetPowerManagementDefaultLimit, unsigned, c->limit_w * 1000)
GETTER(nvmlDeviceGetCurrentClocksThrottleReasons, unsigned long long, c->throttle)
GETTER(nvmlDeviceGetPersistenceMode, unsigned, 1)
GETTER(nvmlDeviceGetVirtualizationMode, int, c->vgpu ? NVML_VIRTUAL_VGPU : NVML_VIRTUAL_NONE)

/* One line for each setting that was taken: "limit 0 200000", "clock 0 1410", "clock 0 0". */
static void tell(const char *what, int card, unsigned value)
{
    FILE *f = fake.settings[0] ? fopen(fake.settings, "a") : NULL;
    if (f) {
        fprintf(f, "%s %d %u\n", what, card, value);
        fclose(f);
    }
}

EXPORT int nvmlDeviceSetPowerManagementLimit(nvml_device d, unsigned mw);
EXPORT int nvmlDeviceSetPowerManagementLimit(nvml_device d, unsigned mw)
{
    BEGIN("nvmlDeviceSetPowerManagementLimit");
    if (rc == 0) {
        c->limit_mw = mw;
        tell("limit", index_of(d), mw);
    }
    END;
}

EXPORT int nvmlDeviceSetGpuLockedClocks(nvml_device d, unsigned lo, unsigned hi);
EXPORT int nvmlDeviceSetGpuLockedClocks(nvml_device d, unsigned lo, unsigned hi)
{
    BEGIN("nvmlDeviceSetGpuLockedClocks");
    rc = lo > hi ? NVML_INVALID_ARGUMENT : rc;
    if (rc == 0) {
        tell("clock", index_of(d), hi);
    }
    END;
}

EXPORT int nvmlDeviceResetGpuLockedClocks(nvml_device d);
EXPORT int nvmlDeviceResetGpuLockedClocks(nvml_device d)
{
    BEGIN("nvmlDeviceResetGpuLockedClocks");
    if (rc == 0) {
        tell("clock", index_of(d), 0);
    }
    END;
}

EXPORT int nvmlDeviceGetClockInfo(nvml_device d, int type, unsigned *mhz);
EXPORT int nvmlDeviceGetClockInfo(nvml_device d, int type, unsigned *mhz)
{
    BEGIN("nvmlDeviceGetClockInfo");
    *mhz = type == 2 ? 10501 : 2520;
    END;
}

EXPORT int nvmlDeviceGetTemperature(nvml_device d, int sensor, unsigned *celsius);
EXPORT int nvmlDeviceGetTemperature(nvml_device d, int sensor, unsigned *celsius)
{
    (void)sensor;
    BEGIN("nvmlDeviceGetTemperature");
    *celsius = (unsigned)c->temp_c;
    END;
}

EXPORT int nvmlDeviceGetMemoryInfo(nvml_device d, struct nvml_memory *m);
EXPORT int nvmlDeviceGetMemoryInfo(nvml_device d, struct nvml_memory *m)
{
    BEGIN("nvmlDeviceGetMemoryInfo");
    m->total = (unsigned long long)(c->total_gib * 1073741824);
    m->free = (unsigned long long)(c->free_gib * 1073741824);
    m->used = m->total - m->free;
    END;
}

EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(nvml_device d, unsigned *n,
                                                   struct nvml_process *p);
EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(nvml_device d, unsigned *n,
                                                   struct nvml_process *p)
{
    BEGIN("nvmlDeviceGetComputeRunningProcesses_v3");
    if (*n < c->processes) {
        rc = NVML_INSUFFICIENT_SIZE;
    }
    for (unsigned i = 0; rc == 0 && i < c->processes; i++) {
        p[i] = (struct nvml_process){.pid = c->pid[i],
                                     .used_bytes = (unsigned long long)c->pid_mib[i] << 20};
    }
    *n = c->processes;
    END;
}

EXPORT int nvmlDeviceGetMigMode(nvml_device d, unsigned *now, unsigned *pending);
EXPORT int nvmlDeviceGetMigMode(nvml_device d, unsigned *now, unsigned *pending)
{
    BEGIN("nvmlDeviceGetMigMode");
    *now = *pending = (unsigned)c->mig;
    END;
}

EXPORT int nvmlDeviceGetEccMode(nvml_device d, unsigned *now, unsigned *pending);
EXPORT int nvmlDeviceGetEccMode(nvml_device d, unsigned *now, unsigned *pending)
{
    BEGIN("nvmlDeviceGetEccMode");
    *now = *pending = (unsigned)c->ecc;
    END;
}

EXPORT int nvmlDeviceGetCudaComputeCapability(nvml_device d, int *major, int *minor);
EXPORT int nvmlDeviceGetCudaComputeCapability(nvml_device d, int *major, int *minor)
{
    BEGIN("nvmlDeviceGetCudaComputeCapability");
    *major = c->cc_major;
    *minor = c->cc_minor;
    END;
}
