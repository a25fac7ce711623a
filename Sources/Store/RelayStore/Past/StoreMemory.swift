// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The highest mark that this relay has seen of its store, kept outside of it. A store that falls below it went back in
/// time: then nothing is written to it or sent from it until it is the right one again or a person accepts it. Any
/// thread may ask.
package final class StoreMemory: Sendable {
    private struct State {
        var seen: StoreMark?
        var fall: StoreRollback?
        /// The number of falls that were found.
        var falls: Int64 = 0
        var fell: @Sendable (StoreRollback) -> Void = { _ in }
    }

    private let state = Mutex(State())
    private let isFallen = Atomic<Bool>(false)
    private let liftings = Atomic<Int64>(0)

    package init() {}

    /// Whether the store went back, and is neither the right one again nor accepted by a person.
    package var hasFallen: Bool { isFallen.load(ordering: .acquiring) }

    /// Rises by one when a fall is over: work that was begun before then does not go on.
    package var epoch: Int64 { liftings.load(ordering: .acquiring) }

    /// The knowledge with which a look at the store begins.
    package struct Known: Sendable {
        /// nil: nothing was seen yet.
        package let seen: StoreMark?
        fileprivate let falls: Int64
    }

    package var known: Known { state.withLock { Known(seen: $0.seen, falls: $0.falls) } }

    /// nil: nothing was seen yet.
    package var seen: StoreMark? { state.withLock { $0.seen } }

    /// nil: all is well.
    package var fall: StoreRollback? { state.withLock { $0.fall } }

    /// - Parameter act: is given each fall as it is found; must not wait.
    package func onFall(_ act: @escaping @Sendable (StoreRollback) -> Void) { state.withLock { $0.fell = act } }

    /// Notes that the store holds this mark. A mark below the one that was seen changes nothing, nor does any mark
    /// while the store has fallen.
    ///
    /// - Parameter mark: of a committed transaction; its `recorded` may be 0 where that was not read.
    package func note(_ mark: StoreMark) {
        state.withLock { state in
            guard state.fall == nil else { return }
            guard var seen = state.seen else { return state.seen = mark }
            if mark.decision > seen.decision {
                (seen.identity, seen.decision, seen.sign) = (mark.identity, mark.decision, mark.sign)
            }
            seen.recorded = max(seen.recorded, mark.recorded)
            state.seen = seen
        }
    }

    /// Notes that outcomes were recorded at least this many times. A sender knows this from its own commits.
    package func noteRecorded(_ count: Int64) {
        state.withLock { state in
            guard state.fall == nil, let seen = state.seen else { return }
            state.seen?.recorded = max(seen.recorded, count)
        }
    }

    /// Notes that the store does not hold what was seen.
    ///
    /// - Parameter found: what it holds; nil: not looked at.
    /// - Returns: the error to throw.
    @discardableResult
    package func fell(to found: StoreMark?) -> StoreError {
        let (fall, act) = state.withLock { state -> (StoreRollback, (@Sendable (StoreRollback) -> Void)?) in
            let isNews = state.fall == nil
            let seen = state.seen ?? StoreMark(identity: "", decision: 0, sign: "")
            let fall = StoreRollback(seen: state.fall?.seen ?? seen, found: found ?? state.fall?.found)
            state.fall = fall
            if isNews { state.falls += 1 }
            isFallen.store(true, ordering: .releasing)
            return (fall, isNews ? state.fell : nil)
        }
        act?(fall)
        return fall.error
    }

    /// Notes that the store is the right one again, or that a person has accepted it.
    ///
    /// - Parameter known: the value of `known` from before the check that found the store right: a fall that was found
    ///   after it is not over. nil: a person has accepted the store.
    /// - Returns: whether it had fallen.
    @discardableResult
    package func rises(to mark: StoreMark, since known: Known? = nil) -> Bool {
        state.withLock { state in
            guard state.fall != nil, known.map({ $0.falls == state.falls }) ?? true else { return false }
            (state.seen, state.fall) = (mark, nil)
            liftings.wrappingAdd(1, ordering: .acquiringAndReleasing)
            isFallen.store(false, ordering: .releasing)
            return true
        }
    }

    /// - Throws: `StoreError`, `.wentBack`, where nothing may be written. A person at the control socket may write.
    package func allowWriting() throws(StoreError) {
        guard hasFallen, !OperatorHeader.isAtWork, let fall else { return }
        throw fall.error
    }
}
