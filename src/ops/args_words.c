#include "args_words.h"

#include <string.h>

static const char *keep(struct eco_arena *arena, struct eco_buf *b)
{
    const char *s = eco_buf_ok(b) ? eco_arena_strdup(arena, eco_buf_str(b), b->len) : NULL;
    eco_buf_done(b);
    return s;
}

/* Lists as "a,b". */
static const char *value_text(struct eco_arena *arena, const struct eco_param *p, const void *value)
{
    struct eco_buf b = ECO_BUF_INIT;
    const struct eco_f64s *numbers = value;
    const struct eco_strs *names = value;
    switch (p->type) {
    case ECO_T_F64:
        eco_buf_put_num(&b, *(const double *)value);
        break;
    case ECO_T_I64:
        eco_buf_printf(&b, "%lld", (long long)*(const int64_t *)value);
        break;
    case ECO_T_BOOL:
        eco_buf_puts(&b, *(const bool *)value ? "true" : "false");
        break;
    case ECO_T_STR:
        eco_buf_puts(&b, *(const char *const *)value);
        break;
    case ECO_T_LIST_F64:
        for (size_t i = 0; i < numbers->n; i++) {
            eco_buf_puts(&b, i ? "," : "");
            eco_buf_put_num(&b, numbers->v[i]);
        }
        break;
    case ECO_T_LIST_STR:
        for (size_t i = 0; i < names->n; i++) {
            eco_buf_printf(&b, "%s%s", i ? "," : "", names->v[i]);
        }
        break;
    }
    return keep(arena, &b);
}

char **eco_args_words(const struct eco_op *op, const void *args, struct eco_arena *arena,
                      const char *const *first, size_t n, struct eco_err *err)
{
    char **words = eco_arena_array(arena, n + op->n_params + 1, sizeof(*words));
    size_t at = 0;
    bool whole = words != NULL;
    for (size_t i = 0; whole && i < n; i++) {
        words[at] = eco_arena_strdup(arena, first[i], strlen(first[i]));
        whole = words[at++] != NULL;
    }
    for (size_t i = 0; whole && i < op->n_params; i++) {
        const struct eco_param *p = &op->params[i];
        if (eco_args_have(op, args, p->offset)) {
            const char *v = value_text(arena, p, (const char *)args + p->offset);
            words[at] = v ? eco_arena_printf(arena, "--%s=%s", p->name, v) : NULL;
            whole = words[at++] != NULL;
        }
    }
    if (!whole) {
        eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
        return NULL;
    }
    return words;
}
