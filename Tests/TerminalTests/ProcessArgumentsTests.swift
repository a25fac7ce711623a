// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import Terminal

@Suite struct ProcessArgumentsTests {
    /// FAULTS 4: an LD_PRELOAD whose constructor calls setenv makes the runtime find none.
    @Test func `Where the runtime finds no arguments the kernel's are used`() {
        #expect(ProcessArguments.words([]) == Array(CommandLine.arguments.dropFirst()))
        #expect(ProcessArguments.words(["name", "a", ""]) == ["a", ""])
    }

    @Test(arguments: [
        ("relay\0", []), ("relay\0serve\0", ["serve"]), ("relay\0a b\0\0--x=1\0", ["a b", "", "--x=1"]), ("", []),
    ])
    func `Each word ends with a null byte`(line: String, words: [String]) {
        #expect(ProcessArguments.words(ofCommandLine: Array(line.utf8)) == words)
    }
}
