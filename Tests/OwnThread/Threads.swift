// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

/// As many threads as there are jobs at a time: a job that waits holds up no other.
final class Threads: TaskExecutor {
    static let shared = Threads()

    private struct State {
        var jobs: [UnownedJob] = []
        /// Threads that wait for a job, less the jobs that are on their way to them.
        var idle = 0
    }

    private let state = Mutex(State())
    private let news = DispatchSemaphore(value: 0)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isThreadNeeded = state.withLock { state in
            state.jobs.append(job)
            guard state.idle == 0 else {
                state.idle -= 1
                return false
            }
            return true
        }
        if isThreadNeeded {
            let thread = Thread { [self] in run() }
            // What a main thread has.
            thread.stackSize = 8 << 20
            thread.start()
        }
        news.signal()
    }

    private func run() -> Never {
        // Writing to somebody who has gone must fail the test, not end its process. Of this thread and of those that the test
        // starts alone: what the process does with signals is not a test's to change. Nothing else is blocked: a program that is started
        // here inherits the mask (signal(7)), and libdispatch's threads block nearly all, so that timeout(1) would never end one.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_SETMASK, &signals, nil)
        while true {
            news.wait()
            let job = state.withLock { $0.jobs.removeFirst() }
            unsafe job.runSynchronously(on: asUnownedTaskExecutor())
            state.withLock { $0.idle += 1 }
        }
    }
}
