// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Room for a number of tests at once: first come, first served. Tests that need the whole machine come last: before each the others would
/// have to end, while none begins.
final class Places: Sendable {
    static let shared = Places()

    private struct State {
        var free = OwnThread.atOnce
        var waiting: [(places: Int, continuation: CheckedContinuation<Void, Never>)] = []

        /// Takes those from the line that there is room for.
        mutating func admit() -> [CheckedContinuation<Void, Never>] {
            var admitted: [CheckedContinuation<Void, Never>] = []
            while let next = waiting.firstIndex(where: { $0.places < OwnThread.atOnce }) ?? waiting.indices.first,
                waiting[next].places <= free
            {
                let test = waiting.remove(at: next)
                free -= test.places
                admitted.append(test.continuation)
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
