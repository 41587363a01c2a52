/*
 * Any bytes as the answer of a server; the first says how they are cut. Whatever comes: an error
 * with words, or counts that are in their ranges and agree.
 */
#include "workload/openai_stream.h"

#include <stdlib.h>
#include <string.h>

#define ASKED 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct eco_openai_stream s;
    struct eco_err err = {0};
    size_t step = size ? 1 + data[0] % 64 : 1;
    eco_openai_stream_init(&s);
    int rc = eco_openai_stream_start(&s, ASKED, false, 0, &err);
    for (size_t at = 1; at < size && rc == 0; at += step) {
        size_t n = size - at < step ? size - at : step;
        rc = eco_openai_stream_feed(&s, (const char *)data + at, n, (int64_t)at * 1000, &err);
    }
    rc = rc ? rc : eco_openai_stream_check(&s, &err);
    if (rc && (err.code != rc || !err.message[0])) {
        abort();
    }
    if (rc == 0 && (s.usage_tokens < 1 || s.usage_tokens > ASKED || s.pieces > s.usage_tokens)) {
        abort();
    }
    if (s.interval_count > ASKED || (s.pieces && s.interval_count > s.pieces)) {
        abort();
    }
    for (int i = 0; i < s.interval_count; i++) {
        if (!(s.intervals_s[i] >= 0)) {
            abort();
        }
    }
    eco_openai_stream_done(&s);
    return 0;
}
