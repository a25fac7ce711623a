// SPDX-License-Identifier: Apache-2.0
import Dispatch
import RelayEngine
import Telemetry
import Threading

/// Looks at the connections of one door four times a second, and says what it had to do, at most every ten seconds.
final class Sweeper: Sendable {
    private static let interval: Int64 = 250
    private static let reportInterval: Int64 = 10_000

    private let connections: Connections
    private let log: Log
    private let door: Door
    private let over: Signal
    private let ended = DispatchSemaphore(value: 0)

    init(_ connections: Connections, log: Log, door: Door) throws(ServerStartError) {
        self.connections = connections
        self.log = log
        self.door = door
        over = try Signal()
    }

    func start() {
        DispatchQueue(label: "sweeper").async { [self] in
            var sum = Connections.Figures()
            var reported = MonotonicClock.milliseconds() - Self.reportInterval
            while !over.wait(milliseconds: Self.interval) {
                let now = MonotonicClock.milliseconds()
                let figures = connections.sweep(now: now)
                sum.refused += figures.refused
                sum.overdue += figures.overdue
                sum.evicted += figures.evicted
                guard sum != Connections.Figures(), now - reported >= Self.reportInterval else { continue }
                log(
                    .warning, "connections were cut off",
                    [
                        ("door", door.name), ("tooSlow", String(sum.overdue)),
                        ("idleToMakeRoom", String(sum.evicted)), ("noRoom", String(sum.refused)),
                        ("open", String(connections.count)),
                    ])
                (sum, reported) = (Connections.Figures(), now)
            }
            ended.signal()
        }
    }

    /// After `start`. Returns when the last look is over.
    func stop() {
        over.set()
        ended.wait()
    }
}
