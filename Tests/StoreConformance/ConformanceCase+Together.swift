// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

/// Decisions at the same time have the result that they would have one after the other.
extension ConformanceCase {
    static let together: [ConformanceCase] = [
        ConformanceCase("what a bump derives is derived of what is there when it is written") { subject in
            try subject.bump(VersionBump(app: subject.app, latest: try subject.version("1.0.0")))
            // Only the first bump raises the second number, and so forces a version.
            try await many(12) { number in
                let bump = VersionBump(app: subject.app, latest: try subject.version("1.1.\(number)"))
                do {
                    var surroundings = RequirementMachine.Surroundings.waiting(
                        for: nil, draft: subject.draft(), at: subject.now)
                    surroundings.policy.force = .minor
                    _ = try subject.store.apply(
                        bump, by: Signature(by: "t", via: "t", at: subject.now), in: surroundings, receipt: nil
                    ) { _ in StoredAnswer(status: 200, body: []) }
                } catch let error as StoreError {
                    // Other bumps were faster, and versions only rise.
                    guard case .versionWouldFall = error.code else { throw error }
                }
            }
            try same(try subject.store.campaigns(before: nil, limit: 20).count, 1)
            try same(try subject.store.version(of: subject.app)?.latest?.text, "1.1.11")
        },
        ConformanceCase("a bump that no push can tell of changes nothing, and is looked at once") { subject in
            struct Refused: Error {}
            var looks = 0
            var surroundings = RequirementMachine.Surroundings.waiting(
                for: nil, draft: subject.draft(), at: subject.now)
            surroundings.policy.check = { row throws(RequirementRefusal) in
                looks += 1
                throw .unsendable("\(row.version) is too long")
            }
            do {
                _ = try subject.store.apply(
                    VersionBump(app: subject.app, required: try subject.version("2")),
                    by: Signature(by: "t", via: "t", at: subject.now), in: surroundings,
                    receipt: WebhookReceipt(id: "1", hook: "version", body: []),
                    refused: { $0 == .unsendable("2 is too long") ? Refused() as any Error : $0 }
                ) { _ in StoredAnswer(status: 200, body: []) }
                throw ConformanceFailure(description: "nothing was thrown")
            } catch is Refused {}
            try same(looks, 1)
            try same(try subject.store.version(of: subject.app), nil)
            try same(try subject.store.answer(to: WebhookReceipt(id: "1", hook: "version", body: [])), nil)
        },
        ConformanceCase("an answer that is kept by many at once is the same for all") { subject in
            let receipt = WebhookReceipt(id: "msg_1", hook: "github", body: [])
            let answers = try await many(12) { number in
                try subject.store.keep(
                    StoredAnswer(status: 200, body: [UInt8(number)]), to: receipt, at: subject.now)
            }
            let kept = try subject.store.answer(to: receipt)
            try check(answers.allSatisfy { $0 == kept }, "got \(answers), kept \(String(describing: kept))")
        },
        ConformanceCase("that a campaign waits long is noted once, whoever looks") { subject in
            let campaign = try subject.announce("2.0", isGated: true)
            try subject.listen(events: Set(EventType.allCases))
            let later = subject.now + .seconds(86_400)
            try await many(8) { _ in try subject.store.noteLongWaits(since: subject.now, at: later) }
            try subject.store.addressEvents(limit: 100, at: later)
            let noted = try subject.store.notifications(campaign: campaign.id, state: nil, before: nil, limit: 99)
            try same(noted.map(\.type), ["campaign.waitsLong"])
        },
        ConformanceCase("what happened is addressed once to each receiver, whoever looks, and while more happens") {
            subject in
            try subject.listen(events: Set(EventType.allCases))
            let stores = [subject.store, subject.second ?? subject.store]
            try await many(12) { number in
                let app = AppKey(app: "com.example.\(number)", platform: .ios)
                try subject.announce("2.0", app: app)
                try stores[number % 2].addressEvents(limit: 100, at: subject.now)
            }
            try subject.store.addressEvents(limit: 100, at: subject.now)
            let told = try subject.store.notifications(campaign: nil, state: .pending, before: nil, limit: 99)
            try same(Set(told.compactMap(\.campaign)), Set(try subject.store.openCampaigns().map(\.id)))
            try same(Set(told.map { "\($0.campaign ?? "") \($0.type)" }).count, told.count, "each once")
        },
        ConformanceCase("a reminder that was opened is not opened again, though the campaign is over again") {
            subject in
            try subject.registerDevices(3)
            let campaign = try subject.announce("2.0.0")
            try subject.commit([try subject.batch(subject.onlyShard(campaign), last: true)], at: subject.now)
            try check(try subject.store.completeIfDone(campaign.key, at: subject.now), "not complete")
            let draft = RoundDraft(.reminder(dueAt: subject.now), timeToLive: .seconds(3600))
            let answers = try await many(6) { _ in try subject.store.reopen(campaign.key, for: draft, at: subject.now) }
            try same(answers.count { $0 == .opened }, 1)
            // No device is behind any more.
            while try subject.store.gather(campaign.key, atMost: 9, at: subject.now, wants: { _, _ in false }).progress
                != .done
            {}
            try check(try subject.store.completeIfDone(campaign.key, at: subject.now), "not complete again")
            try same(try subject.store.reopen(campaign.key, for: draft, at: subject.now), .nothingLeft)
        },
    ]
}

/// Runs `body` `count` times at once.
@discardableResult
func many<Result: Sendable>(
    _ count: Int, _ body: @escaping @Sendable (Int) throws -> Result
) async throws -> [Result] {
    try await withThrowingTaskGroup(of: Result.self) { group in
        for number in 0..<count { group.addTask { try body(number) } }
        return try await group.reduce(into: []) { $0.append($1) }
    }
}
