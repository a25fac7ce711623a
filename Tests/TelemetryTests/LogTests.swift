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
}
