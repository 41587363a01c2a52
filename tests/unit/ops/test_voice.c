/* Two languages: nothing that core can say lacks its Chinese; Chinese lines keep their width. */
#include "eco_test.h"

#include "audit/audit.h"
#include "eco_alerts.h"
#include "eco_capability.h"
#include "eco_cost.h"
#include "eco_physics.h"
#include "ops/doc.h"
#include "ops/params.h"
#include "ops/texts.h"

static void known(const char *english)
{
    if (!eco_word_known(english)) {
        fail_msg("words.def lacks: %s", english);
    }
}

static void test_core_words_are_translated(void **state)
{
    (void)state;
    static const char *const verify[] = {"remeasure",     "check-throughput",
                                         "check-power",   "report-the-run",
                                         "check-figures", "check-configuration"};
    for (int i = 0; i < ECO_CAUSE_COUNT; i++) {
        known(eco_cause_name((enum eco_cause)i));
        known(eco_cause_text((enum eco_cause)i));
    }
    for (int i = 0; i < 4; i++) {
        known(eco_impossible_text((enum eco_impossible)i));
        known(eco_confidence_name((enum eco_confidence)i));
    }
    for (int i = 0; i < 3; i++) {
        known(eco_severity_name((enum eco_severity)i));
        known(eco_bound_name((enum eco_bound)i));
    }
    for (int i = 0; i < 5; i++) {
        known(eco_mood_name((enum eco_mood)i));
        known(eco_recommendation_name((enum eco_recommendation)i));
    }
    for (int i = 0; i < 7; i++) {
        known(eco_basis_name((enum eco_basis)i));
    }
    for (size_t i = 0; i < ECO_COUNT(verify); i++) {
        known(eco_verify_text(verify[i]));
    }
    for (size_t i = 0; i < eco_cost_equivalent_count(); i++) {
        known(eco_cost_equivalent_at(i)->text);
        known(eco_cost_equivalent_at(i)->source);
    }
    assert_false(eco_word_known("a sentence that nobody says"));
    assert_string_equal(eco_word(ECO_LANG_ZH, "a sentence that nobody says"),
                        "a sentence that nobody says");
    assert_string_equal(eco_word(ECO_LANG_EN, "measured"), "measured");
    assert_string_not_equal(eco_word(ECO_LANG_ZH, "measured"), "measured");
}

/* Every reason why something does not run, by asking for all of it. */
static void test_reasons_are_translated(void **state)
{
    (void)state;
    size_t said = 0;
    for (int p = 1; p < ECO_PREC_COUNT; p++) {
        for (int e = 0; e < ECO_ENGINE_COUNT; e++) {
            for (int a = 0; a < ECO_ARCH_COUNT; a++) {
                const char *why = NULL;
                if (!eco_precision_runs((enum eco_precision)p, (enum eco_engine)e, NULL,
                                        (enum eco_arch)a, &why)) {
                    known(why);
                    said++;
                }
            }
        }
    }
    assert_true(said > 0);
}

static void test_alerts_are_bilingual(void **state)
{
    (void)state;
    for (size_t i = 0; i < eco_alerts_count(); i++) {
        const struct eco_alert_rule *r = eco_alerts_rule(i);
        const char *const pairs[][2] = {{r->name, r->zh.name},
                                        {r->why, r->zh.why},
                                        {r->fix, r->zh.fix},
                                        {r->measured, r->zh.measured}};
        for (size_t k = 0; k < ECO_COUNT(pairs); k++) {
            if (!pairs[k][1] || !pairs[k][1][0] || strcmp(pairs[k][0], pairs[k][1]) == 0) {
                fail_msg("%s: no Chinese for: %s", r->id, pairs[k][0]);
            }
        }
        assert_non_null(r->zh.contradiction);
        assert_int_equal(r->contradiction[0] == '\0', r->zh.contradiction[0] == '\0');
    }
}

static void test_audit_rules_are_translated(void **state)
{
    (void)state;
    for (int i = 0; i < ECO_AUDIT_RULES_COUNT; i++) {
        known(eco_audit_rule((enum eco_audit_rule)i)->title);
        known(eco_audit_rule((enum eco_audit_rule)i)->why);
        known(eco_audit_rule_fix((enum eco_audit_rule)i));
    }
}

/* No text is missing, and none is the same in both languages that holds English words. */
static void test_texts(void **state)
{
    (void)state;
    static const struct {
        const char *id, *en, *zh;
    } texts[] = {
#define T(id, en, zh) {#id, en, zh},
#include "ops/texts.def"
#undef T
    };
    for (size_t i = 0; i < ECO_COUNT(texts); i++) {
        bool words = strlen(texts[i].en) > 24 && strpbrk(texts[i].en, "aeiou");
        if (words && strcmp(texts[i].en, texts[i].zh) == 0) {
            fail_msg("%s is not translated", texts[i].id);
        }
    }
}

static void test_voice_from_parameters(void **state)
{
    (void)state;
    struct eco_ctx ctx = {0};
    struct eco_args_voice v = {.lang = "zh", .persona = "EcoLobster"};
    eco_voice_set(&ctx, &v);
    assert_int_equal(ctx.lang, ECO_LANG_ZH);
    assert_int_equal(ctx.persona, ECO_PERSONA_LOBSTER);
    v = (struct eco_args_voice){0}; /* another request of the same process starts afresh */
    eco_voice_set(&ctx, &v);
    assert_int_equal(ctx.lang, ECO_LANG_EN);
    assert_int_equal(ctx.persona, ECO_PERSONA_PLAIN);
}

static void test_chinese_breaks(void **state)
{
    (void)state;
    static const char text[] =
        "默认的 LLM.int8() 把每个线性层拆成 INT8 部分和 16 位离群值部分，中间还要等待主机（每一层都"
        "是如此）；显存只容得下 8 位时，把阈值设为 0.0，这比默认省电，但仍比 16 位费电。";
    for (int width = 40; width < 60; width++) {
        struct eco_arena arena;
        struct eco_doc d;
        struct eco_buf b = ECO_BUF_INIT;
        eco_arena_init(&arena, 0);
        eco_doc_init(&d, ECO_DOC_TEXT, &b, &arena, width);
        eco_doc_text(&d, ECO_TONE_PLAIN, "%s", text);
        size_t lines = 0;
        for (const char *line = eco_buf_str(&b); *line; lines++) {
            size_t n = strcspn(line, "\n");
            assert_true(eco_str_width(line, n) <= (size_t)width);
            assert_true(strncmp(line, "，", 3) != 0 && strncmp(line, "。", 3) != 0 &&
                        strncmp(line, "）", 3) != 0 && strncmp(line, "；", 3) != 0);
            assert_true(n < 3 || strncmp(line + n - 3, "（", 3) != 0);
            line += n + (line[n] == '\n');
        }
        assert_true(lines >= 3);
        eco_buf_done(&b);
        eco_arena_done(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_core_words_are_translated),
        cmocka_unit_test(test_reasons_are_translated),
        cmocka_unit_test(test_alerts_are_bilingual),
        cmocka_unit_test(test_audit_rules_are_translated),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_voice_from_parameters),
        cmocka_unit_test(test_chinese_breaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
