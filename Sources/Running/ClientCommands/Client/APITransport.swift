// SPDX-License-Identifier: Apache-2.0
package import WireFormat

/// A request to the daemon's API.
package struct APIRequest: Sendable, Equatable {
    package var method: String
    /// Percent-encoded, with its query.
    package var path: String
    package var accept: String
    package var body: [UInt8]?
    package var contentType: String?
    package var headers: [String: String] = [:]

    /// - Parameters:
    ///   - parts: the segments of the path, unencoded.
    ///   - query: a pair whose value is nil is left out.
    package init(
        _ method: String, _ parts: [String], query: [(String, String?)] = [], json: JSONValue? = nil,
        accept: String = "application/json"
    ) {
        self.method = method
        let pairs = query.compactMap { name, value in value.map { "\(name)=\(Self.encoded($0))" } }
        path = parts.map { "/\(Self.encoded($0))" }.joined() + (pairs.isEmpty ? "" : "?\(pairs.joined(separator: "&"))")
        self.accept = accept
        guard let json else { return }
        body = json.bytes()
        contentType = "application/json"
    }

    /// Returns the request with `shown` added to its body, or, for DELETE, to its query.
    func carrying(_ shown: [JSONMember]) throws -> APIRequest {
        guard !shown.isEmpty else { return self }
        var request = self
        guard method != "DELETE" else {
            let pairs = shown.map {
                "\($0.name)=\(Self.encoded($0.value.integer.map(String.init) ?? $0.value.string ?? ""))"
            }
            request.path += (path.contains("?") ? "&" : "?") + pairs.joined(separator: "&")
            return request
        }
        let members = try body.map { try JSONReader.read($0).object ?? [] } ?? []
        request.body = JSONValue.object(members + shown).bytes()
        request.contentType = "application/json"
        return request
    }

    /// Percent-encodes all but the unreserved characters (RFC 3986, 2.1 and 2.3).
    private static func encoded(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            let character = Character(Unicode.Scalar(byte))
            let isUnreserved =
                character.isASCII && (character.isLetter || character.isNumber || "-._~".contains(character))
            result += isUnreserved ? String(character) : "%\(Hex.encode([byte]).uppercased())"
        }
        return result
    }
}

package struct APIAnswer: Sendable, Equatable {
    package var status: Int
    package var body: [UInt8]
    /// Keyed by the names in lower case.
    package var headers: [String: String] = [:]

    package var isSuccess: Bool { (200..<300).contains(status) }
}

/// Sends requests to the daemon; a protocol, so that commands can be tested without a daemon.
package protocol APITransport: Sendable {
    /// - Throws: `CommandFailure(.unreachable)` where the daemon cannot be reached.
    func send(_ request: APIRequest) async throws -> APIAnswer

    /// Hands over a successful answer in pieces, as it arrives; a refusal's body is returned whole instead. `receive` returns
    /// false to end the stream.
    func pieces(
        _ request: APIRequest, receive: @escaping @Sendable ([UInt8]) throws -> Bool
    ) async throws -> APIAnswer
}
