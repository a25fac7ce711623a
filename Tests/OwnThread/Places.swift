// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Room for a number of tests at once; first come, first served, also for a test that needs much room.
final class Places: Sendable {
    static let shared = Places()

    private struct State {
        var free = OwnThread.atOnce
        var waiting: [(places: Int, continuation: CheckedContinuation<Void, Never>)] = []

        /// Takes those from the line that there is room for.
        mutating func admit() -> [CheckedContinuation<Void, Never>] {
            var admitted: [CheckedContinuation<Void, Never>] = []
            while let next = waiting.first, next.places <= free {
                free -= next.places
                admitted.append(next.continuation)
                waiting.removeFirst()
            }
            return admitted
        }
    }

    private let state = Mutex(State())

    func take(_ places: Int) async {
        await withCheckedContinuation { continuation in
            let admitted = state.withLock { state in
                state.waiting.append((places, continuation))
                return state.admit()
            }
            for continuation in admitted { continuation.resume() }
        }
    }

    func giveBack(_ places: Int) {
        let admitted = state.withLock { state in
            state.free += places
            return state.admit()
        }
        for continuation in admitted { continuation.resume() }
    }
}
