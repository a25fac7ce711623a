// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Glibc
import Terminal
import Threading
package import WireFormat

/// The API over the control socket or over HTTP, by libcurl.
package struct CurlAPITransport: APITransport {
    private let client: HTTPClient
    /// Scheme, host and port, without a slash at the end.
    private let base: String
    private let token: String?
    /// The person for whom root acts at the socket.
    private let person: ActedFor?
    private let hint: String
    private var isSocket: Bool { client.unixSocket != nil }

    /// - Parameters:
    ///   - remark: added to the hint where the daemon is not reachable.
    ///   - person: the person for whom root acts.
    package init(socket: String, remark: String? = nil, for person: ActedFor? = nil) {
        client = HTTPClient(unixSocket: socket)
        // With a unix socket the host only fills the Host field.
        base = "http://relay"
        token = nil
        self.person = person
        hint = Self.socketHint(socket) + (remark.map { "; \($0)" } ?? "")
    }

    package init(url: String, token: String?, trustedCertificates: String? = nil) {
        client = HTTPClient(to: .relay, egress: Egress(trustedCertificates: trustedCertificates))
        base = url.hasSuffix("/") ? String(url.dropLast()) : url
        self.token = token
        person = nil
        hint = "is the daemon running, and does it listen at \(url)?"
    }

    package func send(_ request: APIRequest) async throws -> APIAnswer {
        let request = converted(request, timeout: .seconds(120))
        return try await perform { flag in try client.send(request, isCancelled: { flag.isSet }) }
    }

    package func pieces(
        _ request: APIRequest, receive: @escaping @Sendable ([UInt8]) throws -> Bool
    ) async throws -> APIAnswer {
        let request = converted(request, timeout: nil)
        return try await perform { flag in
            try client.pieces(request) { piece in flag.isSet ? false : try receive(piece) }
        }
    }

    /// Sends on a thread of its own, until the answer has ended or the task is cancelled.
    private func perform(
        _ send: @escaping @Sendable (CancellationFlag) throws -> HTTPResponse
    ) async throws -> APIAnswer {
        let cancellation = CancellationFlag()
        do {
            let response = try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation {
                    (continuation: CheckedContinuation<HTTPResponse, any Error>) in
                    do {
                        try NativeThread(name: "http") {
                            continuation.resume(with: Result { try send(cancellation) })
                        }.detach()
                    } catch {
                        continuation.resume(throwing: error)
                    }
                }
            } onCancel: {
                cancellation.set()
            }
            let headers = response.headers.map { ($0.name.lowercased(), $0.value) }
            return APIAnswer(
                status: response.status, body: response.body,
                headers: Dictionary(headers, uniquingKeysWith: { "\($0), \($1)" }))
        } catch let error as TransportError {
            throw failure(error)
        }
    }

    private func converted(_ request: APIRequest, timeout: Duration?) -> HTTPRequest {
        var converted = HTTPRequest(request.method, base + request.path)
        converted.headers.append((name: "accept", value: request.accept))
        if let token { converted.headers.append((name: "authorization", value: "Bearer \(token)")) }
        if let person { converted.headers.append(person.field) }
        if let type = request.contentType { converted.headers.append((name: "content-type", value: type)) }
        for (name, value) in request.headers.sorted(by: { $0.key < $1.key }) {
            converted.headers.append((name: name, value: value))
        }
        converted.body = request.body
        converted.timeout = timeout
        converted.maximumResponse = 64 << 20
        return converted
    }

    private func failure(_ error: TransportError) -> CommandFailure {
        switch error.code {
        case .cannotConnect, .broken, .timedOut, .notTrusted:
            CommandFailure(
                .unreachable,
                "the daemon is not reachable\(isSocket && error.code == .cannotConnect ? "" : ": \(error.reason)")",
                hint: hint)
        default:
            CommandFailure(.failed, "\(error)")
        }
    }

    private static func socketHint(_ path: String) -> String {
        // The socket's directory may be closed to this user: then even its existence is hidden.
        if unsafe access(path, F_OK) != 0, errno == ENOENT {
            return "no control socket at \(path); is the daemon running? (systemctl status upgrade-relay)"
        }
        if unsafe access(path, R_OK | W_OK) != 0, errno == EACCES {
            return SocketAccess.hint(path)
        }
        return "is the daemon running? Its control socket is \(path)"
    }
}
