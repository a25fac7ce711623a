// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How often the calling thread has asked malloc, calloc or realloc for memory since it began; -1 where a sanitizer has
/// them to itself.
long allocation_count(void);
