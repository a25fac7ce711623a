// SPDX-License-Identifier: Apache-2.0
import Synchronization
package import Testing

extension Trait where Self == OwnThread {
    /// The test, and each task that it starts inside itself, has a thread of its own while it runs.
    ///
    /// For tests that wait for real processes, sockets and clocks. Swift's cooperative pool has a thread for each core and
    /// expects that nobody waits on one: on two cores two such tests hold up all the others.
    package static var ownThread: OwnThread { OwnThread() }
}

/// See `Trait.ownThread`.
package struct OwnThread: SuiteTrait, TestTrait, TestScoping {
    /// How many tests wait at the same time. They wait more than they work: more of them than cores.
    package static let atOnce = 6

    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        await Places.shared.take()
        defer { Places.shared.giveBack() }
        try await withTaskExecutorPreference(Threads.shared) { try await function() }
    }
}

/// So many tests at once, first come, first served.
private final class Places: Sendable {
    static let shared = Places()

    private struct State {
        var free = OwnThread.atOnce
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func take() async {
        await withCheckedContinuation { continuation in
            let mayGoOn = state.withLock { state in
                guard state.free == 0 else {
                    state.free -= 1
                    return true
                }
                state.waiting.append(continuation)
                return false
            }
            if mayGoOn { continuation.resume() }
        }
    }

    func giveBack() {
        let next: CheckedContinuation<Void, Never>? = state.withLock { state in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.free += 1
            return nil
        }
        next?.resume()
    }
}
