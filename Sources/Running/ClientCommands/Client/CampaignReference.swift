// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Terminal
import UpgradeRules
import WireFormat

/// Campaigns as a person names them: one by its id, by enough of the id's first characters to be unique, or by "latest"; those
/// of one release, a campaign for each platform, by the release's version, such as "2.1.0", or by "latest".
///
/// Resolved here and not in the API: a prefix that is unique today may not be so tomorrow, and a program has the whole id.
struct CampaignReference {
    /// The name that commands give an argument or value that is a campaign.
    static let placeholder = "ID"
    static let latest = "latest"
    /// The API's ids have this many hex digits.
    private static let length = 12

    /// The options that narrow "latest" and a version; an id takes neither.
    private static let options = CommandSpec.options("latest").map(\.name)

    let text: String
    /// nil: not named.
    var app: String?
    var platform: String?
    /// Whether the command changes the campaign: then "latest" must be unambiguous.
    var isChanged = false
    /// Whether one campaign is needed, as by an option, and not those of a release.
    var isOne = false

    /// Whether the daemon must be asked for the whole id.
    private var isPrefix: Bool {
        !text.isEmpty && text.count < Self.length && text.allSatisfy { "0123456789abcdef".contains($0) }
    }

    /// Whether the text names a release: an id has no dot.
    private var release: Version? { text.contains(".") ? try? Version(text) : nil }

    /// Whether it may name several campaigns, and so is narrowed by an app and a platform.
    private var isWide: Bool { text == Self.latest || release != nil }

    /// The whole ids: of a release one for each platform, else one. A text that cannot be an id is returned as it is, for the
    /// API to refuse.
    ///
    /// - Parameter note: receives a line that names the campaign, where "latest" could have meant another.
    /// - Throws: `CommandFailure` where several campaigns match, with up to 10 of them, or where there is none.
    func ids(_ client: @autoclosure () throws -> RelayClient, note: (String) -> Void = { _ in }) async throws
        -> [String]
    {
        if isWide { return try await newest(client(), note: note) }
        guard isPrefix else { return [text] }
        let client = try client()
        var found: [JSONValue] = []
        try await walk(client, app: nil) { page in
            found += page.filter { $0.shown(.id).hasPrefix(text) }
            return true
        }
        guard found.count > 1 else { return [found.first?.shown(.id) ?? text] }
        throw CommandFailure(
            .failed, "\"\(text)\" begins the ids of \(found.count) campaigns:\n\(Self.lines(found))",
            hint: "give more of the id")
    }

    private func newest(_ client: RelayClient, note: (String) -> Void) async throws -> [String] {
        let release = release
        var isClear = !isChanged
        if isChanged, release == nil {
            let places = try await client.reply(to: APIRequest("GET", ["v1", "apps"])).items
            isClear = places.count { isMeant($0) } < 2
        }
        // The newest campaign of each app and platform, among the pages read so far. One that is superseded counts only where
        // there is no other.
        var (newest, superseded): ([JSONValue], [JSONValue]) = ([], [])
        try await walk(client, app: app) { page in
            for item in page where isMeant(item) && !newest.contains(where: { $0.place == item.place }) {
                if let release, !Self.isAbout(release, item) { continue }
                if item.shown(.state) != CampaignState.superseded.rawValue {
                    newest.append(item)
                } else if !superseded.contains(where: { $0.place == item.place }) {
                    superseded.append(item)
                }
            }
            // A release's campaigns may lie pages apart.
            return newest.isEmpty || release != nil
        }
        // Nothing can be done to a superseded campaign of a release that goes on elsewhere.
        if release != nil, isChanged, !newest.isEmpty { superseded = [] }
        newest += superseded.filter { item in !newest.contains { $0.place == item.place } }
        guard let first = newest.first else {
            let whose = [app, platform].compactMap(\.self).joined(separator: " ")
            let what = release.map { "campaign of \($0)" } ?? "campaign"
            throw CommandFailure(
                .failed, whose.isEmpty ? "there is no \(what) yet" : "there is no \(what) of \(whose) yet")
        }
        // One release on several platforms is one name.
        if !isOne || newest.count == 1, Self.isOneRelease(newest) { return newest.map { $0.shown(.id) } }
        guard isClear, release == nil else {
            throw CommandFailure(
                .failed,
                "\"\(text)\" of which app? The relay has several apps or platforms; the newest of each:\n"
                    + Self.lines(newest),
                hint: "name one with --app and --platform, or give the campaign's id")
        }
        if newest.count > 1 {
            let version = CampaignText(first).target
            note("\(Self.latest) is \(first.shown(.id)), of \(first.place), required \(version)\n")
        }
        return [first.shown(.id)]
    }

    private static func isAbout(_ release: Version, _ campaign: JSONValue) -> Bool {
        campaign[.required]?.string.flatMap { try? Version($0) } == release
    }

    /// Whether they require one version of one app, each on its platform.
    private static func isOneRelease(_ campaigns: [JSONValue]) -> Bool {
        guard let first = campaigns.first, let release = first[.required]?.string.flatMap({ try? Version($0) }) else {
            return false
        }
        return campaigns.allSatisfy { isAbout(release, $0) && $0[.app]?.string == first[.app]?.string }
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

    /// Returns the arguments with whole ids: once for each campaign that they name.
    ///
    /// - Parameters:
    ///   - isChanged: whether the command changes the campaign.
    ///   - note: receives a line that names the campaign, where "latest" could have meant another.
    static func resolved(
        _ arguments: ParsedArguments, of spec: CommandSpec, isChanged: Bool, note: (String) -> Void,
        _ client: () throws -> RelayClient
    ) async throws -> [ParsedArguments] {
        var arguments = arguments
        func ids(_ text: String, isOne: Bool = false) async throws -> [String] {
            guard CampaignReference(text: text).isWide else {
                return try await CampaignReference(text: text).ids(client())
            }
            let platform = try arguments.value("platform").map(AppArguments.platform)
            let reference = CampaignReference(
                text: text, app: arguments.value("app"), platform: platform, isChanged: isChanged, isOne: isOne)
            for option in options { arguments.remove(option) }
            return try await reference.ids(client(), note: note)
        }
        for option in spec.options where option.value == placeholder {
            guard let text = arguments.value(option.name) else { continue }
            if let id = try await ids(text, isOne: true).first { arguments.replace(option.name, with: id) }
        }
        guard spec.positionals.contains(where: { $0.name == placeholder }), let text = arguments.positional(placeholder)
        else { return [arguments] }
        if !CampaignReference(text: text).isWide { try refusePlace(arguments) }
        return try await ids(text).map { id in
            var whole = arguments
            whole.set(positional: placeholder, id)
            return whole
        }
    }

    /// Refuses `--app` and `--platform` beside an id: it belongs to one app already.
    static func refusePlace(_ arguments: ParsedArguments) throws(UsageError) {
        for option in options where arguments.value(option) != nil {
            throw UsageError(
                "--\(option) goes with \"\(latest)\" or a version alone: it names the app whose campaign is meant")
        }
    }
}
