// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nghttp2/nghttp2.h>

// --- Client (HTTP2)

/// nghttp2_data_source is a union, and Swift sets members of C unions by copying. Here the slot number travels in `fd`, so
/// that a request needs no object.
static inline nghttp2_data_provider relay_nghttp2_data_provider(
    int slot, nghttp2_data_source_read_callback _Nonnull read) {
    nghttp2_data_provider provider;
    provider.source.ptr = 0;
    provider.source.fd = slot;
    provider.read_callback = read;
    return provider;
}
static inline int relay_nghttp2_source_slot(const nghttp2_data_source *_Nonnull source) { return source->fd; }
/// nghttp2_frame is a union of all frames: these read one member each, whose type the caller has checked.
static inline const nghttp2_goaway *_Nonnull relay_nghttp2_goaway(const nghttp2_frame *_Nonnull frame) {
    return &frame->goaway;
}
static inline const nghttp2_frame_hd *_Nonnull relay_nghttp2_frame_hd(const nghttp2_frame *_Nonnull frame) {
    return &frame->hd;
}
/// Whether the frame is HEADERS with :status; HEADERS after DATA are trailers.
static inline _Bool relay_nghttp2_begins_answer(const nghttp2_frame *_Nonnull frame) {
    return frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_RESPONSE;
}
// --- end of client
