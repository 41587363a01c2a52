/* The table of operations holds together: what a new row must have, and that results are honest. */
#include "eco_test.h"

#include "ops/args.h"
#include "ops/op.h"
#include "ops/params.h"
#include "ops/records.h"
#include "ops/result.h"
#include "ops/steps.h"

static void test_rows_are_complete(void **state)
{
    (void)state;
    for (size_t i = 0; i < eco_ops_count; i++) {
        const struct eco_op *op = &eco_ops[i];
        assert_non_null(op->name);
        assert_non_null(op->summary);
        assert_non_null(op->about);
        assert_non_null(op->examples);
        assert_non_null(op->run);
        assert_non_null(op->view);
        assert_non_null(op->result);
        assert_ptr_equal(eco_op_find(op->name), op);
        assert_true(op->n_params <= 64); /* the bits of `have` */
    }
    assert_null(eco_op_find("nothing"));
}

/* A name means one parameter only, and every default lies inside its own range. */
static void test_parameters(void **state)
{
    (void)state;
    for (size_t i = 0; i < eco_ops_count; i++) {
        const struct eco_op *op = &eco_ops[i];
        struct eco_arena arena;
        struct eco_err err = {0};
        eco_arena_init(&arena, 0);
        void *args = eco_arena_alloc(&arena, op->args_size);
        if (eco_args_init(op, args, &arena, &err)) {
            fail_msg("%s: %s", op->name, err.message);
        }
        for (size_t k = 0; k < op->n_params; k++) {
            const struct eco_param *p = &op->params[k];
            assert_ptr_equal(eco_args_find(op, p->name, strlen(p->name)), p);
            assert_true(p->help && p->help[0]);
            assert_non_null(p->unit);
            assert_true(p->offset < op->args_size);
            for (const char *a = p->alias; a && *a;) {
                size_t n = strcspn(a, " ");
                if (eco_args_find(op, a, n) != p) {
                    fail_msg("%s: alias '%.*s' of '%s' means another parameter", op->name, (int)n,
                             a, p->name);
                }
                a += n + (a[n] == ' ');
            }
        }
        eco_arena_done(&arena);
    }
}

/* Schemas and results are JSON, and a result holds exactly the members of its schema. */
static void test_schemas_parse(void **state)
{
    (void)state;
    for (size_t i = 0; i < eco_ops_count; i++) {
        struct eco_buf b = ECO_BUF_INIT;
        struct eco_json_writer w;
        struct eco_json_doc doc;
        struct eco_err err = {0};
        eco_jw_init(&w, &b, 0);
        eco_result_schema(eco_ops[i].result, &w);
        if (eco_json_parse(&doc, b.data, b.len, &err)) {
            fail_msg("%s: %s", eco_ops[i].name, err.message);
        }
        const struct eco_json *properties = eco_json_get(doc.root, "properties");
        assert_int_equal(properties->count, eco_ops[i].result->n_fields);
        eco_json_done(&doc);
        eco_buf_clear(&b);
        eco_jw_init(&w, &b, 0);
        eco_params_schema(&eco_ops[i], true, &w);
        assert_int_equal(eco_json_parse(&doc, b.data, b.len, &err), 0);
        eco_json_done(&doc);
        eco_buf_done(&b);
    }
}

struct session {
    struct eco_arena arena;
    struct eco_ctx ctx;
    struct eco_err err;
};

static void begin(struct session *s)
{
    memset(s, 0, sizeof(*s));
    eco_arena_init(&s->arena, 0);
    s->ctx.arena = &s->arena;
}

static int run(struct session *s, const char *verb, const char *json, void *result)
{
    const struct eco_op *op = eco_op_find(verb);
    struct eco_json_doc doc;
    void *args = eco_arena_alloc(&s->arena, op->args_size);
    memset(result, 0, op->result->size);
    assert_int_equal(eco_args_init(op, args, &s->arena, &s->err), 0);
    assert_int_equal(eco_json_parse(&doc, json, strlen(json), &s->err), 0);
    int rc = eco_args_set_json(op, args, &s->arena, doc.root, false, &s->err);
    rc = rc ? rc : eco_args_finish(op, args, &s->err);
    rc = rc ? rc : op->run(&s->ctx, args, result, &s->err);
    eco_json_done(&doc);
    return rc;
}

static void test_estimate_is_consistent(void **state)
{
    (void)state;
    struct session s;
    struct eco_res_estimate r;
    begin(&s);
    assert_int_equal(run(&s, "estimate",
                         "{\"model\": \"Qwen/Qwen2.5-7B-Instruct\", \"gpu\": \"rtx4090\", "
                         "\"precision\": \"NF4\"}",
                         &r),
                     0);
    assert_true(r.ci.have && r.ci.lo <= r.delta_pct && r.delta_pct <= r.ci.hi);
    assert_non_null(r.bands);
    assert_true(r.bands->lo95 <= r.bands->lo80 && r.bands->lo80 <= r.bands->lo50 &&
                r.bands->hi50 <= r.bands->hi80 && r.bands->hi80 <= r.bands->hi95);
    assert_non_null(r.energy);
    /* the quantized energy is the baseline times the change, within rounding */
    assert_near_rel(r.energy->j_per_1k, r.energy->fp16_j_per_1k * (1 + r.delta_pct / 100), 0.005);
    assert_non_null(r.cost);
    /* kWh = J/request * requests * PUE / 3.6e6 */
    assert_near_rel(r.cost->month.kwh, r.cost->j_per_request * 1e6 * r.cost->pue / 3.6e6, 0.002);
    assert_near_rel(r.cost->month.usd.v, r.cost->month.kwh * r.cost->price_usd_per_kwh.v, 0.002);
    assert_string_equal(r.input.gpu, "RTX 4090");
    assert_string_not_equal(r.basis, "measured"); /* this very instruct model was not run there */
    eco_arena_done(&s.arena);
}

static void test_baseline_changes_nothing(void **state)
{
    (void)state;
    struct session s;
    struct eco_res_estimate r;
    begin(&s);
    assert_int_equal(
        run(&s, "estimate", "{\"N\": 7, \"arch\": \"ada\", \"precision\": \"fp16\"}", &r), 0);
    assert_near(r.delta_pct, 0, 0);
    assert_string_equal(r.recommendation, "baseline");
    eco_arena_done(&s.arena);
}

static void test_refusals_name_the_way_out(void **state)
{
    (void)state;
    static const struct {
        const char *verb, *json, *says;
    } cases[] = {
        {"estimate", "{\"N\": 7, \"gpu\": \"rtx4900\"}", "did you mean"},
        {"estimate", "{\"model\": \"Qwen2.5-7C\", \"gpu\": \"rtx4090\"}", "did you mean"},
        {"estimate", "{\"N\": 7, \"gpu\": \"rtx4090\", \"precision\": \"NF5\"}",
         "did you mean NF4"},
        {"estimate", "{\"N\": 7, \"gpu\": \"rtx4090\", \"region\": \"Farnce\"}", "region"},
        {"estimate", "{\"gpu\": \"rtx4090\"}", "no model"},
        {"estimate", "{\"N\": 7, \"gpu\": \"rtx4090\", \"arch\": \"turing\"}", "contradicts"},
        {"estimate", "{\"model\": \"Qwen2.5-7B\", \"N\": 70}", "contradicts"},
        {"estimate", "{\"N\": 7, \"arch\": \"adda\"}", "did you mean 'ada'"},
        {"estimate", "{\"N\": 7, \"calibration\": \"published\"}", "'arch' is missing"},
        {"diagnose", "{\"N\": 7, \"gpu\": \"rtx4090\"}", "say what you see"},
        {"optimize", "{\"N\": 7, \"arch\": \"ada\"}", "card"},
        {"report", "{\"action\": \"validate\"}", "'document' is missing"},
        {"report", "{}", "'action' is missing"},
    };
    for (size_t i = 0; i < ECO_COUNT(cases); i++) {
        struct session s;
        char result[4096];
        begin(&s);
        if (run(&s, cases[i].verb, cases[i].json, result) == 0) {
            fail_msg("accepted: %s", cases[i].json);
        }
        if (!strstr(s.err.message, cases[i].says)) {
            fail_msg("%s: '%s' does not say '%s'", cases[i].json, s.err.message, cases[i].says);
        }
        eco_arena_done(&s.arena);
    }
}

static bool is_among(const struct eco_strs *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++) {
        if (strcmp(list->v[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* What is assumed when a question says `said` besides its model. */
static void check_assumed(const char *said, const char *const *names, const bool *wanted, size_t n)
{
    static const char *const verbs[] = {"estimate", "cost"};
    for (size_t v = 0; v < ECO_COUNT(verbs); v++) {
        union {
            struct eco_res_estimate estimate;
            struct eco_res_cost cost;
        } r;
        struct session s;
        char json[600];
        snprintf(json, sizeof(json), "{\"N\": 7%s}", said);
        begin(&s);
        if (run(&s, verbs[v], json, &r)) {
            fail_msg("%s %s: %s", verbs[v], json, s.err.message);
        }
        const struct eco_strs *got = v ? &r.cost.input.assumed : &r.estimate.input.assumed;
        for (size_t i = 0; i < n; i++) {
            if (is_among(got, names[i]) != wanted[i]) {
                fail_msg("%s %s: '%s' is %sassumed", verbs[v], json, names[i],
                         wanted[i] ? "not " : "");
            }
        }
        eco_arena_done(&s.arena);
    }
}

/* Each input that was given is not called assumed, each that was not is. */
static void test_assumed(void **state)
{
    static const char *const names[] = {
#define X(name, text) text,
        ECO_ASSUMPTIONS(X)
#undef X
    };
    /* a value of each, and what follows from it besides: MODEL is given above */
    static const struct {
        const char *name, *value, *also, *also2;
    } given[] = {
        {"gpu", "\"rtx4090\"", "", ""},
        {"precision", "\"NF4\"", "", ""},
        {"engine", "\"vllm\"", "", ""},
        {"batch", "1", "", ""},
        {"prompt_tokens", "512", "", ""},
        {"gen_tokens", "256", "", ""},
        {"ctx", "768", "", ""},
        {"requests", "1000000", "", ""},
        {"region", "\"France\"", "price", "carbon_intensity"},
        {"price", "0.2", "", ""},
        {"carbon_intensity", "300", "", ""},
        {"pue", "1", "", ""},
        {"eager", "true", "engine", ""},
    };
    bool wanted[ECO_COUNT(names)];
    char all[500] = "";
    (void)state;
    assert_int_equal(ECO_COUNT(given), ECO_COUNT(names)); /* without model, with eager */
    for (size_t g = 0; g <= ECO_COUNT(given); g++) {      /* the last: nothing is given */
        char said[80] = "";
        for (size_t i = 0; i < ECO_COUNT(names); i++) {
            const char *name = names[i];
            wanted[i] = strcmp(name, "model") != 0 &&
                        (g == ECO_COUNT(given) ||
                         (strcmp(name, given[g].name) != 0 && strcmp(name, given[g].also) != 0 &&
                          strcmp(name, given[g].also2) != 0));
        }
        if (g < ECO_COUNT(given)) {
            snprintf(said, sizeof(said), ", \"%s\": %s", given[g].name, given[g].value);
            strncat(all, said, sizeof(all) - strlen(all) - 1);
        }
        check_assumed(said, names, wanted, ECO_COUNT(names));
    }
    memset(wanted, 0, sizeof(wanted));
    check_assumed(all, names, wanted, ECO_COUNT(names));
}

/* No NaN and no infinity reach a result: every result is valid JSON with finite numbers. */
static void test_results_are_json(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"estimate", "{\"N\": 0.2, \"arch\": \"gaudi\", \"precision\": \"GGUF-Q2_K\"}"},
        {"estimate", "{\"N\": 700, \"gpu\": \"mi300x\", \"precision\": \"MXFP4\", \"batch\": 512}"},
        {"estimate",
         "{\"model\": \"deepseek-ai/DeepSeek-V3\", \"gpu\": \"h100\", \"precision\": \"FP8\", "
         "\"engine\": \"vllm\", \"batch\": 64, \"ctx\": 8192}"},
        {"compare", "{\"N\": 13, \"gpu\": \"t4\"}"},
        {"optimize", "{\"N\": 70, \"gpu\": \"t4\"}"},
        {"optimize", "{\"model\": \"Qwen2.5-3B\", \"gpus\": [\"rtx4090\", \"a100\"], "
                     "\"objective\": \"min_cost\"}"},
        {"diagnose", "{\"N\": 7, \"gpu\": \"a100\", \"precision\": \"int8\", \"throughput\": 9}"},
        {"cost", "{\"N\": 7, \"gpu\": \"a100\", \"region\": \"France\"}"},
        {"data", "{\"grade\": \"D\"}"},
        {"gpus", "{}"},
        {"models", "{}"},
        {"version", "{\"data\": true}"},
        {"report", "{\"action\": \"schema\"}"},
        {"report", "{\"action\": \"build\", \"N\": 7, \"gpu\": \"rtx4090\"}"},
    };
    for (size_t i = 0; i < ECO_COUNT(cases); i++) {
        struct session s;
        struct eco_buf b = ECO_BUF_INIT;
        struct eco_json_writer w;
        struct eco_json_doc doc;
        const struct eco_op *op = eco_op_find(cases[i][0]);
        begin(&s);
        void *result = eco_arena_alloc(&s.arena, op->result->size);
        if (run(&s, cases[i][0], cases[i][1], result)) {
            fail_msg("%s %s: %s", cases[i][0], cases[i][1], s.err.message);
        }
        eco_jw_init(&w, &b, 0);
        eco_result_json(op->result, result, &w);
        if (eco_json_parse(&doc, b.data, b.len, &s.err)) {
            fail_msg("%s: %s", cases[i][1], s.err.message);
        }
        eco_json_done(&doc);
        eco_buf_done(&b);
        eco_arena_done(&s.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_are_complete),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_schemas_parse),
        cmocka_unit_test(test_estimate_is_consistent),
        cmocka_unit_test(test_baseline_changes_nothing),
        cmocka_unit_test(test_refusals_name_the_way_out),
        cmocka_unit_test(test_assumed),
        cmocka_unit_test(test_results_are_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
