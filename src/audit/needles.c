/* Several words at once by the method of Wu and Manber (1994): the window's last two bytes say how
 * far it may move; where they may end a word, the words are compared. */
#include "needles.h"

#include <string.h>

#define WINDOW 7 /* the shortest word */

static const char *const words[] = {
    "from_pretrained", "from_model_id",  "load_in_8bit", "load_in_4bit",  "BitsAndBytesConfig",
    ".generate(",      "pipeline(",      "quantize_(",   "TorchAoConfig", "enforce_eager",
    "max_num_seqs",    "cpu_offload_gb", "use_cache",    "nightly",       "bnb_4bit_",
    "llm_int8_",       ".dev202",        "Linear8bitLt", "bitsandbytes",  "vllm serve",
    "--enforce-eager", "--max-num-seqs", "--quantiz"};

static unsigned pair_at(const char *s)
{
    return ((unsigned)(unsigned char)s[0] << 8) | (unsigned char)s[1];
}

void eco_needles_init(struct eco_needles *n)
{
    memset(n->shift, WINDOW - 1, sizeof(n->shift));
    for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++) {
        for (size_t i = 0; i + 2 <= WINDOW; i++) {
            uint8_t *s = &n->shift[pair_at(words[w] + i)];
            uint8_t d = (uint8_t)(WINDOW - 2 - i);
            *s = d < *s ? d : *s;
        }
    }
}

static bool word_here(const char *p, size_t len)
{
    for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++) {
        size_t n = strlen(words[w]);
        if (n <= len && memcmp(p, words[w], n) == 0) {
            return true;
        }
    }
    return false;
}

bool eco_needles_in(const struct eco_needles *n, const char *text, size_t len)
{
    for (size_t at = 0; at + WINDOW <= len;) {
        uint8_t shift = n->shift[pair_at(text + at + WINDOW - 2)];
        if (shift) {
            at += shift;
        } else if (word_here(text + at, len - at)) {
            return true;
        } else {
            at++;
        }
    }
    return false;
}
