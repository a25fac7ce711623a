// SPDX-License-Identifier: Apache-2.0
import Configuration
import Foundation
import Synchronization
import Terminal

/// Follows a campaign to its end by server-sent events, and asks again where the stream breaks.
package struct CampaignWatch: Sendable {
    package let client: RelayClient
    package let id: String

    package init(client: RelayClient, id: String) {
        self.client = client
        self.id = id
    }

    /// How often in a row the stream may break without having said anything new.
    private static let patience = 5

    /// Calls `report` for each state until the campaign is final, and returns that state.
    ///
    /// - Throws: `CommandFailure` where the campaign is not known or the daemon stays away.
    package func run(_ report: @escaping @Sendable (CampaignText) -> Void) async throws -> CampaignText {
        var breaks = 0
        while true {
            do {
                if let last = try await follow(report) {
                    if last.isFinal { return last }
                    breaks = 0
                }
            } catch let error as CommandFailure where error.code == .unreachable && breaks < Self.patience {
                // The daemon may be restarting: the campaign goes on where it was.
            }
            breaks += 1
            guard breaks <= Self.patience else {
                throw CommandFailure(.unreachable, "the daemon ends the stream of events each time")
            }
            try await Task.sleep(for: .seconds(1))
        }
    }

    /// The last state that one stream told; nil where it told none.
    private func follow(_ report: @escaping @Sendable (CampaignText) -> Void) async throws -> CampaignText? {
        let reader = EventReader()
        let path = APIPath.make(["v1", "campaigns", id, "events"])
        try await client.lines(path, accept: "text/event-stream") { line in
            guard let campaign = try reader.feed(line) else { return true }
            report(campaign)
            return !campaign.isFinal
        }
        return reader.last
    }
}

/// Makes campaigns of a stream's lines.
private final class EventReader: Sendable {
    private let state = Mutex<(events: ServerSentEvents, last: JSONTree?)>((ServerSentEvents(), nil))

    var last: CampaignText? { state.withLock { $0.last }.map(CampaignText.init) }

    func feed(_ line: [UInt8]) throws -> CampaignText? {
        guard let event = state.withLock({ $0.events.feed(line: line) }) else { return nil }
        let tree = try JSONDecoder().decode(JSONTree.self, from: Data(event.data.utf8))
        guard tree["counts"] != nil else { return nil }
        state.withLock { $0.last = tree }
        return CampaignText(tree)
    }
}
