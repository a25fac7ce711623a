// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What this machine is called: a relay's name among others, where its configuration gives it none.
enum MachineName {
    static var current: String {
        var bytes = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&bytes, bytes.count - 1) == 0 else { return "relay" }
        return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
