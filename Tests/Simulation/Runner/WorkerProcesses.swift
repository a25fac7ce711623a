// SPDX-License-Identifier: Apache-2.0
import Foundation
import Threading

/// Processes of the same program, each of which carries out one order at a time (`WorkerLoop`). A process that ends in the middle
/// of an order is replaced, and its end is the verdict: it breaks `process.lives`. Only one thread may use this.
package final class WorkerProcesses: Workers {
    package static let rule = "process.lives"

    private final class One {
        let process: ChildProcess
        let input: Int32
        let output: Int32
        var order: Order?
        var givenAt = ContinuousClock.now
        var received: [UInt8] = []
        /// How the process ended, in the middle of an order.
        var end: ChildProcess.End?

        init(_ program: String, _ arguments: [String]) throws {
            let (orders, verdicts) = (try PipeEnds(), try PipeEnds())
            defer { for end in [orders.reading, verdicts.writing] { close(end) } }
            (input, output) = (orders.writing, verdicts.reading)
            process = try ChildProcess(
                program, arguments, in: FileManager.default.currentDirectoryPath,
                .init(input: orders.reading, output: verdicts.writing))
        }

        /// Closes the pipes: the worker ends when it gets no more orders.
        deinit { for end in [input, output] { close(end) } }
    }

    private let program: String
    private let arguments: [String]
    private let patience: Duration
    private var all: [One] = []

    /// - Parameters:
    ///   - program: the path of a program that runs `WorkerLoop` with these arguments.
    ///   - patience: the time after which a worker whose order has not ended is killed.
    package init(
        _ count: Int, program: String, arguments: [String], patience: Duration = .seconds(600)
    ) throws {
        (self.program, self.arguments, self.patience) = (program, arguments, patience)
        // Writing to a worker that has ended must be an error, not a signal to this process.
        signal(SIGPIPE, SIG_IGN)
        for _ in 0..<count { all.append(try One(program, arguments)) }
    }

    deinit {
        // Each worker removes its own files once it has finished its order.
        let processes = all.map(\.process)
        all = []
        let end = ContinuousClock.now + .seconds(20)
        while processes.contains(where: \.isRunning), ContinuousClock.now < end { usleep(10_000) }
        for process in processes { process.send(SIGKILL) }
    }

    package var hasRoom: Bool { all.contains { $0.order == nil } }

    package func give(_ order: Order) {
        guard let one = all.first(where: { $0.order == nil }) else { preconditionFailure("no worker is free") }
        (one.order, one.givenAt) = (order, .now)
        // If the worker has ended, `take` notices it.
        guard var line = try? Self.encoder.encode(order) else { preconditionFailure("an order is always JSON") }
        line.append(UInt8(ascii: "\n"))
        var rest = [UInt8](line)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { bytes in unsafe write(one.input, bytes.baseAddress, bytes.count) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    package func take() throws -> (order: Order, verdict: Verdict) {
        while true {
            for place in all.indices {
                let one = all[place]
                guard let order = one.order else { continue }
                if let end = one.received.firstIndex(of: UInt8(ascii: "\n")) {
                    let verdict = try JSONDecoder().decode(Verdict.self, from: Data(one.received[..<end]))
                    one.received.removeSubrange(...end)
                    one.order = nil
                    return (order, verdict)
                }
                switch one.end {
                case .killed(let signal):
                    let name = unsafe strsignal(signal).map { unsafe String(cString: $0) } ?? "unknown"
                    return (order, try replace(place, "signal \(signal) ended it (\(name))"))
                // The worker has written the reason.
                case .exited(WorkerLoop.refused): throw WorkerError()
                case .exited(let code): return (order, try replace(place, "it ended with the code \(code)"))
                case nil: break
                }
                if ContinuousClock.now - one.givenAt > patience {
                    one.process.send(SIGKILL)
                    return (order, try replace(place, "it had not ended after \(patience)"))
                }
            }
            try read()
        }
    }

    /// Waits for bytes of any worker; a worker that has ended returns none.
    private func read() throws {
        let busy = all.indices.filter { all[$0].order != nil }
        precondition(!busy.isEmpty, "no order was given")
        var polls = busy.map { pollfd(fd: all[$0].output, events: Int16(POLLIN), revents: 0) }
        guard unsafe poll(&polls, nfds_t(polls.count), 1000) > 0 else { return }
        for (place, poll) in zip(busy, polls) where poll.revents != 0 {
            var bytes = [UInt8](repeating: 0, count: 65536)
            let count = unsafe Glibc.read(all[place].output, &bytes, bytes.count)
            if count > 0 {
                all[place].received += bytes[..<count]
            } else {
                all[place].end = all[place].process.wait()
            }
        }
    }

    private func replace(_ place: Int, _ text: String) throws -> Verdict {
        all[place] = try One(program, arguments)
        return Verdict(violation: Violation(rule: Self.rule, text: text))
    }

    private static let encoder = JSONEncoder()
}

/// A worker could not do its work.
struct WorkerError: Error, CustomStringConvertible {
    let description = "a worker has ended: what it wrote says why"
}
