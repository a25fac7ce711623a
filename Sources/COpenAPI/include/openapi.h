// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stddef.h>

/// The bytes of openapi.json, which are part of the program.
const void *_Nonnull relay_openapi(void);
size_t relay_openapi_size(void);

/// The same in gzip (RFC 1952), to be freed; NULL where there is no memory.
void *_Nullable relay_openapi_gzip(size_t *_Nonnull size);
