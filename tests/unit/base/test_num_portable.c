/* The tests of test_num.c again, on the path that machines without a 128-bit product take. */
#undef __SIZEOF_INT128__
#include "../../../src/base/num_format.c" /* NOLINT(bugprone-suspicious-include) */

#include "test_num.c" /* NOLINT(bugprone-suspicious-include) */
