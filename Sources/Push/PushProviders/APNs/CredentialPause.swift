// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Synchronization

/// The pauses of a key: the times until which the servers of a service accept no other token of it, and no pushes with it.
///
/// A pause belongs to the key as the service knows it, by its id: it holds for all token sources that sign with that
/// id, with whichever file. A pause of one server holds there: its sandbox, or another app's server, does not stop
/// production. If a second server asks for a pause before the first one's ends, the key has signed too often, and it
/// rests everywhere. May be used from any thread.
package final class CredentialPause: Sendable {
    /// By server; nil for a pause of the whole key, and for one stored by an older release, which did not note the server.
    private let ends = Mutex<[String?: Timestamp]>([:])

    package init() {}

    /// The end of the longest pause, from any server; it may be past; nil: no server has asked for one.
    var latest: Timestamp? { ends.withLock { $0.values.max() } }

    /// The time until which a server gets nothing with the key; nil: it may be sent to.
    func end(at server: String, now: Timestamp) -> Timestamp? {
        ends.withLock { ends in
            let running = ends.filter { ProviderTokenMachine.isPaused(until: $1, at: now) }
            return running.count > 1 ? running.values.max() : running[server] ?? running[nil]
        }
    }

    /// - Returns: whether the pause is longer than the known one.
    @discardableResult
    func extend(to time: Timestamp, by server: String?) -> Bool {
        ends.withLock { ends in
            guard ends[server].map({ $0 < time }) ?? true else { return false }
            ends[server] = time
            return true
        }
    }

    /// Takes up a pause that this relay or another has stored. One that this relay stored itself adds nothing: `ends`
    /// has each server's own pause.
    func take(_ end: Timestamp, by server: String?, at now: Timestamp) {
        if let known = remembered(at: now), known == (end, server) { return }
        extend(to: end, by: server)
    }

    /// The pause for the next run and other relays; its server is nil where the whole key rests.
    func remembered(at now: Timestamp) -> (until: Timestamp, by: String?)? {
        ends.withLock { ends in
            let running = ends.filter { ProviderTokenMachine.isPaused(until: $1, at: now) }
            guard let last = running.max(by: { $0.value < $1.value }) else { return nil }
            return (last.value, running.count > 1 ? nil : last.key)
        }
    }
}
