// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The system refused something that is indispensable.
package struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
    package let description: String

    /// - Parameters:
    ///   - call: the call that failed: "eventfd", or `thread "sources"`.
    ///   - hint: what the operator can do about it.
    package init(_ call: String, errno: Int32, hint: String = "") {
        let reason = Self.text(errno)
        description = hint.isEmpty ? "\(call): \(reason)" : "\(call): \(reason) (\(hint))"
    }

    /// The system's text for an errno. glibc's strerror keeps its buffer per thread since 2.32.
    package static func text(_ code: Int32) -> String {
        unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
    }
}
