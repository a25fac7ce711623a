// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

/// Acts that wait for a second person.
extension ConformanceCase {
    private static let ada = Principal("ada", .token, via: "api")
    private static let bob = Principal.operator("bob (uid 1001)")

    /// Asks to require a version of an app with ten devices, all of which it reaches.
    private static func raise(
        _ text: String, _ subject: Subject, by actor: Principal, way: ((Approval.Wish) -> ApprovalCheck.Way)? = nil,
        devices: Int64 = 10, measured: Requirements? = nil, at time: Timestamp? = nil, telephones: [String]? = nil
    ) throws -> Decision {
        let now = time ?? subject.now
        var wish = Approval.Wish(.raise, try subject.version(text))
        (wish.body, wish.telephones) = ("{\"required\": \"\(text)\"}", telephones)
        var surroundings = RequirementMachine.Surroundings(now: now, draft: subject.draft())
        surroundings.approval = ApprovalCheck(
            way?(wish) ?? .asks(wish, within: .seconds(3600)), ApprovalReach(devices: devices, of: 10),
            measured: try measured ?? subject.store.releasable(of: subject.app, nil, nil).0)
        var bump = VersionBump(app: subject.app, required: try subject.version(text))
        bump.telephones = telephones
        return try subject.store.decide(
            subject.app, .asked(bump), by: Signature(by: actor, at: now), in: surroundings)
    }

    private static func approve(
        _ request: Approval, _ subject: Subject, by actor: Principal, devices: Int64 = 10, at time: Timestamp? = nil
    ) throws -> Decision {
        try raise(
            request.wish.version.text, subject, by: actor.confirming(request.shown),
            way: { _ in .approves(request.id) },
            devices: devices, at: time, telephones: request.wish.telephones)
    }

    private static func required(_ subject: Subject) throws -> String? {
        try subject.store.version(of: subject.app)?.required?.text
    }

    private static func refused(_ body: () throws -> Void) throws -> ApprovalRefusal {
        do {
            try body()
        } catch let refusal as ApprovalRefusal {
            return refusal
        }
        throw ConformanceFailure(description: "it was done")
    }

    static let approvals: [ConformanceCase] = [
        ConformanceCase("a rise waits for a second person, and is in force once that person has approved it") {
            subject in
            try subject.registerDevices(10)
            try subject.listen(events: [.asked, .approved, .refused, .alone])
            let request = try present(try raise("2.0", subject, by: ada).waiting, "the request")
            try same(try required(subject), nil)
            try same(try subject.store.campaigns(before: nil, limit: 10).count, 0)
            try same(try subject.store.approval(request.id), request)
            try same(try subject.store.openApprovals(of: subject.app), [request])
            try same(request.shown, Shown([.version: .nothing]))
            try same(request.until, subject.now + .seconds(3600))
            // The same again is the same request, and not news.
            try same(try raise("2.0", subject, by: ada).waiting, request)
            try same(try subject.events().map(\.type), [.asked])
            try same(
                try refused { _ = try approve(request, subject, by: .operator("Ada (uid 7)")) }, .own(request))
            try same(try required(subject), nil)
            let decision = try approve(request, subject, by: bob)
            try same(decision.waiting, nil)
            try same(try required(subject), "2.0")
            let closed = try present(try subject.store.approval(request.id), "the request")
            try same(closed.state, .approved)
            try same(closed.closedBy, "bob (uid 1001)")
            try same(try subject.store.openApprovals(of: subject.app), [])
            try same(try subject.events().map(\.type), [.approved])
            try same(
                try subject.store.audit(AuditFilter(), before: nil, limit: 50).map(\.action)
                    .filter { $0.hasPrefix("approval.") }, ["approval.approve", "approval.ask"])
            // The campaign's own history names both persons.
            var filter = AuditFilter()
            filter.campaign = try present(decision.campaign, "the campaign").id
            let entry = try present(
                try subject.store.audit(filter, before: nil, limit: 50).first { $0.action == "approval.approve" },
                "the approval in the campaign's history")
            try same(entry.actor.name, "bob (uid 1001)")
            try same(entry.after?.contains(#""askedBy":"ada""#), true)
            try same(try refused { _ = try approve(request, subject, by: bob) }, .isOver(closed, .approved))
        },
        ConformanceCase("a request is approved before its end alone, and a newer one takes its place") { subject in
            try subject.registerDevices(10)
            let first = try present(try raise("2.0", subject, by: ada).waiting, "the request")
            let second = try present(try raise("2.1", subject, by: bob).waiting, "the second one")
            try same(try subject.store.approval(first.id)?.state, .superseded)
            try same(try subject.store.openApprovals(of: subject.app), [second])
            let late = try refused { _ = try approve(second, subject, by: ada, at: second.until) }
            try same(late, .isOver(second, .expired))
            try same(try required(subject), nil)
            let third = try present(
                try raise("2.1", subject, by: bob, at: second.until + .seconds(1)).waiting, "the third one")
            try same(try subject.store.approval(second.id)?.state, .expired)
            _ = try approve(third, subject, by: ada, at: third.askedAt)
            try same(try required(subject), "2.1")
        },
        ConformanceCase("an approval is one of what was shown when the request was made") { subject in
            try subject.registerDevices(10)
            let request = try present(try raise("2.0", subject, by: ada).waiting, "the request")
            do {
                _ = try approve(request, subject, by: bob, devices: 12)
                throw ConformanceFailure(description: "it reaches others, and was approved")
            } catch is StaleConfirmation {}
            try subject.announce("1.9")
            do {
                _ = try approve(request, subject, by: bob)
                throw ConformanceFailure(description: "another version is required since, and it was approved")
            } catch let stale as StaleConfirmation {
                try same(stale.changes.map(\.fact), [.version])
            }
            try same(try required(subject), "1.9")
            try same(try subject.store.approval(request.id)?.state, .open)
        },
        ConformanceCase("what was counted with other requirements is counted again") { subject in
            try subject.registerDevices(10)
            let before = try subject.store.releasable(of: subject.app, nil, nil).0
            try subject.announce("1.9")
            for way in [ApprovalCheck.Way.free, .approves(1)] {
                try same(
                    try refused { _ = try raise("2.0", subject, by: ada, way: { _ in way }, measured: before) }, .moved)
            }
            try same(try required(subject), "1.9")
        },
        ConformanceCase("a refusal has a reason, and no machine asks again; a person does") { subject in
            try subject.registerDevices(10)
            let machine = Principal("ci", .webhook, via: "webhook")
            let request = try present(try raise("2.0", subject, by: machine).waiting, "the request")
            let closed = try present(
                try subject.store.refuse(
                    approval: request.id, by: Signature(by: bob, at: subject.now), reason: "not before Monday"),
                "the refused one")
            try same(closed.state, .refused)
            try same(closed.reason, "not before Monday")
            try same(try subject.store.lastApproval(.raise, of: subject.app), closed)
            try same(try subject.store.lastApproval(.block, of: subject.app), nil)
            try same(try refused { _ = try raise("2.0", subject, by: machine) }, .refusedBefore(closed))
            try check(try raise("2.0", subject, by: ada).waiting != nil, "a person may ask again")
            try same(
                try refused {
                    _ = try subject.store.refuse(
                        approval: request.id, by: Signature(by: bob, at: subject.now), reason: "again")
                }, .isOver(closed, .refused))
            try same(
                try subject.store.refuse(approval: 77, by: Signature(by: bob, at: subject.now), reason: "none"), nil)
        },
        ConformanceCase("in an emergency one person acts alone, and it is written down everywhere") { subject in
            try subject.registerDevices(10)
            try subject.listen(events: Set(EventType.allCases))
            let request = try present(try raise("2.0", subject, by: bob).waiting, "the request")
            _ = try raise("2.0", subject, by: ada, way: { .alone($0, reason: "data is lost") })
            try same(try required(subject), "2.0")
            try same(try subject.store.approval(request.id)?.state, .superseded)
            let alone = try present(try subject.store.approvals(before: nil, limit: 1).first, "the emergency")
            try same(alone.state, .alone)
            try same(alone.reason, "data is lost")
            try same(alone.closedBy, "ada")
            try check(try subject.events().contains { $0.type == .alone }, "receivers hear of it")
            let entry = try subject.store.audit(AuditFilter(), before: nil, limit: 50).first {
                $0.action == "approval.alone"
            }
            try check(entry?.after?.contains("data is lost") ?? false, "the audit trail has the reason")
        },
        ConformanceCase("an erased user is in no request, and a closed one has no numbers") { subject in
            try subject.registerDevices(10)
            let request = try present(
                try raise("2.0", subject, by: ada, telephones: ["1381", "1382"]).waiting, "the request")
            _ = try subject.store.eraseUser("1381", by: Signature(by: bob, at: subject.now)) { _ in true }
            let left = try present(try subject.store.approval(request.id), "the request")
            try same(left.wish.telephones, ["1382"])
            _ = try subject.store.refuse(
                approval: request.id, by: Signature(by: bob, at: subject.now), reason: "not now")
            try same(try subject.store.approval(request.id)?.wish.telephones, nil)
        },
        ConformanceCase("requests that are over are forgotten in their time, and one that waits never") { subject in
            try subject.registerDevices(10)
            let store = subject.store
            let refused = try present(try raise("2.0", subject, by: ada).waiting, "the refused request")
            _ = try store.refuse(approval: refused.id, by: Signature(by: bob, at: subject.now), reason: "not now")
            let superseded = try present(try raise("2.1", subject, by: ada).waiting, "the superseded request")
            let approved = try present(try raise("2.2", subject, by: ada).waiting, "the approved request")
            _ = try approve(approved, subject, by: bob)
            // Its time ends, and no act closes it.
            let expired = try present(try raise("2.3", subject, by: ada).waiting, "the expired request")
            func kept() throws -> [Int64] { try store.approvals(before: nil, limit: 99).map(\.id) }
            try same(try store.forgetApprovals(before: subject.now), 0)
            try same(try kept(), [expired.id, approved.id, superseded.id, refused.id])
            try same(try store.forgetApprovals(before: subject.now + .seconds(1)), 3)
            try same(try kept(), [expired.id], "it waits")
            try same(try store.forgetApprovals(before: expired.until), 0)
            try same(try store.forgetApprovals(before: expired.until + .milliseconds(1)), 1)
            try same(try kept(), [])
            let later = try present(
                try raise("2.3", subject, by: ada, at: expired.until + .seconds(1)).waiting, "a later request")
            try check(later.id > expired.id, "no number is given twice")
        },
        ConformanceCase("the trail that is forgotten takes no request with it") { subject in
            try subject.registerDevices(10)
            let request = try present(try raise("2.0", subject, by: ada).waiting, "the request")
            try check(try subject.store.forgetAudit(before: request.until) > 0, "the entry of the request is forgotten")
            try same(try subject.store.openApprovals(of: subject.app), [request])
        },
    ]
}
