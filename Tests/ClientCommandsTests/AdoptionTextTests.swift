// SPDX-License-Identifier: Apache-2.0
import CommandTranscript
import Testing

@testable import ClientCommands
@testable import Terminal

@Suite struct AdoptionTextTests {
    private static let path = "GET /v1/campaigns/1f0c2ab93d44/adoption"

    private static func answer(_ items: [(at: String, upgraded: Int)], upgraded: Int) -> String {
        let list = items.map { #"{"at":"\#($0.at)","upgraded":\#($0.upgraded)}"# }.joined(separator: ",")
        return """
            {"campaign":"1f0c2ab93d44","app":"a","platform":"ios","required":"2.0.0","state":"completed",\
            "begunAt":"2026-11-20T09:00:00.000Z","at":"2026-11-20T19:00:00.000Z","audience":10000,\
            "alreadyCurrent":400,"accepted":9000,"toldAtLogin":5000,"upgraded":\(upgraded),\
            "reachedBy":{"push":\(upgraded / 2),"login":\(upgraded / 4),"both":0,"unknown":\(upgraded / 4)},\
            "items":[\(list)]}
            """
    }

    private func run(_ answer: String, isTerminal: Bool = true, _ more: [String] = []) async -> (ExitCode, String) {
        let transcript = Transcript(isTerminal: isTerminal, isOutputTerminal: isTerminal)
        let code = await transcript.run(
            ["campaigns", "adoption", "1f0c2ab93d44"] + more, ScriptedTransport([Self.path: (200, answer)]))
        return (code, transcript.out)
    }

    private static let risen = answer(
        [
            ("2026-11-20T10:00:00.000Z", 1200), ("2026-11-20T12:00:00.000Z", 2400), ("2026-11-20T14:00:00.000Z", 4800),
        ], upgraded: 4800)

    private static let fields = """
        campaign             1f0c2ab93d44
        app                  a ios
        required             2.0.0
        state                completed
        begun                2026-11-20T09:00:00.000Z
        to upgrade           9,600 (10,000 without 400 already current)
        pushes accepted      9,000
        notified at login    5,000
        upgraded             4,800 50%
          after a push       2,400 50%
          notified at login  1,200 25%
          both               0 0%
          by neither         1,200 25%


        """

    @Test func `The counts come with each point`() async {
        let (_, out) = await run(Self.risen)
        #expect(
            out == Self.fields + """
                AT                        UPGRADED  SHARE
                2026-11-20T10:00:00.000Z     1,200    12%
                2026-11-20T12:00:00.000Z     2,400    25%
                2026-11-20T14:00:00.000Z     4,800    50%

                """)
    }

    @Test func `Of many points some are shown, the last among them`() async {
        let points = (0..<1000).map { (at: "point \($0)", upgraded: $0) }
        let (_, out) = await run(Self.answer(points, upgraded: 999))
        let rows = out.split(separator: "\n").filter { $0.hasPrefix("point ") }
        #expect(rows.count == 24 && rows.last?.hasPrefix("point 999 ") == true, "\(out)")
    }

    @Test func `Without a curve it says so`() async {
        for isTerminal in [true, false] {
            let (code, out) = await run(Self.answer([], upgraded: 0), isTerminal: isTerminal)
            #expect(code == .done)
            #expect(out.contains("upgraded           0 0%\n"))
            #expect(out.hasSuffix("\n\nno curve: no device was seen with the required version yet, or it was pruned\n"))
        }
    }

    @Test func `With --json the API's own words are printed`() async {
        let (_, out) = await run(Self.risen, ["--json"])
        #expect(out == Self.risen + "\n")
    }
}
