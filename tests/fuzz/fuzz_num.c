/* Bytes as a number's text, against strtod; and the number itself written and read again. */
#include "base/num.h"
#include "eco_err.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void check(int condition)
{
    if (!condition) {
        abort();
    }
}

static void check_written(double v)
{
    char text[ECO_NUM_MAX + 320];
    double back = NAN;
    size_t len = eco_num_format(v, text);

    check(len < ECO_NUM_MAX && strlen(text) == len);
    check(eco_num_parse(text, len, &back) == 0 && back == v);
    for (int places = 0; places <= 24; places += places < 8 ? 1 : 4) {
        len = eco_num_fixed(v, places, text);
        check(strlen(text) == len && eco_num_parse(text, len, &back) == 0);
        double rounded = eco_num_round(v, places);
        check(rounded == back);
        /* half a unit of the last place, and what the double itself cannot hold */
        check(fabs(v) >= 1e21 ||
              fabs(rounded - v) <= 0.5 * pow(10, -places) * (1 + 1e-9) + fabs(v) * 1e-15);
    }
}

static void check_read(const char *s, size_t len)
{
    double strict = NAN, lenient = NAN;
    int64_t i64 = 0;
    int code = eco_num_parse(s, len, &strict);
    int code_lenient = eco_num_parse_lenient(s, len, &lenient);
    int code_i64 = eco_num_parse_i64(s, len, &i64);
    char *copy = malloc(len + 1);

    if (copy == NULL) {
        return;
    }
    memcpy(copy, s, len);
    copy[len] = '\0';
    char *end = copy;
    double wanted = strtod(copy, &end);
    check(code == 0 || code == ECO_E_INVALID || code == ECO_E_RANGE);
    check(code == ECO_E_INVALID || code == code_lenient);
    check(code_i64 == ECO_E_INVALID || code != ECO_E_INVALID);
    if (code_lenient != ECO_E_INVALID) {
        check(end == copy + len && (isinf(wanted) != 0) == (code_lenient == ECO_E_RANGE));
        check(code_lenient != 0 || memcmp(&wanted, &lenient, sizeof wanted) == 0);
    }
    if (code == 0) {
        check(memcmp(&strict, &lenient, sizeof strict) == 0);
        check_written(strict);
    }
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    double v;

    check_read((const char *)data, size);
    for (size_t at = 0; at + sizeof v <= size && at < 64; at += sizeof v) {
        memcpy(&v, data + at, sizeof v);
        if (isfinite(v)) {
            check_written(v);
        }
    }
    return 0;
}
