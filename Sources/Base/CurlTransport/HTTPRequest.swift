// SPDX-License-Identifier: Apache-2.0

/// One ordinary request: for everything that is not the hot path.
package struct HTTPRequest: Sendable {
    package var method: String
    /// http or https; with a unix socket the host only fills the `Host` header.
    package var url: String
    /// Sent as they are, in this order. `content-type` is never invented.
    package var headers: [(name: String, value: String)] = []
    /// nil: no body, which differs from an empty one.
    package var body: [UInt8]?
    /// From the first byte sent to the last received. Default 30 s; nil: none (an event stream).
    package var timeout: Duration? = .seconds(30)
    /// Name resolution, TCP, proxy and TLS. Default 10 s.
    package var connectTimeout: Duration = .seconds(10)
    /// Larger answers are refused with `.tooLarge`. Default 8 MiB. Not applied to a 2xx answer that is taken in pieces.
    package var maximumResponse: Int = 8 << 20
    /// Whether a larger answer is accepted: the body is then its beginning, and the rest is not read. Default no.
    package var cutsResponse = false

    package init(_ method: String, _ url: String) {
        self.method = method
        self.url = url
    }
}

package struct HTTPResponse: Sendable {
    package let status: Int
    /// The last answer's headers, in the order in which they came; names as the server wrote them.
    package let headers: [(name: String, value: String)]
    package let body: [UInt8]

    /// The first field of that name, whatever the case of its letters.
    package subscript(name: String) -> String? {
        let wanted = name.lowercased()
        return headers.first { $0.name.lowercased() == wanted }?.value
    }
}
