// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import WireFormat

/// FAULTS 3.12: what a client stored began a formula in the operator's spreadsheet.
@Suite struct CSVTextTests {
    static let cells: [(stored: String, written: String)] = [
        ("=1", "'=1"), ("+8613800138000", "'+8613800138000"), ("-1", "'-1"), ("@x", "'@x"), ("\tx", "'\tx"),
        ("\rx", "\"'\rx\""), ("\nx", "\"'\nx\""), ("=1,\"2\"", "\"'=1,\"\"2\"\"\""), ("＝1", "'＝1"), ("＋1", "'＋1"),
        ("－1", "'－1"), ("＠1", "'＠1"), ("'=1", "''=1"), ("''+1", "'''+1"),
        // No formula, and so as it was.
        ("", ""), ("138", "138"), ("x=1", "x=1"), ("'", "'"), ("'x", "'x"), ("''", "''"), ("，", "，"),
        ("\u{301}=1", "\u{301}=1"),
    ]

    @Test(arguments: cells) func `A cell begins no formula and is read as it was`(stored: String, written: String) {
        var bytes: [UInt8] = []
        CSVText.append([stored], to: &bytes)
        #expect(Array(bytes.dropLast()) == Array(written.utf8))
        var plain = written
        if plain.hasPrefix("\"") {
            plain = String(plain.dropFirst().dropLast()).replacingOccurrences(of: "\"\"", with: "\"")
        }
        #expect(Array(CSVText.cell(Array(plain.utf8)[...])) == Array(stored.utf8))
    }
}
