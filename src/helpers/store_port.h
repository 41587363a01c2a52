/* A store with the report's own rules and the published curves, as every helper opens it. */
#ifndef ECO_HELPERS_STORE_PORT_H
#define ECO_HELPERS_STORE_PORT_H

#include "store/store.h"

/** What eco_store_port_open gives to eco_store_open; `url` is borrowed. */
void eco_store_port_options(const char *url, bool auto_accept, struct eco_store_options *out);
/** Close with eco_store_close. Threads and errors as eco_store_open. */
/** `busy_ms`: how long to wait for another writer; 0: the store's own. */
int eco_store_port_open(const char *url, bool auto_accept, int busy_ms, struct eco_store **out,
                        struct eco_err *err);

#endif
