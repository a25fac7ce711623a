// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules
import WireFormat

/// The audit trail: each act with its actor.
extension ConformanceCase {
    static let audit: [ConformanceCase] = [
        ConformanceCase("who raised a version, and what became of its campaign, is in the audit trail") { subject in
            let store = subject.store
            let ann = Principal("ann", .token, via: "api", from: "192.0.2.7")
            let campaign = try subject.ask("2.0.0", by: ann, canary: nil)
            let trail = try store.audit(AuditFilter(), before: nil, limit: 9)
            try same(trail.map(\.action), ["campaign.create", "version.bump"])
            let bump = try present(trail.last, "the bump")
            try same(bump.actor, ann)
            try same(bump.at, subject.now)
            try same(bump.app, subject.app)
            try same(bump.campaign, campaign.id)
            try same(bump.object, "2.0.0")
            try same(bump.before, #"{"required":null,"latest":null,"inForce":null}"#)
            try same(bump.after, #"{"required":"2.0.0","latest":"2.0.0","inForce":"2.0.0"}"#)
            try same(trail[0].actor, .relay)
            try same(trail[0].campaign, campaign.id)
            try same(trail[0].after, #"{"state":"running"}"#)
        },
        ConformanceCase("who words a version or a block anew is in the audit trail") { subject in
            let store = subject.store
            let ann = Principal("ann", .token, via: "api", from: "192.0.2.7")
            _ = try subject.ask("2.0.0", by: ann, canary: nil)
            var bump = VersionBump(app: subject.app, required: try subject.version("2.0.0"))
            bump.message = LocalizedText("Upgrade, please.")
            let rows = try subject.rows(of: bump, by: ann)
            try same(rows.map(\.action), ["version.bump"])
            try same(rows.first?.actor, ann)
            try same(rows.first?.before, #"{"message":null}"#)
            try same(rows.first?.after, #"{"message":"Upgrade, please."}"#)
            try same(try subject.rows(of: bump, by: ann).count, 0, "nothing has changed")
            var block = VersionBump(app: subject.app)
            block.blocked = [try subject.version("1.5.0")]
            try same(try subject.rows(of: block, by: ann).map(\.action), ["campaign.create", "version.block"])
            block.message = LocalizedText("Leave it, please.")
            try same(try subject.rows(of: block, by: ann).map(\.action), ["version.block"])
        },
        ConformanceCase("each move of a campaign is in the audit trail once, with who it was and why") { subject in
            let store = subject.store
            let campaign = try subject.announce()
            let bob = Signature(by: .operator("bob (uid 1001)"), via: "campaign", at: subject.now)
            for change in [CampaignChange.paused, .resumed] { try store.decide(campaign, change, by: bob) }
            try store.decide(campaign, .suspended(.credential, "BadKey: no"), by: .relay(at: subject.now))
            try check(try !store.decide(campaign, .paused, by: bob), "it is suspended")
            try store.decide(campaign, .resumed, by: bob)
            try store.decide(campaign, .hurried, by: bob)
            try store.decide(campaign, .hurried, by: bob)
            try store.decide(campaign, .cancelled, by: bob)
            var filter = AuditFilter()
            filter.campaign = campaign.id
            let trail = try store.audit(filter, before: nil, limit: 99)
            try same(
                trail.reversed().map { "\($0.action) \($0.actor.kind.rawValue)" },
                [
                    "version.bump token", "campaign.create relay", "campaign.pause operator",
                    "campaign.resume operator",
                    "campaign.suspend relay", "campaign.resume operator", "campaign.hurry operator",
                    "campaign.cancel operator",
                ])
            try same(trail[3].after, #"{"state":"suspended","reason":"BadKey: no"}"#)
            try same(trail[2].before, #"{"state":"suspended","reason":"BadKey: no"}"#)
            try same(trail[2].after, #"{"state":"running","reason":null}"#)
            try same(trail[2].actor.address, Principal.controlSocket)
        },
        ConformanceCase("what was refused or undone leaves no row in the audit trail") { subject in
            let store = subject.store
            struct Undone: Error {}
            let campaign = try subject.announce("2.0.0")
            let count = try store.audit(AuditFilter(), before: nil, limit: 99).count
            try check((try? subject.announce("1.0.0")) == nil, "it is older")
            do {
                _ = try store.apply(
                    VersionBump(app: subject.app, required: try subject.version("3.0.0")),
                    by: Signature(by: .tester, at: subject.now), in: .init(now: subject.now), receipt: nil
                ) { _ in throw Undone() }
            } catch is Undone {}
            try same(try store.version(of: subject.app)?.required, try subject.version("2.0.0"))
            try check(try !store.decide(campaign, .resumed, by: Signature(by: .tester, at: subject.now)), "it runs")
            try check(try !store.revokeToken(name: "none", at: subject.now), "there is none")
            try check(try !store.clearAlert(of: subject.app, at: subject.now), "there is none")
            try check(try !store.removeDevice(subject.app, token: subject.token(1)), "there is none")
            try same(try store.eraseUser("138") { _ in true }, UserErasure())
            // The same act again changes nothing.
            try subject.bump(VersionBump(app: subject.app, required: try subject.version("2.0.0")))
            try same(try store.audit(AuditFilter(), before: nil, limit: 99).count, count)
        },
        ConformanceCase("what superseded a campaign, and brought it back, is in the audit trail") { subject in
            let store = subject.store
            let first = try subject.announce("2.0.0")
            try subject.announce("3.0.0")
            _ = try store.withdraw(
                try subject.version("3.0.0"), of: subject.app, by: .tester, reason: "it crashes", at: subject.now)
            var filter = AuditFilter()
            filter.campaign = first.id
            try same(
                try store.audit(filter, before: nil, limit: 9).map(\.action),
                ["campaign.begin", "campaign.supersede", "campaign.create", "version.bump"])
            filter = AuditFilter()
            filter.action = .versionWithdraw
            let row = try present(try store.audit(filter, before: nil, limit: 9).first, "the withdrawal")
            try same(row.object, "3.0.0")
            try same(
                row.after, #"{"required":"2.0.0","latest":"2.0.0","inForce":"2.0.0","reason":"it crashes"}"#)
        },
        ConformanceCase("receivers get the events of each decision's changes, and no others") { subject in
            let store = subject.store
            try store.adoptReceivers([NotificationReceiver(url: "https://chat.example.com")], at: subject.now)
            var events: [String] = []
            func decide(_ event: RequirementEvent) throws -> CampaignRecord? {
                let decision = try store.decide(
                    subject.app, event, by: Signature(by: .tester, at: subject.now),
                    in: .waiting(for: nil, draft: subject.draft(), at: subject.now))
                events += Change.noted(decision.changes).map(\.type.rawValue)
                return decision.campaign
            }
            let first = try present(
                try decide(.asked(VersionBump(app: subject.app, required: try subject.version("2.0.0")))), "a campaign")
            for order in [CampaignChange.hurried, .paused, .resumed, .suspended(.credential, "BadKey"), .resumed] {
                _ = try decide(.campaign(first.key, order))
            }
            _ = try decide(.asked(VersionBump(app: subject.app, required: try subject.version("3.0.0"))))
            _ = try decide(.withdrawn(try subject.version("3.0.0"), reason: "it crashes"))
            var bump = VersionBump(app: subject.app)
            bump.blocked = [try subject.version("1.5.0")]
            _ = try decide(.asked(bump))
            _ = try decide(.unblocked(bump.blocked, reason: nil))
            _ = try decide(.campaign(first.key, .drained))
            try store.addressEvents(limit: 99, at: subject.now)
            let heard = try store.notifications(campaign: nil, state: nil, before: nil, limit: 99).map(\.type)
            try same(heard.sorted(), events.sorted())
            try same(Set(heard).count, 9, "kinds of events: \(heard)")
        },
        ConformanceCase("alerts and API tokens have their rows in the audit trail") { subject in
            let store = subject.store
            try store.setAlert(subject.alert("Back at 6 pm.", blocking: false, endsAt: nil))
            try store.setAlert(subject.alert("Back at 7 pm.", blocking: true, endsAt: subject.now + .seconds(60)))
            try check(try store.clearAlert(of: subject.app, at: subject.now), "cleared")
            let token = AccessToken(
                name: "ci", scopes: [.versions, .status], apps: ["a"], createdAt: subject.now, revokedAt: nil)
            try store.addToken(token, hash: [UInt8](repeating: 7, count: 32))
            try check(try store.revokeToken(name: "ci", at: subject.now), "revoked")
            let trail = try store.audit(AuditFilter(), before: nil, limit: 9)
            try same(
                trail.map(\.action), ["token.revoke", "token.create", "alert.clear", "alert.set", "alert.set"])
            try same(trail[1].object, "ci")
            try same(trail[1].after, #"{"scopes":["status","versions"],"apps":["a"]}"#)
            let end = (subject.now + .seconds(60)).internetTime
            try same(trail[3].before, #"{"message":"Back at 6 pm.","blocking":false,"endsAt":null}"#)
            try same(trail[3].after, "{\"message\":\"Back at 7 pm.\",\"blocking\":true,\"endsAt\":\"\(end)\"}")
            try same(trail[2].after, nil)
        },
        ConformanceCase("who is erased is in the audit trail masked") { subject in
            let store = subject.store
            try store.register(
                [
                    subject.registration(1, telephone: "13800138000"),
                    subject.registration(2, telephone: "13800138000"),
                ], at: subject.now)
            try check(try store.removeDevice(subject.app, token: subject.token(1)), "it was there")
            try same(try store.eraseUser("13800138000") { _ in true }.devices, 1)
            let trail = try store.audit(AuditFilter(), before: nil, limit: 9)
            try same(trail.map(\.action), ["user.erase", "device.remove"])
            try same(trail[0].object, "138…00")
            try same(trail[0].app, subject.app, "in one app alone")
            try same(trail[1].object, "0000…0001")
            try same(trail[1].before, #"{"telephone":"138…00"}"#)
            try check(!trail.contains { "\($0)".contains("13800138000") }, "a number is in the trail")
        },
        ConformanceCase("the audit trail is listed by what is asked for, page by page") { subject in
            let store = subject.store
            let other = AppKey(app: "com.example.other", platform: .android)
            for (number, app) in [subject.app, other, nil, subject.app].enumerated() {
                var entry = AuditEntry(
                    at: subject.now + .seconds(number), actor: .operator("user \(number % 2)"),
                    action: number == 3 ? "log.level" : "relay.reload")
                entry.app = app
                try store.note(entry)
            }
            func found(_ change: (inout AuditFilter) -> Void) throws -> [Int64] {
                var filter = AuditFilter()
                change(&filter)
                return try store.audit(filter, before: nil, limit: 99).map { $0.at.milliseconds / 1000 - 1_700_000_000 }
            }
            try same(try found { _ in }, [3, 2, 1, 0])
            try same(try found { $0.app = subject.app.app }, [3, 0])
            try same(try found { $0.platform = .android }, [1])
            try same(try found { $0.actor = "user 0" }, [2, 0])
            try same(try found { $0.action = .logLevel }, [3])
            try same(try found { $0.since = subject.now + .seconds(2) }, [3, 2])
            try same(try found { $0.apps = [other.app] }, [1], "what is about no app is not among them")
            try same(try found { $0.apps = [] }, [])
            try same(try found { ($0.apps, $0.app) = ([other.app], subject.app.app) }, [])
            let first = try store.audit(AuditFilter(), before: nil, limit: 3)
            try same(first.count, 3)
            try same(try store.audit(AuditFilter(), before: first[2].id, limit: 3).count, 1)
        },
        ConformanceCase("the audit trail finds an actor by the name alone, and whom root acted for") { subject in
            let names = [
                "root (uid 0)", "root (uid 0) for ada (uid 1000)", "ada (uid 1000)", "ada", "adam (uid 7)", "it's %",
            ]
            for name in names {
                try subject.store.note(AuditEntry(at: subject.now, actor: .operator(name), action: "relay.reload"))
            }
            let wanted = [
                "root": [0, 1], "ada": [1, 2, 3], "root (uid 0)": [0, 1], "ada (uid 1000)": [1, 2], "adam": [4],
                "root (uid 0) for ada (uid 1000)": [1], "it's %": [5], "ro": [], "": [], "%": [], "(uid 7)": [],
            ]
            for (name, places) in wanted {
                var filter = AuditFilter()
                filter.actor = name
                let found = try subject.store.audit(filter, before: nil, limit: 9).reversed().map(\.actor.name)
                try same(Array(found), places.map { names[$0] }, name)
            }
        },
        ConformanceCase("the audit trail is forgotten as told, and nothing younger") { subject in
            let store = subject.store
            for number in 0..<1200 {
                try store.note(
                    AuditEntry(at: subject.now + .seconds(number), actor: .tester, action: "relay.reload"))
            }
            try same(try store.forgetAudit(before: subject.now), 0)
            try same(try store.forgetAudit(before: subject.now + .seconds(1199)), 1199)
            try same(try store.audit(AuditFilter(), before: nil, limit: 9).map(\.at), [subject.now + .seconds(1199)])
            try same(try store.forgetAudit(before: subject.now + .seconds(100)), 0)
        },
    ]
}

extension Subject {
    /// The rows that a bump adds to the audit trail, the newest first.
    fileprivate func rows(of bump: VersionBump, by actor: Principal) throws -> [AuditEntry] {
        let before = try store.audit(AuditFilter(), before: nil, limit: 1).first?.id ?? 0
        try store.decide(
            app, .asked(bump), by: Signature(by: actor, at: now), in: .waiting(for: nil, draft: draft(), at: now))
        return try store.audit(AuditFilter(), before: nil, limit: 99).filter { $0.id > before }
    }

    fileprivate func ask(_ required: String, by actor: Principal, canary: [String]?) throws -> CampaignRecord {
        let applied = try store.apply(
            VersionBump(app: app, required: try version(required), telephones: canary),
            by: Signature(by: actor, at: now), in: .waiting(for: nil, draft: draft(), at: now), receipt: nil
        ) { _ in StoredAnswer(status: 200, body: []) }
        guard case .applied(let outcome, _) = applied else {
            throw ConformanceFailure(description: "a bump was taken for a replay")
        }
        return try present(outcome.campaign, "the campaign")
    }
}
