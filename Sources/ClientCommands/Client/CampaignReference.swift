// SPDX-License-Identifier: Apache-2.0
import APIModel
import Terminal
import WireFormat

/// Which campaign a person means: its id, as many of the id's first characters as no other has, or "latest".
///
/// Here and not in the API: what is unique today may not be so tomorrow, and a program has the whole id anyway.
struct CampaignReference {
    /// What the commands call an argument or value that is one.
    static let placeholder = "ID"
    static let latest = "latest"
    /// The API's ids have this many hex digits.
    private static let length = 12

    let text: String

    /// Whether the daemon has to be asked which one it is.
    private var isPrefix: Bool {
        !text.isEmpty && text.count < Self.length && text.allSatisfy { "0123456789abcdef".contains($0) }
    }

    /// The whole id; what cannot be one is left for the API to refuse in its own words.
    ///
    /// - Throws: `CommandFailure` where several are meant, with all of them.
    func id(_ client: @autoclosure () throws -> RelayClient) async throws -> String {
        guard text == Self.latest || isPrefix else { return text }
        let client = try client()
        var found: [JSONValue] = []
        var cursor: String?
        repeat {
            let query = [("limit", "1000"), ("cursor", cursor)]
            let page = try await client.reply(to: APIRequest("GET", ["v1", "campaigns"], query: query))
            if text == Self.latest {
                if let first = page.items.first { return first.shown(.id) }
            } else {
                found += page.items.filter { $0.shown(.id).hasPrefix(text) }
            }
            cursor = page.json[.next]?.string
        } while cursor != nil
        if text == Self.latest { throw CommandFailure(.failed, "there is no campaign yet") }
        guard found.count > 1 else { return found.first?.shown(.id) ?? text }
        var table = TextTable(["ID", "APP", "PLATFORM", "REQUIRED", .state, "CREATED"])
        for item in found.prefix(Self.mostShown) {
            table.add([
                item.shown(.id), item.shown(.app), item.shown(.platform), item.shown(.required), item.shown(.state),
                item.shown(.createdAt),
            ])
        }
        let rest = found.count > Self.mostShown ? "\nand \(found.count - Self.mostShown) more" : ""
        let lines = table.lines(on: Screen(width: nil)).dropFirst().map { "  \($0)" }.joined(separator: "\n")
        throw CommandFailure(
            .failed, "\"\(text)\" begins the ids of \(found.count) campaigns:\n\(lines)\(rest)",
            hint: "give more of the id")
    }

    private static let mostShown = 10

    /// The same arguments, with whole ids.
    static func resolved(
        _ arguments: ParsedArguments, of spec: CommandSpec, _ client: () throws -> RelayClient
    ) async throws -> ParsedArguments {
        var arguments = arguments
        if spec.positionals.contains(where: { $0.name == placeholder }), let text = arguments.positional(placeholder) {
            arguments.set(positional: placeholder, try await CampaignReference(text: text).id(client()))
        }
        for option in spec.options where option.value == placeholder {
            guard let text = arguments.value(option.name) else { continue }
            arguments.replace(option.name, with: try await CampaignReference(text: text).id(client()))
        }
        return arguments
    }
}
