// SPDX-License-Identifier: Apache-2.0
import Synchronization
package import Telemetry
import Threading

/// One thread that carries requests by libcurl: over HTTP/2 where the server offers it, else over HTTP/1.1.
///
/// For services that take many pushes in a request, or have no HTTP/2. A request costs some thirty times the processor
/// time of one on a `Lane` (99 µs and 3.1 µs: `relay-bench --only carriers`). That counts where each push has a request
/// of its own; with a thousand tokens in a request the cost of a push is 1.0 µs and 0.7 µs.
///
/// The thread starts with the first batch. All methods may be called from any thread, also from a receiver's `finished`; only
/// `stop` must not be called on the lane's own thread. Every batch that is submitted comes back by its pool's
/// `receiver.finished`, exactly once: on the lane's thread, or on the caller's where the lane has stopped, or cannot start.
///
/// A pool's `configuration.dialer` names the server and the way there; a client certificate is not presented. The
/// connections belong to the lane and not to a pool: pools that lead to one server by one way share them.
package final class CurlLane: Sendable {
    private struct Life {
        var thread: NativeThread?
        var isStopped = false
    }

    /// Beats with each turn of the thread.
    package let pulse: Pulse
    private let name: String
    private let mayBegin: @Sendable () -> Bool
    private let mailbox: Mailbox<CurlLoop.Command>
    private let board = LaneBoard()
    private let lastNumber = Atomic(0)
    private let life = Mutex(Life())

    /// - Parameters:
    ///   - name: the thread's name; 15 bytes are shown.
    ///   - mayBegin: asked in each turn of the thread. While it returns false, queued requests are handed back as by `withdraw`.
    ///     Default always true.
    /// - Throws: `SystemError` where the system has no descriptor left.
    package init(name: String, mayBegin: @escaping @Sendable () -> Bool = { true }) throws {
        self.name = name
        self.mayBegin = mayBegin
        pulse = Pulse(name)
        mailbox = try Mailbox()
    }

    deinit {
        // Dropped without `stop`: no caller waits, but nothing is left behind.
        mailbox.post(.stop(within: .zero))
        life.withLock { $0.thread?.detach() }
    }

    /// A new pool. It dials when there is something to send.
    package func addPool(
        _ configuration: PoolConfiguration, judge: any AnswerJudge, receiver: any BatchReceiver
    ) -> PoolID {
        let id = PoolID(number: lastNumber.add(1, ordering: .relaxed).newValue, receiver: receiver)
        mailbox.post(.addPool(id, configuration, judge))
        return id
    }

    /// Hands a batch over. The batch is the lane's until it comes back. Queues are not bounded here: the submitter limits them.
    package func submit(_ batch: RequestBatch, to pool: PoolID) {
        if !isRunning() {
            // As where no connection can be made: nothing is sent to the service for a while.
            pool.handBack(batch, rest: 10)
        } else if !mailbox.post(.submit(batch, pool)) {
            pool.handBack(batch)
        }
    }

    /// As `Lane.withdraw`.
    package func withdraw(_ pool: PoolID) {
        mailbox.post(.withdraw(pool))
    }

    /// Ends a pool: does as `withdraw` and lets requests in flight end; then the lane's connections close, which other pools make
    /// anew. Later batches come back `.unsent` at once.
    package func removePool(_ pool: PoolID) {
        mailbox.post(.removePool(pool))
    }

    package var figures: LaneFigures { board.figures }

    /// Whether a batch was ever submitted, or the lane has stopped.
    package var hasBegun: Bool { life.withLock { $0.thread != nil || $0.isStopped } }

    /// As `Lane.stop`; HTTP/1.1 has no GOAWAY, so a connection just ends.
    package func stop(deadline: Duration) {
        let thread = life.withLock { life in
            life.isStopped = true
            defer { life.thread = nil }
            return life.thread
        }
        mailbox.post(.stop(within: deadline))
        if let thread { thread.join() } else { _ = mailbox.close() }
    }

    /// Starts the thread, once. A lane that has stopped counts as running: its mailbox is closed.
    private func isRunning() -> Bool {
        life.withLock { life in
            guard life.thread == nil, !life.isStopped else { return true }
            life.thread = try? NativeThread(name: name) { [mailbox, board, pulse, mayBegin] in
                CurlLoop(mailbox: mailbox, board: board, pulse: pulse, mayBegin: mayBegin).run()
            }
            return life.thread != nil
        }
    }
}
