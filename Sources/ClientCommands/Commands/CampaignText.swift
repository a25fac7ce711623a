// SPDX-License-Identifier: Apache-2.0
package import Configuration
import RelayEngine
package import Terminal

/// A campaign of the API as people read it.
package struct CampaignText: Sendable {
    static let positional = PositionalSpec("ID", "the campaign's id, as \"campaigns list\" shows it")

    package let tree: JSONTree

    package init(_ tree: JSONTree) {
        self.tree = tree
    }

    package var id: String { tree.shown("id") }
    package var state: String { tree.shown("state") }
    package var counts: JSONTree { tree["counts"] ?? .null }
    package var audience: Int64 { counts.count("audience") }

    /// Devices whose outcome is final.
    package var settled: Int64 {
        ["accepted", "rejected", "unregistered", "expired", "filtered", "cancelled"].reduce(0) { $0 + counts.count($1) }
    }

    package var isFinal: Bool { CampaignState(rawValue: state)?.isFinal ?? false }

    package static let countNames = [
        "pending", "inFlight", "accepted", "retrying", "rejected", "unregistered", "expired", "filtered", "cancelled",
    ]

    /// The identity that always holds (CONTRACT, "Campaign").
    package var addsUp: Bool { Self.countNames.reduce(0) { $0 + counts.count($1) } == audience }

    /// "wave 1 of 3 (1%)"; nil where there are none.
    package var wave: String? {
        guard let wave = tree["wave"], !wave.isNull else { return nil }
        return "wave \(wave.shown("number")) of \(wave.shown("of")) (\(wave.shown("percent"))%)"
    }

    /// What is in the way or on its way, for the end of a progress line.
    package var note: String {
        var parts: [String] = []
        let reason = tree.shown("reason")
        if state != CampaignState.running.rawValue {
            parts.append(reason.isEmpty ? state : "\(state): \(reason)")
        } else if let wave {
            let next = tree["wave"]?.shown("nextAt") ?? ""
            parts.append(next.isEmpty ? wave : "\(wave) done, next at \(next)")
        }
        if let limit = tree["rateLimit"]?.number { parts.append("at most \(Quantity.rate(limit))") }
        for name in ["accepted", "retrying", "rejected", "unregistered", "filtered"] where counts.count(name) > 0 {
            parts.append("\(name) \(Quantity.count(counts.count(name)))")
        }
        return parts.joined(separator: ", ")
    }

    package var progress: Progress {
        Progress(
            done: settled, total: audience, ratePerSecond: tree["ratePerSecond"]?.number ?? 0,
            secondsLeft: tree["secondsLeft"]?.integer, note: note)
    }

    /// One record, field by field, with the counts that are not 0.
    package var details: String {
        var fields: [(String, String)] = [
            ("campaign", id), ("app", "\(tree.shown("app")) \(tree.shown("platform"))"),
            ("required", tree.shownOrDash("required")), ("latest", tree.shownOrDash("latest")),
            ("download URL", tree.shownOrDash("downloadUrl")), ("state", state),
        ]
        if !tree.shown("reason").isEmpty { fields.append(("reason", tree.shown("reason"))) }
        if let wave { fields.append(("wave", waveDetails(wave))) }
        if let limit = tree["rateLimit"]?.number { fields.append(("pace", "at most \(Quantity.rate(limit))")) }
        if !tree.shown("waitingUntil").isEmpty { fields.append(("waiting until", tree.shown("waitingUntil"))) }
        for (title, name) in [("created", "createdAt"), ("started", "startedAt"), ("finished", "finishedAt")] {
            fields.append((title, tree.shownOrDash(name)))
        }
        return TextTable.fields(fields) + "\n" + countsTable
    }

    private func waveDetails(_ wave: String) -> String {
        let tree = tree["wave"] ?? .null
        var text = "\(wave): \(Quantity.count(tree.count("devices"))) devices"
        for name in ["pending", "accepted", "failed"] { text += ", \(name) \(Quantity.count(tree.count(name)))" }
        if !tree.shown("nextAt").isEmpty { text += "; next at \(tree.shown("nextAt"))" }
        return text
    }

    package var countsTable: String {
        var table = TextTable([.init("DEVICES"), .init("COUNT", .right), .init("SHARE", .right)])
        table.add(["audience", Quantity.count(audience), Quantity.percent(audience, of: audience)])
        for name in Self.countNames where counts.count(name) > 0 || name == "accepted" {
            table.add([name, Quantity.count(counts.count(name)), Quantity.percent(counts.count(name), of: audience)])
            let reasons =
                tree[name == "filtered" ? "filteredBy" : name == "rejected" ? "rejectedBy" : ""]?.object ?? [:]
            for (reason, count) in reasons.sorted(by: { $0.key < $1.key }) {
                guard let count = count.integer, count > 0 else { continue }
                table.add(["  \(reason)", Quantity.count(count), Quantity.percent(count, of: audience)])
            }
        }
        let upgraded = tree.count("upgraded")
        return table.text + (upgraded > 0 ? "\(Quantity.count(upgraded)) devices have upgraded since\n" : "")
    }
}
