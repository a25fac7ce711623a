// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

extension ConformanceCase {
    static let withdrawing: [ConformanceCase] = [
        ConformanceCase("a version that is withdrawn gives way to what was required before, on every channel") {
            subject in
            try subject.registerDevices(10)
            try subject.announce("1.9")
            try subject.bump(VersionBump(app: subject.app, latest: try subject.version("1.9.3")))
            let wrong = try subject.announce("20")
            let withdrawal = try present(try subject.withdraw("a typing error"), "the withdrawal")
            try same(withdrawal.withdrawn.text, "20")
            try same([withdrawal.record.required?.text, withdrawal.record.latest?.text], ["1.9", "1.9.3"])
            let inForce = withdrawal.record.inForce
            try same([inForce.required?.text, inForce.latest?.text], ["1.9", "1.9.3"])
            try same([inForce.floor?.reason, inForce.floor?.inForceBy], [nil, InForce.ungated])
            let campaign = try subject.record(wrong.key)
            try same(campaign.state, .cancelled)
            try same(campaign.facts.reason, "withdrawn by mary: a typing error")
            try same(campaign.figures.counts.audience, campaign.figures.counts[.cancelled])
            try same(withdrawal.campaign?.id, campaign.id)
            let history = try subject.store.history(of: subject.app, limit: 2)
            try same(history.map { $0.record.required?.text }, ["1.9", "20"])
            try same([history.first?.actor, history.first?.source], ["mary", VersionChange.withdrawal])
            try same(
                try subject.store.inForceHistory(of: subject.app, limit: 2).map(\.actor), ["mary", "tester"])
            try same(try subject.waiting(), [])
            try check(
                try subject.store.reconcile(subject.app, draft: subject.draft(), at: subject.now).campaign == nil,
                "1.9 had its campaign")
        },
        ConformanceCase("pruning leaves alone what gave way before it was in force, and may come back") { subject in
            try subject.registerDevices(5)
            let old = try subject.announce("2.0.0", isGated: true)
            try subject.announce("3.0.0")
            try same(try subject.record(old.key).state, .superseded)
            let late = subject.now + .seconds(100_000)
            try same(try subject.store.prune(before: late, at: late) { _ in true }.campaigns, 0)
            _ = try subject.withdraw()
            try check(try subject.look("2.0.0", .open), "it comes into force")
            try same(try subject.record(old.key).state, .running)
            // A version that was in force for everybody comes back as it is: nothing of it is left to be sent.
            try subject.announce("4.0.0")
            try same(try subject.record(old.key).state, .superseded)
            try same(try subject.store.prune(before: late, at: late) { _ in true }.campaigns, 2)
            try same(try subject.store.check { _ in true }, [], "faults")
        },
        ConformanceCase("a withdrawn version may be announced again, with a campaign of its own, and withdrawn again") {
            subject in
            try subject.announce("1.9")
            var ids: Set<String> = []
            for _ in 1...3 {
                let campaign = try subject.announce("2")
                try same(campaign.state, .running)
                try check(ids.insert(campaign.id).inserted, "a campaign of its own")
                try same(try present(try subject.withdraw(), "the withdrawal").record.required?.text, "1.9")
            }
            try subject.announce("2.0.0")
            try same(try subject.store.version(of: subject.app)?.inForce.required?.text, "2.0.0")
            _ = try subject.withdraw()
            let last = try present(try subject.withdraw(), "of 1.9")
            try same([last.withdrawn.text, last.record.required?.text], ["1.9", nil])
            try same([last.record.latest?.text, last.record.inForce.latest?.text], [nil, nil])
            try check(try subject.withdraw() == nil, "nothing is left")
        },
        ConformanceCase("all else still only rises after a withdrawal") { subject in
            try subject.announce("1.9")
            try subject.announce("2")
            _ = try subject.withdraw()
            let (old, lower) = (try subject.version("1.9"), try subject.version("1.8"))
            try fails(.versionWouldFall(field: "required", current: old, proposed: lower)) {
                try subject.bump(VersionBump(app: subject.app, required: lower))
            }
        },
        ConformanceCase("what waits for its store is withdrawn without a change of what is in force") { subject in
            try subject.announce("1.9")
            let waiting = try subject.announce("2", isGated: true)
            try same(try present(try subject.withdraw(), "the withdrawal").record.required?.text, "1.9")
            try same(try subject.record(waiting.key).state, .cancelled)
            try same(try subject.store.version(of: subject.app)?.inForce.required?.text, "1.9")
            try same(try subject.waiting(), [])
            // A newer one waits now: below it, the withdrawn one never opens.
            try subject.announce("2.1", isGated: true)
            try same(try subject.waiting().map(\.version.text), ["2.1"])
            try check(try !subject.look("2"), "it is not asked for")
            _ = try subject.withdraw()
            try subject.announce("2", isGated: true)
            try same(
                try subject.waiting().map(\.version.text), ["2"],
                "asked for again, it waits again")
        },
    ]
}

extension Subject {
    fileprivate func withdraw(_ reason: String? = nil) throws -> Withdrawal? {
        guard let required = try store.version(of: app)?.required else { return nil }
        return try store.withdraw(required, of: app, by: .operator("mary"), reason: reason, at: now)
    }
}
