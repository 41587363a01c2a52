/*
 * The vocabulary in a GGUF file (ggml's docs/gguf.md, section on tokenizers): "llama" is
 * SentencePiece's BPE with scores, "gpt2" byte-level BPE with a list of merges, whose rule for
 * words is named by tokenizer.ggml.pre.
 */
#include "gguf_read.h"
#include "half.h"
#include "tok_inside.h"

#include <stdio.h>
#include <string.h>

struct loading {
    struct eco_gguf g;
    struct eco_gguf_items tokens, scores, types;
    bool have_scores, have_types;
    struct eco_tokenizer *t;
    struct eco_buf raw;
};

static int bad(const struct loading *l, const char *what, struct eco_err *err)
{
    return eco_err_set(err, ECO_E_CONTENT, l->g.file, "'%.160s': the vocabulary's %s", l->g.file,
                       what);
}

static int find_lists(struct loading *l, struct eco_err *err)
{
    if (!eco_gguf_array(&l->g, "tokenizer.ggml.tokens", &l->tokens) || l->tokens.n == 0) {
        return eco_err_set(err, ECO_E_NOT_FOUND, l->g.file, "the file holds no vocabulary");
    }
    l->have_scores = eco_gguf_array(&l->g, "tokenizer.ggml.scores", &l->scores);
    l->have_types = eco_gguf_array(&l->g, "tokenizer.ggml.token_type", &l->types);
    if (l->tokens.type != ECO_GGUF_STRING || l->tokens.n > ECO_TOK_MAX_PIECES) {
        return bad(l, "list of tokens is no list of texts, or too long", err);
    }
    if ((l->have_scores && (l->scores.type != ECO_GGUF_F32 || l->scores.n != l->tokens.n)) ||
        (l->have_types && (l->types.type != ECO_GGUF_I32 || l->types.n != l->tokens.n))) {
        return bad(l, "lists differ in length or are of a wrong type", err);
    }
    return 0;
}

static int add_piece(struct loading *l, int id, struct eco_err *err)
{
    size_t len = 0;
    const char *text = eco_gguf_text(&l->tokens.c, &len);
    uint32_t bits = l->have_scores ? (uint32_t)eco_gguf_uint(&l->scores.c, 4) : 0;
    uint64_t type = l->have_types ? eco_gguf_uint(&l->types.c, 4) : ECO_TOK_NORMAL;
    float score = eco_bits_float(bits);
    if (!text || !(score - score == 0.0f)) {
        return bad(l, "scores are no numbers", err);
    }
    type = type >= ECO_TOK_NORMAL && type <= ECO_TOK_BYTE ? type : ECO_TOK_UNUSED;
    if (l->t->byte_level && type == ECO_TOK_NORMAL) {
        eco_buf_clear(&l->raw);
        if (eco_tok_unbyte(text, len, &l->raw)) {
            return eco_tok_set(l->t, id, eco_buf_str(&l->raw), l->raw.len, ECO_TOK_NORMAL, score,
                               err);
        }
        type = ECO_TOK_UNUSED; /* letters that stand for no byte: no merge makes it */
    }
    return eco_tok_set(l->t, id, text, len, (enum eco_tok_type)type, score, err);
}

/* "left right", each in GPT-2's letters; the first place where both are pieces. */
static int add_merge(struct loading *l, int rank, struct eco_gguf_cursor *c, struct eco_err *err)
{
    size_t len = 0;
    const char *text = eco_gguf_text(c, &len);
    const char *space = text && len > 2 ? memchr(text + 1, ' ', len - 1) : NULL;
    if (!space) {
        return bad(l, "merges are not of two parts", err);
    }
    size_t left = (size_t)(space - text), raw_left = 0;
    eco_buf_clear(&l->raw);
    bool ok = eco_tok_unbyte(text, left, &l->raw);
    raw_left = l->raw.len;
    ok = ok && eco_tok_unbyte(space + 1, len - left - 1, &l->raw);
    if (!ok) {
        return bad(l, "merges hold letters that stand for no byte", err);
    }
    const char *raw = eco_buf_str(&l->raw);
    return eco_tok_add_merge(l->t, raw, raw_left, raw + raw_left, l->raw.len - raw_left, rank, err);
}

static int add_merges(struct loading *l, struct eco_err *err)
{
    struct eco_gguf_items merges;
    if (!eco_gguf_array(&l->g, "tokenizer.ggml.merges", &merges) ||
        merges.type != ECO_GGUF_STRING || merges.n > ECO_TOK_MAX_PIECES) {
        return bad(l, "list of merges is missing or too long", err);
    }
    int rc = eco_tok_reserve_merges(l->t, (size_t)merges.n, err);
    for (uint64_t i = 0; i < merges.n && rc == 0; i++) {
        rc = add_merge(l, (int)i, &merges.c, err);
    }
    return rc;
}

/* The rule for words by the names that converters write. */
static int set_words(struct loading *l, struct eco_err *err)
{
    static const struct {
        const char *name;
        enum eco_tok_words words;
        bool one_digit, ignore_merges;
    } known[] = {
        {"gpt-2", ECO_TOK_WORDS_GPT2, false, false},
        {"gpt2", ECO_TOK_WORDS_GPT2, false, false},
        {"phi-2", ECO_TOK_WORDS_GPT2, false, false},
        {"mpt", ECO_TOK_WORDS_GPT2, false, false},
        {"olmo", ECO_TOK_WORDS_GPT2, false, false},
        {"gigachat", ECO_TOK_WORDS_GPT2, false, false},
        {"exaone4", ECO_TOK_WORDS_GPT2, false, false},
        {"llama-bpe", ECO_TOK_WORDS_LLAMA3, false, true},
        {"llama3", ECO_TOK_WORDS_LLAMA3, false, true},
        {"llama-v3", ECO_TOK_WORDS_LLAMA3, false, true},
        {"falcon3", ECO_TOK_WORDS_LLAMA3, false, true},
        {"pixtral", ECO_TOK_WORDS_LLAMA3, false, true},
        {"midm-2.0", ECO_TOK_WORDS_LLAMA3, false, true},
        {"tekken", ECO_TOK_WORDS_TEKKEN, false, true},
        {"smaug-bpe", ECO_TOK_WORDS_LLAMA3, false, false},
        {"dbrx", ECO_TOK_WORDS_LLAMA3, false, false},
        {"qwen2", ECO_TOK_WORDS_QWEN2, false, false},
        {"stablelm2", ECO_TOK_WORDS_QWEN2, false, false},
        {"deepseek-r1-qwen", ECO_TOK_WORDS_QWEN2, false, false},
        {"megrez", ECO_TOK_WORDS_QWEN2, false, false},
        {"hunyuan", ECO_TOK_WORDS_QWEN2, false, false},
        {"qwen35", ECO_TOK_WORDS_QWEN35, false, false},
        {"smollm", ECO_TOK_WORDS_GPT2, true, false},
        {"starcoder", ECO_TOK_WORDS_GPT2, true, false},
        {"refact", ECO_TOK_WORDS_GPT2, true, false},
        {"codeshell", ECO_TOK_WORDS_GPT2, true, false},
        {"exaone", ECO_TOK_WORDS_GPT2, true, false},
        {"minerva-7b", ECO_TOK_WORDS_GPT2, true, false},
        {"falcon", ECO_TOK_WORDS_FALCON, false, false},
        {"deepseek-llm", ECO_TOK_WORDS_DEEPSEEK_LLM, false, false},
        {"deepseek-coder", ECO_TOK_WORDS_DEEPSEEK_CODER, false, false},
        {"command-r", ECO_TOK_WORDS_GPT2, true, false},
    };
    const struct eco_gguf_key *pre = eco_gguf_find(&l->g, "tokenizer.ggml.pre");
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (eco_gguf_is(pre, known[i].name)) {
            l->t->words = known[i].words;
            l->t->one_digit = known[i].one_digit;
            l->t->ignore_merges = known[i].ignore_merges;
            return 0;
        }
    }
    bool text = pre && pre->type == ECO_GGUF_STRING;
    return eco_err_set(err, ECO_E_UNSUPPORTED, l->g.file,
                       "the vocabulary cuts words by the rule '%.*s': built in are gpt-2, "
                       "llama-bpe, qwen2, qwen35, smollm, tekken, falcon, deepseek and their "
                       "like; use --ids",
                       text ? (int)(pre->value_len < 40 ? pre->value_len : 40) : 8,
                       text ? (const char *)pre->value : "not said");
}

static bool flag(const struct loading *l, const char *key, bool otherwise)
{
    return eco_gguf_num(&l->g, key, otherwise ? 1.0 : 0.0) != 0.0;
}

static int token_id(const struct loading *l, const char *key, int otherwise)
{
    int id = eco_gguf_int(&l->g, key, otherwise);
    return id < l->t->n ? id : -1;
}

/* Phi-3's special tokens, all but the three of Llama, take the white space behind them. */
static void set_strips(struct loading *l)
{
    const struct eco_gguf_key *name = eco_gguf_find(&l->g, "general.name");
    if (!eco_gguf_is(name, "Phi3") && !eco_gguf_is(name, "phi-3") && !eco_gguf_is(name, "Phi-3")) {
        return;
    }
    static const char *const plain[] = {"<unk>", "<s>", "<|endoftext|>"};
    for (int i = 0; i < l->t->n; i++) {
        struct eco_piece *p = &l->t->pieces[i];
        p->rstrip = p->type == ECO_TOK_CONTROL || p->type == ECO_TOK_USER;
        for (size_t k = 0; k < 3; k++) {
            p->rstrip = p->rstrip && strcmp(p->text, plain[k]) != 0;
        }
    }
}

static void set_ends(struct loading *l, bool spm)
{
    static const char *const turns[] = {"tokenizer.ggml.eot_token_id",
                                        "tokenizer.ggml.eom_token_id"};
    struct eco_tokenizer *t = l->t;
    int bos = token_id(l, "tokenizer.ggml.bos_token_id", spm ? 1 : -1);
    int eos = token_id(l, "tokenizer.ggml.eos_token_id", spm ? 2 : -1);
    bool llama3 = t->words == ECO_TOK_WORDS_LLAMA3 && t->ignore_merges;
    if (bos >= 0 && flag(l, "tokenizer.ggml.add_bos_token", spm || llama3)) {
        t->first[t->n_first++] = bos;
    }
    if (eos >= 0 && flag(l, "tokenizer.ggml.add_eos_token", false)) {
        t->last[t->n_last++] = eos;
    }
    eco_tokenizer_add_stop(t, eos);
    for (size_t i = 0; i < 2; i++) {
        eco_tokenizer_add_stop(t, token_id(l, turns[i], -1));
    }
}

static int load(struct loading *l, struct eco_err *err)
{
    const struct eco_gguf_key *model = eco_gguf_find(&l->g, "tokenizer.ggml.model");
    bool spm = eco_gguf_is(model, "llama");
    if (!spm && !eco_gguf_is(model, "gpt2")) {
        return eco_err_set(err, ECO_E_UNSUPPORTED, l->g.file,
                           "a vocabulary of kind '%.*s': built in are llama and gpt2; use --ids",
                           model ? (int)(model->value_len < 40 ? model->value_len : 40) : 4,
                           model ? (const char *)model->value : "none");
    }
    int rc = find_lists(l, err);
    rc = rc ? rc : eco_tok_new((int)l->tokens.n, &l->t, err);
    if (rc) {
        return rc;
    }
    struct eco_tokenizer *t = l->t;
    t->model = spm ? ECO_TOK_SCORES : ECO_TOK_MERGES;
    t->byte_level = !spm;
    t->escape_spaces = spm;
    for (int i = 0; i < t->n && rc == 0; i++) {
        rc = add_piece(l, i, err);
    }
    rc = rc ? rc : eco_tok_index(t, err);
    if (spm) {
        bool prefix = flag(l, "tokenizer.ggml.add_space_prefix", true);
        t->prefix = prefix ? ECO_TOK_PREFIX_ALWAYS : ECO_TOK_PREFIX_NEVER;
        t->unknown = token_id(l, "tokenizer.ggml.unknown_token_id", 0);
    } else {
        rc = rc ? rc : set_words(l, err);
        rc = rc ? rc : add_merges(l, err);
    }
    if (rc == 0) {
        set_strips(l);
        set_ends(l, spm);
        rc = eco_tok_finish(t, err);
    }
    return rc;
}

int eco_tokenizer_from_gguf(const char *file, const void *bytes, size_t len,
                            struct eco_tokenizer **out, struct eco_err *err)
{
    struct loading l = {0};
    struct eco_arena arena;
    eco_arena_init(&arena, 0);
    int rc = eco_gguf_read(file, bytes, len, &arena, &l.g, err);
    rc = rc ? rc : load(&l, err);
    eco_buf_done(&l.raw);
    eco_arena_done(&arena);
    if (rc) {
        eco_tokenizer_free(l.t);
        return rc;
    }
    *out = l.t;
    return 0;
}
