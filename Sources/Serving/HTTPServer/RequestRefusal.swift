// SPDX-License-Identifier: Apache-2.0

/// A request that the server refuses on its own. After all but `busy` and `bodyTooLarge` the start of the next request is
/// unknown, so the connection ends.
package struct RequestRefusal: Error, Hashable, Sendable {
    package let status: Int
    package let detail: String

    private init(_ status: Int, _ detail: String) {
        (self.status, self.detail) = (status, detail)
    }

    // MARK: The lines of a head (RFC 9112, sections 2.2, 3 and 5)

    static let bareLineFeed = Self(400, "a line of the request ends with LF alone; CR LF is needed")
    static let badRequestLine = Self(
        400, "the request line must be a method, a target and HTTP/1.1, with one space between them")
    static let badTarget = Self(
        400, "the request's target must be a path, or http:// or https:// with a host and a path")
    static let methodTooLong = Self(501, "there is no method of such a length")
    static let unknownVersion = Self(505, "HTTP/1.1 and HTTP/1.0 are spoken here")
    static func targetTooLong(limit: Int) -> Self {
        Self(414, "the request's target has more than the \(limit) bytes that are taken")
    }
    static func headTooLarge(limit: Int) -> Self {
        Self(431, "the request's head has more than the \(limit) bytes that are taken")
    }
    static func tooManyFields(limit: Int) -> Self {
        Self(431, "the request's head has more than the \(limit) fields that are taken")
    }
    static func tooManyOptions(limit: Int) -> Self {
        Self(431, "the field \"connection\" names more than the \(limit) options that are taken")
    }
    static let badField = Self(400, "a line of the request's head is not a name, a colon and a value")
    static let spaceBeforeColon = Self(400, "a field of the request has a space before its colon")
    static let foldedField = Self(400, "a field of the request is continued on the next line")
    static let controlCharacter = Self(400, "a field of the request holds a control character")
    /// - Parameter name: in lower case.
    static func repeatedField(_ name: String) -> Self { Self(400, "the field \"\(name)\" comes more than once") }
    static let missingHost = Self(400, "the field \"host\" is missing")
    static let badHost = Self(400, "the host is not a name or an address, with or without a port")
    static let unknownExpectation = Self(417, "the one expectation that can be met is 100-continue")

    // MARK: Where a body ends (RFC 9112, sections 6 and 7)

    static let badContentLength = Self(400, "the field \"content-length\" is not a number of bytes")
    static let lengthAndCoding = Self(400, "the request has both \"content-length\" and \"transfer-encoding\"")
    static let unknownCoding = Self(501, "the one transfer coding that is understood is chunked")
    static let codingInOldVersion = Self(400, "HTTP/1.0 has no transfer codings")
    static let badChunk = Self(400, "the body is not in chunks as its head says")
    static let chunkExtensionsTooLong = Self(400, "the extensions of the body's chunks are too long")
    static let trailersTooLarge = Self(431, "the fields after the body are too large")

    // MARK: Limits

    static let timedOut = Self(408, "the request did not come in time")
    package static func bodyTooLarge(limit: Int) -> Self {
        Self(413, "the body has more than the \(limit) bytes that are taken here")
    }
    /// The queue for jobs of this kind is full.
    package static let busy = Self(503, "the relay has too much to do; ask again")
}
