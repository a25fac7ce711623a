// SPDX-License-Identifier: Apache-2.0
import CommandTranscript
import Testing

@testable import ClientCommands
@testable import Terminal

@Suite struct VersionCourseTextTests {
    private static let path = "GET /v1/apps/com.example.app/ios/adoption"

    private func run(_ answer: String) async -> (ExitCode, String) {
        let transcript = Transcript()
        let code = await transcript.run(
            ["version", "adoption", "com.example.app", "ios"], ScriptedTransport([Self.path: (200, answer)]))
        return (code, transcript.out)
    }

    private static func answer(_ items: [String]) -> String {
        #"{"app":"com.example.app","platform":"ios","at":"2026-11-20T10:00:00.000Z","versions":null,"items":[\#(items.joined(separator: ","))]}"#
    }

    private static func count(_ at: String, _ versions: [(String, Int)], others: Int = 0) -> String {
        let list = versions.map { #"{"version":"\#($0.0)","devices":\#($0.1),"share":0}"# }.joined(separator: ",")
        let seen = versions.reduce(others) { $0 + $1.1 }
        return #"{"at":"\#(at)","seen":\#(seen),"versions":[\#(list)],"others":\#(others),"unknown":0}"#
    }

    @Test func `An app that was never counted says so in a sentence`() async {
        let (code, out) = await run(Self.answer([]))
        #expect(code == .done)
        #expect(out.hasPrefix("nothing is counted yet: ") && out.split(separator: "\n").count == 1, "\(out)")
    }

    @Test func `The greatest versions have a column, and the rest is one`() async {
        let (_, out) = await run(
            Self.answer([
                Self.count(
                    "2026-11-19T09:00:00.000Z",
                    [("1.9", 60), ("1.8", 20), ("1.7", 10), ("1.6", 5), ("1.5", 3), ("1.4", 2)]),
                Self.count("2026-11-20T09:00:00.000Z", [("2.0", 150), ("1.9", 30)], others: 20),
            ]))
        #expect(
            out == """
                COUNTED                   2.0  1.9  1.8  1.7  1.6  OTHERS  SEEN LATELY
                2026-11-19T09:00:00.000Z   0%  60%  20%  10%   5%      5%          100
                2026-11-20T09:00:00.000Z  75%  15%   0%   0%   0%     10%          200

                """)
    }

    @Test func `Of many counts some are shown, evenly spread, always with the last`() async {
        let items = (1...30).map { day in
            Self.count("2026-11-\(day < 10 ? "0" : "")\(day)T09:00:00.000Z", [("1.0", day)])
        }
        let (_, out) = await run(Self.answer(items))
        let lines = out.split(separator: "\n")
        #expect(lines.count == 1 + 15, "\(out)")
        #expect(lines.last?.hasPrefix("2026-11-30") == true && lines[1].hasPrefix("2026-11-02"), "\(out)")
    }
}
