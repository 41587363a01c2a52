#include "voice.h"

#include "base/buf.h"
#include "params.h"

#include <string.h>

static const struct {
    const char *en, *zh;
} words[] = {
#define W(en, zh) {en, zh},
#include "words.def"
#undef W
};

static const char *find(const char *english)
{
    for (size_t i = 0; english && i < ECO_COUNT(words); i++) {
        if (strcmp(words[i].en, english) == 0) {
            return words[i].zh;
        }
    }
    return NULL;
}

const char *eco_word(enum eco_lang lang, const char *english)
{
    const char *found = lang == ECO_LANG_ZH ? find(english) : NULL;
    return found ? found : english;
}

int eco_word_known(const char *english)
{
    return !english || !english[0] || find(english) != NULL;
}

void eco_voice_set(struct eco_ctx *ctx, const struct eco_args_voice *voice)
{
    const char *lang = voice->lang ? voice->lang : "en";
    const char *who = voice->persona ? voice->persona : "plain";
    ctx->lang = eco_str_ieq(lang, strlen(lang), "zh") ? ECO_LANG_ZH : ECO_LANG_EN;
    ctx->persona =
        eco_str_ieq(who, strlen(who), "ecolobster") ? ECO_PERSONA_LOBSTER : ECO_PERSONA_PLAIN;
}
