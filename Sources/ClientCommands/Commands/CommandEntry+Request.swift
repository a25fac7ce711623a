// SPDX-License-Identifier: Apache-2.0
import Configuration
import Terminal

extension CommandEntry {
    /// A command that asks the daemon one thing and shows the answer: with `--json` as it came, else as `text` says it.
    ///
    /// - Parameters:
    ///   - urlIsDownload: whether `--url` is the download URL (`ConnectionOptions`).
    ///   - request: made of what was given before anything is asked.
    ///   - done: what `--json` prints where the daemon answers without a body.
    ///   - note: what goes to standard error after the text.
    static func request(
        _ path: [String], _ purpose: String, discussion: String = "", positionals: [PositionalSpec] = [],
        options: [OptionSpec] = [], examples: [String], urlIsDownload: Bool = false,
        request: @escaping @Sendable (ParsedArguments) throws -> APIRequest,
        done: (@Sendable (ParsedArguments) throws -> JSONTree)? = nil,
        note: @escaping @Sendable (RelayClient.Reply) -> String? = { _ in nil },
        text: @escaping @Sendable (ParsedArguments, RelayClient.Reply) throws -> String
    ) -> CommandEntry {
        let spec = CommandSpec(
            path: path, purpose: purpose, discussion: discussion, positionals: positionals,
            options: options + (urlIsDownload ? ConnectionOptions.specsBesideDownloadURL : ConnectionOptions.specs),
            examples: examples, exitCodes: ConnectionOptions.exitCodes)
        return CommandEntry(spec) { arguments, context in
            let connection = try ConnectionOptions(arguments, urlIsDownload: urlIsDownload)
            let request = try request(arguments)
            let reply = try await connection.client(context).reply(to: request)
            if connection.isJSON {
                let said = try reply.bytes.isEmpty ? done.map { try RelayClient.text($0(arguments)) } : nil
                context.console.writeLine(said ?? reply.text)
            } else {
                context.console.write(try text(arguments, reply))
                if let note = note(reply) { context.console.writeError(note) }
            }
            return .done
        }
    }
}

extension APIRequest {
    init(_ method: String, _ parts: [String], query: [(String, String?)] = [], json: JSONTree? = nil) throws {
        self.init(method, APIPath.make(parts, query: query))
        guard let json else { return }
        body = try RelayClient.encode(json)
        contentType = "application/json"
    }
}
