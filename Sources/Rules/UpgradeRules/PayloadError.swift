// SPDX-License-Identifier: Apache-2.0

/// Why a payload must not be sent. The texts hold no telephone.
public enum PayloadError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The payload of some user would be larger than the push service takes; both in bytes.
    case tooLarge(size: Int, limit: Int)
    /// A field is empty, and without it the push shows nothing or the client drops it.
    case empty(field: String)

    /// One sentence for the person who wrote the texts.
    public var description: String {
        switch self {
        case .tooLarge(let size, let limit):
            "the payload would have \(size) bytes and may have \(limit); "
                + "shorten the alert or the download URL by \(size - limit) bytes"
        case .empty(let field):
            "\(field) is empty; a push needs a type, an alert and a download URL, or the app drops it"
        }
    }
}
