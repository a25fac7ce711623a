// SPDX-License-Identifier: Apache-2.0
import RelayDaemon
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

/// The relay's store goes back to an older state, and then returns to the newest: in the end nothing is lost, so that the model can go on.
extension World {
    /// A person copies the store, for later.
    func copyStore() throws -> String? {
        guard let relay, !isDiskFailing, !isDoomed else { return nil }
        try storage.copy(to: 0)
        copied = try relay.store.mark()
        return "somebody copies the store"
    }

    /// The copy takes the store's place: while the relay works, or between two of its lives. Nothing is sent from it and nothing decided
    /// until a person accepts it; then the newest is back, and that, too, is another one than was accepted.
    func putBack(_ first: Int, _ second: Int) throws -> String? {
        guard let copied, !isDiskFailing, !isDoomed, silence == 1, turnDepth == 0,
            try relay?.store.mark().decision ?? 0 > copied.decision
        else { return nil }
        // The relay first notices what it has not noticed yet: a decision that another program has made, and that the relay has never seen,
        // would not be missed in a copy without it.
        silence -= 1
        defer { silence += 1 }
        relay?.poke()
        step(.zero)
        _ = try? relay?.store.lookBack()
        // The copy may have been made anew while the relay looked: it lacks no decision then, and the relay misses nothing.
        guard relay != nil, !isDoomed, copied == self.copied else { return nil }
        try storage.copy(to: 1)
        let isRestarted = first % 3 == 0
        // Delays by a store that went back are excused as those by a disk that fails.
        (isDiskFailing, isBack) = (true, true)
        if isRestarted {
            die(downFor: .zero, isChecked: false) {
                do {
                    try storage.putBack(from: 0)
                } catch {
                    model.broke("store.check", "the copy cannot be put back: \(plain(error))")
                }
            }
            isDiskFailing = true
        } else {
            try storage.putBack(from: 0)
        }
        forgetLooks()
        try judgeFall(isSeenByWatch: second % 2 == 0)
        try accept(inTrail: false)
        try storage.putBack(from: 1)
        forgetLooks()
        try judgeFall(isSeenByWatch: true)
        try accept(inTrail: true)
        (isBack, isDiskFailing, quietSince) = (false, false, tick)
        // The outcomes of pushes that were on their way then are not recorded, as when the process dies.
        pushes.processDied()
        ledgerDied()
        forgetLooks()
        // A relay that has lost its term takes everything up anew.
        for campaign in campaigns() { owe(campaign) }
        if let relay { relay.goOn() }
        step(.zero)
        return "the copy takes the store's place\(isRestarted ? ", and the relay starts" : ""), and is taken out again"
    }

    /// - Parameter isSeenByWatch: whether the watch that looks each second comes first; else the fan-out has turns before it.
    private func judgeFall(isSeenByWatch: Bool) throws {
        guard let relay else { return }
        // A new session with a server is refused once; after that the store can be read.
        let before = try (try? relay.store.mark()) ?? relay.store.mark()
        if isSeenByWatch { _ = try? relay.store.lookBack() }
        relay.poke()
        pass(.seconds(5))
        do {
            let bump = VersionBump(app: settings.key(0), required: try Version(Self.text(version: 999)))
            _ = try relay.control.bump(bump, by: Principal("late", .webhook, via: "webhook"), receipt: nil) { _, _ in
                StoredAnswer(status: 200, body: [])
            }
            model.broke("store.back", "a webhook has raised a version in a store that went back")
        } catch {}
        _ = try? relay.store.lookBack()
        pass(.seconds(40))
        if !relay.store.membership.memory.hasFallen {
            model.broke("store.back", "the store went back, and the relay works on it")
        }
        if try (try? relay.store.mark()) ?? relay.store.mark() != before {
            model.broke("store.back", "something was decided or recorded in a store that went back")
        }
    }

    private func accept(inTrail: Bool) throws {
        guard let relay, let fall = relay.store.membership.memory.fall else { return }
        let word = StoreWord(seen: fall.seen, found: try relay.store.mark())
        let now = clock.now.wall
        if inTrail {
            _ = try acting(.storeAccept) { try relay.store.accept(word, by: Signature(by: $0, at: now)) }
        } else {
            _ = try relay.store.accept(word, by: Signature(by: Principal.operator("late"), at: now))
        }
        if relay.store.membership.memory.hasFallen || relay.store.membership.term == nil {
            model.broke("store.back", "a person has taken the store on, and nothing goes on")
        }
    }
}
