// SPDX-License-Identifier: Apache-2.0
import Dispatch
import HTTPServer
import RelayEngine
import RelayStore
import Synchronization
import Telemetry
import Threading

/// Finds out for `/readyz` what keeps the daemon from its work, or a part of it, at most once in `interval`, however many ask.
///
/// Whether the store can be written to takes a commit to the disk, and where another program holds the store, its lock's
/// whole time-out. So it is asked on a thread of its own: whoever begins it waits for `patience`, and whoever comes meanwhile
/// takes what was found before. When the patience is over, that the store is held is the answer. Any thread may ask.
final class ReadinessCheck: Sendable {
    private struct Look: Sendable {
        let begun: Int64
        let end: DispatchSemaphore
    }

    private struct State {
        var last: (faults: [ReadinessFault], found: Int64)?
        var look: Look?
    }

    /// Milliseconds for which an answer holds.
    private static let interval: Int64 = 1000
    /// Milliseconds that a look may take before the store counts as held. A write waits its turn behind others: each of an
    /// import's is over after some 10 ms.
    private static let patience: Int64 = 1000

    private let clock: @Sendable () -> Int64
    private let queue = DispatchQueue(label: "readiness")
    private let state = Mutex(State())

    /// - Parameter clock: milliseconds of a monotonic clock.
    init(clock: @escaping @Sendable () -> Int64 = MonotonicClock.milliseconds) {
        self.clock = clock
    }

    /// Empty when nothing is wrong. Returns after `patience` at the latest.
    ///
    /// - Parameters:
    ///   - known: what is known at once.
    ///   - store: whether the store takes writes; may wait.
    func faults(
        known: @escaping @Sendable () -> [ReadinessFault], store: @escaping @Sendable () -> ReadinessFault?
    ) -> [ReadinessFault] {
        let now = clock()
        let (remembered, look, isNew) = state.withLock { state -> ([ReadinessFault]?, Look?, Bool) in
            if let look = state.look {
                let isOverdue = now - look.begun >= Self.patience
                return (isOverdue ? nil : state.last?.faults, look, false)
            }
            if let last = state.last, now - last.found < Self.interval { return (last.faults, nil, false) }
            let look = Look(begun: now, end: DispatchSemaphore(value: 0))
            state.look = look
            return (nil, look, true)
        }
        if let remembered { return remembered }
        guard let look else { return [] }
        if isNew { begin(look, known, store) }
        let left = max(0, look.begun + Self.patience - now)
        if look.end.wait(timeout: .now() + .milliseconds(Int(left))) == .success {
            look.end.signal()  // For the next who waits.
            if let found = state.withLock({ $0.last?.faults }) { return found }
        }
        let seconds = max(1, (clock() - look.begun) / 1000)
        let held = ReadinessFault(
            part: ReadinessFault.store,
            reason:
                "a write has been waiting for \(seconds) s. Another program holds the write lock, or a write of the relay's "
                + "own takes that long")
        return known().filter { !$0.stopsRequests } + [held]
    }

    private func begin(
        _ look: Look, _ known: @escaping @Sendable () -> [ReadinessFault],
        _ store: @escaping @Sendable () -> ReadinessFault?
    ) {
        let mark = RequestMark.current
        queue.async { [self] in
            RequestMark.with(mark) {
                var faults = known()
                if !faults.contains(where: { $0.stopsRequests }), let fault = store() { faults.append(fault) }
                let found = clock()
                state.withLock { state in
                    state.last = (faults, found)
                    state.look = nil
                }
            }
            look.end.signal()
        }
    }
}
