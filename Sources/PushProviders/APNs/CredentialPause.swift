// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Synchronization

/// Until when the servers of a service want no other token of a key, and no pushes with it.
///
/// It is the key's as the service knows it, by its id: of all that sign in its name, with whichever file. What one server says
/// holds there: its sandbox, or another app's server, does not stop production. Where a second says so meanwhile it is the key
/// that has signed too often, and it rests everywhere. May be used from any thread.
package final class CredentialPause: Sendable {
    /// By server; that of an older release, which did not note the server, has none.
    private let ends = Mutex<[String?: Timestamp]>([:])

    package init() {}

    /// Until when no other token is signed, whoever wants that; it may be past, and is nil where nobody ever did.
    var latest: Timestamp? { ends.withLock { $0.values.max() } }

    /// Until when a server gets nothing with the key; nil: it may be sent to.
    func end(at server: String, now: Timestamp) -> Timestamp? {
        ends.withLock { ends in
            let running = ends.filter { ProviderTokenMachine.isPaused(until: $1, at: now) }
            return running.count > 1 ? running.values.max() : running[server] ?? running[nil]
        }
    }

    /// - Returns: whether that is longer than was known.
    @discardableResult
    func extend(to time: Timestamp, by server: String?) -> Bool {
        ends.withLock { ends in
            guard ends[server].map({ $0 < time }) ?? true else { return false }
            ends[server] = time
            return true
        }
    }

    /// What another relay has kept, or this one. Its own it knows better than was kept: which servers want it, and each for how long.
    func take(_ end: Timestamp, by server: String?, at now: Timestamp) {
        if let known = remembered(at: now), known == (end, server) { return }
        extend(to: end, by: server)
    }

    /// What the next run and other relays are to know: the server, or nil where it is the whole key's.
    func remembered(at now: Timestamp) -> (until: Timestamp, by: String?)? {
        ends.withLock { ends in
            let running = ends.filter { ProviderTokenMachine.isPaused(until: $1, at: now) }
            guard let last = running.max(by: { $0.value < $1.value }) else { return nil }
            return (last.value, running.count > 1 ? nil : last.key)
        }
    }
}
