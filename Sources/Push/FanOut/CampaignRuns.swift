// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements

/// The campaigns that are being sent.
///
/// Belongs to the fan-out's thread: the dispatcher changes it, the push services read it.
final class CampaignRuns {
    private var byKey: [CampaignKey: CampaignRun] = [:]
    /// Campaigns that are begun again, by a reload or a person: their ramp goes on where it was.
    var rerouted: Set<CampaignKey> = []
    /// The campaign whose turn ended with an error of the store.
    var lastToFail: CampaignKey?

    subscript(campaign: CampaignKey) -> CampaignRun? {
        get { byKey[campaign] }
        set { byKey[campaign] = newValue }
    }

    var count: Int { byKey.count }
    var all: some Collection<CampaignRun> { byKey.values }

    /// A hash order would differ in each process.
    var inOrder: [CampaignRun] { byKey.values.sorted { $0.record.key < $1.record.key } }

    /// In the order of their turns. The campaign that failed last time goes last: a fault in one app's part of the store must not keep
    /// the others waiting.
    var inTurn: [CampaignRun] {
        byKey.values.sorted {
            ($0.record.key == lastToFail ? 1 : 0, $0.record.key) < ($1.record.key == lastToFail ? 1 : 0, $1.record.key)
        }
    }

    /// Those that have not stopped.
    var sending: Set<CampaignKey> { Set(byKey.filter(\.value.lifecycle.isSending).keys) }

    func figures<Figures>(_ figures: (CampaignRun) -> Figures) -> [CampaignKey: Figures] { byKey.mapValues(figures) }

    func has(_ app: AppKey) -> Bool { byKey.values.contains { $0.record.app == app } }

    /// The other campaigns of the run's app.
    func others(than run: CampaignRun) -> [CampaignRun] {
        byKey.values.filter { $0 !== run && $0.record.app == run.record.app }
    }

    func sends(for project: String) -> Bool { byKey.values.contains { $0.sends(for: project) } }

    /// Whether a campaign sends to the service, or may do so later.
    func uses(_ service: PushService) -> Bool {
        byKey.values.contains { $0.record.app == service.key.app && $0.track == service.key.track }
    }

    /// The campaign that the service sends; nil: none now.
    func sender(of service: PushService) -> CampaignRun? {
        byKey.values.first { run in
            run.services.contains { $0 === service } && service.machine.progress(of: run.record.key.row) != nil
        }
    }

    /// The services for a campaign that begins: those that no other campaign of the app uses. A campaign that began for some users
    /// alone may be for everybody since, and keeps the services that it began with.
    func track(for record: CampaignRecord) -> PushService.Track {
        guard record.requirement.kind != .blocked else { return .block(record.requirement.id) }
        let taken = Set(byKey.values.filter { $0.record.app == record.app && $0.lifecycle.isSending }.map(\.track))
        return (record.isStaged ? !taken.contains(.staged) : taken.contains(.everybody)) ? .staged : .everybody
    }
}
