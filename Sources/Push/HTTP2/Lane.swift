// SPDX-License-Identifier: Apache-2.0
import Synchronization
package import Telemetry
import Threading

/// One thread that carries requests over HTTP/2: one epoll set, any number of pools, a few connections each.
///
/// All methods may be called from any thread, also from a receiver's `finished`; only `stop` must not be called on the
/// lane's own thread. Every batch that is submitted comes back by its pool's `receiver.finished`, exactly once: on the
/// lane's thread, or on the caller's where the lane has stopped before.
///
/// ```swift
/// let lane = try Lane(name: "lane 0")
/// let pool = lane.addPool(
///     PoolConfiguration(.apns, egress: .direct, origin: Origin(host: "api.push.apple.com")),
///     judge: judge, receiver: ledger)
/// lane.submit(batch, to: pool)
/// ```
package final class Lane: Sendable {
    /// Beats with each turn of the thread.
    package let pulse: Pulse
    private let inbox: LaneInbox
    private let board: LaneBoard
    private let lastNumber = Atomic(0)
    private let thread: Mutex<NativeThread?>

    /// Starts the thread.
    /// - Parameters:
    ///   - name: the thread's name; 15 bytes are shown.
    ///   - mayBegin: asked in each turn of the thread. While it returns false, queued requests are handed back as by `withdraw`.
    ///     Default always true.
    /// - Throws: `SystemError` where the system has no descriptor or thread left.
    package init(name: String, mayBegin: @escaping @Sendable () -> Bool = { true }) throws {
        let inbox = try LaneInbox()
        let board = LaneBoard()
        let pulse = Pulse(name)
        self.pulse = pulse
        self.inbox = inbox
        self.board = board
        thread = Mutex(
            try NativeThread(name: name) {
                LaneLoop(inbox: inbox, board: board, pulse: pulse, mayBegin: mayBegin).run()
            })
    }

    deinit {
        // Dropped without `stop`: no caller waits, but nothing is left behind.
        inbox.mailbox.post(.stop(within: .zero))
        thread.withLock { $0?.detach() }
    }

    /// A new pool. It dials when there is something to send.
    package func addPool(
        _ configuration: PoolConfiguration, judge: any AnswerJudge, receiver: any BatchReceiver
    ) -> PoolID {
        let id = PoolID(number: lastNumber.add(1, ordering: .relaxed).newValue, receiver: receiver)
        inbox.mailbox.post(.addPool(id, configuration, judge))
        return id
    }

    /// Hands a batch over. The batch is the lane's until it comes back. Queues are not bounded here: the submitter limits them.
    package func submit(_ batch: RequestBatch, to pool: PoolID) {
        if !inbox.mailbox.post(.submit(batch, pool)) { pool.handBack(batch) }
    }

    /// Hands back every request of the pool that has not been sent, as `.unsent` (as `.lost` where it went out once and its
    /// outcome is unknown). Requests in flight continue, on their connection only; later batches are sent.
    package func withdraw(_ pool: PoolID) {
        inbox.mailbox.post(.withdraw(pool))
    }

    /// Ends a pool: does as `withdraw` and lets requests in flight end; then its connections close. Later batches come back
    /// `.unsent` at once.
    package func removePool(_ pool: PoolID) {
        inbox.mailbox.post(.removePool(pool))
    }

    package var figures: LaneFigures { board.figures }

    /// Sends nothing new, hands back queued requests as `withdraw` does, waits until `deadline` has passed for requests in flight
    /// and then hands them back as `.lost`, sends GOAWAY(NO_ERROR) on every connection, and joins the thread. A second call
    /// returns at once.
    package func stop(deadline: Duration) {
        let thread = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        inbox.mailbox.post(.stop(within: deadline))
        thread?.join()
    }
}

extension PoolID {
    /// Hands back a batch that no pool takes.
    ///
    /// - Parameter rest: seconds until it is worth trying again. Default: not known.
    func handBack(_ batch: RequestBatch, rest: Int32? = nil) {
        var answer = Answer()
        answer.kind = rest != nil && batch.reportsUnreachable ? .unreachable : .unsent
        answer.retryAfter = rest ?? -1
        batch.answers = Array(repeating: answer, count: batch.count)
        receiver.finished(batch)
    }
}

/// The figures that a lane shows to other threads.
final class LaneBoard: Sendable {
    private let state = Mutex(LaneFigures())

    var figures: LaneFigures { state.withLock { $0 } }

    func show(_ figures: LaneFigures) { state.withLock { $0 = figures } }
}
