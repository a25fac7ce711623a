// SPDX-License-Identifier: Apache-2.0
package import Terminal
import WireFormat

/// Completions that only the daemon knows: apps and campaigns.
package enum Proposals {
    /// Short, because a person waits for the shell.
    private static let patience = Duration.seconds(1)

    /// Returns nothing where the daemon does not answer in time.
    @Sendable package static func of(
        _ placeholder: String, _ context: CommandContext
    ) async -> [(word: String, meaning: String)] {
        guard ["APP", CampaignReference.placeholder].contains(placeholder) else { return [] }
        return await withTaskGroup(of: [(word: String, meaning: String)].self) { group in
            group.addTask { (try? await ask(placeholder, context)) ?? [] }
            group.addTask {
                try? await Task.sleep(for: patience)
                return []
            }
            defer { group.cancelAll() }
            return await group.next() ?? []
        }
    }

    private static func ask(
        _ placeholder: String, _ context: CommandContext
    ) async throws -> [(word: String, meaning: String)] {
        let client = try ConnectionOptions(ParsedArguments()).client(context, isSilent: true)
        if placeholder == CampaignReference.placeholder {
            let page = try await client.reply(to: APIRequest("GET", ["v1", "campaigns"], query: [("limit", "50")]))
            let campaigns = page.items.map { item in
                (word: item.shown(.id), meaning: "\(item.place) \(item.shown(.required)), \(item.shown(.state))")
            }
            return campaigns.isEmpty ? [] : [(CampaignReference.latest, "the newest campaign")] + campaigns
        }
        let apps = try await client.reply(to: APIRequest("GET", ["v1", "apps"])).items
        var seen: Set<String> = []
        return apps.map { $0.shown(.app) }.filter { !$0.isEmpty && seen.insert($0).inserted }.map { ($0, "") }
    }
}
