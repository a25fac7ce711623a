// SPDX-License-Identifier: Apache-2.0
import CGzip
import Glibc

package enum Gzip {
    /// Compresses as in RFC 1952 at the best ratio, for content that is compressed once and sent often; nil where memory is
    /// short.
    package static func compressed(_ bytes: [UInt8]) -> [UInt8]? {
        var size = 0
        guard let pointer = unsafe relay_gzip(bytes, bytes.count, &size) else { return nil }
        defer { unsafe free(pointer) }
        return unsafe [UInt8](UnsafeRawBufferPointer(start: pointer, count: size))
    }
}
