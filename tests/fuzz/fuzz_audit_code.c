/* The audit over any text: the first byte says the kind of file, the rest is its content. */
#include "audit/audit.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"x.py",  "x.ipynb", "requirements.txt", "pyproject.toml",
                                        "x.yml", "x.sh",    "Dockerfile"};
    struct eco_audit a;
    struct eco_buf out = ECO_BUF_INIT;
    if (size < 1 || size > 1 << 16) {
        return 0;
    }
    const char *text = (const char *)data + 1;
    eco_audit_init(&a);
    if (eco_audit_text(&a, names[data[0] % 7], text, size - 1, NULL) == 0) {
        eco_audit_sort(&a);
        for (size_t i = 0; i < a.n; i++) {
            if (a.findings[i].edit.end > size - 1 || a.findings[i].line == 0) {
                abort();
            }
            eco_audit_patch(&a, &a.findings[i], text, size - 1);
        }
        eco_audit_apply(a.findings, a.n, true, text, size - 1, &out);
        eco_audit_sarif(&a, &out);
        eco_audit_github(&a, &out);
        eco_audit_markdown(&a, &out);
        eco_audit_keep_changed(&a, text, size - 1);
    }
    eco_buf_done(&out);
    eco_audit_done(&a);
    return 0;
}
