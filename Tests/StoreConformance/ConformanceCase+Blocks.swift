// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

/// Single versions that must be left, as a store keeps them and counts the devices that obey.
extension ConformanceCase {
    static let blocks: [ConformanceCase] = [
        ConformanceCase("a block has a campaign of its own beside the floor's, and is told from that everywhere") {
            subject in
            let floor = try subject.announce("2.0")
            let blocked = try subject.block("2.1.5")
            try same(try subject.record(blocked.key).requirement.target.blocked?.text, "2.1.5")
            try same(try subject.record(floor.key).requirement.target.required?.text, "2.0")
            try same(try subject.store.openCampaigns().map(\.state), [.running, .running])
            let version = try present(try subject.store.version(of: subject.app), "the version")
            try same(version.required?.text, "2.0")
            try same(version.requirements.blocked.map(\.text), ["2.1.5"])
            try same(
                try subject.store.history(of: subject.app, limit: 9).map { $0.record.requirements.blocked.count },
                [1, 0])
            try same(
                try subject.store.newestCampaigns().map(\.key), [floor.key],
                "who obeys the floor is asked of its campaign")
            let decision = try subject.store.unblock(
                [try subject.version("2.1.5")], of: subject.app, by: .tester, reason: nil,
                in: RequirementMachine.Surroundings(now: subject.now))
            try same(decision.blocked.map { $0.campaign?.state }, [.cancelled])
            try same(try subject.record(floor.key).state, .running)
            try fails(.refused) {
                try subject.store.unblock(
                    [try subject.version("2.1.5")], of: subject.app, by: .tester, reason: nil,
                    in: RequirementMachine.Surroundings(now: subject.now))
            }
        },
        ConformanceCase("who leaves a blocked version for a newer one counts as upgraded, and nobody else") { subject in
            for (number, version) in ["2.1.5", "2.1.5", "2.1.5", "2.1.4"].enumerated() {
                try subject.store.register(
                    [subject.registration(number, telephone: "138\(number)", version: try subject.version(version))],
                    at: subject.now)
            }
            let campaign = try subject.block("2.1.5")
            let shard = try subject.onlyShard(campaign)
            let other = try subject.device(3).id
            let commit = try subject.batch(shard) { device in
                device.id == other
                    ? LedgerRow(device: device.id, state: .filtered, attempts: 0, reason: "alreadyCurrent")
                    : LedgerRow(device: device.id, state: .accepted, attempts: 1)
            }
            try subject.commit([commit], at: subject.now)
            // Notified at login, by the block's own requirement: a floor of the same version has another.
            try subject.store.sawVersions(
                [
                    Sighting(
                        app: subject.app, token: subject.token(0), version: try subject.version("2.1.5"),
                        toldAtLogin: campaign.requirement.id)
                ], at: subject.now)
            for (number, version) in [(0, "2.1.6"), (1, "2.1.5"), (2, "2.1.4"), (3, "2.1.6")] {
                try subject.store.sawVersion(
                    try subject.version(version), app: subject.app, token: subject.token(number), at: subject.now)
            }
            try same(try subject.record(campaign.key).figures.upgraded, 1)
            try same(try subject.record(campaign.key).figures.reach, CampaignReach(toldAtLogin: 1, both: 1))
            // By registration, too.
            try subject.store.register(
                [subject.registration(1, telephone: "1381", version: try subject.version("2.2"))], at: subject.now)
            try same(try subject.record(campaign.key).figures.upgraded, 2)
            try same(try subject.store.check { _ in true }, [], "faults")
        },
    ]
}

extension Subject {
    fileprivate func block(_ text: String) throws -> CampaignRecord {
        var bump = VersionBump(app: app)
        bump.blocked = [try version(text)]
        bump.isConfirmed = true
        let outcome = try self.bump(bump, at: now + .seconds(1), draft: draft())
        return try present(outcome.blocked.first?.campaign, "the campaign")
    }
}
