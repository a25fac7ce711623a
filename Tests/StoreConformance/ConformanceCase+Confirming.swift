// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

/// An act carries the facts that a person confirmed, and the transaction that decides compares them with the store (DESIGN,
/// rule 13).
extension ConformanceCase {
    /// Copies of `shown` with another value for the fact, and with `.nothing` if it had one.
    private static func otherThan(_ shown: Shown, _ fact: Shown.Fact) -> [Shown] {
        let values: [Shown.Value] =
            switch shown.facts[fact] ?? .nothing {
            case .nothing: fact.isNumber ? [.number(7)] : [.text("7.7.7")]
            case .number(let number): [.nothing, .number(number + number / 5 + 1)]
            case .text(let text): [.nothing, .text(fact == .version ? "7.7.7" : text + " ")]
            }
        return values.map { value in
            var other = shown
            other.facts[fact] = value
            return other
        }
    }

    /// Repeats an act with each of its facts changed, which is refused for that fact and changes nothing; then does it as
    /// shown.
    private static func hold(
        _ subject: Subject, _ about: ActSubject, of campaign: CampaignKey? = nil,
        _ deed: (Signature) throws -> Void
    ) throws {
        let shown = try subject.store.facts(about, at: subject.now)
        try check(!shown.facts.isEmpty, "nothing is shown")
        for fact in Shown.Fact.allCases where shown.facts[fact] != nil {
            for stale in otherThan(shown, fact) {
                let actor = Principal.tester.confirming(stale, of: campaign)
                do {
                    try deed(Signature(by: actor, at: subject.now))
                    throw ConformanceFailure(
                        description: "\(fact) was \(stale.facts[fact] ?? .nothing), and it was done")
                } catch let refusal as StaleConfirmation {
                    try same(refusal.changes.map(\.fact), [fact])
                    try same(try subject.store.facts(about, at: subject.now), shown)
                }
            }
        }
        try deed(Signature(by: Principal.tester.confirming(shown, of: campaign), at: subject.now))
    }

    static let confirming: [ConformanceCase] = [
        ConformanceCase("what is asked, taken back, blocked and unblocked carries what was shown") { subject in
            try subject.registerDevices(40)
            try subject.announce("1.9")
            let open = RequirementMachine.Surroundings(now: subject.now, draft: subject.draft())
            try hold(subject, .required(subject.app)) { actor in
                let bump = VersionBump(app: subject.app, required: try subject.version("2.0"))
                _ = try subject.store.apply(bump, by: actor, in: open, receipt: nil) { _ in
                    StoredAnswer(status: 200, body: [])
                }
            }
            try same(try subject.store.version(of: subject.app)?.required?.text, "2.0")
            try hold(subject, .required(subject.app)) { actor in
                try subject.store.decide(
                    subject.app, .withdrawn(try subject.version("2.0"), reason: nil), by: actor, in: open)
            }
            try same(try subject.store.version(of: subject.app)?.required?.text, "1.9")
            let bad = [try subject.version("1.5"), try subject.version("1.6")]
            var bump = VersionBump(app: subject.app)
            bump.blocked = bad
            try subject.bump(bump, draft: subject.draft())
            try hold(subject, .blocks(subject.app, bad)) { actor in
                try subject.store.decide(subject.app, .unblocked(bad, reason: nil), by: actor, in: open)
            }
            try same(try subject.store.version(of: subject.app)?.requirements.blocked, [])
        },
        ConformanceCase("a release lets through what was shown, and not what was raised since") { subject in
            try subject.registerDevices(10)
            try subject.announce("1.1.0", isGated: true)
            let shown = try subject.store.facts(.release(subject.app, nil, nil), at: subject.now)
            try same(shown.facts[.version], .text("1.1.0"))
            try same(shown.facts[.state], .text("waiting"))
            try subject.announce("1.9.0", isGated: true)
            let waiting = RequirementMachine.Surroundings.waiting(
                for: "not out yet", draft: subject.draft(), at: subject.now)
            do {
                try subject.store.decide(
                    subject.app, .released(nil),
                    by: Signature(by: Principal.tester.confirming(shown), at: subject.now), in: waiting)
                throw ConformanceFailure(description: "1.9.0 is released")
            } catch let stale as StaleConfirmation {
                try same(
                    stale.changes, [Shown.Change(fact: .version, shown: .text("1.1.0"), now: .text("1.9.0"))])
                try same(
                    stale.description,
                    "this is not what was confirmed: the version was 1.1.0 and is 1.9.0. Nothing was changed")
            }
            try same(try subject.store.version(of: subject.app)?.inForce.required, nil)
            try hold(subject, .release(subject.app, nil, nil)) { actor in
                try subject.store.decide(subject.app, .released(nil), by: actor, in: waiting)
            }
            try same(try subject.store.version(of: subject.app)?.inForce.required?.text, "1.9.0")
        },
        ConformanceCase("what a person does to a campaign carries what was shown of it") { subject in
            try subject.registerDevices(40)
            let campaign = try subject.announce("2.0")
            func move(_ change: CampaignChange, to state: CampaignState) throws {
                try hold(subject, .campaign(campaign.key), of: campaign.key) { actor in
                    try subject.store.decide(
                        subject.app, .campaign(campaign.key, change), by: actor,
                        in: RequirementMachine.Surroundings(now: subject.now))
                }
                try same(try subject.record(campaign.key).state, state)
            }
            try move(.paused, to: .paused)
            try move(.resumed, to: .running)
            try move(.cancelled, to: .cancelled)
            try hold(subject, .campaign(campaign.key), of: campaign.key) { actor in
                let draft = RoundDraft(.retry([.cancelled]), timeToLive: .seconds(3600))
                try same(try subject.store.reopen(campaign.key, for: draft, by: actor), .opened)
            }
        },
        ConformanceCase("of one question, sent three times, one wave begins") { subject in
            let (campaign, _) = try subject.waved(devices: 50, ends: [2_000, 5_000, 10_000], shardSize: 100)
            try subject.store.endWave(campaign.key, at: subject.now)
            try check(try subject.store.holdWave(campaign.key, .approval, reason: "why", at: subject.now), "held")
            let shown = try subject.record(campaign.key).shown
            try same([shown.facts[.wave], shown.facts[.state]], [.number(2), .text("suspended")])
            var wave = Shown()
            wave.facts[.wave] = .number(2)
            // Confirmed by the number of the wave alone, too, whether the wave has begun already or is about to.
            var approvals = 0
            for carried in [shown, wave, shown, wave] {
                do {
                    let isMoved = try subject.store.decide(
                        subject.app, .campaign(campaign.key, .resumed),
                        by: Signature(by: Principal.tester.confirming(carried, of: campaign.key), at: subject.now),
                        in: RequirementMachine.Surroundings(now: subject.now)
                    ).hasChanged
                    try check(isMoved, "the first one is taken")
                    approvals += 1
                } catch is StaleConfirmation {
                    // Does the dispatcher's next step, unless another wave has begun already.
                    guard try subject.record(campaign.key).figures.waves.current?.number == 0 else { continue }
                    try subject.store.beginNextWave(campaign.key, at: subject.now)
                    try subject.store.endWave(campaign.key, at: subject.now)
                    _ = try subject.store.holdWave(campaign.key, .approval, reason: "why", at: subject.now)
                }
            }
            try same(approvals, 1)
            try same(try subject.record(campaign.key).figures.waves.current?.number, 1)
            try same(try subject.record(campaign.key).shown.facts[.wave], .number(3))
            try subject.store.decide(
                subject.app, .campaign(campaign.key, .resumed), by: Signature(by: .tester, at: subject.now),
                in: RequirementMachine.Surroundings(now: subject.now))
            try subject.store.beginNextWave(campaign.key, at: subject.now)
            try same(try subject.record(campaign.key).shown.facts[.wave], .nothing, "it was the last")
        },
        ConformanceCase("a wave is let begin as it was shown") { subject in
            let (campaign, _) = try subject.waved(devices: 50, ends: [5_000, 10_000], shardSize: 100)
            try subject.store.endWave(campaign.key, at: subject.now)
            try hold(subject, .campaign(campaign.key), of: campaign.key) { actor in
                try check(try subject.store.releaseWave(campaign.key, isUrgent: false, by: actor), "it is over")
            }
            try same(try subject.record(campaign.key).shown.facts[.wave], .nothing, "it was let begin")
        },
        ConformanceCase("alerts, devices, users and tokens go as they were shown, byte for byte") { subject in
            func alert(_ text: String) -> AlertRecord {
                AlertRecord(
                    app: subject.app, message: text, isBlocking: false, endsAt: nil, createdAt: subject.now,
                    createdBy: "tester")
            }
            try hold(subject, .alert(subject.app)) { actor in
                try subject.store.setAlert(alert("Caf\u{E9} "), by: try present(actor.principal, "who"))
            }
            // Equal as `String`, but not in the bytes that a person saw.
            for text in ["Cafe\u{301} ", "Caf\u{E9}"] {
                let shown = Shown([.text: .text(text)])
                do {
                    _ = try subject.store.clearAlert(
                        of: subject.app, by: Signature(by: Principal.tester.confirming(shown), at: subject.now))
                    throw ConformanceFailure(description: "another text was cleared")
                } catch is StaleConfirmation {}
            }
            try hold(subject, .alert(subject.app)) { actor in
                try check(try subject.store.clearAlert(of: subject.app, by: actor), "it is there")
            }
            try subject.store.register(
                (0..<30).map { subject.registration($0, telephone: $0 == 0 ? "138 " : "139") }, at: subject.now)
            try hold(subject, .device(subject.app, token: subject.token(0))) { actor in
                try check(
                    try subject.store.removeDevice(subject.app, token: subject.token(0), by: actor), "it is there")
            }
            try hold(subject, .user("139", apps: [subject.app])) { actor in
                try same(try subject.store.eraseUser("139", by: actor) { _ in true }.devices, 29)
            }
            let token = AccessToken(name: "ci", scopes: [.status], apps: nil, createdAt: subject.now, revokedAt: nil)
            try subject.store.addToken(token, hash: [UInt8](repeating: 1, count: 32))
            try hold(subject, .accessToken("ci")) { actor in
                try check(try subject.store.revokeToken(name: "ci", by: actor), "it is there")
            }
        },
        ConformanceCase("a phone number stands in no refusal") { subject in
            try subject.store.register([subject.registration(0, telephone: "13800138000")], at: subject.now)
            let shown = Shown([.text: .text("13900139000")])
            do {
                _ = try subject.store.removeDevice(
                    subject.app, token: subject.token(0),
                    by: Signature(by: Principal.tester.confirming(shown), at: subject.now))
                throw ConformanceFailure(description: "another's device was removed")
            } catch let stale as StaleConfirmation {
                try check(!"\(stale) \(stale.changes)".contains("3800138000"), "\(stale.changes)")
                try check(!"\(stale) \(stale.changes)".contains("3900139000"), "\(stale.changes)")
            }
        },
    ]
}
