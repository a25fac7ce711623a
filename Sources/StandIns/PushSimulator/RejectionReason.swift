// SPDX-License-Identifier: Apache-2.0
import Glibc

/// An answer to a push that is not its success, named by the service's own word. Each service has its reasons in its own
/// folder. Within a service a word is unique; two services may share one, so reasons are equal if their words are.
package struct RejectionReason: Sendable {
    /// A literal, so that an answer on its way holds no reference.
    let word: StaticString
    /// The HTTP status that goes with it.
    package let status: UInt16
    /// Whether the script's `sharedRetryAfter` goes with it.
    let takesRetryAfter: Bool

    /// - Parameter takesRetryAfter: nil: only a 5xx takes it.
    init(_ word: StaticString, _ status: UInt16, takesRetryAfter: Bool? = nil) {
        (self.word, self.status) = (word, status)
        self.takesRetryAfter = takesRetryAfter ?? (status >= 500)
    }
}

extension RejectionReason: RawRepresentable, Codable, Hashable {
    /// Finds the word of any service. Where two services share it, the reason is the first one's: `ServiceKind.own`.
    package init?(rawValue: String) {
        guard let reason = ServiceKind.all.lazy.compactMap({ $0.reason(rawValue) }).first else { return nil }
        self = reason
    }

    package var rawValue: String { word.description }

    package static func == (one: RejectionReason, other: RejectionReason) -> Bool {
        let count = one.word.utf8CodeUnitCount
        return unsafe count == other.word.utf8CodeUnitCount
            && memcmp(one.word.utf8Start, other.word.utf8Start, count) == 0
    }

    package func hash(into hasher: inout Hasher) {
        word.withUTF8Buffer { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
