// SPDX-License-Identifier: Apache-2.0
import CommandTranscript
import RelayEngine
import Testing

@testable import Terminal

@Suite struct DurationTextTests {
    @Test(
        arguments: [
            ("7d", 604_800_000), ("12h", 43_200_000), ("30m", 1_800_000), ("45s", 45_000), ("500ms", 500),
            ("1h30m", 5_400_000),
            ("0", 0), ("2w", 1_209_600_000),
        ] as [(String, Int64)])
    func `A duration is whole numbers with units`(text: String, milliseconds: Int64) {
        #expect(DurationText.parse(text) == .milliseconds(milliseconds))
    }

    @Test(arguments: [
        "", "7", "d", "7 d", "-7d", "+7d", "7D", "1.5h", "30m1h", "1h1h", "99999999999999999d",
        "9223372036854775807ms1d",
        "٧d",
    ])
    func `Anything else is none`(text: String) {
        #expect(DurationText.parse(text) == nil)
    }

    @Test(arguments: ["7d", "1h30m", "45s", "500ms", "0", "1d2h3m4s"])
    func `The exact text is read as the same duration`(text: String) throws {
        #expect(DurationText.exact(try #require(DurationText.parse(text))) == text)
    }

    @Test(
        arguments: [
            (-1, "-"), (0, "0s"), (59, "59s"), (60, "1m 00s"), (125, "2m 05s"), (3600, "1h 00m"), (100_000, "1d 3h"),
        ] as [(Int64, String)])
    func `Time left is told in two units at most`(seconds: Int64, text: String) {
        #expect(DurationText.rough(seconds: seconds) == text)
    }
}

@Suite struct QuantityTests {
    @Test(
        arguments: [
            (0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567"), (-1000, "-1,000"),
        ] as [(Int64, String)])
    func `Thousands are grouped`(number: Int64, text: String) {
        #expect(Quantity.count(number) == text)
    }

    @Test func `The smallest number is no trap`() {
        #expect(Quantity.count(Int64.min) == "-9,223,372,036,854,775,808")
    }

    @Test(arguments: [
        (0.0, "0/s"), (0.25, "0.3/s"), (9.94, "9.9/s"), (9.96, "10/s"), (12_345.6, "12,346/s"), (.nan, "-/s"),
    ])
    func `A rate has a decimal only where it is small`(rate: Double, text: String) {
        #expect(Quantity.rate(rate) == text)
    }

    @Test func `All of it is only what is all of it`() {
        #expect(Quantity.percent(9_999, of: 10_000) == "99.99%")
        #expect(Quantity.percent(2_197_485, of: 2_197_684) == "99.99%")
        #expect(Quantity.percent(999, of: 1_000) == "99.9%")
        #expect(Quantity.percent(99, of: 100) == "99%")
        #expect(Quantity.percent(989, of: 1_000) == "98%")
        #expect(Quantity.percent(Int64.max - 1, of: .max) == "99.99%")
        #expect(Quantity.percent(199, of: 2_197_684) == "<0.01%")
        #expect(Quantity.percent(5, of: 10_000) == "0.05%")
        #expect(Quantity.percent(0, of: 10) == "0%")
        #expect(Quantity.percent(10_000, of: 10_000) == "100%")
        #expect(Quantity.percent(0, of: 0) == "-")
    }

    @Test(arguments: [(512, "512 B"), (1536, "1.5 KiB"), (20 << 20, "20 MiB")] as [(Int64, String)])
    func `Bytes are told in the unit that fits`(bytes: Int64, text: String) {
        #expect(Quantity.bytes(bytes) == text)
    }
}

@Suite struct TextTableTests {
    @Test func `Columns are aligned and lines end without spaces`() {
        var table = TextTable(["NAME", .right("COUNT"), "LAST"])
        table.add(["a", "1", "x"])
        table.add(["longer", "1,000", ""])
        table.add(["short"])
        #expect(table.lines() == ["NAME    COUNT  LAST", "a           1  x", "longer  1,000", "short"])
    }

    @Test func `Wide characters take two columns and control characters are replaced`() {
        var table = TextTable(["A", "B"])
        table.add(["北京", "x"])
        table.add(["e\u{301}", "\u{1B}[31mred\n"])
        #expect(table.lines() == ["A     B", "北京  x", "e\u{301}     \u{FFFD}[31mred\u{FFFD}"])
    }
}

@Suite struct ScreenTests {
    private static let table: TextTable = {
        var table = TextTable([.whole("ID"), "NAME", .tinted("STATE") { $0 == "bad" ? .red : nil }, .right("COUNT")])
        table.add(["1f0c2ab93d44", String(repeating: "n", count: 60), "bad", "2,188,028"])
        table.add(["1f0c2ab93d45", "short", "good", "1"])
        return table
    }()

    @Test(arguments: [40, 50, 60, 80, 100]) func `A table fits the terminal`(width: Int) {
        let lines = Self.table.lines(on: Screen(width: width))
        for line in lines { #expect(DisplayWidth.columns(line) <= width) }
        #expect(lines[1].hasPrefix("1f0c2ab93d44  nnn") && lines[1].hasSuffix("bad    2,188,028"))
        #expect(lines[1].contains("…") == (width < 92))
    }

    @Test func `What is no terminal gets all of it`() {
        #expect(Self.table.lines(on: Screen(width: nil))[1].count == 92)
    }

    @Test(arguments: [
        (["TERM": "xterm"], true), (["TERM": "xterm", "NO_COLOR": ""], true),
        (["TERM": "xterm", "NO_COLOR": "1"], false),
        (["TERM": "dumb"], false), ([:], false),
    ])
    func `Colours are for terminals that nobody told otherwise`(environment: [String: String], hasColour: Bool) {
        let terminal = Console(isTerminal: true) { _, _ in }
        #expect(Screen(terminal, environment: environment).hasColour == hasColour)
        let file = Console(isTerminal: true, isOutputTerminal: false) { _, _ in }
        #expect(Screen(file, environment: environment) == Screen(width: nil))
    }

    @Test func `A state has a colour, and nothing else of an escape passes`() {
        let screen = Screen(width: 200, hasColour: true)
        let lines = Self.table.lines(on: screen)
        #expect(lines[1].contains("\u{1B}[31mbad\u{1B}[0m"))
        #expect(!lines[2].contains("\u{1B}"))
        let transcript = Transcript()
        Screen.$current.withValue(screen) { transcript.console.write("\(lines[1])\u{1B}]0;title\u{7}\u{1B}[2J\n") }
        #expect(transcript.out == lines[1] + "\u{FFFD}]0;title\u{FFFD}\u{FFFD}[2J\n")
    }
}

@Suite struct DisplayWidthTests {
    @Test func `What is cut is short, however many marks its characters have`() {
        let text = "a" + String(repeating: "\u{301}", count: 100_000)
        #expect(DisplayWidth.truncated(text, to: 60).utf8.count < 1000)
        #expect(DisplayWidth.truncated("e\u{301}e\u{301}e\u{301}", to: 3) == "e\u{301}e\u{301}e\u{301}")
        #expect(DisplayWidth.truncated("abcd", to: 3) == "ab…")
    }
}

@Suite struct ProgressTests {
    @Test func `A line shows share, rate and time left, and fits`() {
        let progress = Progress(done: 500, total: 1000, ratePerSecond: 100, secondsLeft: 5, note: "accepted 490")
        let line = ProgressBar.line("pushing", progress, width: 100)
        #expect(line.hasPrefix("pushing [####"))
        #expect(line.hasSuffix("50%  500/1,000  100/s  5s left  accepted 490"))
        for width in 1...120 {
            #expect(DisplayWidth.columns(ProgressBar.line("pushing", progress, width: width)) <= width)
        }
    }

    @Test func `A bar is full only when all is done`() {
        #expect(ProgressBar.bar(0.999, cells: 10) == "[#########-]")
        #expect(ProgressBar.bar(1, cells: 10) == "[##########]")
        #expect(ProgressBar.bar(0, cells: 3) == "[---]")
    }

    @Test func `Without a total there is no bar`() {
        let progress = Progress(done: 500, total: nil, ratePerSecond: 100, secondsLeft: nil)
        #expect(ProgressBar.plain("reading", progress) == "reading: 500  100/s")
    }

    @Test func `One is told in the singular`() {
        #expect(Quantity.count(1, "app") == "1 app")
        #expect(Quantity.count(0, "app") == "0 apps")
        #expect(Quantity.count(12_345, "device") == "12,345 devices")
    }

    @Test func `Bytes are told as bytes`() {
        let progress = Progress(done: 512, total: 20 << 20, ratePerSecond: 1536, secondsLeft: nil, unit: .bytes)
        #expect(ProgressBar.plain("importing", progress) == "importing: <0.01%  512 B/20 MiB  1.5 KiB/s")
    }

    @Test func `The end has no rate where nobody measured one`() {
        let progress = Progress(done: 10, total: 10, ratePerSecond: 0, secondsLeft: 0)
        #expect(ProgressBar.plain("pushing", progress) == "pushing: 100%  10/10")
    }

    @Test func `What was measured last is shown at the end`() {
        let transcript = Transcript()
        let display = ProgressDisplay(transcript.console, label: "work", total: 1000)
        display.update(done: 999)
        display.finish(done: 1000)
        #expect(transcript.err.hasPrefix("work: 99.9%  999/1,000"))
        #expect(transcript.err.contains("\nwork: 100%  1,000/1,000"))
    }

    @Test func `Nothing to do is done`() {
        let progress = Progress(done: 0, total: 0, ratePerSecond: 0, secondsLeft: nil)
        #expect(progress.share == 1)
        #expect(ProgressBar.plain("pushing", progress).contains("100%"))
    }

    @Test func `The rate follows the work and forgets an old stall`() {
        var meter = ProgressMeter(total: 10_000, start: .zero)
        var progress = meter.update(done: 100, at: .seconds(1))
        #expect(abs(progress.ratePerSecond - 100) < 0.001)
        #expect(progress.secondsLeft == 99)
        for second in 2...60 { progress = meter.update(done: 100, at: .seconds(second)) }
        #expect(progress.ratePerSecond < 1)
        for second in 61...90 { progress = meter.update(done: Int64(100 + 200 * (second - 60)), at: .seconds(second)) }
        #expect(abs(progress.ratePerSecond - 200) < 2)
    }

    @Test func `A first look before anything is done does not hold the rate down`() {
        var meter = ProgressMeter(total: 10_100, start: .zero)
        #expect(meter.update(done: 0, at: .microseconds(20)).ratePerSecond == 0)
        for step in 1...9 {
            let progress = meter.update(done: Int64(step * 1000), at: .milliseconds(step * 50))
            #expect(abs(progress.ratePerSecond - 20_000) < 100)
        }
    }

    @Test func `A clock that stands still divides by nothing`() {
        var meter = ProgressMeter(total: 10, start: .zero)
        #expect(meter.update(done: 5, at: .zero).ratePerSecond == 0)
    }

    @Test func `A line that interrupts the bar takes its place`() {
        let transcript = Transcript(isTerminal: true)
        let display = ProgressDisplay(transcript.console, label: "work", total: 1000)
        display.interrupt("line 1: a\n")
        #expect(transcript.err == "line 1: a\n")
        display.update(done: 1)
        display.interrupt("line 2: b\n")
        #expect(transcript.err.hasSuffix("\u{1B}[K\r\u{1B}[Kline 2: b\n"))
        display.update(done: 2)
        #expect(transcript.err.hasSuffix("\u{1B}[K"), "the bar is back at once")
    }

    @Test func `Elsewhere than on a terminal lines come once a tenth`() {
        let transcript = Transcript()
        let display = ProgressDisplay(transcript.console, label: "work", total: 1000)
        for done in 0...1000 { display.update(done: Int64(done)) }
        let lines = transcript.err.split(separator: "\n")
        #expect((10...12).contains(lines.count))
        #expect(!transcript.err.contains("\r"))
    }
}
