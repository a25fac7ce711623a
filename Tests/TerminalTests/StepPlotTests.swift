// SPDX-License-Identifier: Apache-2.0
import Terminal
import Testing

@Suite struct StepPlotTests {
    private let steps = [(0, 10), (40, 40), (60, 80)].map { StepPlot.Step(place: $0.0, value: $0.1) }

    private func lines(_ ink: StepPlot.Ink, width: Int = 14, height: Int = 4) -> [String] {
        StepPlot(steps, places: 0...100, ink: ink).lines(width: width, height: height) { "\($0)" }
    }

    @Test func `A curve rises by its steps, with its numbers beside it`() {
        #expect(
            lines(.blocks) == [
                "80 ┤     █████",
                "   │     █████",
                "40 ┤   ███████",
                "   │▄▄▄███████",
                " 0 └──────────",
            ])
    }

    @Test func `A terminal without block characters gets ASCII`() {
        #expect(
            lines(.ascii) == [
                "80 +     #####",
                "   |     #####",
                "40 +   #######",
                "   |...#######",
                " 0 +----------",
            ])
    }

    @Test func `No line is wider than the room, and where there is none nothing is drawn`() {
        for width in 0..<200 {
            let lines = lines(.blocks, width: width, height: 8)
            #expect(lines.allSatisfy { DisplayWidth.columns($0) <= width }, "\(width)")
            #expect(lines.isEmpty == (width < 12), "\(width)")
        }
        #expect(StepPlot([], places: 0...9, ink: .blocks).lines(width: 80, height: 8) { "\($0)" } == [])
        let nothing = StepPlot([StepPlot.Step(place: 3, value: 0)], places: 0...9, ink: .ascii)
        #expect(nothing.lines(width: 80, height: 8) { "\($0)" } == [])
    }

    @Test func `The smallest share shows, and only all of it is full`() {
        let plot = StepPlot(
            [(0, 1), (50, 999_999), (100, 1_000_000)].map { StepPlot.Step(place: $0.0, value: $0.1) },
            places: 0...100, ink: .blocks)
        let lines = plot.lines(width: 20, height: 2) { "\($0)" }
        #expect(lines[0].hasSuffix("▇▇▇█") || lines[0].hasSuffix("▇▇█"), "\(lines[0])")
        #expect(lines[1].contains("▁▁▁▁█"), "\(lines[1])")
    }

    @Test func `A moment is a curve too`() {
        let plot = StepPlot([StepPlot.Step(place: 7, value: 1)], places: 7...7, ink: .blocks)
        #expect(plot.lines(width: 12, height: 1) { "\($0)" } == ["1 ┤█████████", "0 └─────────"])
    }

    @Test(
        arguments: [
            ([:], false), (["LANG": "C"], false), (["LANG": "de_DE.UTF-8"], true), (["LANG": "C.utf8"], true),
            (["LANG": "en_US.ISO-8859-1", "LC_ALL": "", "LC_CTYPE": "en_US.utf-8"], true),
            (["LANG": "en_US.UTF-8", "LC_ALL": "C"], false), (["LC_ALL": "ca_ES.UTF-8@valencia"], true),
            (["LANG": "UTF-8"], false),
        ] as [([String: String], Bool)])
    func `The locale says what is shown, the strongest variable first`(environment: [String: String], isUnicode: Bool) {
        #expect(Console.isUnicode(environment) == isUnicode)
    }
}
