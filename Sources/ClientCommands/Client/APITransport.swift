// SPDX-License-Identifier: Apache-2.0

/// A request to the daemon's API.
package struct APIRequest: Sendable, Equatable {
    package var method: String
    /// Percent-encoded, with its query.
    package var path: String
    package var body: [UInt8]?
    package var contentType: String?
    package var accept = "application/json"
    package var headers: [String: String] = [:]

    package init(_ method: String, _ path: String, body: [UInt8]? = nil, contentType: String? = nil) {
        self.method = method
        self.path = path
        self.body = body
        self.contentType = contentType
    }
}

package struct APIAnswer: Sendable, Equatable {
    package var status: Int
    package var body: [UInt8]

    package var isSuccess: Bool { (200..<300).contains(status) }
}

/// How requests get to the daemon: a seam, so that commands are tested without one.
package protocol APITransport: Sendable {
    /// - Throws: `CommandFailure(.unreachable)` where the daemon cannot be reached.
    func send(_ request: APIRequest) async throws -> APIAnswer

    /// Hands over a successful answer line by line, as it arrives; a refusal's body is returned whole instead. `receive`
    /// answers false to end the stream.
    func lines(
        _ request: APIRequest, receive: @escaping @Sendable ([UInt8]) throws -> Bool
    ) async throws -> APIAnswer

    /// The same, in pieces as they arrive.
    func pieces(
        _ request: APIRequest, receive: @escaping @Sendable ([UInt8]) throws -> Bool
    ) async throws -> APIAnswer
}
