// SPDX-License-Identifier: Apache-2.0
import Synchronization
import Terminal
import WireFormat

/// Follows a campaign to its end by server-sent events, and connects again where the stream breaks.
package struct CampaignWatch: Sendable {
    package let client: RelayClient
    package let id: String

    package init(client: RelayClient, id: String) {
        self.client = client
        self.id = id
    }

    /// How often in a row the stream may break without a new state.
    private static let patience = 5

    /// Calls `report` for each state until the campaign is over, and returns the last state.
    ///
    /// - Throws: `CommandFailure` where the campaign is not known or the daemon stays unreachable.
    package func run(_ report: @escaping @Sendable (CampaignText) -> Void) async throws -> CampaignText {
        var breaks = 0
        while true {
            do {
                if let last = try await follow(report) {
                    if last.isOver { return last }
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

    /// Reads one stream to its end and returns its last state; nil where it had none.
    private func follow(_ report: @escaping @Sendable (CampaignText) -> Void) async throws -> CampaignText? {
        let state = Mutex<(events: ServerSentEvents, last: CampaignText?)>((ServerSentEvents(), nil))
        let request = APIRequest("GET", ["v1", "campaigns", id, "events"], accept: "text/event-stream")
        try await client.lines(request) { line in
            guard let data = state.withLock({ $0.events.feed(line: line) }) else { return true }
            let campaign = CampaignText(try JSONReader.read(Array(data.utf8)))
            guard campaign.json[.counts] != nil else { return true }
            state.withLock { $0.last = campaign }
            report(campaign)
            return !campaign.isOver
        }
        return state.withLock { $0.last }
    }
}

/// Reads an event stream line by line (HTML Living Standard, 9.2.6 "Interpreting an event stream"). Pure.
struct ServerSentEvents: Sendable {
    private var data: [Substring] = []

    /// The data of the event that an empty line completes, whatever the event's name; nil otherwise.
    mutating func feed(line: [UInt8]) -> String? {
        guard !line.isEmpty else {
            defer { data = [] }
            return data.isEmpty ? nil : data.joined(separator: "\n")
        }
        // A line that begins with a colon is a comment: the server's sign of life.
        let text = String(decoding: line, as: UTF8.self)
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts[0] == "data" else { return nil }
        let value = parts.count > 1 ? parts[1] : ""
        data.append(value.hasPrefix(" ") ? value.dropFirst() : value)
        return nil
    }
}
