// SPDX-License-Identifier: Apache-2.0
import Synchronization
import Telemetry
import Testing

@Suite struct LogTests {
    private final class Lines: Sendable {
        let all = Mutex<[String]>([])

        func log(_ minimum: LogLevel) -> Log {
            Log(minimum: minimum) { [self] level, message, fields in
                let text = fields.map { " \($0.name)=\($0.value)" }.joined()
                all.withLock { $0.append("\(level) \(message)\(text)") }
            }
        }
    }

    @Test func aLevelThatIsChangedHoldsForEveryCopy() {
        let lines = Lines()
        let log = lines.log(.info)
        let copy = log
        var made = 0
        func field() -> Log.Fields {
            made += 1
            return [("n", String(made))]
        }
        copy(.debug, "silent", field())
        log.minimum = .debug
        copy(.debug, "heard", field())
        log.minimum = .error
        copy(.warning, "silent again", field())
        copy(.error, "always", field())
        #expect(lines.all.withLock { $0 } == ["debug heard n=1", "error always n=2"])
        #expect(log.lines == [.debug: 1, .error: 1])
    }

    @Test func linesOfARequestCarryItsMark() {
        let lines = Lines()
        let log = lines.log(.info)
        RequestMark.with("abc") {
            log(.info, "inside", [("a", "1")])
            RequestMark.with(nil) { log(.info, "of nobody") }
        }
        log(.info, "outside")
        #expect(lines.all.withLock { $0 } == ["info inside a=1 request=abc", "info of nobody", "info outside"])
    }

    @Test(arguments: LogLevel.allCases) func levelsAreFoundByName(level: LogLevel) {
        #expect(LogLevel(name: level.name) == level)
        #expect(LogLevel(name: level.name.uppercased()) == nil)
    }

    @Test func tenLinesAtOnceThenOneInTenSecondsThatCountsTheOthers() {
        var pace = LogPace()
        let first = (0..<100).map { pace.next(at: 1_000_000 + Int64($0)) }
        #expect(first.count { $0 != nil } == 10)
        #expect(pace.next(at: 1_010_000) == 90)
        #expect(pace.next(at: 1_010_001) == nil)
        #expect(pace.next(at: 1_030_000) == 1)
        var slow = LogPace(burst: 1, interval: 60_000)
        #expect([0, 1, 59_999, 60_000, 60_001, 120_000].map { slow.next(at: $0) } == [0, nil, nil, 2, nil, 1])
    }

    @Test func aFaultIsNewsWhenItBeginsAndWhenItEnds() {
        var faults = FaultLog()
        #expect(faults.set("store", "full") && !faults.set("store", "locked"))
        #expect(faults.text("store") == "locked" && faults.texts.count == 1)
        #expect(faults.clear("store") && !faults.clear("store"))
    }
}
