// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Signing
import Synchronization
import Telemetry
import Threading
import VersionSources

/// Tells the log who was refused, and no more often than a disk can bear. Of a request it tells where it came from, which
/// hook it meant and what was wrong: never a body, a signature or a secret.
final class RefusalLog: Sendable {
    private struct State {
        var webhooks = LogPace()
        var peers = LogPace()
    }

    private let log: Log
    private let clock: @Sendable () -> Int64
    private let state = Mutex(State())

    /// - Parameter clock: milliseconds of a monotonic clock.
    init(_ log: Log, clock: @escaping @Sendable () -> Int64 = MonotonicClock.milliseconds) {
        self.log = log
        self.clock = clock
    }

    func webhook(_ head: RequestHead, _ refusal: WebhookRefusal) {
        guard let untold = state.withLock({ $0.webhooks.next(at: clock()) }) else { return }
        let hook = head.target.prefix { $0 != "?" }.dropFirst("/v1/webhooks/".count).prefix(80)
        log(
            .warning, "a webhook was refused",
            [
                ("hook", String(hook)), ("from", head.peer.description), ("reason", refusal.description),
                ("untold", String(untold)),
            ])
    }

    func peer(_ refusal: PeerRefusal) {
        guard let untold = state.withLock({ $0.peers.next(at: clock()) }) else { return }
        log(
            .warning, "a connection to the control socket was refused",
            [
                ("user", refusal.user.map(String.init) ?? "unknown"),
                ("process", refusal.process.map(String.init) ?? "unknown"),
                ("group", refusal.group.map(String.init) ?? "none"), ("untold", String(untold)),
            ])
    }
}

/// How often one kind of line may be logged: ten at once, then one each ten seconds. Pure.
struct LogPace {
    static let burst: Int64 = 10
    /// Milliseconds.
    static let interval: Int64 = 10_000

    /// The time up to which lines are paid for.
    private var paid = Int64.min / 2
    private var untold = 0

    /// How many lines were left out since the last one that was told; nil where this one is to be left out too.
    mutating func next(at now: Int64) -> Int? {
        let start = max(paid, now - Self.burst * Self.interval)
        guard start + Self.interval <= now else {
            untold += 1
            return nil
        }
        paid = start + Self.interval
        defer { untold = 0 }
        return untold
    }
}

extension API {
    func refused(_ refusal: PeerRefusal) { refusals.peer(refusal) }
}
