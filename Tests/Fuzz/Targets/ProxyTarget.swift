// SPDX-License-Identifier: Apache-2.0
@testable import RelayAPI

extension FuzzTarget {
    /// The version in a User-Agent, by the owner's pattern: the result is the one that trying everything gives.
    static let userAgent = FuzzTarget("user-agent") { bytes in
        var input = FuzzInput(bytes)
        let (text, header) = (input.text(), input.text())
        guard let pattern = try? UserAgentPattern(text) else { return }
        let found = pattern.version(in: header)
        // The other way takes its time.
        guard header.utf8.count <= 256 else { return }
        let pieces = text.replacing("{version}", with: "\u{0}")
        let isMatch = matches(Array(pieces.utf8), Array(header.utf8))
        try hold((found != nil) == isMatch, "\(text) is \(isMatch ? "" : "not ")of \(header)")
        guard let found else { return }
        try hold(!found.isEmpty && found.utf8.allSatisfy(isOfVersion), "\(found) is no run of digits and dots")
        try hold(header.contains(found), "\(found) is not in \(header)")
    }

    private static func isOfVersion(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) || byte == 0x2E }

    /// Which beginnings of the pattern are of which beginnings of the text. A NUL is the version's place.
    private static func matches(_ pattern: [UInt8], _ text: [UInt8]) -> Bool {
        var ends = [true] + Array(repeating: false, count: text.count)
        for step in pattern {
            var next = Array(repeating: false, count: text.count + 1)
            for end in ends.indices where ends[end] {
                switch step {
                case UInt8(ascii: "*"):
                    for later in end...text.count { next[later] = true }
                case 0:
                    let run = text[end...].prefix(while: isOfVersion)
                    if !run.isEmpty { next[run.endIndex] = true }
                default:
                    if end < text.count, text[end] == step { next[end + 1] = true }
                }
            }
            ends = next
        }
        return ends[text.count]
    }
}
