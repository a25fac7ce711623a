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
            // The stack of a main thread.
            thread.stackSize = 8 << 20
            thread.start()
        }
        news.signal()
    }

    private func run() -> Never {
        // Writing to a closed peer must fail the test, not end its process. SIGPIPE is blocked only in this thread and in those
        // that the test starts: a test must not change how the process treats signals. No other signal is blocked: a program that
        // is started here inherits the mask (signal(7)), and libdispatch's threads block nearly all, so that timeout(1) would never
        // end one.
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
