// SPDX-License-Identifier: Apache-2.0
import Glibc
import Threading

/// The one owner of a file descriptor: closed at the end of its life.
struct Descriptor: ~Copyable, Sendable {
    let number: Int32

    init(_ number: Int32) {
        self.number = number
    }

    /// Throws `SystemError` with errno's text if `number` is negative.
    init(_ number: Int32, or context: String) throws {
        guard number >= 0 else { throw SystemError(context, errno: errno) }
        self.number = number
    }

    deinit { close(number) }
}
