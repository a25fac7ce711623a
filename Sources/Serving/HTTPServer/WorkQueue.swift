// SPDX-License-Identifier: Apache-2.0
import Dispatch
import RelayEngine
import Synchronization
import Threading

/// The resource that a job waits for. Each kind has its own threads and queue, so that a stall delays its own kind alone.
package enum WorkKind: Int, Sendable, CaseIterable {
    /// At most the disk: readers of the store wait for no writer.
    case reads
    /// The store's one writer, which another program may keep waiting for seconds.
    case writes
    /// Earlier pieces of the same body, which must be stored first.
    case streams
    /// A server outside, for up to some twenty seconds.
    case foreign
    /// None, but the job takes long: it reads every device of an app.
    case long
    /// Health checks, which must not wait behind other jobs.
    case health
    /// The metrics page, which is made of many reads: one job at a time, and its result serves the other requests.
    case metrics

    /// The number of jobs of this kind that run at a time, for each door.
    package var threads: Int {
        switch self {
        case .reads, .writes, .foreign: 8
        case .streams: 4
        case .long, .health: 2
        case .metrics: 1
        }
    }

    /// Jobs that may wait for a thread of their kind; more are refused with 503.
    package static let queue = 1024
}

/// The queues of all kinds, for one door: jobs of the network do not delay the control socket.
final class WorkQueues: Sendable {
    private let queues = WorkKind.allCases.map { WorkQueue(threads: $0.threads) }

    subscript(kind: WorkKind) -> WorkQueue { queues[kind.rawValue] }

    /// Ends the threads when all submitted jobs are done, and waits for that until `end`.
    func stop(until end: MonotonicTime) {
        let end = DispatchTime.now() + .milliseconds(Int(max(.zero, end - MonotonicClock.now()).milliseconds))
        for queue in queues { queue.finish() }
        for queue in queues { _ = queue.hasEnded(by: end) }
    }
}

/// A few threads for jobs that wait, started when there is a job. The threads that read and write sockets never wait.
final class WorkQueue: Sendable {
    private struct State {
        var jobs: [@Sendable () -> Void] = []
        /// The workers that have no thread at the moment.
        var idle: [DispatchQueue]
        var isStopping = false
    }

    private let state: Mutex<State>
    private let underWay = DispatchGroup()

    init(threads: Int) {
        // Each worker has its own serial queue: libdispatch gives those a thread even where all others wait. It has 255
        // threads for the whole process, so an idle worker must not keep one.
        state = Mutex(State(idle: (0..<threads).map { DispatchQueue(label: "api-\($0)") }))
    }

    var isFull: Bool { state.withLock { $0.jobs.count >= WorkKind.queue } }

    func submit(_ job: @escaping @Sendable () -> Void) {
        let worker: DispatchQueue? = state.withLock { state in
            state.jobs.append(job)
            guard !state.isStopping, let worker = state.idle.popLast() else { return nil }
            underWay.enter()
            return worker
        }
        guard let worker else { return }
        worker.async { [self] in
            work(worker)
            underWay.leave()
        }
    }

    /// Lets the threads end when all submitted jobs are done; no new thread starts.
    func finish() { state.withLock { $0.isStopping = true } }

    func hasEnded(by end: DispatchTime) -> Bool { underWay.wait(timeout: end) == .success }

    /// Runs jobs until none is left.
    private func work(_ worker: DispatchQueue) {
        while true {
            let job: (@Sendable () -> Void)? = state.withLock { state in
                if state.jobs.isEmpty {
                    state.idle.append(worker)
                    return nil
                }
                return state.jobs.removeFirst()
            }
            guard let job else { return }
            job()
        }
    }
}
