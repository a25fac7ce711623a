// SPDX-License-Identifier: Apache-2.0
import Synchronization
import Terminal
package import WireFormat

/// The daemon's API as the commands use it.
package struct RelayClient: Sendable {
    package let transport: any APITransport

    package init(_ transport: any APITransport) {
        self.transport = transport
    }

    /// The body of a successful answer, also as JSON.
    package struct Reply: Sendable {
        package let status: Int
        package let bytes: [UInt8]
        /// null where there is no body.
        package let json: JSONValue

        package init(_ answer: APIAnswer) throws {
            status = answer.status
            bytes = answer.body
            do {
                json = bytes.isEmpty ? .null : try JSONReader.read(bytes)
            } catch {
                throw CommandFailure(
                    .failed, "the daemon's answer is not JSON",
                    hint: "is something else listening there? It answered \(status) with \(bytes.count) bytes")
            }
        }

        /// The body with control characters escaped, for a terminal.
        package var text: String { JSONText.shown(bytes) }

        /// The entries of a list's page.
        package var items: [JSONValue] { json.list(.items) }
    }

    /// - Throws: `CommandFailure` with the daemon's problem, or where the daemon cannot be reached.
    package func reply(to request: APIRequest) async throws -> Reply {
        let answer = try await transport.send(request)
        guard answer.isSuccess else { throw Problem(answer).failure }
        return try Reply(answer)
    }

    /// Returns nil where the daemon answers 404.
    package func find(_ request: APIRequest) async throws -> Reply? {
        let answer = try await transport.send(request)
        if answer.status == 404 { return nil }
        guard answer.isSuccess else { throw Problem(answer).failure }
        return try Reply(answer)
    }

    /// Reads a stream line by line, without line ends.
    package func lines(_ request: APIRequest, receive: @escaping @Sendable ([UInt8]) throws -> Bool) async throws {
        let state = Mutex((splitter: LineSplitter(limit: 64 << 20), goesOn: true))
        let answer = try await transport.pieces(request) { piece in
            try state.withLock { state in
                try state.splitter.feed(piece) { bytes, range, _ in
                    if state.goesOn, let range { state.goesOn = try receive(Array(bytes[range])) }
                }
                guard !state.splitter.isTooLong else {
                    throw CommandFailure(.failed, "a line of the daemon's answer has no end")
                }
                return state.goesOn
            }
        }
        guard answer.isSuccess else { throw Problem(answer).failure }
        try state.withLock { state in
            guard state.goesOn else { return }
            try state.splitter.finish { bytes, range, _ in if let range { _ = try receive(Array(bytes[range])) } }
        }
    }

    /// Reads the daemon's reports on a long operation, one JSON object to a line.
    ///
    /// - Parameter failed: the text before the reason where the operation failed.
    func follow(
        _ request: APIRequest, failed: String, receive: @escaping @Sendable (JSONValue) throws -> Void
    ) async throws {
        try await lines(request) { line in
            guard !line.isEmpty else { return true }
            let json = try JSONReader.read(line)
            if let error = json[.error]?.string {
                throw CommandFailure(.failed, "\(failed): \(DisplayWidth.indented(error))")
            }
            try receive(json)
            return true
        }
    }
}
