// SPDX-License-Identifier: Apache-2.0
package import Configuration
import Foundation
import Terminal

/// The daemon's API as the commands use it.
package struct RelayClient: Sendable {
    package let transport: any APITransport

    package init(_ transport: any APITransport) {
        self.transport = transport
    }

    /// A success's body with the tree that it holds.
    package struct Reply: Sendable {
        package var status: Int
        package var bytes: [UInt8]
        package var tree: JSONTree

        package var text: String { JSONText.shown(bytes) }

        /// The body as the API declares it.
        ///
        /// - Throws: `CommandFailure` where it is something else.
        package func read<Body: Decodable>() throws -> Body {
            do {
                return try JSONDecoder().decode(Body.self, from: Data(bytes))
            } catch {
                throw CommandFailure(
                    .failed, "the daemon's answer is not what this command reads",
                    hint: "is it of the same release as this command?")
            }
        }
    }

    /// - Throws: `CommandFailure`: the problem that the daemon named, or that it cannot be reached.
    package func request(_ method: String, _ path: String, json: JSONTree? = nil) async throws -> Reply {
        var request = APIRequest(method, path)
        if let json {
            request.body = try Self.encode(json)
            request.contentType = "application/json"
        }
        return try await self.reply(to: request)
    }

    package func reply(to request: APIRequest) async throws -> Reply {
        let answer = try await transport.send(request)
        guard answer.isSuccess else { throw Problem(answer).failure }
        return try Self.reply(answer)
    }

    /// nil where there is no such thing (404).
    package func find(_ path: String) async throws -> Reply? {
        let answer = try await transport.send(APIRequest("GET", path))
        if answer.status == 404 { return nil }
        guard answer.isSuccess else { throw Problem(answer).failure }
        return try Self.reply(answer)
    }

    /// Reads a stream line by line, without line ends.
    package func lines(
        _ path: String, accept: String, receive: @escaping @Sendable ([UInt8]) throws -> Bool
    ) async throws {
        var request = APIRequest("GET", path)
        request.accept = accept
        try await lines(request, receive: receive)
    }

    package func lines(_ request: APIRequest, receive: @escaping @Sendable ([UInt8]) throws -> Bool) async throws {
        let answer = try await transport.lines(request, receive: receive)
        guard answer.isSuccess else { throw Problem(answer).failure }
    }

    package static func reply(_ answer: APIAnswer) throws -> Reply {
        guard !answer.body.isEmpty else { return Reply(status: answer.status, bytes: [], tree: .null) }
        do {
            let tree = try JSONDecoder().decode(JSONTree.self, from: Data(answer.body))
            return Reply(status: answer.status, bytes: answer.body, tree: tree)
        } catch {
            throw CommandFailure(
                .failed, "the daemon's answer is not JSON",
                hint: "is something else listening there? It answered \(answer.status) with \(answer.body.count) bytes")
        }
    }

    package static func encode(_ value: JSONTree, pretty: Bool = false) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting =
            pretty ? [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted] : [.sortedKeys, .withoutEscapingSlashes]
        return [UInt8](try encoder.encode(value))
    }

    package static func text(_ value: JSONTree, pretty: Bool = false) throws -> String {
        JSONText.shown(try encode(value, pretty: pretty))
    }
}
