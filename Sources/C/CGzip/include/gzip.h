// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stddef.h>

/// The same bytes in gzip (RFC 1952), as small as zlib can make them; the caller frees them. NULL where there is no memory.
void *_Nullable relay_gzip(const void *_Nonnull bytes, size_t count, size_t *_Nonnull size);
