// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayEngine
import Signing
import Synchronization
import Telemetry
import Threading

/// Logs who was refused, and no more often than a disk can bear. Of a request it logs where it came from, which
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
        guard let suppressed = state.withLock({ $0.webhooks.next(at: clock()) }) else { return }
        let hook = head.target.prefix { $0 != "?" }.dropFirst("/v1/webhooks/".count).prefix(80)
        log(
            .warning, "a webhook was refused",
            [
                ("hook", String(hook)), ("from", head.peer.description), ("reason", refusal.description),
                ("suppressed", String(suppressed)),
            ])
    }

    func peer(_ refusal: PeerRefusal) {
        guard let suppressed = state.withLock({ $0.peers.next(at: clock()) }) else { return }
        log(
            .warning, "a connection to the control socket was refused",
            [
                ("user", refusal.user.map(String.init) ?? "unknown"),
                ("process", refusal.process.map(String.init) ?? "unknown"),
                ("group", refusal.group.map(String.init) ?? "none"), ("suppressed", String(suppressed)),
            ])
    }
}

extension PeerRefusal {
    var problem: ProblemDetails {
        let who = user.map { "user id \($0)" } ?? "a user that the system does not name"
        let others =
            switch group {
            case nil: ""
            case _? where isOpenToAll: ", and for its group once its mode is not for everybody any more"
            case let group?: ", and members of group \(group)"
            }
        return ProblemDetails(
            403, "the control socket is not for \(who); it is for root and the daemon's own user\(others)")
    }
}
