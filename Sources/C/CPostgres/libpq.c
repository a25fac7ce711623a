// SPDX-License-Identifier: Apache-2.0
#include "libpq.h"
#include <dlfcn.h>

struct relay_libpq relay_libpq;

const char *relay_libpq_bind(void *library) {
    struct relay_libpq found;
    // dlsym(3) returns even a function as a pointer to an object; its page shows this assignment.
#define BIND(returns, name, parameters, names) \
    if (!(*(void **)&found.name = dlsym(library, #name))) return #name;
    RELAY_LIBPQ(BIND)
#undef BIND
    relay_libpq = found;
    return NULL;
}
