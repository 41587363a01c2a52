/* Every kind of rope scaling against the float64 reference, and what is refused. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "eco_test.h"
#include "engine/engine.h"
#include "engine/engine_shape.h"
#include "reference.h"
#include "reference_folder.h"

#include <unistd.h>

#define TOKENS 61
#define CONTEXT 64

static char folder[256];

static int setup(void **state)
{
    const char *base = getenv("TMPDIR");
    (void)state;
    snprintf(folder, sizeof(folder), "%s/eco-rope-XXXXXX", base ? base : P_tmpdir);
    return mkdtemp(folder) == NULL;
}

static int teardown(void **state)
{
    static const char *const names[] = {"config.json", "model.safetensors"};
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char path[512];
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        unlink(path);
    }
    return rmdir(folder);
}

static struct ref_config small(const char *rope, double factor, double original)
{
    return (struct ref_config){.type = "llama",
                               .hidden = 64,
                               .heads = 2,
                               .kv_heads = 1,
                               .head_dim = 32,
                               .inter = 96,
                               .vocab = 53,
                               .layers = 2,
                               .theta = 10000,
                               .eps = 1e-5,
                               .rope = rope,
                               .rope_factor = factor,
                               .rope_original = original};
}

/* Largest difference of logits over the largest logit; `other` is what the reference is. */
static double error_of(const struct ref_config *c, const struct ref_config *other)
{
    static int ids[TOKENS];
    struct eco_engine_options o = {
        .model = folder, .precision = ECO_PREC_FP32, .context_tokens = CONTEXT, .threads = 1};
    struct eco_err err = {0};
    struct eco_decoder *e = NULL;
    struct ref_model m;
    size_t n = (size_t)TOKENS * (size_t)c->vocab;
    float *got = malloc(n * sizeof(float));
    double *want = malloc(n * sizeof(double)), worst = 0, scale = 0;
    ref_make(&m, c, 5);
    assert_int_equal(ref_write_folder(&m, folder, 1), 0);
    m.c = *other;
    for (int i = 0; i < TOKENS; i++) {
        ids[i] = (i * 31 + 7) % c->vocab;
    }
    ref_logits(&m, ids, TOKENS, want);
    if (eco_engine_open(&o, &e, &err)) {
        fail_msg("%s: %s", c->rope, err.message);
    }
    assert_int_equal(eco_engine_logits(e, ids, TOKENS, got, &err), 0);
    for (size_t i = 0; i < n; i++) {
        double d = fabs((double)got[i] - want[i]);
        worst = d > worst || d != d ? d : worst;
        scale = fabs(want[i]) > scale ? fabs(want[i]) : scale;
    }
    eco_engine_close(e);
    ref_done(&m);
    free(got);
    free(want);
    return worst / scale;
}

static void test_kinds_agree_with_float64(void **state)
{
    struct ref_config c[] = {
        small("linear", 4, 128), /* the context's end is 512 in all of them */
        small("yarn", 16, 32),   /* one turn at most in half the pairs */
        small("yarn", 2, 256),   /* bounds inside */
        small("yarn", 8, 64),
        small("longrope", 16, 32), /* 64 tokens are beyond 32: the long factors */
        small("longrope", 2, 256), /* within 256: the short ones */
    };
    struct ref_config plain = small(NULL, 1, 1);
    (void)state;
    c[3].rope_attention = 1.25;
    c[4].rope_long = 1;
    for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
        double error = error_of(&c[i], &c[i]);
        print_message("%-8s x%g of %g: %.2g of the largest logit\n", c[i].rope, c[i].rope_factor,
                      c[i].rope_original, error);
        assert_true(error < 5e-6);
        assert_true(error_of(&c[i], &plain) > 1e-2); /* the scaling is seen */
    }
}

static void test_frequencies_at_the_ends(void **state)
{
    struct eco_rope r = {.theta = 10000.0,
                         .dims = 64,
                         .kind = ECO_ROPE_YARN,
                         .factor = 4.0,
                         .original_context = 4096.0,
                         .beta_fast = 32.0,
                         .beta_slow = 1.0};
    float f[32];
    (void)state;
    eco_engine_rope_frequencies(&r, f);
    assert_near((double)f[0], 1.0, 1e-7);                                   /* 652 turns: kept */
    assert_near_rel((double)f[31], pow(10000.0, -62.0 / 64.0) / 4.0, 1e-6); /* less than one turn */
    assert_near((double)eco_engine_rope_magnitude(&r), 1.0 + 0.1 * log(4.0), 1e-6);
    r.attention_factor = 1.5;
    assert_near((double)eco_engine_rope_magnitude(&r), 1.5, 0.0);
    r.kind = ECO_ROPE_LINEAR;
    assert_near((double)eco_engine_rope_magnitude(&r), 1.0, 0.0);
}

static void refuse(const char *scaling, const char *word)
{
    char path[512];
    struct eco_err err = {0};
    struct eco_engine_options o = {.model = folder, .precision = ECO_PREC_FP32, .threads = 1};
    struct eco_decoder *e = NULL;
    snprintf(path, sizeof(path), "%s/config.json", folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f,
            "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_hidden_layers\": 2,"
            " \"num_attention_heads\": 2, \"num_key_value_heads\": 1, \"head_dim\": 32,"
            " \"intermediate_size\": 96, \"vocab_size\": 53, \"max_position_embeddings\": 512,"
            " \"rope_scaling\": %s}\n",
            scaling);
    fclose(f);
    assert_true(eco_engine_open(&o, &e, &err) != 0);
    if (!strstr(err.message, word)) {
        fail_msg("%s: %s", scaling, err.message);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    refuse("{\"type\": \"dynamic\", \"factor\": 2}", "'dynamic'");
    refuse("{\"type\": \"longrope\", \"short_factor\": [1, 2], \"long_factor\": [1, 2]}", "16");
    refuse("{\"type\": \"longrope\"}", "factors");
    refuse("{\"type\": \"yarn\", \"factor\": 2, \"original_max_position_embeddings\": -4}",
           "out of range");
    refuse("{\"type\": \"yarn\", \"factor\": 0}", "out of range");
    refuse("{\"type\": \"yarn\", \"factor\": 4, \"mscale\": 1.0, \"mscale_all_dim\": 0.8}",
           "mscale");
    refuse("{\"type\": \"yarn\", \"factor\": 4, \"truncate\": false}", "truncate");
    refuse("{\"type\": \"yarn\", \"factor\": 2, \"beta_fast\": 1, \"beta_slow\": 1}",
           "out of range");
}

#define SHAPE                                                                                      \
    "\"hidden_size\": 64, \"num_hidden_layers\": 2, \"num_attention_heads\": 2, "                  \
    "\"intermediate_size\": 96, \"vocab_size\": 53, \"max_position_embeddings\": 512, "

static int read_config(const char *text, struct eco_shape *s, struct eco_err *err)
{
    struct eco_json_doc doc;
    assert_int_equal(eco_json_parse(&doc, text, strlen(text), NULL), 0);
    int rc = eco_engine_shape_from_config("config.json", doc.root, s, err);
    eco_json_done(&doc);
    return rc;
}

/* transformers 4 and 5 keep the part that is rotated in different places. */
static void test_part_of_a_head_is_rotated(void **state)
{
    struct eco_shape s = {0};
    (void)state;
    assert_int_equal(read_config("{" SHAPE "\"model_type\": \"phi3\"}", &s, NULL), 0);
    assert_int_equal(s.rope.dims, 32);
    assert_int_equal(read_config("{" SHAPE "\"model_type\": \"phi3\","
                                 "\"partial_rotary_factor\": 0.75}",
                                 &s, NULL),
                     0);
    assert_int_equal(s.rope.dims, 24);
    assert_int_equal(read_config("{" SHAPE "\"model_type\": \"phi3\", \"rope_parameters\": "
                                 "{\"rope_type\": \"default\", \"rope_theta\": 5e5, "
                                 "\"partial_rotary_factor\": 0.5}}",
                                 &s, NULL),
                     0);
    assert_int_equal(s.rope.dims, 16);
    assert_near(s.rope.theta, 5e5, 0.0);
}

/* A gate that the engine does not have would run, and give another model's text. */
static void test_gates(void **state)
{
    static const struct {
        const char *rest, *refused; /* NULL: taken */
    } rows[] = {{"\"model_type\": \"llama\", \"hidden_act\": \"silu\"}", NULL},
                {"\"model_type\": \"llama\", \"hidden_act\": null}", NULL},
                {"\"model_type\": \"llama\", \"hidden_act\": \"gelu\"}", "'gelu'"},
                {"\"model_type\": \"qwen2\", \"hidden_act\": 3}", "'no name'"},
                {"\"model_type\": \"gemma2\", \"hidden_act\": \"gelu\"}", NULL},
                {"\"model_type\": \"gemma2\", \"hidden_activation\": \"silu\"}", "'silu'"}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[512];
        struct eco_shape s = {0};
        struct eco_err err = {0};
        snprintf(text, sizeof(text), "{" SHAPE "%s", rows[i].rest);
        assert_int_equal(read_config(text, &s, &err), rows[i].refused ? ECO_E_UNSUPPORTED : 0);
        assert_true(!rows[i].refused || strstr(err.message, rows[i].refused));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_part_of_a_head_is_rotated),
        cmocka_unit_test(test_gates),
        cmocka_unit_test(test_kinds_agree_with_float64),
        cmocka_unit_test(test_frequencies_at_the_ends),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
