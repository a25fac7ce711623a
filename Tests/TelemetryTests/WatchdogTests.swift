// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing

@testable import Telemetry

@Suite struct WatchdogTests {
    private var watchdog = Watchdog(patience: .seconds(30), step: .seconds(1))
    private var now = MonotonicTime(nanoseconds: 5_000_000_000)

    /// Looks every second for so long; returns after how many seconds something was first stuck.
    private mutating func look(seconds: Int, _ readings: (Int) -> [Watchdog.Reading]) -> (at: Int, parts: [String])? {
        var first: (Int, [String])?
        for second in 0...seconds {
            let stuck = watchdog.look(readings(second), at: now)
            if first == nil, !stuck.isEmpty { first = (second, stuck) }
            now = now + .seconds(1)
        }
        return first
    }

    private static func reading(
        _ part: String = "lane-0", beats: Int, atRest: Bool = false, awaited: PulseReading? = nil
    ) -> Watchdog.Reading {
        .init(part: part, own: PulseReading(beats: UInt64(beats), isAtRest: atRest), awaited: awaited)
    }

    @Test mutating func `A part that beats is well, however long it works`() {
        #expect(look(seconds: 500) { [Self.reading(beats: $0 / 20)] } == nil)
    }

    @Test mutating func `A part at rest is well without a beat`() {
        #expect(look(seconds: 500) { _ in [Self.reading(beats: 7, atRest: true)] } == nil)
    }

    @Test mutating func `A part that works without a beat is stuck when its patience is over, and alone`() throws {
        let stuck = try #require(
            look(seconds: 60) { [Self.reading("lane-0", beats: 1), Self.reading("lane-1", beats: $0)] })
        #expect(stuck == (31, ["lane-0"]))
    }

    @Test mutating func `A part that gets on again is well again`() {
        #expect(look(seconds: 40) { _ in [Self.reading(beats: 1)] }?.at == 31)
        #expect(look(seconds: 29) { _ in [Self.reading(beats: 2)] } == nil)
    }

    @Test mutating func `Rest in between begins the count anew`() {
        #expect(look(seconds: 200) { [Self.reading(beats: 1, atRest: $0 % 25 == 0)] } == nil)
    }

    @Test mutating func `A queue before a store that gets on is waited for, not for ever`() {
        let stuck = look(seconds: 400) { second in
            [Self.reading("fan-out", beats: 1, awaited: PulseReading(beats: UInt64(second / 5), isAtRest: false))]
        }
        #expect(stuck?.at == 301)
    }

    @Test mutating func `A store that does not get on excuses nobody`() {
        for isAtRest in [true, false] {
            let awaited = PulseReading(beats: 3, isAtRest: isAtRest)
            watchdog = Watchdog(patience: .seconds(30), step: .seconds(1))
            let stuck = look(seconds: 60) { _ in [Self.reading("fan-out", beats: 1, awaited: awaited)] }
            #expect(stuck?.at == 31)
        }
    }

    @Test mutating func `While the whole process stood still no part was stuck`() {
        #expect(watchdog.look([Self.reading(beats: 1)], at: now).isEmpty)
        now = now + .seconds(3600)
        #expect(watchdog.look([Self.reading(beats: 1)], at: now).isEmpty)
        // Two seconds of that hour count.
        now = now + .seconds(1)
        #expect(look(seconds: 60) { _ in [Self.reading(beats: 1)] }?.at == 28)
    }

    @Test func `A pulse counts beats and knows rest from work`() {
        let pulse = Pulse("a")
        #expect(pulse.reading == PulseReading(beats: 0, isAtRest: true))
        pulse.beat()
        #expect(pulse.reading == PulseReading(beats: 1, isAtRest: false))
        pulse.beat()
        pulse.rest()
        pulse.rest()
        #expect(pulse.reading == PulseReading(beats: 2, isAtRest: true))
    }
}

extension PulseReading {
    fileprivate init(beats: UInt64, isAtRest: Bool) {
        self.init(state: beats << 1 | (isAtRest ? 1 : 0))
    }
}
