// SPDX-License-Identifier: Apache-2.0
#include "libpq.h"
#include <dlfcn.h>

struct relay_libpq relay_libpq;

const char *relay_libpq_bind(void *library) {
    struct relay_libpq found;
    // POSIX has dlsym(3) give functions as objects; this is the assignment that its page shows.
#define BIND(returns, name, parameters, names) \
    if (!(*(void **)&found.name = dlsym(library, #name))) return #name;
    RELAY_LIBPQ(BIND)
#undef BIND
    relay_libpq = found;
    return NULL;
}
