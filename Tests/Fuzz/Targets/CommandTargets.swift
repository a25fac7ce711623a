// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Telemetry
import VersionSources
import WireFormat

@testable import ClientCommands
@testable import Configuration
@testable import RelayDaemon
@testable import Terminal

extension FuzzTarget {
    /// A configuration: every fault can be shown, and the scan that finds a fault's place knows Foundation's grammar.
    static let configuration = FuzzTarget("configuration") { bytes in
        let reading = Result(catching: { () throws(ConfigurationError) in
            try ConfigurationFile.parse(bytes, path: "config.json5")
        })
        guard case .failure(let error) = reading else { return }
        for fault in error.faults {
            try hold(fault.description.utf8.count <= 2000, "a fault is long: \(fault.description.utf8.count)")
            try hold(
                isShowable(fault.description), "a fault steers the terminal: \(fault.description.debugDescription)")
        }
    }

    /// Texts from elsewhere, as they are shown: neither the terminal nor the log obeys them.
    static let shownText = FuzzTarget("shown-text") { bytes in
        var input = FuzzInput(bytes)
        let (name, value) = (input.text(), input.text())
        let shown = DisplayWidth.sanitised(value)
        try hold(isShowable(shown), "shown: \(shown.debugDescription)")
        let width = bytes.count % 80
        let cut = DisplayWidth.truncated(shown, to: width)
        try hold(DisplayWidth.columns(cut) <= width, "\(DisplayWidth.columns(cut)) columns of \(width)")
        var table = TextTable(["A", .right("B")])
        table.add([name, value])
        for line in table.lines() + TextTable.fields([("a", value)]).split(separator: "\n").map(String.init) {
            try hold(isShowable(line), "a table's line: \(line.debugDescription)")
        }
        let line = StandardErrorLog.line(
            .error, "a message", [("field", value)], isJournal: bytes.count % 2 == 0, at: "2026-01-31T09:05:07Z")
        try hold(isShowable(line), "a log line: \(line.debugDescription)")
        try hold(line.utf8.count <= 200 + 8 * value.utf8.count, "a log line is long")
        let problem = Problem(APIAnswer(status: 422, body: bytes))
        for line in problem.message.split(separator: "\n") {
            try hold(isShowable(String(line)), "a problem's line: \(line.debugDescription)")
        }
        var total = Duration.zero
        if let duration = DurationText.parse(value) {
            total += duration
            try hold(DurationText.parse(DurationText.exact(duration)) == duration, "\(duration) is not read back")
        }
    }

    /// No character that a terminal obeys or that begins a line.
    private static func isShowable(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy {
            switch $0.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: false
            default: true
            }
        }
    }
}
