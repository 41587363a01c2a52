/*
 * Inside the question parser: text -> tokens (query_text.c) -> items: numerals, words of the
 * lexicon, names of cards and models (query_items.c, query_names.c) -> candidates for each
 * parameter (query_read.c, query_volume.c) -> the best of each (query_choose.c), the operation
 * (query_intent.c). Private to core; no memory but struct query.
 */
#ifndef ECO_CORE_QUERY_H
#define ECO_CORE_QUERY_H

#include "eco_query.h"

#include <stdint.h>

#define QUERY_MAX_TOKENS 1024
#define QUERY_MAX_CARDS 16
#define QUERY_MAX_MODELS 16
#define QUERY_MAX_PRECISIONS 24
#define QUERY_MAX_SIZES 16

enum query_kind { QUERY_WORD, QUERY_NUM, QUERY_VERSION, QUERY_CJK, QUERY_MARK };

struct query_token {
    uint16_t at, len;
    uint8_t kind;
    bool space;    /* a blank (or the start) before it */
    bool negative; /* NUM with its own minus sign */
    double value;  /* NUM */
};

/* What a phrase of the lexicon is; `arg` says which, its meaning is by kind. */
enum query_sense {
    SENSE_NONE,
    SENSE_NOISE,    /* understood, says nothing */
    SENSE_NUMBER,   /* arg: a number word */
    SENSE_SCALE,    /* arg: 'k' 'm' 'b' 't' */
    SENSE_PREC,     /* arg: index of the format table */
    SENSE_BITS,     /* unit of a number: bits */
    SENSE_ARCH,     /* arg: enum eco_arch */
    SENSE_DEVICE,   /* a processor that is no GPU we have classes for; arg 1: with a number */
    SENSE_INSTANCE, /* a cloud machine; its card is in `card` */
    SENSE_ENGINE,   /* arg: enum eco_engine */
    SENSE_BATCH,    /* key of batch; arg 1: a weak word; 4: "in parallel", of what is counted */
    SENSE_ONE,      /* batch 1 */
    SENSE_CTX,      /* key of context; arg 1: a weak word */
    SENSE_PROMPT,   /* key of prompt tokens */
    SENSE_GEN,      /* key of generated tokens; arg 3: only with "tokens" behind the number */
    SENSE_SIZE,     /* key of the size, "parameters" */
    SENSE_GPU_KEY,  /* "gpu", "card": noise, and a number behind '=' is a card */
    SENSE_PREC_KEY, /* "precision", "quantization" */
    SENSE_LINK,     /* stands between a key and its number */
    SENSE_NOT,      /* negates the next precision; arg 2: a list of them, 1: only one */
    SENSE_WHETHER,  /* A-not-A questions: not a negation */
    SENSE_FROM,     /* what is left behind; arg 2: was before, 3: is replaced by what follows */
    SENSE_TO,       /* what is wanted; arg bit 1: may stand between a key and its number, 2: what
                       stands before it is given up */
    SENSE_GONE,     /* "sold out", "作废": what stands before is given up; arg 2: or behind */
    SENSE_CORRECT,  /* "I mean": what follows replaces the same kind before it */
    SENSE_RATHER,   /* makes "than" a refusal */
    SENSE_INSTEAD,  /* "A100 instead" */
    SENSE_SO,       /* draws a conclusion */
    SENSE_THAN,
    SENSE_ITEM,     /* "streams": what a batch counts */
    SENSE_VERSUS,   /* "vs", "or" */
    SENSE_COUNT,    /* measure word of cards */
    SENSE_REQUESTS, /* units */
    SENSE_USERS,
    SENSE_EACH, /* "per user": the requests before it are those of one */
    SENSE_TOKENS,
    SENSE_CHARS, /* arg: characters a unit is */
    SENSE_WORDS,
    SENSE_GB,
    SENSE_TEXT, /* "of text" */
    SENSE_HOURS,
    SENSE_PERIOD, /* arg: 's' 'n'(minute) 'h' 'd' 'w' 'm' 'y' */
    SENSE_MONEY,  /* arg: 'd' dollars, 'c' US cents, 'x' another currency */
    SENSE_KWH,
    SENSE_TPS,
    SENSE_WATT,
    SENSE_J1K,
    SENSE_JOULES, /* an energy: of SENSE_PER_1K, before or behind it */
    SENSE_PER_1K, /* "per thousand tokens" */
    SENSE_MS,     /* arg 1: per token */
    SENSE_CARBON, /* g CO2 per kWh */
    SENSE_PUE,
    SENSE_LIMIT,      /* under, at most */
    SENSE_CAP,        /* a limit of power, not an observation */
    SENSE_TRAINED,    /* tokens after it were training */
    SENSE_FALSE_NUM,  /* "issue #": the number behind it is a label; arg 1: "room", a name too */
    SENSE_OTHER_UNIT, /* a unit nothing takes */
    SENSE_FLAG,       /* arg: 'p' production 'e' eager 'n' nightly 'k' no KV cache */
    SENSE_OP,         /* arg: enum eco_query_op * 16 + weight */
    SENSE_WHY,        /* asks for a reason */
    SENSE_IN          /* a place may follow */
};

struct query_word {
    const char *text; /* lower case; a blank matches blanks, '-', '_' or nothing */
    uint8_t sense;
    int32_t arg;
    const char *card; /* INSTANCE: the card */
};

/* The `arg` of a SENSE_OP. */
#define OP(op, weight) ECO_QUERY_##op * 16 + (weight)
/** Part `i` of the lexicon, NULL past the last. query_words.c, query_words_zh.c */
const struct query_word *eco_query_lexicon(size_t i, size_t *n);
const struct query_word *eco_query_lexicon_formats(size_t *n);
const struct query_word *eco_query_lexicon_zh(size_t *n);
const struct query_word *eco_query_lexicon_withdraw(size_t *n);
const struct query_word *eco_query_lexicon_intent(size_t *n);

enum query_item_kind { ITEM_NUM, ITEM_WORD, ITEM_CARD, ITEM_MODEL, ITEM_TEXT, ITEM_MARK };

struct query_item {
    uint8_t kind;
    bool used, space, negative;
    bool letters;                  /* NUM glued to letters before it, TEXT with digits glued */
    bool given_up;                 /* "the 4090 is too expensive": loses to another of its kind */
    bool corrects;                 /* NUM that replaces one said before */
    uint8_t slot;                  /* NUM: 1 + the parameter it was offered for */
    uint16_t instead;              /* NUM: 1 + the item that it replaces */
    uint16_t first, count;         /* tokens */
    const struct query_word *word; /* WORD; SCALE of a NUM or NULL */
    double value;                  /* NUM, scale not applied unless `scaled` */
    char scale; /* 0, 'k', 'm', 'b', 't', or 'w' 'y' (Chinese 10^4, 10^8: applied) */
    int index;  /* CARD, MODEL: into cards, models */
};

struct query_card_at {
    struct eco_query_card card;
    size_t item;
    int score;
    bool negated;
};

/* Precisions: what a phrase names; indices of query_formats. */
enum query_format_id {
    FORMAT_BIT4,
    FORMAT_BIT8,
    FORMAT_BIT16,
    FORMAT_BIT32,
    FORMAT_NF4,
    FORMAT_NF4_DQ,
    FORMAT_INT4,
    FORMAT_INT8,
    FORMAT_INT8_PURE,
    FORMAT_FP16,
    FORMAT_BF16,
    FORMAT_PLAIN, /* "unquantized" */
    FORMAT_FP32,
    FORMAT_FP8,
    FORMAT_GPTQ,
    FORMAT_GPTQ8,
    FORMAT_AWQ,
    FORMAT_W4A16,
    FORMAT_W8A16,
    FORMAT_W8A8,
    FORMAT_NVFP4,
    FORMAT_MXFP4,
    FORMAT_FP4,
    FORMAT_GGUF,
    FORMAT_Q8_0,
    FORMAT_Q6_K,
    FORMAT_Q5_K_M,
    FORMAT_Q5_K_S,
    FORMAT_Q5_0,
    FORMAT_Q4_K_M,
    FORMAT_Q4_K_S,
    FORMAT_Q4_0,
    FORMAT_IQ4_XS,
    FORMAT_Q3_K_M,
    FORMAT_Q3_K_L,
    FORMAT_Q2_K
};
struct query_format {
    const char *class_name; /* published class or family; NULL: none */
    enum eco_precision exact;
    int bits;
    bool vague; /* "4-bit": another, more exact name of the same width wins */
};
extern const struct query_format eco_query_formats[];

enum query_role { ROLE_PLAIN, ROLE_FROM, ROLE_TO, ROLE_NOT };

struct query_precision_at {
    const struct query_format *format;
    size_t item;
    enum query_role role;
};

struct query {
    const struct eco_query_names *names;
    char text[ECO_QUERY_MAX_BYTES + 1]; /* normalised */
    size_t len;
    struct query_token token[QUERY_MAX_TOKENS];
    size_t n_tokens;
    struct query_item item[QUERY_MAX_TOKENS];
    size_t n_items;
    struct query_card_at card[QUERY_MAX_CARDS];
    size_t n_cards;
    struct eco_query_model model[QUERY_MAX_MODELS];
    double model_size[QUERY_MAX_MODELS]; /* said in the name; 0: not said */
    size_t n_models;
    struct query_precision_at precision[QUERY_MAX_PRECISIONS];
    size_t n_precisions;
    double size[QUERY_MAX_SIZES];
    int size_score[QUERY_MAX_SIZES];
    bool size_given_up[QUERY_MAX_SIZES];
    size_t n_sizes;
    int number_score[ECO_QUERY_NUMBER_COUNT];
    size_t number_item[ECO_QUERY_NUMBER_COUNT];
    struct eco_query *out;
};

/* query_typos.c */
void eco_query_mend(struct query *q);

/* query_text.c */
void eco_query_normalise(struct query *q, const char *text, size_t len);
void eco_query_tokenise(struct query *q);
/** Tokens from `first` on that spell the phrase, or 0. */
size_t eco_query_phrase(const struct query *q, size_t first, const char *phrase);
char eco_query_fold(char c);
/** Token `i` is letters equal to `text` (lower case). */
bool eco_query_token_is(const struct query *q, size_t i, const char *text);
bool eco_query_glued(const struct query *q, size_t i); /* to the token before, no mark between */
bool eco_query_digit(char c);
bool eco_query_letter(char c);

/* query_numeral.c */
/** A numeral at token `first`: digits, Chinese digits, number words; tokens used or 0. */
size_t eco_query_numeral(const struct query *q, size_t first, double *value, char *scale);

/* query_items.c */
void eco_query_itemise(struct query *q);
const struct query_word *eco_query_longest(const struct query *q, size_t first, size_t *count);
bool eco_query_sense(const struct query *q, size_t item, enum query_sense sense);
bool eco_query_mark(const struct query *q, size_t item, char c);
void eco_query_item_text(const struct query *q, size_t item, size_t upto, char out[ECO_QUERY_NAME]);

/* query_withdraw.c */
/** Marks what the text takes back: "7B... sorry, I meant 14B", "5090太贵了，用4090". */
void eco_query_withdraw(struct query *q);
/** Is the word at item k ("than", "to") one of "rather a than b", "prefer a to b"? */
bool eco_query_rather(const struct query *q, size_t k);

/* query_together.c */
/** "12 requests in parallel", "一次喂4条": is the number at item i a batch? */
bool eco_query_together(const struct query *q, size_t i);
/** "4b quant", "8-bit": item i is a width in bits; its unit, or i. */
size_t eco_query_width_unit(const struct query *q, size_t i);
/** "per 1k tokens", "每千token": the number is part of a unit. */
bool eco_query_in_unit(const struct query *q, size_t i);

/* query_names.c */
size_t eco_query_card(struct query *q, size_t first, struct query_card_at *out);
size_t eco_query_model(struct query *q, size_t first, struct eco_query_model *out, double *size);
bool eco_query_bare_card(double value);

/* query_read.c, query_volume.c, query_precision.c */
void eco_query_read(struct query *q);
/** A reading of item i: the best of a number is kept; what is out of range or beaten is listed. */
void eco_query_offer(struct query *q, size_t i, enum eco_query_number n, double v, int score);
void eco_query_outside(struct query *q, size_t i, enum eco_query_number n);
/** "not", "instead of" before item i, with nothing but small words between. */
bool eco_query_refused(const struct query *q, size_t i);
/** The value with its scale: 5M is 5e6. */
double eco_query_plain_value(const struct query_item *n);
void eco_query_miss(struct query *q, size_t item, size_t upto, const char *why);
void eco_query_volume(struct query *q);
size_t eco_query_unit(const struct query *q, size_t i);
void eco_query_convert(struct query *q, const char *from_unit, double from, const char *to_unit,
                       double to, const char *rule);
void eco_query_precisions(struct query *q);

/* query_choose.c, query_intent.c */
void eco_query_choose(struct query *q);
void eco_query_intent(struct query *q);

#endif
