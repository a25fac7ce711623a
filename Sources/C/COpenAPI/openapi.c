// SPDX-License-Identifier: Apache-2.0
#include "openapi.h"

// SwiftPM's own way (.embedInCode) makes an array literal with every byte, which takes the Swift compiler half a minute; this
// takes no time. #embed is C23, and an extension of clang in older C (clang 19; clang.llvm.org/docs/LanguageExtensions.html).
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char document[] = {
#embed "openapi.json"
};

const void *relay_openapi(void) { return document; }

size_t relay_openapi_size(void) { return sizeof document; }
