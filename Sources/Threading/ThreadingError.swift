// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The system refused what a thread or its mailbox cannot do without.
package struct ThreadingError: Error, Sendable, Hashable, CustomStringConvertible {
    package let description: String

    /// - Parameters:
    ///   - call: what was asked of the system: "eventfd", or `thread "sources"`.
    ///   - hint: what the operator can do about it.
    init(_ call: String, errno: Int32, hint: String = "") {
        // glibc's strerror keeps its buffer per thread since 2.32.
        let reason = unsafe String(cString: strerror(errno))
        description = hint.isEmpty ? "\(call): \(reason)" : "\(call): \(reason) (\(hint))"
    }
}
