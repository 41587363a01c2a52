#include "base/arena.h"
#include "eco_test.h"

static void test_memory(void **unused)
{
    struct eco_arena a;
    unsigned char *seen[300];

    (void)unused;
    eco_arena_init(&a, 0);
    for (size_t i = 0; i < 300; i++) {
        size_t size = i * 7;
        unsigned char *p = eco_arena_alloc(&a, size);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 16, 0);
        for (size_t k = 0; k < size; k++) {
            assert_int_equal(p[k], 0);
        }
        memset(p, (int)(i % 255 + 1), size);
        seen[i] = p;
    }
    for (size_t i = 0; i < 300; i++) { /* no two overlap */
        for (size_t k = 0; k < i * 7; k++) {
            assert_int_equal(seen[i][k], i % 255 + 1);
        }
    }
    eco_arena_done(&a);
    eco_arena_done(&a);
    eco_arena_done(NULL);
}

static void test_reset_reuses(void **unused)
{
    struct eco_arena a;
    void *first[3];

    (void)unused;
    eco_arena_init(&a, 0);
    eco_arena_reset(&a);
    for (int round = 0; round < 3; round++) {
        eco_arena_reset(&a);
        assert_int_equal(a.used, 0);
        first[round] = eco_arena_alloc(&a, 100000);
        assert_int_equal(((char *)first[round])[99999], 0);
        memset(first[round], 7, 100000);
    }
    assert_ptr_equal(first[1], first[0]);
    assert_ptr_equal(first[2], first[0]);
    eco_arena_done(&a);

    eco_arena_init(&a, 0); /* of several blocks the newest stays, which is the largest */
    assert_non_null(eco_arena_alloc(&a, 100));
    void *large = eco_arena_alloc(&a, 100000);
    eco_arena_reset(&a);
    assert_ptr_equal(eco_arena_alloc(&a, 100000), large);
    eco_arena_done(&a);
}

static void test_limits(void **unused)
{
    struct eco_arena a;

    (void)unused;
    eco_arena_init(&a, 64);
    assert_non_null(eco_arena_alloc(&a, 48));
    assert_null(eco_arena_alloc(&a, 17));
    assert_non_null(eco_arena_alloc(&a, 16));
    assert_null(eco_arena_alloc(&a, 0)); /* even nothing takes a place of its own */
    eco_arena_reset(&a);
    assert_non_null(eco_arena_alloc(&a, 64));
    eco_arena_done(&a);

    eco_arena_init(&a, 0);
    assert_null(eco_arena_alloc(&a, SIZE_MAX));
    assert_null(eco_arena_alloc(&a, SIZE_MAX - 40));
    assert_null(eco_arena_array(&a, SIZE_MAX / 2, 3));
    assert_null(eco_arena_array(&a, SIZE_MAX / 16 + 2, 16)); /* wraps to 16 */
    assert_null(eco_arena_strdup(&a, "x", SIZE_MAX));
    assert_non_null(eco_arena_array(&a, 0, 0));
    eco_arena_done(&a);
}

static void test_text(void **unused)
{
    struct eco_arena a;

    (void)unused;
    eco_arena_init(&a, 0);
    assert_string_equal(eco_arena_strdup(&a, "abcdef", 3), "abc");
    assert_string_equal(eco_arena_strdup(&a, NULL, 0), "");
    assert_string_equal(eco_arena_printf(&a, "%s-%03d", "x", 7), "x-007");
    char *p = eco_arena_printf(&a, "%10000d", 1);
    assert_int_equal(strlen(p), 10000);
    eco_arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_reset_reuses),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
