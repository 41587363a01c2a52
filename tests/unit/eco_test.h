/*
 * cmocka with honest doubles: cmocka 1.1.5 compares doubles as floats, so ours are our own.
 * Usage: #include "eco_test.h", tests as static void test_x(void **state), run with
 * cmocka_run_group_tests.
 */
#ifndef ECO_TEST_H
#define ECO_TEST_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* |a - b| <= tol; NaN never passes. */
#define assert_near(a, b, tol)                                                                     \
    do {                                                                                           \
        double a_ = (a), b_ = (b), tol_ = (tol);                                                   \
        if (!(fabs(a_ - b_) <= tol_)) {                                                            \
            fail_msg("%s = %.17g, wanted %s = %.17g within %g", #a, a_, #b, b_, tol_);             \
        }                                                                                          \
    } while (0)

/* Relative to the larger of |b| and 1e-300. */
#define assert_near_rel(a, b, rel) assert_near(a, b, (rel) * (fabs(b) > 1e-300 ? fabs(b) : 1e-300))

#endif
