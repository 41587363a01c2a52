/*
 * For tests/peer/tokenizers.py: makes small tokenizers, and encodes texts with the engine's.
 *     tok_ids make FOLDER            FAMILY.json of each family, bpe.model, unigram.model
 *     tok_ids model FOLDER           a model of seeded weights with a tokenizer
 *     tok_ids ids FILE < texts       texts end in a zero byte; one line of ids each
 *     tok_ids plain FILE < texts     the same, "<s>" in a text being letters
 *     tok_ids letters FILE < texts   and without the tokens that begin and end a text
 */
#include "base/file.h"
#include "engine/tok.h"
#include "unit/engine/reference_folder.h"
#include "unit/engine/tok_make_files.h"

static int make(const char *folder)
{
    static struct make_vocab v;
    char path[1024];
    int rc = 0;
    for (size_t i = 0; i < MAKE_FAMILIES && rc == 0; i++) {
        snprintf(path, sizeof(path), "%s/%s.json", folder, make_families[i].name);
        rc = make_family_file(&make_families[i], path);
    }
    make_characters(&v, MAKE_PIECES);
    for (int kind = 1; kind <= 2 && rc == 0; kind++) {
        snprintf(path, sizeof(path), "%s/%s.model", folder, kind == 1 ? "unigram" : "bpe");
        rc = make_spm(&v, kind, path);
    }
    return rc;
}

static int model(const char *folder)
{
    const struct ref_config c = {.type = "llama",
                                 .hidden = 64,
                                 .heads = 4,
                                 .kv_heads = 2,
                                 .head_dim = 16,
                                 .inter = 96,
                                 .vocab = 608,
                                 .layers = 2,
                                 .theta = 10000,
                                 .eps = 1e-5};
    struct ref_model m;
    char path[1024];
    ref_make(&m, &c, 3);
    int rc = ref_write_folder(&m, folder, 1);
    ref_done(&m);
    snprintf(path, sizeof(path), "%s/tokenizer.json", folder);
    return rc ? rc : make_family_file(&make_families[4], path);
}

static int print_ids(const char *file, unsigned flags)
{
    struct eco_tokenizer *t = NULL;
    struct eco_buf in = ECO_BUF_INIT;
    struct eco_err err = {0};
    int rc = eco_tokenizer_open(file, &t, &err);
    rc = rc ? rc : eco_file_read("-", 64u << 20, &in, &err);
    const char *s = eco_buf_str(&in);
    for (size_t at = 0; rc == 0 && at < in.len;) {
        struct eco_ids ids = {0};
        size_t len = strlen(s + at);
        rc = eco_tokenizer_encode(t, s + at, len, flags, &ids, &err);
        for (size_t i = 0; i < ids.n; i++) {
            printf("%s%d", i ? " " : "", ids.v[i]);
        }
        printf("\n");
        eco_ids_done(&ids);
        at += len + 1;
    }
    if (rc) {
        fprintf(stderr, "%s: %s\n", file, err.message);
    }
    eco_buf_done(&in);
    eco_tokenizer_free(t);
    return rc;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "tok_ids make|model FOLDER | tok_ids ids|plain|letters FILE\n");
        return 2;
    }
    if (strcmp(argv[1], "make") == 0) {
        return make(argv[2]) ? 1 : 0;
    }
    if (strcmp(argv[1], "model") == 0) {
        return model(argv[2]) ? 1 : 0;
    }
    unsigned special = strcmp(argv[1], "ids") == 0 ? ECO_TOK_WITH_SPECIAL : 0;
    unsigned ends = strcmp(argv[1], "letters") == 0 ? 0 : ECO_TOK_WITH_ENDS;
    return print_ids(argv[2], ends | special) ? 1 : 0;
}
