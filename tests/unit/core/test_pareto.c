/* The O(n log n) front against the definition, O(n^2), on points with many ties. */
#include "eco_test.h"

#include "core/pareto.h"

#include <stdbool.h>

#define MAX 700

static uint32_t seed = 1;

static double pick(uint32_t levels)
{
    seed = seed * 1664525u + 1013904223u;
    return (double)((seed >> 8) % levels) - 3.0;
}

static bool dominated(const struct eco_pareto_point *p, size_t n, size_t i)
{
    for (size_t j = 0; j < n; j++) {
        if (p[j].x <= p[i].x && p[j].y <= p[i].y && (p[j].x < p[i].x || p[j].y < p[i].y)) {
            return true;
        }
    }
    return false;
}

static void test_against_definition(void **state)
{
    static struct eco_pareto_point p[MAX], copy[MAX], scratch[MAX];
    static bool seen[MAX];

    (void)state;
    for (int round = 0; round < 400; round++) {
        size_t n = (size_t)(round < 40 ? round : 40 + round % (MAX - 40)), wanted = 0;
        uint32_t levels = round % 3 == 0 ? 4 : round % 3 == 1 ? 50 : 100000;
        for (size_t i = 0; i < n; i++) {
            p[i] = copy[i] = (struct eco_pareto_point){pick(levels), pick(levels), (uint32_t)i};
            seen[i] = false;
        }
        size_t kept = eco_pareto_front(p, scratch, n);
        for (size_t i = 0; i < kept; i++) {
            assert_false(seen[p[i].index]);
            seen[p[i].index] = true;
            assert_true(i == 0 || p[i - 1].x < p[i].x ||
                        (p[i - 1].x == p[i].x && p[i - 1].index < p[i].index));
        }
        for (size_t i = 0; i < n; i++) {
            bool front = !dominated(copy, n, i);
            wanted += front;
            assert_int_equal(front, seen[i]);
        }
        assert_int_equal(kept, wanted);
    }
}

static void test_sort_is_stable(void **state)
{
    static struct eco_pareto_point p[MAX], scratch[MAX];

    (void)state;
    for (size_t n = 0; n < MAX; n += 13) {
        for (size_t i = 0; i < n; i++) {
            p[i] = (struct eco_pareto_point){pick(5), pick(3), (uint32_t)i};
        }
        eco_pareto_sort(p, scratch, n);
        for (size_t i = 1; i < n; i++) {
            const struct eco_pareto_point *a = &p[i - 1], *b = &p[i];
            assert_true(a->x < b->x ||
                        (a->x == b->x && (a->y < b->y || (a->y == b->y && a->index < b->index))));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_definition),
        cmocka_unit_test(test_sort_is_stable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
