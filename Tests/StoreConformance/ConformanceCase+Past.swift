// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

/// A store that went back in time: its identity, its progress, and the relays that have seen it further on.
extension ConformanceCase {
    static let past: [ConformanceCase] = [
        ConformanceCase("a store counts what is decided, and how often outcomes were recorded") { subject in
            let (store, signature) = (subject.store, subject.signature)
            try subject.registerDevices(10)
            var last = try store.mark()
            try check(!last.identity.isEmpty && !last.sign.isEmpty, "it has an identity")
            func rises(_ what: String, _ act: () throws -> Void) throws {
                try act()
                let now = try store.mark()
                try check(now.decision > last.decision && now.sign != last.sign, what)
                try same(now.identity, last.identity, "of one store")
                last = now
            }
            var campaign: CampaignRecord?
            try rises("a requirement") { campaign = try subject.announce() }
            let key = try present(campaign, "a campaign")
            try rises("a pause") { _ = try store.decide(key, .paused, by: signature) }
            try rises("a resumption") { _ = try store.decide(key, .resumed, by: signature) }
            let token = AccessToken(name: "ci", scopes: [.status], apps: nil, createdAt: subject.now, revokedAt: nil)
            try rises("a new token") {
                try store.addToken(
                    token, hash: [UInt8](repeating: 7, count: 32), by: Principal("t", .operator, via: "cli"))
            }
            try rises("a revoked token") { _ = try store.revokeToken(name: "ci", by: signature) }
            try rises("a device that was removed") {
                _ = try store.removeDevice(subject.app, token: subject.token(9), by: signature)
            }
            try rises("a user who was erased") {
                _ = try store.eraseUser("1381", by: signature) { _ in true }
            }
            try store.planShards(key.key, shardSize: 10, waves: nil, at: subject.now)
            let shard = try present(try subject.open(key.key).first, "a shard")
            last = try store.mark()
            try subject.commit([try subject.batch(shard, limit: 4)], at: subject.now)
            let recorded = try store.mark()
            try same(recorded.recorded, last.recorded + 1, "a commit")
            try same(recorded.decision, last.decision, "which decides nothing")
            // Apps register by the thousand.
            try subject.registerDevices(20)
            try same(try store.mark(), recorded, "a registration")
        },
        ConformanceCase("what is seen of a store is remembered with each decision") { subject in
            let memory = subject.store.membership.memory
            try subject.announce()
            let seen = try present(memory.seen, "what was seen")
            let mark = try subject.store.lookBack()
            try same(seen.decision, mark.decision)
            try same(seen.sign, mark.sign)
            try same(memory.seen, mark)
            try check(!memory.hasFallen, "all is well")
        },
        ConformanceCase(
            "nothing is written to a store that went back, nor read for sending, until a person takes it on"
        ) { subject in
            let (store, memory) = (subject.store, subject.store.membership.memory)
            try subject.registerDevices(10)
            let campaign = try subject.announce()
            try store.planShards(campaign.key, shardSize: 10, waves: nil, at: subject.now)
            let shard = try present(try subject.open(campaign.key).first, "a shard")
            let batch = try subject.batch(shard, limit: 4)
            let found = try store.lookBack()
            try memory.see(ahead: found, by: 3)
            func goesBack(_ what: String, _ act: () throws -> Void) throws {
                try same((try failure(act) as? StoreError)?.code, .wentBack, what)
            }
            try goesBack("a commit") { try subject.commit([batch], at: subject.now) }
            try check(memory.hasFallen, "it is known")
            try same(store.membership.term, nil, "nothing may be sent")
            try check(!store.membership.leads, "and nothing is done for all")
            try goesBack("a requirement") { try subject.bump(VersionBump(app: subject.app, required: Version("3"))) }
            try goesBack("a claim") { _ = try store.claimRun(campaign.key) }
            try goesBack("devices to send to") {
                var rows = DeviceRows()
                try store.readDevices(
                    subject.app, channel: .production, after: 0, through: .max, limit: 9, into: &rows)
            }
            try goesBack("a look") { try store.lookBack() }
            try goesBack("a test of writing") { try store.checkWritable() }
            let fall = try present(memory.fall, "a fall")
            try same(fall.seen.decision, found.decision + 3)
            try same(fall.found?.decision, found.decision)
            // Reads for people still work.
            try same(try store.openCampaigns().map(\.id), [campaign.id])
            // A person repeats what was lost.
            let revoked = try OperatorHeader.$isAtWork.withValue(true) {
                try store.decide(campaign, .paused, by: subject.signature)
            }
            try check(revoked, "a person's pause")
            let word = StoreWord(seen: fall.seen, found: found)
            try same(
                (try failure { _ = try store.accept(word, by: subject.signature) } as? StoreError)?.code, .refused,
                "what was shown is not so any more")
            let accepted = try store.accept(
                StoreWord(seen: fall.seen, found: try store.mark()), by: subject.signature)
            try check(!memory.hasFallen, "a person's word ends it")
            try check(accepted.identity != found.identity, "and gives the store another identity")
            try check(store.membership.term != nil, "what was begun before")
            try check(store.membership.term != 0, "does not go on")
            try store.checkWritable()
            let entry = try present(try store.audit(AuditFilter(), before: nil, limit: 1).first, "an entry")
            try same(entry.action, AuditAction.storeAccept.rawValue)
            try same(
                (try failure { _ = try store.accept(word, by: subject.signature) } as? StoreError)?.code, .refused,
                "there is nothing to accept")
        },
        ConformanceCase("a store that went apart at the same number is another one") { subject in
            let memory = subject.store.membership.memory
            var mark = try subject.store.lookBack()
            mark.sign = "0123456789abcdef"
            mark.decision += 1
            memory.note(mark)
            // It has decided as often as the store that was seen.
            let program = try present(subject.second, "another relay")
            try program.addToken(
                AccessToken(name: "x", scopes: [.status], apps: nil, createdAt: subject.now, revokedAt: nil),
                hash: [UInt8](repeating: 3, count: 32), by: Principal("t", .operator, via: "cli"))
            try check(try program.mark().decision >= mark.decision, "as far")
            try same((try failure { try subject.store.lookBack() } as? StoreError)?.code, .wentBack)
        },
        ConformanceCase("outcomes that were lost are a fall, too: by the count of all, and by the lease of who sends") {
            subject in
            try subject.registerDevices(10)
            let campaign = try subject.announce()
            try subject.store.planShards(campaign.key, shardSize: 10, waves: nil, at: subject.now)
            var lease = try present(try subject.store.claimRun(campaign.key), "a lease")
            let shard = try present(
                try subject.store.openShards(campaign.key, channel: .production).first, "a shard")
            let batch = try subject.batch(
                Shard(campaign: campaign.key, channel: .production, range: shard), limit: 4)
            lease.commits += 2
            try same(
                (try failure { _ = try subject.store.commit([batch], of: lease, at: subject.now) } as? StoreError)?
                    .code,
                .wentBack)
            // The look of each second finds the same.
            try same((try failure { try subject.store.lookBack() } as? StoreError)?.code, .wentBack)
            let fall = try present(subject.store.membership.memory.fall, "a fall")
            try same(fall.seen.recorded, 2)
            let accepted = try subject.store.accept(
                StoreWord(seen: fall.seen, found: try subject.store.mark()), by: subject.signature)
            try same(accepted.recorded, 0)
            try check(
                try !subject.store.commit([batch], of: lease, at: subject.now), "a lease of before is over, and no fall"
            )
            try subject.store.lookBack()
            let other = try present(subject.second, "another relay")
            var mark = try other.lookBack()
            mark.recorded += 1
            other.membership.memory.note(mark)
            try same((try failure { try other.lookBack() } as? StoreError)?.code, .wentBack)
        },
        ConformanceCase("a word at one relay is every relay's that saw no more, and the right store ends a fall") {
            subject in
            let (first, second) = (subject.store, try present(subject.second, "another relay"))
            let mark = try first.lookBack()
            try first.membership.memory.see(ahead: mark, by: 5)
            try second.membership.memory.see(ahead: mark, by: 2)
            for store in [first, second] {
                try same((try failure { try store.lookBack() } as? StoreError)?.code, .wentBack)
            }
            let fall = try present(first.membership.memory.fall, "a fall")
            _ = try first.accept(
                StoreWord(seen: fall.seen, found: try first.mark()), by: subject.signature)
            try second.lookBack()
            try check(!second.membership.memory.hasFallen, "it saw less than was accepted")
            try same(second.membership.memory.seen, first.membership.memory.seen)
            // The right store has been put back.
            second.membership.memory.fell(to: nil)
            try check(second.membership.memory.hasFallen, "a fall")
            try second.lookBack()
            try check(!second.membership.memory.hasFallen, "nothing is lost")
            // A relay that saw more than was accepted needs an acceptance of its own.
            try second.membership.memory.see(ahead: try second.mark(), by: 9)
            try same((try failure { try second.lookBack() } as? StoreError)?.code, .wentBack)
        },
        ConformanceCase("a relay of a name that another process has is refused, unless that one is gone") { subject in
            let (first, second) = (subject.store, try present(subject.second, "another relay"))
            for store in [first, second] { store.membership.beginFleet(clock: { MonotonicTime(nanoseconds: 1) }) }
            func description(_ process: String) -> NodeDescription {
                var description = NodeDescription(name: "a", release: "test")
                (description.host, description.process) = ("host-\(process)", process)
                return description
            }
            let (node, _) = try first.join(description("1"), for: .seconds(60))
            let error = try failure { _ = try second.join(description("2"), for: .seconds(60)) } as? StoreError
            try same(error?.code, .nameInUse)
            try check(error?.context.contains("host-1") == true, "it says where: \(error?.context ?? "")")
            try check(
                try first.beat(
                    node, for: .seconds(60), configuration: "", clockAhead: .zero, figures: "") != nil,
                "the first is not disturbed")
            try same(try first.join(description("1"), for: .seconds(60)).0.incarnation, node.incarnation + 1, "itself")
            let (taken, _) = try second.join(description("2"), for: .milliseconds(-1), ended: "1")
            try same(taken.incarnation, node.incarnation + 2, "one that has ended")
            try same(try first.nodes().first?.description.host, "host-2")
            let (again, _) = try first.join(description("1"), for: .seconds(60))
            try same(again.incarnation, node.incarnation + 3, "one whose lease is over")
            try first.leave(again)
            try same(
                try second.join(description("2"), for: .seconds(60)).0.incarnation, node.incarnation + 4,
                "one that has left")
        },
    ]
}

extension StoreMemory {
    /// Notes a mark that is `decisions` decisions further than the store.
    fileprivate func see(ahead mark: StoreMark, by decisions: Int64) throws {
        var mark = mark
        mark.decision += decisions
        mark.sign = "00000000000000ff"
        note(mark)
        try same(seen?.decision, mark.decision)
    }
}

extension Subject {
    fileprivate var signature: Signature {
        Signature(by: Principal("tester", .operator, via: "test"), at: now)
    }
}

private func failure(_ body: () throws -> Void) throws -> any Error {
    do {
        try body()
    } catch {
        return error
    }
    throw ConformanceFailure(description: "it succeeded")
}
