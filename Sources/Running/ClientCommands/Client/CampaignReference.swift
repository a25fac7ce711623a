// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Terminal
import WireFormat

/// A campaign as a person names it: by its id, by enough of the id's first characters to be unique, or by "latest".
///
/// Resolved here and not in the API: a prefix that is unique today may not be so tomorrow, and a program has the whole id.
struct CampaignReference {
    /// The name that commands give an argument or value that is a campaign.
    static let placeholder = "ID"
    static let latest = "latest"
    /// The API's ids have this many hex digits.
    private static let length = 12

    /// The options that narrow "latest"; an id takes neither.
    private static let options = CommandSpec.options("latest").map(\.name)

    let text: String
    /// nil: not named.
    var app: String?
    var platform: String?
    /// Whether the command changes the campaign: then "latest" must be unambiguous.
    var isChanged = false

    /// Whether the daemon must be asked for the whole id.
    private var isPrefix: Bool {
        !text.isEmpty && text.count < Self.length && text.allSatisfy { "0123456789abcdef".contains($0) }
    }

    /// The whole id. A text that cannot be an id is returned as it is, for the API to refuse.
    ///
    /// - Parameter note: receives a line that names the campaign, where "latest" could have meant another.
    /// - Throws: `CommandFailure` where several campaigns match, with up to 10 of them, or where there is no "latest".
    func id(_ client: @autoclosure () throws -> RelayClient, note: (String) -> Void = { _ in }) async throws -> String {
        if text == Self.latest { return try await latest(client(), note: note) }
        guard isPrefix else { return text }
        let client = try client()
        var found: [JSONValue] = []
        try await walk(client, app: nil) { page in
            found += page.filter { $0.shown(.id).hasPrefix(text) }
            return true
        }
        guard found.count > 1 else { return found.first?.shown(.id) ?? text }
        throw CommandFailure(
            .failed, "\"\(text)\" begins the ids of \(found.count) campaigns:\n\(Self.lines(found))",
            hint: "give more of the id")
    }

    private func latest(_ client: RelayClient, note: (String) -> Void) async throws -> String {
        var isClear = !isChanged
        if isChanged {
            let places = try await client.reply(to: APIRequest("GET", ["v1", "apps"])).items
            isClear = places.count { isMeant($0) } < 2
        }
        // The newest campaign of each app and platform, among the pages read so far. One that is superseded counts only where
        // there is no other.
        var (newest, superseded): ([JSONValue], [JSONValue]) = ([], [])
        try await walk(client, app: app) { page in
            for item in page where isMeant(item) && !newest.contains(where: { $0.place == item.place }) {
                if item.shown(.state) != CampaignState.superseded.rawValue {
                    newest.append(item)
                } else if !superseded.contains(where: { $0.place == item.place }) {
                    superseded.append(item)
                }
            }
            return newest.isEmpty
        }
        newest += superseded.filter { item in !newest.contains { $0.place == item.place } }
        guard let first = newest.first else {
            let whose = [app, platform].compactMap(\.self).joined(separator: " ")
            throw CommandFailure(
                .failed, whose.isEmpty ? "there is no campaign yet" : "there is no campaign of \(whose) yet")
        }
        guard isClear else {
            throw CommandFailure(
                .failed,
                "\"\(Self.latest)\" of which app? The relay has several apps or platforms; the newest of each:\n"
                    + Self.lines(newest),
                hint: "name one with --app and --platform, or give the campaign's id")
        }
        if newest.count > 1 {
            let version = CampaignText(first).target
            note("\(Self.latest) is \(first.shown(.id)), of \(first.place), required \(version)\n")
        }
        return first.shown(.id)
    }

    private func isMeant(_ item: JSONValue) -> Bool {
        (app ?? item[.app]?.string) == item[.app]?.string
            && (platform ?? item[.platform]?.string) == item[.platform]?.string
    }

    /// Hands over the list of campaigns, newest first, page by page, until `receive` returns false.
    private func walk(
        _ client: RelayClient, app: String?, receive: ([JSONValue]) -> Bool
    ) async throws {
        var cursor: String?
        repeat {
            let query = [("limit", "1000"), ("cursor", cursor), ("app", app)]
            let page = try await client.reply(to: APIRequest("GET", ["v1", "campaigns"], query: query))
            guard receive(page.items) else { return }
            cursor = page.json[.next]?.string
        } while cursor != nil
    }

    private static func lines(_ campaigns: [JSONValue]) -> String {
        var table = TextTable(["ID", "APP", "PLATFORM", "REQUIRED", .state, "CREATED"])
        for item in campaigns.prefix(mostShown) {
            table.add([
                item.shown(.id), item.shown(.app), item.shown(.platform), CampaignText(item).target, item.shown(.state),
                item.shown(.createdAt),
            ])
        }
        let rest = campaigns.count > mostShown ? "\nand \(campaigns.count - mostShown) more" : ""
        return table.lines(on: Screen(width: nil)).dropFirst().map { "  \($0)" }.joined(separator: "\n") + rest
    }

    private static let mostShown = 10

    /// Returns the arguments with whole ids.
    ///
    /// - Parameters:
    ///   - isChanged: whether the command changes the campaign.
    ///   - note: receives a line that names the campaign, where "latest" could have meant another.
    static func resolved(
        _ arguments: ParsedArguments, of spec: CommandSpec, isChanged: Bool, note: (String) -> Void,
        _ client: () throws -> RelayClient
    ) async throws -> ParsedArguments {
        var arguments = arguments
        func id(_ text: String) async throws -> String {
            guard text == latest else { return try await CampaignReference(text: text).id(client()) }
            let platform = try arguments.value("platform").map(AppArguments.platform)
            let reference = CampaignReference(
                text: text, app: arguments.value("app"), platform: platform, isChanged: isChanged)
            for option in options { arguments.remove(option) }
            return try await reference.id(client(), note: note)
        }
        if spec.positionals.contains(where: { $0.name == placeholder }), let text = arguments.positional(placeholder) {
            if text != latest { try refusePlace(arguments) }
            arguments.set(positional: placeholder, try await id(text))
        }
        for option in spec.options where option.value == placeholder {
            guard let text = arguments.value(option.name) else { continue }
            arguments.replace(option.name, with: try await id(text))
        }
        return arguments
    }

    /// Refuses `--app` and `--platform` without "latest": an id belongs to one app already.
    static func refusePlace(_ arguments: ParsedArguments) throws(UsageError) {
        for option in options where arguments.value(option) != nil {
            throw UsageError(
                "--\(option) goes with \"\(latest)\" alone: it names the app whose newest campaign is meant")
        }
    }
}
