// SPDX-License-Identifier: Apache-2.0
import RelayStore
import UpgradeRules
import WireFormat

/// One event of `/v1/events`, without its id: made once, sent to all who may see it.
struct LiveEvent: Hashable, Sendable {
    /// "event: …" and "data: …" with their line ends.
    var lines: [UInt8]

    init(_ name: StaticString, _ write: (inout JSONWriter) -> Void) {
        var writer = JSONWriter()
        write(&writer)
        lines = Array("event: \(name)\ndata: ".utf8) + writer.bytes + [0x0A]
    }
}

extension Overview {
    /// Marks what is not as it was at the look before.
    mutating func note(since last: Overview?) {
        var found: [(key: String, app: AppKey?, event: LiveEvent)] = []
        for app in apps {
            let event = LiveEvent("version") { writer in
                writer.object { $0.versionMembers(of: app.key, app.version) }
            }
            found.append(("version \(app.key.app) \(app.key.platform.rawValue)", app.key, event))
        }
        for status in campaigns {
            found.append(
                ("campaign \(status.record.id)", status.record.app, LiveEvent("campaign") { $0.campaign(status) }))
        }
        for (key, app, event) in found {
            let before = last?.items[key]
            items[key] = Item(
                event: event, app: app, revision: before?.event == event ? before?.revision ?? revision : revision)
        }
        noteReadiness(since: last)
    }

    /// An event for each fault, as each may be another app's.
    private mutating func noteReadiness(since last: Overview?) {
        let event = LiveEvent("readiness") { writer in
            writer.object { writer in
                writer.member("faults", Int64(faults.filter(\.stopsRequests).count))
                writer.member("degraded", Int64(faults.filter { !$0.stopsRequests }.count))
                writer.member("warnings", Int64(warnings.count))
            }
        }
        let same = last.map { $0.faults == faults && $0.warnings == warnings } ?? false
        items["readiness"] = Item(
            event: event, app: nil, revision: same ? last?.items["readiness"]?.revision ?? revision : revision)
    }
}
