/* Any bytes as a report to sign, as a signed report and as a key: nothing bad verifies. */
#include "report/sign.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void must(bool holds)
{
    if (!holds)
        abort();
}

/* The canonical form is its own canonical form. */
static void canonical(const char *text, size_t size)
{
    struct eco_buf once = ECO_BUF_INIT, twice = ECO_BUF_INIT;
    if (eco_report_canonical(text, size, &once, NULL) == 0) {
        must(eco_report_canonical(eco_buf_str(&once), once.len, &twice, NULL) == 0);
        must(once.len == twice.len && memcmp(once.data, twice.data, once.len) == 0);
    }
    eco_buf_done(&once);
    eco_buf_done(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t nobody[ECO_SIGN_KEY_BYTES];
    struct eco_buf text = ECO_BUF_INIT, again = ECO_BUF_INIT;
    struct eco_sign_check check;
    struct eco_sign_key key;
    if (size > 1u << 20)
        return 0;
    eco_buf_put(&text, data, size);
    canonical(eco_buf_str(&text), size);
    must(eco_report_verify(eco_buf_str(&text), size, nobody, &check, NULL) != 0);
    if (eco_sign_key_read(eco_buf_str(&text), size, &key, NULL) == 0) {
        if (key.secret)
            eco_sign_key_write_secret(&key, &again);
        else
            eco_sign_key_write_public(&key, &again);
        must(eco_sign_key_read(eco_buf_str(&again), again.len, &key, NULL) == 0);
        eco_sign_key_done(&key);
    }
    eco_buf_done(&text);
    eco_buf_done(&again);
    return 0;
}
