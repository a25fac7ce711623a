// SPDX-License-Identifier: Apache-2.0
import CNGHTTP2

/// The header fields of answers, made once. Names and status values are literals, so nghttp2 need not copy them.
@safe
enum AnswerHeaders {
    /// nghttp2 never writes through the pointers of a field it was told not to copy; its struct just lacks the `const`.
    private static func field(
        _ name: StaticString, _ value: UnsafeMutablePointer<UInt8>, _ count: Int, flags: nghttp2_nv_flag
    ) -> nghttp2_nv {
        unsafe nghttp2_nv(
            name: UnsafeMutablePointer(mutating: name.utf8Start), value: value, namelen: name.utf8CodeUnitCount,
            valuelen: count, flags: UInt8(truncatingIfNeeded: flags.rawValue | NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue))
    }

    static func status(_ status: UInt16) -> nghttp2_nv {
        let text: StaticString =
            switch status {
            case 200: "200"
            case 400: "400"
            case 401: "401"
            case 403: "403"
            case 404: "404"
            case 405: "405"
            case 410: "410"
            case 413: "413"
            case 429: "429"
            case 502: "502"
            case 503: "503"
            default: "500"
            }
        return unsafe field(
            ":status", UnsafeMutablePointer(mutating: text.utf8Start), text.utf8CodeUnitCount,
            flags: NGHTTP2_NV_FLAG_NO_COPY_VALUE)
    }

    /// Not indexed: no id comes twice, and each would push something useful out of the client's table.
    static func id(_ bytes: UnsafeMutableBufferPointer<UInt8>) -> nghttp2_nv? {
        guard let base = bytes.baseAddress else { return nil }
        let flags = NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue | NGHTTP2_NV_FLAG_NO_INDEX.rawValue
        return unsafe field("apns-id", base, bytes.count, flags: nghttp2_nv_flag(rawValue: flags))
    }

    static func contentType(_ text: StaticString) -> nghttp2_nv {
        unsafe field(
            "content-type", UnsafeMutablePointer(mutating: text.utf8Start), text.utf8CodeUnitCount,
            flags: NGHTTP2_NV_FLAG_NO_COPY_VALUE)
    }

    /// The value is copied by nghttp2.
    static func retryAfter(_ text: UnsafeMutableBufferPointer<UInt8>) -> nghttp2_nv? {
        guard let base = text.baseAddress else { return nil }
        return unsafe field("retry-after", base, text.count, flags: NGHTTP2_NV_FLAG_NONE)
    }
}
