/*
 * Every text with figures, from texts.def. TX(where, id) is the format in the language of a context
 * or a document (anything with a member `lang`); both languages are constant arrays, so that the
 * compiler checks the arguments of each against its own format.
 */
#ifndef ECO_OPS_TEXTS_H
#define ECO_OPS_TEXTS_H

#include "voice.h"

#define T(id, en, zh)                                                                              \
    static const char eco_text_en_##id[] __attribute__((unused)) = en;                             \
    static const char eco_text_zh_##id[] __attribute__((unused)) = zh;
#include "texts.def"
#undef T

#define TX(where, id) ((where)->lang == ECO_LANG_ZH ? eco_text_zh_##id : eco_text_en_##id)

#endif
