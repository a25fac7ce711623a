// SPDX-License-Identifier: Apache-2.0

/// A request to the daemon's API.
struct APIRequest: Sendable, Equatable {
    var method: String
    /// Percent-encoded, with its query.
    var path: String
    var body: [UInt8]?
    var contentType: String?
    var accept = "application/json"
    var headers: [String: String] = [:]

    init(_ method: String, _ path: String, body: [UInt8]? = nil, contentType: String? = nil) {
        self.method = method
        self.path = path
        self.body = body
        self.contentType = contentType
    }
}

struct APIAnswer: Sendable, Equatable {
    var status: Int
    var body: [UInt8]

    var isSuccess: Bool { (200..<300).contains(status) }
}

/// How requests get to the daemon: a seam, so that commands are tested without one.
protocol APITransport: Sendable {
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
