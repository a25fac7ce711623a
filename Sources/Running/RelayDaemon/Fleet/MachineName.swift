// SPDX-License-Identifier: Apache-2.0
import Glibc

/// This machine's name, which names a relay whose configuration gives it no other.
enum MachineName {
    static var current: String {
        var bytes = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&bytes, bytes.count - 1) == 0 else { return "relay" }
        return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
