// SPDX-License-Identifier: Apache-2.0
package import Testing

extension Trait where Self == OwnThread {
    /// The test, and each task that it starts inside itself, has a thread of its own while it runs.
    ///
    /// For tests that wait for real processes, sockets and clocks. Swift's cooperative pool has a thread for each core and expects
    /// that no job blocks one: on two cores two such tests hold up all the others.
    ///
    /// A time limit beside it includes the wait for a place, which is as long as the tests before it take: an hour separates a
    /// hanging test from a slow machine, ten minutes do not.
    package static var ownThread: OwnThread { OwnThread(places: 1) }

    /// The same, and no other test that waits runs at that time: for tests that measure time.
    package static var ownMachine: OwnThread { OwnThread(places: OwnThread.atOnce) }
}

/// See `Trait.ownThread`.
package struct OwnThread: SuiteTrait, TestTrait, TestScoping {
    /// How many tests wait at the same time. More than there are cores, since they wait more than they work.
    package static let atOnce = 7

    let places: Int

    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        await Places.shared.take(places)
        defer { Places.shared.giveBack(places) }
        try await withTaskExecutorPreference(Threads.shared) { try await function() }
    }
}
