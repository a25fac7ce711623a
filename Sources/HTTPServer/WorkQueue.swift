// SPDX-License-Identifier: Apache-2.0
import Dispatch
import RelayEngine
import Synchronization
import Threading

/// What work waits for. Each kind has threads and a queue of its own, so that what stands still delays its own kind alone.
package enum WorkKind: Int, Sendable, CaseIterable {
    /// For the disk at most: readers of the store wait for no writer.
    case reads
    /// For the store's one writer, which another program may keep waiting for seconds.
    case writes
    /// For what was taken in before of the same body to be stored.
    case streams
    /// For somebody else's server, up to some twenty seconds.
    case foreign
    /// For nobody, and takes long: it looks at every device of an app.
    case long
    /// Who asks how the daemon is, beside all of that.
    case health
    /// The page of the metrics, which is made of many reads: one at a time, and the others take it.
    case metrics

    /// How many of them are done side by side, for each door.
    package var threads: Int {
        switch self {
        case .reads, .writes, .foreign: 8
        case .streams: 4
        case .long, .health: 2
        case .metrics: 1
        }
    }

    /// Jobs that may wait for a thread of it; whoever comes then is told to come again.
    package static let queue = 1024
}

/// The queues of all kinds, of one door: what the network asks for is in nobody's way at the control socket.
final class WorkQueues: Sendable {
    private let queues = WorkKind.allCases.map { WorkQueue(threads: $0.threads) }

    subscript(kind: WorkKind) -> WorkQueue { queues[kind.rawValue] }

    /// Ends the threads when all that was submitted is done, and waits for that as long as there is time.
    func stop(until end: MonotonicTime) {
        let end = DispatchTime.now() + .milliseconds(Int(max(.zero, end - MonotonicClock.now()).milliseconds))
        for queue in queues { queue.finish() }
        for queue in queues { _ = queue.hasEnded(by: end) }
    }
}

/// A few threads for what waits, begun when there is work for them. The threads that read and write sockets never wait.
final class WorkQueue: Sendable {
    private struct State {
        var jobs: [@Sendable () -> Void] = []
        /// The workers that have no thread just now.
        var idle: [DispatchQueue]
        var isStopping = false
    }

    private let state: Mutex<State>
    private let underWay = DispatchGroup()

    init(threads: Int) {
        // A serial queue of its own each: libdispatch gives those a thread even where all others wait. It has 255 of them for
        // the whole process, so that nobody may keep one who has nothing to do.
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

    /// The threads end when all that was submitted is done; none begins any more.
    func finish() { state.withLock { $0.isStopping = true } }

    func hasEnded(by end: DispatchTime) -> Bool { underWay.wait(timeout: end) == .success }

    /// Until nothing is left to do.
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
