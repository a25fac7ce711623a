// SPDX-License-Identifier: Apache-2.0

/// Looks at the first bytes of a JSON object. Allocates nothing, because it runs for each push that was taken.
struct BodyBeginning {
    private var place = 0

    /// Moves past the bracket that opens an object; false where there is none.
    mutating func opensObject(_ body: Span<UInt8>) -> Bool { takes("{", body) == true }

    /// Moves past a text, if it comes next.
    ///
    /// - Returns: whether the text came next; nil where the bytes end before that can be seen.
    mutating func takes(_ text: StaticString, _ body: Span<UInt8>) -> Bool? {
        var place = place
        while place < body.count, [0x20, 0x09, 0x0A, 0x0D].contains(body[place]) { place += 1 }
        for index in 0..<text.utf8CodeUnitCount {
            guard place + index < body.count else { return nil }
            if unsafe body[place + index] != text.utf8Start[index] { return false }
        }
        self.place = place + text.utf8CodeUnitCount
        return true
    }
}
