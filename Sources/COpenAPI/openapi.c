// SPDX-License-Identifier: Apache-2.0
#include "openapi.h"

#include <stdlib.h>
#include <zlib.h>

// SwiftPM's own way (.embedInCode) makes an array literal of every byte, which takes the Swift compiler half a minute; this
// takes none. #embed is C23, and clang's own in older C (clang 19; clang.llvm.org/docs/LanguageExtensions.html).
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char document[] = {
#embed "openapi.json"
};

const void *relay_openapi(void) { return document; }

size_t relay_openapi_size(void) { return sizeof document; }

void *relay_openapi_gzip(size_t *size) {
    z_stream stream = {0};
    // 16 more than the window's bits: "a simple gzip header and trailer" (zlib.h, deflateInit2).
    if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK) return NULL;
    const uLong room = deflateBound(&stream, sizeof document);
    unsigned char *const bytes = malloc(room);
    stream.next_in = (unsigned char *)document;
    stream.avail_in = sizeof document;
    stream.next_out = bytes;
    stream.avail_out = (uInt)room;
    const int status = bytes ? deflate(&stream, Z_FINISH) : Z_MEM_ERROR;
    *size = stream.total_out;
    deflateEnd(&stream);
    if (status == Z_STREAM_END) return bytes;
    free(bytes);
    return NULL;
}
