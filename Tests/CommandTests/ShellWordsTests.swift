// SPDX-License-Identifier: Apache-2.0
import Testing

@Suite struct ShellWordsTests {
    @Test(arguments: [
        ("a 'b c' \"d\" --e=f # g", [["a", "b c", "d", "--e=f"]]),
        ("a b \\\n    c", [["a", "b", "c"]]),
        ("$ a > file 2> /dev/null &\nb <in | c && d; e", [["a"], ["b"], ["c"], ["d"], ["e"]]),
        ("T=$(a --b \"c\")\nd", [["T="], ["a", "--b", "c"], ["d"]]),
        ("a - <<'END'\nno command\nEND\nb", [["a", "-"], ["b"]]),
    ])
    func commands(script: String, commands: [[String]]) {
        #expect(ShellWords.commands(in: script) == commands)
    }
}
