// SPDX-License-Identifier: Apache-2.0
import Synchronization

@testable import ClientCommands

/// A daemon that answers by "METHOD /path" and keeps the requests.
final class ScriptedTransport: APITransport {
    private let answers: [String: APIAnswer]
    private let log = Mutex<[APIRequest]>([])

    init(_ answers: [String: (Int, String)]) {
        self.answers = answers.mapValues { APIAnswer(status: $0.0, body: Array($0.1.utf8)) }
    }

    var requests: [APIRequest] { log.withLock { $0 } }

    func send(_ request: APIRequest) async throws -> APIAnswer {
        log.withLock { $0.append(request) }
        let missing = #"{"title":"Not Found","detail":"nothing here"}"#
        return answers["\(request.method) \(request.path)"] ?? APIAnswer(status: 404, body: Array(missing.utf8))
    }

    /// Three bytes at a time: no piece ends where a line does.
    func pieces(
        _ request: APIRequest, receive: @escaping @Sendable ([UInt8]) throws -> Bool
    ) async throws -> APIAnswer {
        let answer = try await send(request)
        guard answer.isSuccess else { return answer }
        var rest = answer.body[...]
        while !rest.isEmpty {
            guard try receive(Array(rest.prefix(3))) else { break }
            rest = rest.dropFirst(3)
        }
        return APIAnswer(status: answer.status, body: [])
    }
}
