// SPDX-License-Identifier: Apache-2.0
package import PushSimulator
import Synchronization

/// The figures of one kind of fault. Times are in milliseconds.
package struct FaultFigures: Sendable, Equatable {
    /// How often it happened.
    package var times = 0
    /// The pushes that it hit: one push, or all that were in flight on the connection.
    package var pushes = 0
    /// The pushes that it had hit and that were accepted afterwards.
    package var acceptedLater = 0
    /// The pushes that were accepted again, because the answer to their first acceptance was lost with this fault.
    package var acceptedAgain = 0
    /// The time from the fault until a push that it hit was accepted: the longest and the sum.
    package var longestWait: Int64 = 0
    package var totalWait: Int64 = 0
    /// The time from the fault until any push was accepted: the longest.
    package var longestPause: Int64 = 0

    package init() {}
}

/// Follows each push that a fault of the script's shares hit, until it is accepted after all.
///
/// Filled on the simulator's thread; may be read from any thread.
package final class FaultJournal: FaultWitness {
    /// The state of one push, by the 8-byte hash of its apns-id.
    private struct Hit {
        var fault: RequestFault
        var at: Int64
        /// The fault by which the answer to an accepted push was lost.
        var lostAnswer: RequestFault?
    }

    private struct State {
        var figures: [RequestFault: FaultFigures] = [:]
        var hits: [UInt64: Hit] = [:]
        /// Accepted pushes whose answer may have been lost with their connection.
        var doubts: [UInt64: Hit] = [:]
        /// Faults after which nothing has been accepted yet, with their time.
        var pauses: [(fault: RequestFault, at: Int64)] = []
    }

    private let state = Mutex(State())

    package init() {}

    package var figures: [RequestFault: FaultFigures] { state.withLock { $0.figures } }

    /// Returns the last fault that hit the push, or may have hit it, if the push has not been accepted since.
    package func openFault(ofID id: String) -> RequestFault? {
        let id = ShortHash.ofToken(Array(id.utf8))
        return state.withLock { ($0.hits[id] ?? $0.doubts[id])?.fault }
    }

    package func happened(
        _ fault: RequestFault, to pushes: [(id: UInt64, losesAnswer: Bool)], doubts: [UInt64], at now: Int64
    ) {
        state.withLock { state in
            state.figures[fault, default: FaultFigures()].times += 1
            state.figures[fault, default: FaultFigures()].pushes += pushes.count
            state.pauses.append((fault, now))
            for (id, losesAnswer) in pushes {
                var hit = state.hits[id] ?? Hit(fault: fault, at: now)
                hit.fault = fault
                hit.at = now
                if losesAnswer { hit.lostAnswer = fault }
                state.hits[id] = hit
            }
            for id in doubts { state.doubts[id] = Hit(fault: fault, at: now, lostAnswer: fault) }
        }
    }

    package func accepted(_ id: UInt64, at now: Int64) {
        state.withLock { state in
            for (fault, at) in state.pauses {
                let longest = state.figures[fault]?.longestPause ?? 0
                state.figures[fault]?.longestPause = max(longest, now - at)
            }
            state.pauses.removeAll(keepingCapacity: true)
            let doubt = state.doubts.removeValue(forKey: id)
            guard let hit = state.hits.removeValue(forKey: id) ?? doubt else { return }
            var figures = state.figures[hit.fault] ?? FaultFigures()
            figures.acceptedLater += 1
            figures.longestWait = max(figures.longestWait, now - hit.at)
            figures.totalWait += now - hit.at
            state.figures[hit.fault] = figures
            if let cause = hit.lostAnswer ?? doubt?.lostAnswer { state.figures[cause]?.acceptedAgain += 1 }
        }
    }
}
