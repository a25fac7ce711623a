// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import Synchronization
import Telemetry
import Threading

/// Logs refusals, no more often than a disk can bear. For a webhook it logs the origin, the hook, the name of the signing secret
/// and the fault: never a body, a signature or a secret.
final class RefusalLog: Sendable {
    private struct State {
        /// Kept apart: a sender without a secret must not crowd out the line of a sender with one.
        var strangers = LogPace()
        var webhooks = LogPace()
        var peers = LogPace()
        var people = LogPace()
    }

    private let log: Log
    private let clock: @Sendable () -> Int64
    private let state = Mutex(State())

    /// - Parameter clock: milliseconds of a monotonic clock.
    init(_ log: Log, clock: @escaping @Sendable () -> Int64 = MonotonicClock.milliseconds) {
        self.log = log
        self.clock = clock
    }

    /// - Parameter signer: the name of the secret that signed the webhook; nil where none did.
    func webhook(_ head: RequestHead, _ problem: ProblemDetails, by signer: String?) {
        let suppressed = state.withLock { state in
            signer == nil ? state.strangers.next(at: clock()) : state.webhooks.next(at: clock())
        }
        guard let suppressed else { return }
        let hook = head.target.prefix { $0 != "?" }.dropFirst("/v1/webhooks/".count).prefix(80)
        log(
            .warning, "a webhook was refused",
            [
                ("hook", String(hook)), ("from", head.peer.description), ("by", signer ?? "unsigned"),
                ("status", String(problem.status)), ("reason", problem.detail), ("suppressed", String(suppressed)),
            ])
    }

    /// A request that names a person, but not as a proxy of `listen.page.identity.from` should. The header is not logged.
    func person(_ head: RequestHead, _ problem: ProblemDetails) {
        guard let suppressed = state.withLock({ $0.people.next(at: clock()) }) else { return }
        log(
            .warning, "a request that names a person was refused",
            [
                ("from", head.peer.description), ("proxy", head.proxy?.description ?? "none"),
                ("status", String(problem.status)), ("reason", problem.detail), ("suppressed", String(suppressed)),
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
