// SPDX-License-Identifier: Apache-2.0

/// What a conditional request for a document is answered.
package enum SourceDocument: Hashable, Sendable {
    /// As it was: 304.
    case unchanged
    case body([UInt8], validators: Validators)

    /// What names a version of a document (RFC 9110 section 8.8).
    package struct Validators: Hashable, Sendable {
        package var etag: String?
        package var lastModified: String?
    }
}
