// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization

/// A few threads for what waits: for the store's locks and the disk. The threads that read and write sockets never do.
final class WorkQueue: Sendable {
    private struct State {
        /// Read from its front by index, and cut now and then.
        var jobs: [@Sendable () -> Void] = []
        var next = 0
        var isStopping = false
    }

    /// Jobs that may wait; whoever comes then is told to come again.
    static let limit = 1024

    private let state = Mutex(State())
    private let arrived = DispatchSemaphore(value: 0)
    private let threads: Int
    private let ended = DispatchGroup()

    init(threads: Int) {
        self.threads = threads
        for number in 0..<threads {
            // A serial queue of its own each: libdispatch gives those a thread even where all others wait.
            DispatchQueue(label: "api-\(number)").async(group: ended) { [self] in work() }
        }
    }

    var isFull: Bool { state.withLock { $0.jobs.count - $0.next >= Self.limit } }

    func submit(_ job: @escaping @Sendable () -> Void) {
        state.withLock { $0.jobs.append(job) }
        arrived.signal()
    }

    /// Ends the threads when all that was submitted is done, and waits for that for `patience` milliseconds.
    ///
    /// - Returns: whether they have ended.
    func stop(patience: Int) -> Bool {
        state.withLock { $0.isStopping = true }
        for _ in 0..<threads { arrived.signal() }
        return ended.wait(timeout: .now() + .milliseconds(patience)) == .success
    }

    private func work() {
        while true {
            arrived.wait()
            let (job, isOver) = state.withLock { state -> ((@Sendable () -> Void)?, Bool) in
                guard state.next < state.jobs.count else { return (nil, state.isStopping) }
                let job = state.jobs[state.next]
                state.next += 1
                if state.next == state.jobs.count || state.next == Self.limit {
                    state.jobs.removeFirst(state.next)
                    state.next = 0
                }
                return (job, false)
            }
            job?()
            if isOver { return }
        }
    }
}
