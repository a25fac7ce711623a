// SPDX-License-Identifier: Apache-2.0
import Terminal
import WireFormat

/// One page of a list.
enum PageOptions {
    /// The API's own bound.
    private static let most = 1000

    static func query(_ arguments: ParsedArguments) throws(UsageError) -> [(String, String?)] {
        let limit = try arguments.integer("limit", in: 1...most, default: 50)
        return [("limit", String(limit)), ("cursor", arguments.value("cursor"))]
    }

    /// Shows a page of a list, or exports all of it where that is asked for.
    static func show(
        _ run: ClientRun, _ path: [String], query: [(String, String?)], text: (JSONValue) -> String
    ) async throws -> ExitCode {
        if let export = try Export.asked(run, usual: nil) {
            for name in ["limit", "cursor"] where run.arguments.value(name) != nil {
                throw UsageError("--\(name) goes with pages; --csv and --ndjson write all")
            }
            try await export.take(path, query: query)
            try export.finish()
            return .done
        }
        let page = try Self.query(run.arguments)
        let reply = try await run.client().reply(to: APIRequest("GET", path, query: page + query))
        run.show(reply.text, text(reply.json))
        if !run.connection.isJSON, let note = next(reply.json) { run.console.writeError(note) }
        return .done
    }

    /// A note, for standard error, that there is another page.
    @Sendable static func next(_ answer: JSONValue) -> String? {
        answer[.next]?.string.map { "there is more: --cursor \(DisplayWidth.sanitised($0))\n" }
    }
}
