/*
 * How an answer is told: in which language, and who speaks. Texts with figures are format strings
 * in texts.def, English and Chinese side by side; words and fixed sentences that come from the
 * tables of core (a basis, a cause) are pairs in words.def. Both are constant; no state.
 */
#ifndef ECO_OPS_VOICE_H
#define ECO_OPS_VOICE_H

#include <stdbool.h>
#include <stddef.h>

enum eco_lang { ECO_LANG_EN = 0, ECO_LANG_ZH };
enum eco_persona { ECO_PERSONA_PLAIN = 0, ECO_PERSONA_LOBSTER };

struct eco_ctx;
struct eco_err;
struct eco_args_voice;

/** The language of this name, "zh" or "en"; false, and `out` as it was, for any other. */
bool eco_lang_named(const char *name, size_t len, enum eco_lang *out);
/** From the parameters into the context; what is not given is English and plain. */
void eco_voice_set(struct eco_ctx *ctx, const struct eco_args_voice *voice);
/** A word or fixed sentence of words.def in that language; one that is not there, as it is. */
const char *eco_word(enum eco_lang lang, const char *english);
/** True when words.def has it; what tests ask. NULL and "" have nothing to translate. */
int eco_word_known(const char *english);

/** The message in the language; the code, the place and the parameter stay. errors_zh.c */
void eco_error_tell(enum eco_lang lang, struct eco_err *err);
/** Another finished message of errors.def (a finding's), in the arena and language of `ctx`. */
const char *eco_message_tell(struct eco_ctx *ctx, const char *message);
/** errors.def has a text for this message. */
bool eco_error_known(const char *message);

#endif
