/*
 * Which architecture a card is, from the name its driver prints.
 *
 * A name is cut into tokens: letters, a number, letters ("RTX4090D" -> rtx 4090 d, "A100-SXM4" ->
 * a 100, sxm 4). Words that stand alone decide first ("Blackwell", "Ada", "Orin"); then the first
 * token that a rule of the table knows. A number without letters takes the word before it as its
 * series ("RTX 4090"), which keeps Quadro 4000 (Fermi), Quadro RTX 4000 (Turing), RTX A4000
 * (Ampere), RTX 4000 Ada and RTX PRO 4000 (Blackwell) apart. Series and numbers are NVIDIA's,
 * AMD's and Intel's product lists; the vendor's own name, when given, must agree.
 */
#include "dataset/dataset.h"
#include "dataset/names.h"

#include <string.h>

#define MAX_TOKENS 16
#define WORD_MAX 12

enum vendor { ANY = 0, NVIDIA = 1, AMD = 2, INTEL = 4, OTHER = 8 };

/* What else the name says; a rule may need or refuse it. */
enum context {
    QUADRO = 1,
    GRID = 2,
    GEFORCE = 4,
    TITAN = 8,
    JETSON = 16,
    TESLA = 32,
    ALONE = 64,
    GFX90A = 128,
    RTX = 256,
    NAMED = 512
};

struct token {
    char letters[WORD_MAX]; /* folded; "" when the token begins with a digit */
    int number;             /* -1: none */
    char tail[WORD_MAX];    /* letters after the number */
    const char *series;     /* letters, or the word before when there are none */
};

struct name {
    struct token token[MAX_TOKENS];
    size_t count;
    unsigned vendors; /* that the name mentions */
    unsigned context;
};

static const struct {
    const char *word;
    enum vendor vendor;
    unsigned context;
} hints[] = {
    {"nvidia", NVIDIA, 0},
    {"geforce", NVIDIA, GEFORCE},
    {"quadro", NVIDIA, QUADRO},
    {"tesla", NVIDIA, TESLA},
    {"titan", NVIDIA, TITAN},
    {"grid", NVIDIA, GRID},
    {"rtx", NVIDIA, RTX},
    {"gtx", NVIDIA, 0},
    {"jetson", NVIDIA, JETSON},
    {"tegra", NVIDIA, JETSON},
    {"amd", AMD, 0},
    {"ati", AMD, 0},
    {"radeon", AMD, 0},
    {"instinct", AMD, 0},
    {"firepro", AMD, 0},
    {"intel", INTEL, 0},
    {"arc", INTEL, 0},
    {"gaudi", INTEL, 0},
    {"habana", INTEL, 0},
    {"apple", OTHER, 0},
    {"adreno", OTHER, 0},
    {"mali", OTHER, 0},
    {"qualcomm", OTHER, 0},
    {"llvmpipe", OTHER, 0},
    {"microsoft", OTHER, 0},
    {"virtio", OTHER, 0},
    {"matrox", OTHER, 0},
    {"aspeed", OTHER, 0},
};

/* One word, or two in a row, that settles it. */
static const struct {
    const char *word, *next;
    enum vendor vendor;
    enum eco_arch arch;
} words[] = {
    {"blackwell", NULL, NVIDIA, ECO_ARCH_BLACKWELL},
    {"hopper", NULL, NVIDIA, ECO_ARCH_HOPPER},
    {"ada", NULL, NVIDIA, ECO_ARCH_ADA},
    {"lovelace", NULL, NVIDIA, ECO_ARCH_ADA},
    {"ampere", NULL, NVIDIA, ECO_ARCH_AMPERE},
    {"turing", NULL, NVIDIA, ECO_ARCH_TURING},
    {"volta", NULL, NVIDIA, ECO_ARCH_VOLTA},
    {"pascal", NULL, NVIDIA, ECO_ARCH_PASCAL},
    {"maxwell", NULL, NVIDIA, ECO_ARCH_MAXWELL},
    {"kepler", NULL, NVIDIA, ECO_ARCH_KEPLER},
    {"fermi", NULL, NVIDIA, ECO_ARCH_UNKNOWN},
    {"thor", NULL, NVIDIA, ECO_ARCH_BLACKWELL},
    {"dgx", "spark", NVIDIA, ECO_ARCH_BLACKWELL},
    {"orin", NULL, NVIDIA, ECO_ARCH_AMPERE},
    {"xavier", NULL, NVIDIA, ECO_ARCH_VOLTA},
    {"jetson", "nano", NVIDIA, ECO_ARCH_MAXWELL},
    {"titan", "rtx", NVIDIA, ECO_ARCH_TURING},
    {"titan", "v", NVIDIA, ECO_ARCH_VOLTA},
    {"titan", "xp", NVIDIA, ECO_ARCH_PASCAL},
    {"titan", "black", NVIDIA, ECO_ARCH_KEPLER},
    {"titan", "z", NVIDIA, ECO_ARCH_KEPLER},
};

/*
 * series, number range, vendor, what the name must and must not say besides, the class. The first
 * match wins, so narrow rows stand above wide ones. A range spans products that exist.
 */
static const struct rule {
    const char *series;
    int lo, hi;
    enum vendor vendor;
    unsigned need, refuse;
    enum eco_arch arch;
} rules[] = {
    /* GeForce RTX and GTX; 2050 is a small Ampere sold under a Turing number */
    {"rtx", 2050, 2050, NVIDIA, 0, QUADRO, ECO_ARCH_AMPERE},
    {"rtx", 2060, 2080, NVIDIA, 0, QUADRO, ECO_ARCH_TURING},
    {"rtx", 3050, 3090, NVIDIA, 0, QUADRO, ECO_ARCH_AMPERE},
    {"rtx", 4050, 4090, NVIDIA, 0, QUADRO, ECO_ARCH_ADA},
    {"rtx", 5050, 5090, NVIDIA, 0, QUADRO, ECO_ARCH_BLACKWELL},
    {"gtx", 1630, 1660, NVIDIA, 0, 0, ECO_ARCH_TURING},
    {"gtx", 1050, 1080, NVIDIA, 0, 0, ECO_ARCH_PASCAL},
    {"gt", 1010, 1030, NVIDIA, 0, 0, ECO_ARCH_PASCAL},
    {"gtx", 950, 980, NVIDIA, 0, 0, ECO_ARCH_MAXWELL},
    {"gtx", 745, 750, NVIDIA, 0, 0, ECO_ARCH_MAXWELL},
    {"gtx", 645, 780, NVIDIA, 0, 0, ECO_ARCH_KEPLER},
    {"gt", 630, 740, NVIDIA, 0, 0, ECO_ARCH_KEPLER},
    {"mx", 110, 130, NVIDIA, 0, 0, ECO_ARCH_MAXWELL},
    {"mx", 150, 350, NVIDIA, 0, 0, ECO_ARCH_PASCAL},
    {"mx", 450, 550, NVIDIA, 0, 0, ECO_ARCH_TURING},
    {"mx", 570, 570, NVIDIA, 0, 0, ECO_ARCH_AMPERE},
    {"geforce", 910, 945, NVIDIA, 0, 0, ECO_ARCH_MAXWELL},
    /* numbers alone, or after the brand: "4090", "GeForce 3080" */
    {"geforce", 2060, 2080, NVIDIA, 0, 0, ECO_ARCH_TURING},
    {"geforce", 3050, 3090, NVIDIA, 0, 0, ECO_ARCH_AMPERE},
    {"geforce", 4050, 4090, NVIDIA, 0, 0, ECO_ARCH_ADA},
    {"geforce", 5050, 5090, NVIDIA, 0, 0, ECO_ARCH_BLACKWELL},
    {"", 2060, 2080, NVIDIA, ALONE, 0, ECO_ARCH_TURING},
    {"", 3050, 3090, NVIDIA, ALONE, 0, ECO_ARCH_AMPERE},
    {"", 4050, 4090, NVIDIA, ALONE, 0, ECO_ARCH_ADA},
    {"", 5050, 5090, NVIDIA, ALONE, 0, ECO_ARCH_BLACKWELL},
    /* workstation: "RTX PRO n" is Blackwell; n in thousands without "Ada" is the Quadro RTX */
    {"pro", 500, 6000, NVIDIA, RTX, QUADRO, ECO_ARCH_BLACKWELL},
    {"rtxpro", 500, 6000, NVIDIA, 0, 0, ECO_ARCH_BLACKWELL},
    {"rtxa", 400, 6000, NVIDIA, 0, 0, ECO_ARCH_AMPERE},
    {"rtx", 3000, 3000, NVIDIA, 0, GEFORCE, ECO_ARCH_TURING},
    {"rtx", 4000, 4000, NVIDIA, 0, GEFORCE, ECO_ARCH_TURING},
    {"rtx", 5000, 5000, NVIDIA, 0, GEFORCE, ECO_ARCH_TURING},
    {"rtx", 6000, 6000, NVIDIA, 0, GEFORCE, ECO_ARCH_TURING},
    {"rtx", 8000, 8000, NVIDIA, 0, GEFORCE, ECO_ARCH_TURING},
    {"a", 400, 400, NVIDIA, 0, 0, ECO_ARCH_AMPERE},
    {"a", 500, 500, NVIDIA, 0, 0, ECO_ARCH_AMPERE},
    {"a", 800, 800, NVIDIA, 0, 0, ECO_ARCH_AMPERE},
    {"a", 1000, 1000, NVIDIA, 0, 0, ECO_ARCH_AMPERE},
    {"a", 2000, 2000, NVIDIA, 0, 0, ECO_ARCH_AMPERE},
    {"a", 3000, 3000, NVIDIA, 0, 0, ECO_ARCH_AMPERE},
    {"a", 4000, 4000, NVIDIA, 0, 0, ECO_ARCH_AMPERE},
    {"a", 4500, 4500, NVIDIA, 0, 0, ECO_ARCH_AMPERE},
    {"a", 5000, 5000, NVIDIA, 0, 0, ECO_ARCH_AMPERE},
    {"a", 5500, 5500, NVIDIA, 0, 0, ECO_ARCH_AMPERE},
    {"a", 6000, 6000, NVIDIA, 0, 0, ECO_ARCH_AMPERE},
    {"t", 400, 2000, NVIDIA, 0, JETSON, ECO_ARCH_TURING},
    {"gv", 100, 100, NVIDIA, 0, 0, ECO_ARCH_VOLTA},
    {"gp", 100, 100, NVIDIA, 0, 0, ECO_ARCH_PASCAL},
    {"p", 400, 6000, NVIDIA, QUADRO, 0, ECO_ARCH_PASCAL},
    {"m", 500, 6000, NVIDIA, QUADRO, 0, ECO_ARCH_MAXWELL},
    {"k", 620, 620, NVIDIA, QUADRO, 0, ECO_ARCH_MAXWELL},
    {"k", 1200, 1200, NVIDIA, QUADRO, 0, ECO_ARCH_MAXWELL},
    {"k", 2200, 2200, NVIDIA, QUADRO, 0, ECO_ARCH_MAXWELL},
    {"k", 420, 6000, NVIDIA, QUADRO, 0, ECO_ARCH_KEPLER},
    /* data centre, and the virtual cards cut out of it (H100L-94C, GRID P40-24Q) */
    {"b", 100, 300, NVIDIA, 0, 0, ECO_ARCH_BLACKWELL},
    {"gb", 10, 300, NVIDIA, 0, 0, ECO_ARCH_BLACKWELL},
    {"b", 20, 40, NVIDIA, NAMED, 0, ECO_ARCH_BLACKWELL},
    {"h", 20, 20, NVIDIA, 0, 0, ECO_ARCH_HOPPER},
    {"h", 100, 100, NVIDIA, 0, 0, ECO_ARCH_HOPPER},
    {"h", 200, 200, NVIDIA, 0, 0, ECO_ARCH_HOPPER},
    {"h", 800, 800, NVIDIA, 0, 0, ECO_ARCH_HOPPER},
    {"gh", 100, 200, NVIDIA, 0, 0, ECO_ARCH_HOPPER},
    {"l", 2, 4, NVIDIA, 0, 0, ECO_ARCH_ADA},
    {"l", 20, 20, NVIDIA, 0, 0, ECO_ARCH_ADA},
    {"l", 40, 40, NVIDIA, 0, 0, ECO_ARCH_ADA},
    {"a", 2, 2, NVIDIA, 0, 0, ECO_ARCH_AMPERE},
    {"a", 10, 10, NVIDIA, 0, 0, ECO_ARCH_AMPERE},
    {"a", 16, 16, NVIDIA, 0, 0, ECO_ARCH_AMPERE},
    {"a", 30, 40, NVIDIA, 0, 0, ECO_ARCH_AMPERE},
    {"a", 100, 100, NVIDIA, 0, 0, ECO_ARCH_AMPERE},
    {"t", 4, 4, NVIDIA, 0, JETSON, ECO_ARCH_TURING},
    {"t", 10, 10, NVIDIA, NAMED, JETSON, ECO_ARCH_TURING},
    {"t", 40, 40, NVIDIA, NAMED, JETSON, ECO_ARCH_TURING},
    {"v", 100, 100, NVIDIA, 0, 0, ECO_ARCH_VOLTA},
    {"p", 4, 6, NVIDIA, 0, 0, ECO_ARCH_PASCAL},
    {"p", 40, 40, NVIDIA, 0, 0, ECO_ARCH_PASCAL},
    {"p", 100, 106, NVIDIA, 0, 0, ECO_ARCH_PASCAL},
    {"m", 4, 10, NVIDIA, NAMED, 0, ECO_ARCH_MAXWELL}, /* a bare M4 is Apple's */
    {"m", 40, 40, NVIDIA, 0, 0, ECO_ARCH_MAXWELL},
    {"m", 60, 60, NVIDIA, 0, 0, ECO_ARCH_MAXWELL},
    {"k", 10, 80, NVIDIA, 0, 0, ECO_ARCH_KEPLER},
    {"k", 1, 2, NVIDIA, GRID, 0, ECO_ARCH_KEPLER},
    {"k", 520, 520, NVIDIA, GRID, 0, ECO_ARCH_KEPLER},
    {"cmp", 30, 50, NVIDIA, 0, 0, ECO_ARCH_TURING},
    {"cmp", 70, 170, NVIDIA, 0, 0, ECO_ARCH_AMPERE},
    /* modules and chips */
    {"tx", 1, 1, NVIDIA, JETSON, 0, ECO_ARCH_MAXWELL},
    {"tx", 2, 2, NVIDIA, JETSON, 0, ECO_ARCH_PASCAL},
    {"x", 1, 1, NVIDIA, JETSON, 0, ECO_ARCH_MAXWELL},
    {"x", 2, 2, NVIDIA, JETSON, 0, ECO_ARCH_PASCAL},
    {"tk", 1, 1, NVIDIA, JETSON, 0, ECO_ARCH_KEPLER},
    {"ad", 102, 107, NVIDIA, 0, 0, ECO_ARCH_ADA},
    {"ga", 100, 107, NVIDIA, 0, 0, ECO_ARCH_AMPERE},
    {"tu", 102, 117, NVIDIA, 0, 0, ECO_ARCH_TURING},
    {"gp", 102, 108, NVIDIA, 0, 0, ECO_ARCH_PASCAL},
    {"gm", 107, 206, NVIDIA, 0, 0, ECO_ARCH_MAXWELL},
    {"gk", 104, 210, NVIDIA, 0, 0, ECO_ARCH_KEPLER},
    /* AMD */
    {"mi", 100, 100, AMD, 0, 0, ECO_ARCH_CDNA1},
    {"mi", 210, 250, AMD, 0, 0, ECO_ARCH_CDNA2},
    {"mi", 300, 325, AMD, 0, 0, ECO_ARCH_CDNA3},
    {"mi", 350, 355, AMD, 0, 0, ECO_ARCH_CDNA4},
    {"gfx", 90, 90, AMD, GFX90A, 0, ECO_ARCH_CDNA2},
    {"gfx", 908, 908, AMD, 0, 0, ECO_ARCH_CDNA1},
    {"gfx", 940, 942, AMD, 0, 0, ECO_ARCH_CDNA3},
    {"gfx", 950, 950, AMD, 0, 0, ECO_ARCH_CDNA4},
    {"gfx", 1030, 1036, AMD, 0, 0, ECO_ARCH_RDNA2},
    {"gfx", 1100, 1103, AMD, 0, 0, ECO_ARCH_RDNA3},
    {"gfx", 1200, 1201, AMD, 0, 0, ECO_ARCH_RDNA4},
    {"rx", 6300, 6950, AMD, 0, 0, ECO_ARCH_RDNA2},
    {"rx", 7300, 7990, AMD, 0, 0, ECO_ARCH_RDNA3},
    {"rx", 9050, 9090, AMD, 0, 0, ECO_ARCH_RDNA4},
    {"w", 6400, 6900, AMD, 0, 0, ECO_ARCH_RDNA2},
    {"w", 7500, 7900, AMD, 0, 0, ECO_ARCH_RDNA3},
    {"r", 9600, 9700, AMD, 0, 0, ECO_ARCH_RDNA4},
    /* Intel */
    {"a", 310, 380, INTEL, 0, 0, ECO_ARCH_XE_HPG},
    {"a", 530, 580, INTEL, 0, 0, ECO_ARCH_XE_HPG},
    {"a", 730, 770, INTEL, 0, 0, ECO_ARCH_XE_HPG},
    {"a", 30, 60, INTEL, 0, 0, ECO_ARCH_XE_HPG},
    {"flex", 140, 170, INTEL, 0, 0, ECO_ARCH_XE_HPG},
    {"b", 570, 580, INTEL, 0, 0, ECO_ARCH_XE2_HPG},
    {"b", 50, 60, INTEL, 0, 0, ECO_ARCH_XE2_HPG},
    {"max", 1100, 1550, INTEL, 0, 0, ECO_ARCH_XE_HPC},
    {"gaudi", 1, 3, INTEL, 0, 0, ECO_ARCH_GAUDI},
    {"hl", 200, 350, INTEL, 0, 0, ECO_ARCH_GAUDI},
};

/* Series whose number may stand as its own word: "RTX 4090", "RX 7900", "RTX PRO 6000". */
static const char *const loose_series[] = {"rtx",    "gtx",   "gt",  "mx", "geforce",
                                           "quadro", "pro",   "cmp", "rx", "flex",
                                           "max",    "gaudi", "t",   "a",  "jetson"};

static bool letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Takes letters at s[i..len) into out, folded and cut; returns the place after them. */
static size_t take_letters(const char *s, size_t len, size_t i, char out[WORD_MAX])
{
    size_t n = 0;

    for (; i < len && letter(s[i]); i++) {
        if (n + 1 < WORD_MAX)
            out[n++] = (char)(s[i] | 0x20);
    }
    out[n] = '\0';
    return i;
}

static size_t take_token(const char *s, size_t len, size_t i, struct token *t)
{
    int digits = 0;

    i = take_letters(s, len, i, t->letters);
    t->number = -1;
    for (; i < len && digit(s[i]); i++) {
        if (digits++ < 6)
            t->number = (t->number < 0 ? 0 : t->number * 10) + (s[i] - '0');
    }
    if (digits > 6) /* a serial number, not a model */
        t->number = -1;
    return take_letters(s, len, i, t->tail);
}

static void note_word(struct name *n, const char *word)
{
    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++) {
        if (hints[i].word[0] == word[0] && strcmp(hints[i].word, word) == 0) {
            n->vendors |= (unsigned)hints[i].vendor;
            n->context |= hints[i].context;
        }
    }
}

static bool is_loose(const char *word)
{
    for (size_t i = 0; i < sizeof loose_series / sizeof loose_series[0]; i++) {
        if (strcmp(loose_series[i], word) == 0)
            return true;
    }
    return false;
}

static void cut_name(const char *s, size_t len, struct name *n)
{
    size_t at = 0;

    *n = (struct name){0};
    while (at < len && n->count < MAX_TOKENS) {
        struct token *t = &n->token[n->count];

        if (!letter(s[at]) && !digit(s[at])) {
            at++;
            continue;
        }
        at = take_token(s, len, at, t);
        t->series = t->letters;
        if (t->letters[0] == '\0' && n->count > 0) {
            const struct token *before = &n->token[n->count - 1];
            if (before->number < 0 && is_loose(before->letters))
                t->series = before->letters;
        }
        note_word(n, t->letters);
        if (t->number == 90 && strcmp(t->tail, "a") == 0) /* gfx90c is another chip */
            n->context |= GFX90A;
        n->count++;
    }
    if (n->vendors & NVIDIA)
        n->context |= NAMED;
    if (n->count > 0 && n->token[0].letters[0] == '\0' && n->count <= 3)
        n->context |= ALONE;
}

/* The vendor a rule speaks of must be the one named, or none is named. */
static bool vendor_fits(const struct name *n, enum vendor vendor)
{
    return n->vendors == 0 || (n->vendors & (unsigned)vendor) != 0;
}

static bool word_settles(const struct name *n, enum eco_arch *arch)
{
    for (size_t w = 0; w < sizeof words / sizeof words[0]; w++) {
        for (size_t i = 0; i < n->count; i++) {
            const struct token *t = &n->token[i];
            bool first = t->letters[0] == words[w].word[0] && t->number < 0 &&
                         strcmp(t->letters, words[w].word) == 0;

            if (!first || !vendor_fits(n, words[w].vendor))
                continue;
            if (words[w].next != NULL && (i + 1 == n->count || n->token[i + 1].number >= 0 ||
                                          strcmp(n->token[i + 1].letters, words[w].next) != 0))
                continue;
            *arch = words[w].arch;
            return *arch != ECO_ARCH_UNKNOWN;
        }
    }
    return false;
}

/* "TITAN X" is Maxwell behind "GTX" and Pascal without; "GTX TITAN" alone is Kepler. */
static enum eco_arch old_titan(const struct name *n)
{
    bool gtx = false, x = false;

    for (size_t i = 0; i < n->count; i++) {
        gtx = gtx || strcmp(n->token[i].letters, "gtx") == 0;
        x = x || strcmp(n->token[i].letters, "x") == 0;
    }
    if (x)
        return gtx ? ECO_ARCH_MAXWELL : ECO_ARCH_PASCAL;
    return gtx ? ECO_ARCH_KEPLER : ECO_ARCH_UNKNOWN;
}

static enum eco_arch match_rules(const struct name *n, unsigned vendors)
{
    for (size_t i = 0; i < n->count; i++) {
        const struct token *t = &n->token[i];

        if (t->number < 0)
            continue;
        for (size_t k = 0; k < sizeof rules / sizeof rules[0]; k++) {
            const struct rule *r = &rules[k];

            if (t->number < r->lo || t->number > r->hi || strcmp(t->series, r->series) != 0)
                continue;
            if ((vendors & (unsigned)r->vendor) != 0 && vendor_fits(n, r->vendor) &&
                (n->context & r->need) == r->need && (n->context & r->refuse) == 0)
                return r->arch;
        }
    }
    return ECO_ARCH_UNKNOWN;
}

static enum eco_arch detect(const char *text, size_t len, unsigned vendors)
{
    struct name n;
    enum eco_arch arch;

    cut_name(text, len, &n);
    if (n.vendors & OTHER)
        return ECO_ARCH_UNKNOWN;
    if ((vendors & NVIDIA) != 0 && word_settles(&n, &arch))
        return arch;
    arch = match_rules(&n, vendors);
    if (arch == ECO_ARCH_UNKNOWN && (n.context & TITAN) != 0 && (vendors & NVIDIA) != 0)
        arch = old_titan(&n);
    return arch;
}

static enum eco_arch with_card(const char *name, size_t len, enum eco_arch arch,
                               const struct eco_gpu **gpu)
{
    struct eco_match m;

    if (gpu == NULL)
        return arch;
    *gpu = NULL;
    if (arch != ECO_ARCH_UNKNOWN && eco_dataset_try_gpu(name, len, &m)) {
        const struct eco_gpu *g = eco_dataset_gpu(m.index);
        if (g->arch == arch)
            *gpu = g;
    }
    return arch;
}

enum eco_arch eco_dataset_detect_arch(const char *nvml_name, size_t len,
                                      const struct eco_gpu **gpu_or_null)
{
    return with_card(nvml_name, len, detect(nvml_name, len, NVIDIA), gpu_or_null);
}

enum eco_arch eco_dataset_detect_any_arch(const char *name, size_t len,
                                          const struct eco_gpu **gpu_or_null)
{
    return with_card(name, len, detect(name, len, NVIDIA | AMD | INTEL), gpu_or_null);
}
