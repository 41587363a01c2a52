/* The vocabulary of a tokenizer: pieces by text, merges by pair, special tokens, bytes. */
#include "tok_inside.h"

#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

static int no_memory(struct eco_err *err)
{
    return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
}

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9E3779B97F4A7C15u;
    return h ^ (h >> 32);
}

static uint64_t hash_text(const char *s, size_t len)
{
    uint64_t h = mix(0x2545F4914F6CDD1Du, len), v = 0;
    for (; len >= 8; s += 8, len -= 8) {
        memcpy(&v, s, 8);
        h = mix(h, v);
    }
    v = 0;
    memcpy(&v, s, len);
    return mix(h, v);
}

static size_t power_above(size_t n)
{
    size_t p = 16;
    while (p < n + n / 2 + 1) {
        p *= 2;
    }
    return p;
}

int eco_tok_new(int n, struct eco_tokenizer **out, struct eco_err *err)
{
    if (n < 1 || n > ECO_TOK_MAX_PIECES) {
        return eco_err_set(err, ECO_E_CONTENT, "", "a vocabulary of %d pieces: 1 to %d can be", n,
                           ECO_TOK_MAX_PIECES);
    }
    struct eco_tokenizer *t = calloc(1, sizeof(*t));
    if (!t) {
        return no_memory(err);
    }
    eco_arena_init(&t->arena, 0);
    t->n = n;
    t->unknown = -1;
    t->pieces = eco_arena_array(&t->arena, (size_t)n, sizeof(*t->pieces));
    if (!t->pieces) {
        eco_tokenizer_free(t);
        return no_memory(err);
    }
    for (int i = 0; i < n; i++) {
        t->pieces[i].type = ECO_TOK_NORMAL;
        t->pieces[i].text = "";
    }
    *out = t;
    return 0;
}

void eco_tokenizer_free(struct eco_tokenizer *t)
{
    if (t) {
        eco_arena_done(&t->arena);
        free(t);
    }
}

int eco_tok_set(struct eco_tokenizer *t, int id, const char *text, size_t len,
                enum eco_tok_type type, float score, struct eco_err *err)
{
    struct eco_piece *p = &t->pieces[id];
    if (len > 65535) {
        return eco_err_set(err, ECO_E_CONTENT, "", "piece %d has %zu bytes: 65535 can be", id, len);
    }
    p->text = eco_arena_strdup(&t->arena, text, len);
    p->len = (uint32_t)len;
    p->type = (uint8_t)type;
    p->score = score;
    return p->text ? 0 : no_memory(err);
}

/* ---- pieces by text -------------------------------------------------------------------------- */

static uint32_t *slot_of(const struct eco_tokenizer *t, uint32_t *slots, size_t mask,
                         const char *text, size_t len)
{
    size_t at = (size_t)hash_text(text, len) & mask;
    while (slots[at]) {
        const struct eco_piece *p = &t->pieces[slots[at] - 1];
        if (p->len == len && memcmp(p->text, text, len) == 0) {
            break;
        }
        at = (at + 1) & mask;
    }
    return &slots[at];
}

static bool special(const struct eco_piece *p)
{
    return p->type == ECO_TOK_CONTROL || p->type == ECO_TOK_USER || p->type == ECO_TOK_UNKNOWN;
}

int eco_tok_index(struct eco_tokenizer *t, struct eco_err *err)
{
    size_t size = power_above((size_t)t->n);
    t->slots = eco_arena_array(&t->arena, size, sizeof(*t->slots));
    if (!t->slots) {
        return no_memory(err);
    }
    t->slot_mask = size - 1;
    for (int i = 0; i < t->n; i++) {
        uint32_t *slot = slot_of(t, t->slots, t->slot_mask, t->pieces[i].text, t->pieces[i].len);
        bool free = *slot == 0 || (t->pieces[*slot - 1].type == ECO_TOK_UNUSED &&
                                   t->pieces[i].type != ECO_TOK_UNUSED);
        if (t->pieces[i].len > 0 && free) { /* of twins the first one that is of use counts */
            *slot = (uint32_t)i + 1;
            t->max_piece = t->pieces[i].len > t->max_piece ? t->pieces[i].len : t->max_piece;
        }
    }
    return 0;
}

int eco_tokenizer_find(const struct eco_tokenizer *t, const char *text, size_t len)
{
    return len == 0 || len > t->max_piece ? -1
                                          : (int)*slot_of(t, t->slots, t->slot_mask, text, len) - 1;
}

/* ---- merges ---------------------------------------------------------------------------------- */

int eco_tok_reserve_merges(struct eco_tokenizer *t, size_t n, struct eco_err *err)
{
    size_t size = power_above(n);
    t->merges =
        n <= ECO_TOK_MAX_PIECES ? eco_arena_array(&t->arena, size, sizeof(*t->merges)) : NULL;
    if (!t->merges) {
        return eco_err_set(err, ECO_E_TOO_LARGE, "", "%zu merges are too many", n);
    }
    t->merge_mask = size - 1;
    for (size_t i = 0; i < size; i++) {
        t->merges[i].left = -1;
    }
    return 0;
}

static struct eco_merge *merge_place(const struct eco_tokenizer *t, int left, int right)
{
    size_t at = (size_t)mix(mix(1, (uint64_t)left), (uint64_t)right) & t->merge_mask;
    while (t->merges[at].left >= 0 &&
           (t->merges[at].left != left || t->merges[at].right != right)) {
        at = (at + 1) & t->merge_mask;
    }
    return &t->merges[at];
}

const struct eco_merge *eco_tok_merge(const struct eco_tokenizer *t, int left, int right)
{
    if (left < 0 || right < 0) {
        return NULL;
    }
    const struct eco_merge *m = merge_place(t, left, right);
    return m->left >= 0 ? m : NULL;
}

int eco_tok_add_merge(struct eco_tokenizer *t, const char *left, size_t left_len, const char *right,
                      size_t right_len, int rank, struct eco_err *err)
{
    char both[512], *text = both;
    size_t len = left_len + right_len;
    if (len > sizeof(both)) {
        text = len <= 131070 ? eco_arena_alloc(&t->arena, len) : NULL;
        if (!text) {
            return eco_err_set(err, ECO_E_CONTENT, "", "merge %d is too long", rank);
        }
    }
    memcpy(text, left, left_len);
    memcpy(text + left_len, right, right_len);
    int l = eco_tokenizer_find(t, left, left_len), r = eco_tokenizer_find(t, right, right_len);
    int to = eco_tokenizer_find(t, text, len);
    if (l < 0 || r < 0 || to < 0) {
        return eco_err_set(err, ECO_E_CONTENT, "",
                           "merge %d joins pieces that are not in the vocabulary", rank);
    }
    struct eco_merge *m = merge_place(t, l, r);
    if (m->left < 0) {
        *m = (struct eco_merge){l, r, rank, to};
    }
    return 0;
}

/* ---- special tokens -------------------------------------------------------------------------- */

static void note_length(struct eco_tokenizer *t, uint32_t len)
{
    int i = 0;
    while (i < t->n_special_lens && t->special_lens[i] > len) {
        i++;
    }
    if ((i < t->n_special_lens && t->special_lens[i] == len) || t->n_special_lens == 64) {
        return;
    }
    memmove(t->special_lens + i + 1, t->special_lens + i,
            (size_t)(t->n_special_lens - i) * sizeof(*t->special_lens));
    t->special_lens[i] = len;
    t->n_special_lens++;
}

static int index_special(struct eco_tokenizer *t, struct eco_err *err)
{
    size_t count = 0;
    for (int i = 0; i < t->n; i++) {
        count += special(&t->pieces[i]) ? 1 : 0;
    }
    size_t size = power_above(count);
    t->special_slots = eco_arena_array(&t->arena, size, sizeof(*t->special_slots));
    if (!t->special_slots) {
        return no_memory(err);
    }
    t->special_mask = size - 1;
    for (int i = 0; i < t->n; i++) {
        const struct eco_piece *p = &t->pieces[i];
        if (special(p) && p->len > 0) {
            uint32_t *slot = slot_of(t, t->special_slots, t->special_mask, p->text, p->len);
            *slot = *slot ? *slot : (uint32_t)i + 1;
            note_length(t, p->len);
            t->special_first[(unsigned char)p->text[0]] = true;
        }
    }
    return 0;
}

int eco_tok_special_at(const struct eco_tokenizer *t, const char *text, size_t len, bool all)
{
    if (!t->special_first[(unsigned char)text[0]]) {
        return -1;
    }
    for (int i = 0; i < t->n_special_lens; i++) {
        if (t->special_lens[i] <= len) {
            uint32_t slot =
                *slot_of(t, t->special_slots, t->special_mask, text, t->special_lens[i]);
            if (slot && (all || t->pieces[slot - 1].type == ECO_TOK_USER)) {
                return (int)slot - 1;
            }
        }
    }
    return -1;
}

/* The tokens with which the families end a text or a turn. */
static void find_stops(struct eco_tokenizer *t)
{
    static const char *const names[] = {
        "</s>",          "<|endoftext|>", "<|end_of_text|>", "<|eot_id|>",
        "<|eom_id|>",    "<|im_end|>",    "<|end|>",         "<eos>",
        "<end_of_turn>", "<|endofturn|>", "<|end_of_turn|>",
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        size_t len = strlen(names[i]);
        uint32_t slot = *slot_of(t, t->special_slots, t->special_mask, names[i], len);
        if (slot && t->pieces[slot - 1].type != ECO_TOK_UNKNOWN) {
            eco_tokenizer_add_stop(t, (int)slot - 1);
        }
    }
}

void eco_tokenizer_add_stop(struct eco_tokenizer *t, int id)
{
    if (id >= 0 && id < t->n && t->n_stops < ECO_TOK_MAX_STOPS && !eco_tokenizer_stops(t, id)) {
        t->stops[t->n_stops++] = id;
    }
}

bool eco_tokenizer_stops(const struct eco_tokenizer *t, int id)
{
    for (int i = 0; i < t->n_stops; i++) {
        if (t->stops[i] == id) {
            return true;
        }
    }
    return false;
}

/* Whether a piece has a U+2581 behind something else: then words may merge. */
static bool spans_words(const struct eco_piece *p)
{
    bool other = false;
    for (uint32_t at = 0; at + 3 <= p->len; at++) {
        bool space = memcmp(p->text + at, ECO_TOK_SPACE, 3) == 0;
        if (space && other) {
            return true;
        }
        other = other || !space;
        at += space ? 2 : 0;
    }
    return false;
}

int eco_tok_byte(const char *text, size_t len)
{
    int v = 0;
    if (len != 6 || memcmp(text, "<0x", 3) != 0 || text[5] != '>') {
        return -1;
    }
    for (int i = 3; i < 5; i++) {
        char c = text[i];
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
        if (digit < 0) {
            return -1;
        }
        v = 16 * v + digit;
    }
    return v;
}

int eco_tok_finish(struct eco_tokenizer *t, struct eco_err *err)
{
    bool any = false;
    t->cuts = t->escape_spaces && t->model != ECO_TOK_UNIGRAM &&
              eco_tokenizer_find(t, ECO_TOK_SPACE, 3) >= 0;
    t->min_score = t->max_score = 0.0f;
    for (int i = 0; i < 256; i++) {
        t->byte_id[i] = -1;
    }
    for (int i = 0; i < t->n; i++) {
        const struct eco_piece *p = &t->pieces[i];
        int byte = p->type == ECO_TOK_BYTE ? eco_tok_byte(p->text, p->len) : -1;
        if (byte >= 0) {
            t->byte_id[byte] = i;
        } else if (p->type == ECO_TOK_NORMAL) {
            t->min_score = !any || p->score < t->min_score ? p->score : t->min_score;
            t->max_score = !any || p->score > t->max_score ? p->score : t->max_score;
            any = true;
            t->cuts = t->cuts && !spans_words(p);
        }
    }
    t->byte_fallback = true;
    for (int i = 0; i < 256; i++) {
        t->byte_fallback = t->byte_fallback && t->byte_id[i] >= 0;
    }
    int rc = index_special(t, err);
    if (rc == 0) {
        find_stops(t);
    }
    return rc;
}

/* ---- GPT-2's letters for bytes --------------------------------------------------------------- */

/* Printable bytes of Latin-1 stand for themselves, the others for U+0100 and up, in order. */
static int byte_of(uint32_t c)
{
    bool printable = (c >= '!' && c <= '~') || (c >= 0xA1 && c <= 0xAC) || (c >= 0xAE && c <= 0xFF);
    if (printable) {
        return (int)c;
    }
    if (c < 0x100 || c > 0x143) {
        return -1;
    }
    int k = (int)c - 0x100;
    return k < 33 ? k : k < 67 ? k + 94 : 0xAD; /* 0..32, 127..160, 173 */
}

bool eco_tok_unbyte(const char *text, size_t len, struct eco_buf *out)
{
    for (size_t at = 0; at < len;) {
        uint32_t c = 0;
        size_t n = eco_utf8_decode(text + at, len - at, &c);
        int byte = n > 0 ? byte_of(c) : -1;
        if (byte < 0) {
            return false;
        }
        eco_buf_putc(out, (char)byte);
        at += n;
    }
    return true;
}
