// SPDX-License-Identifier: Apache-2.0
#include "gzip.h"

#include <stdlib.h>
#include <zlib.h>

void *relay_gzip(const void *content, size_t count, size_t *size) {
    z_stream stream = {0};
    // 16 more than the window's bits: "a simple gzip header and trailer" (zlib.h, deflateInit2).
    if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK) return NULL;
    const uLong room = deflateBound(&stream, count);
    unsigned char *const bytes = malloc(room);
    stream.next_in = (unsigned char *)content;
    stream.avail_in = (uInt)count;
    stream.next_out = bytes;
    stream.avail_out = (uInt)room;
    const int status = bytes ? deflate(&stream, Z_FINISH) : Z_MEM_ERROR;
    *size = stream.total_out;
    deflateEnd(&stream);
    if (status == Z_STREAM_END) return bytes;
    free(bytes);
    return NULL;
}
