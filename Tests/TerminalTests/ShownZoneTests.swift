// SPDX-License-Identifier: Apache-2.0
import CommandTranscript
import RelayEngine
import Testing

@testable import Terminal

@Suite struct ShownZoneTests {
    private static let shanghai = LocalZone(name: "Asia/Shanghai") { _ in 8 * 3600 }
    private static let newfoundland = LocalZone(name: "America/St_Johns") { _ in -(3 * 3600 + 1800) }

    @Test(arguments: [
        ("2026-01-31T09:05:07.250Z", "2026-01-31T17:05:07+08:00", "2026-01-31T05:35:07-03:30"),
        (
            "wave 1 of 3 is done; the next begins at 2026-01-31T20:00:00Z",
            "wave 1 of 3 is done; the next begins at 2026-02-01T04:00:00+08:00",
            "wave 1 of 3 is done; the next begins at 2026-01-31T16:30:00-03:30"
        ),
        ("no moment: Z, 2026-01-31, 12:00Z", "no moment: Z, 2026-01-31, 12:00Z", "no moment: Z, 2026-01-31, 12:00Z"),
    ])
    func `Moments are in the zone, in a column and in a sentence`(text: String, east: String, west: String) {
        #expect(ShownZone.text(text) == text, "UTC where no zone is shown")
        #expect(ShownZone.$current.withValue(Self.shanghai) { ShownZone.text(text) } == east)
        #expect(ShownZone.$current.withValue(Self.newfoundland) { ShownZone.text(text) } == west)
    }

    @Test func `A table is as wide as its moments in the zone, and shortens them`() {
        let lines = ShownZone.$current.withValue(Self.shanghai) { () -> [[String]] in
            var table = TextTable([.whole("ID"), .time("WHEN"), "REASON"])
            table.add(["1f0c2ab93d44", "2026-01-31T09:05:07.250Z", "until 2026-01-31T10:00:00Z"])
            return [nil, 60, 55].map { table.lines(on: Screen(width: $0)) }
        }
        #expect(lines[0][1] == "1f0c2ab93d44  2026-01-31T17:05:07+08:00  until 2026-01-31T18:00:00+08:00")
        #expect(lines[1][1].hasPrefix("1f0c2ab93d44  01-31 17:05+08:00  until 2026"))
        for line in lines[1] { #expect(DisplayWidth.columns(line) <= 60) }
        for line in lines[2] { #expect(DisplayWidth.columns(line) <= 55) }
    }

    @Test func `A field and a line on a terminal follow the zone`() {
        let transcript = Transcript()
        ShownZone.$current.withValue(Self.shanghai) {
            transcript.console.write(TextTable.fields([("since", "2026-01-31T09:05:07.250Z")]))
            transcript.console.writeError("until 2026-01-31T09:05:07.250Z\n")
        }
        #expect(transcript.out == "since  2026-01-31T17:05:07+08:00\n")
        #expect(transcript.err == "until 2026-01-31T17:05:07+08:00\n")
    }
}
