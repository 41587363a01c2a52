#include "store_port.h"

#include "dataset/dataset.h"
#include "report/report.h"
#include "report/sign.h"

#include <stdio.h>
#include <stdlib.h>

/* The findings are large; several threads may check at once. */
static int check(const char *text, size_t len, struct eco_err *err)
{
    struct eco_report_check *found = malloc(sizeof(*found));
    if (!found)
        return eco_err_set(err, ECO_E_NO_MEMORY, "report", "out of memory");
    int rc = eco_report_validate(text, len, found, err);
    free(found);
    return rc;
}

/* An unsigned report is fine, a wrong signature is not. */
static int verify(const char *text, size_t len, char key[ECO_STORE_KEY_SIZE], struct eco_err *err)
{
    struct eco_sign_check found;
    int rc = eco_report_verify(text, len, NULL, &found, err);
    snprintf(key, ECO_STORE_KEY_SIZE, "%s", rc == 0 ? found.key : "");
    return rc && found.verdict == ECO_SIGN_MISSING ? 0 : rc;
}

void eco_store_port_options(const char *url, bool auto_accept, struct eco_store_options *out)
{
    const struct eco_published_tables *t = eco_dataset_published();
    *out = (struct eco_store_options){.url = url,
                                      .hooks = {check, eco_report_canonical, verify},
                                      .curves = t->curves,
                                      .curve_count = t->n_curves,
                                      .auto_accept = auto_accept};
}

int eco_store_port_open(const char *url, bool auto_accept, int busy_ms, struct eco_store **out,
                        struct eco_err *err)
{
    struct eco_store_options o;
    eco_store_port_options(url, auto_accept, &o);
    o.busy_ms = busy_ms;
    return eco_store_open(&o, out, err);
}
