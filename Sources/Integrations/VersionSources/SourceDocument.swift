// SPDX-License-Identifier: Apache-2.0

/// The answer to a conditional request for a document.
package enum SourceDocument: Hashable, Sendable {
    /// 304.
    case unchanged
    case body([UInt8], validators: Validators)

    /// The validators that identify a document's version (RFC 9110 section 8.8).
    package struct Validators: Hashable, Sendable {
        package var etag: String?
        package var lastModified: String?
    }
}
