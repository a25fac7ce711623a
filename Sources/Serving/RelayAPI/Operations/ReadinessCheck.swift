// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization
import Telemetry
import Threading

/// Finds the faults that keep the daemon from its work, or a part of it, for `/readyz`, at most once in `interval`, however many
/// callers ask.
///
/// Checking that the store can be written to takes a commit to the disk, and where another program holds the store, the
/// whole time-out of its lock. So the check runs on a thread of its own. The caller that begins it waits for `wait` at
/// most; a caller that comes during it, or has waited in vain, gets the previous result. Once the check has taken
/// `patience`, the answer is that the store is held. Any thread may ask.
final class ReadinessCheck: Sendable {
    private struct Look: Sendable {
        let begun: Int64
        let end: DispatchSemaphore
    }

    private struct State {
        var last: (faults: [ReadinessFault], found: Int64)?
        var look: Look?
    }

    /// Milliseconds for which a result is reused.
    private static let interval: Int64 = 1000
    /// Milliseconds that a check may take before the store counts as held. Its write waits for its turn behind others; each
    /// write of an import takes some 10 ms.
    private static let patience: Int64 = 1000
    /// Milliseconds that a caller may be kept waiting: it must have its answer within a tenth of a second.
    private static let wait: Int64 = 50

    private let clock: @Sendable () -> Int64
    private let queue = DispatchQueue(label: "readiness")
    private let state = Mutex(State())

    /// - Parameter clock: milliseconds of a monotonic clock.
    init(clock: @escaping @Sendable () -> Int64 = MonotonicClock.milliseconds) {
        self.clock = clock
    }

    /// Empty when nothing is wrong. Returns after `wait` at the latest.
    ///
    /// - Parameters:
    ///   - known: the faults that are known at once.
    ///   - store: whether the store takes writes; may wait.
    func faults(
        known: @escaping @Sendable () -> [ReadinessFault], store: @escaping @Sendable () -> ReadinessFault?
    ) -> [ReadinessFault] {
        let now = clock()
        let (last, look, isNew) = state.withLock { state -> ([ReadinessFault]?, Look?, Bool) in
            if let look = state.look { return (state.last?.faults, look, false) }
            if let last = state.last, now - last.found < Self.interval { return (last.faults, nil, false) }
            let look = Look(begun: now, end: DispatchSemaphore(value: 0))
            state.look = look
            return (state.last?.faults, look, true)
        }
        guard let look else { return last ?? [] }
        if isNew {
            begin(look, known, store)
            if look.end.wait(timeout: .now() + .milliseconds(Int(Self.wait))) == .success {
                return state.withLock { $0.last?.faults } ?? []
            }
        }
        guard clock() - look.begun >= Self.patience else { return last ?? known() }
        let held = ReadinessFault(
            part: ReadinessFault.store,
            reason:
                "a write has been waiting for \((clock() - look.begun) / 1000) s. Another program holds the write lock, or a "
                + "write of the relay's own takes that long")
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
