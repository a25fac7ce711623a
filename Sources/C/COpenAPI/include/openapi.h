// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stddef.h>

/// The bytes of openapi.json, which are part of the program.
const void *_Nonnull relay_openapi(void);
size_t relay_openapi_size(void);
