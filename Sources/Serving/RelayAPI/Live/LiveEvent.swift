// SPDX-License-Identifier: Apache-2.0
import RelayStore
import Requirements
import UpgradeRules
import WireFormat

/// One event of `/v1/events`, without its id: made once, sent to all who may see it.
struct LiveEvent: Hashable, Sendable {
    private let name: String
    private let data: SightedText

    init(_ name: StaticString, _ write: (inout JSONWriter, Redaction) -> Void) {
        self.name = name.description
        data = SightedText(write)
    }

    /// "event: …" and "data: …" with their line ends.
    func lines(for sight: Redaction) -> [UInt8] {
        Array("event: \(name)\ndata: ".utf8) + data[sight] + [0x0A]
    }
}

extension Overview {
    /// Marks the items that have changed since the previous look.
    mutating func note(since last: Overview?) {
        for app in apps {
            let event = LiveEvent("version") { writer, sight in
                writer.object(ShownVersion(app: app.key, status: app.version), ShownVersion.shape, for: sight)
            }
            note("version \(app.key.app) \(app.key.platform.rawValue)", event, of: app.key, since: last)
        }
        for status in campaigns {
            let event = LiveEvent("campaign") { $0.campaign(status, for: $1) }
            note("campaign \(status.record.id)", event, of: status.record.app, since: last)
        }
        let waiting = Dictionary(grouping: approvals, by: \.approval.app)
        for app in Set(apps.map(\.key)).union(waiting.keys) {
            let (key, requests) = ("approvals \(app.app) \(app.platform.rawValue)", waiting[app] ?? [])
            // An app without a request is no news, unless it had one.
            guard !requests.isEmpty || last?.items[key] != nil else { continue }
            let event = LiveEvent("approvals") { writer, _ in
                writer.object(WaitingApprovals(app: app, approvals: requests), WaitingApprovals.shape)
            }
            note(key, event, of: app, since: last)
        }
        // The event has only counts, as a fault may concern an app that the reader may not see.
        let isSame = last.map { $0.faults == faults && $0.warnings == warnings } ?? false
        note("readiness", readiness, of: nil, since: last, isSame: isSame)
    }

    /// - Parameter isSame: whether the data that the event leaves out is unchanged.
    private mutating func note(
        _ key: String, _ event: LiveEvent, of app: AppKey?, since last: Overview?, isSame: Bool = true
    ) {
        let before = last?.items[key]
        let kept = isSame && before?.event == event ? before?.revision : nil
        items[key] = Item(event: event, app: app, revision: kept ?? revision)
    }

    private var readiness: LiveEvent {
        LiveEvent("readiness") { writer, _ in
            writer.object { writer in
                writer.member("faults", Int64(faults.filter(\.stopsRequests).count))
                writer.member("degraded", Int64(faults.filter { !$0.stopsRequests }.count))
                writer.member("warnings", Int64(warnings.count))
            }
        }
    }
}
