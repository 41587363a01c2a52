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

bool eco_lang_named(const char *name, size_t len, enum eco_lang *out)
{
    bool zh = eco_str_ieq(name, len, "zh"), en = eco_str_ieq(name, len, "en");
    *out = zh ? ECO_LANG_ZH : en ? ECO_LANG_EN : *out;
    return zh || en;
}

void eco_voice_set(struct eco_ctx *ctx, const struct eco_args_voice *voice)
{
    const char *who = voice->persona ? voice->persona : "plain";
    ctx->lang = ECO_LANG_EN;
    if (voice->lang) {
        eco_lang_named(voice->lang, strlen(voice->lang), &ctx->lang);
    }
    ctx->persona =
        eco_str_ieq(who, strlen(who), "ecolobster") ? ECO_PERSONA_LOBSTER : ECO_PERSONA_PLAIN;
}
