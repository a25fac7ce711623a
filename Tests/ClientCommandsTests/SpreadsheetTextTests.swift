// SPDX-License-Identifier: Apache-2.0
import CommandTranscript
import Testing

@testable import ClientCommands
@testable import Terminal

/// FAULTS 2.14: what a client stored began a formula in the operator's spreadsheet.
@Suite struct SpreadsheetTextTests {
    private static let text = "a,b\n=1,x=1\n\"=2,\"\"=3\",+86\n-1,@x\n\"\",\"\"\"=4\"\n"
    private static let escaped = "a,b\n'=1,x=1\n\"'=2,\"\"=3\",'+86\n'-1,'@x\n\"\",\"\"\"=4\"\n"

    @Test(arguments: [1, 2, 3, 100]) func `Only the beginning of a cell is escaped`(piece: Int) {
        var spreadsheet = SpreadsheetText()
        var rest = Array(Self.text.utf8)[...]
        var result: [UInt8] = []
        while !rest.isEmpty {
            result += spreadsheet.escaped(rest.prefix(piece))
            rest = rest.dropFirst(piece)
        }
        #expect(String(decoding: result, as: UTF8.self) == Self.escaped)
    }

    @Test func `An export is as it was stored, unless it is for a spreadsheet`() async {
        let transport = ScriptedTransport(["GET /v1/deliveries?telephone=1": (200, Self.text)])
        for (option, text) in [([], Self.text), (["--for-spreadsheet"], Self.escaped)] {
            let transcript = Transcript(isOutputTerminal: false)
            let words = ["deliveries", "--telephone", "1", "--csv"] + option
            #expect(await transcript.run(words, transport) == .done)
            #expect(transcript.out == text)
        }
    }
}
