// SPDX-License-Identifier: Apache-2.0
import CommandTranscript
import Foundation
import Testing
import WireFormat

@testable import ClientCommands
@testable import Terminal

/// FAULTS 2.14 and 3.12: a text that a client stored began a formula in the operator's spreadsheet.
@Suite struct SpreadsheetTextTests {
    @Test func `An export is as the daemon writes it, with the option of earlier releases, too`() async {
        let text = "a,b\n'=1,x=1\n\"'=2,\"\"=3\",'+86\n"
        let transport = ScriptedTransport(["GET /v1/deliveries?telephone=1": (200, text)])
        for option in [[], ["--for-spreadsheet"]] {
            let transcript = Transcript(isOutputTerminal: false)
            let words = ["deliveries", "--telephone", "1", "--csv"] + option
            #expect(await transcript.run(words, transport) == .done)
            #expect(transcript.out == text)
        }
    }

    @Test func `What a list holds is read again as it was stored`() async throws {
        let daemon = try RealDaemon()
        let telephones = ["=1+1", "+8613800138000", "-5", "@SUM(A1)", "'=1", "'x", "''", "=1,\"2\"", "＝1", "138"]
        let lines = telephones.enumerated().map { number, telephone in
            var writer = JSONWriter()
            writer.object { writer in
                writer.member("token", String(repeating: "ab", count: 30) + String(1000 + number))
                writer.member("telephone", telephone)
                writer.member("version", "1.0.0")
            }
            return String(decoding: writer.bytes, as: UTF8.self) + "\n"
        }
        let place = "--app \(RealDaemon.app) --platform ios"
        let file = "\(daemon.folder)/devices.ndjson"
        try Data(lines.joined().utf8).write(to: URL(filePath: file))
        #expect(await daemon.run("devices import \(file) \(place)").code == .done)
        let csv = "\(daemon.folder)/devices.csv"
        #expect(await daemon.run("devices export \(place) --csv --output \(csv)").code == .done)
        let text = try String(contentsOfFile: csv, encoding: .utf8)
        #expect(text.firstMatch(of: /[,\n]"?[=+\-@\t\r＝]/) == nil && text.contains(",'+8613800138000,"), "\(text)")
        let before = await daemon.run("devices export \(place)").out
        let again = await daemon.run("devices import \(csv) --json")
        #expect(again.code == .done && again.out.contains("\"unchanged\":10"), "\(again.out)\(again.err)")
        #expect(await daemon.run("devices export \(place)").out == before)
        for telephone in telephones {
            var writer = JSONWriter()
            writer.member("telephone", telephone)
            #expect(before.contains(String(decoding: writer.bytes, as: UTF8.self)), "\(telephone) in \(before)")
        }
    }
}
