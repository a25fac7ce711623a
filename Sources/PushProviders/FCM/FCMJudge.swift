// SPDX-License-Identifier: Apache-2.0
package import HTTP2

/// What an answer of FCM means for its connection, by the same table that decides about the push.
package struct FCMJudge: AnswerJudge {
    package init() {}

    package func judge(status: UInt16, body: [UInt8]) -> (verdict: AnswerVerdict, reading: AnswerReading) {
        let reaction = FCMReaction.to(status: status, body.isEmpty ? nil : FCMErrorBody(body))
        return (reaction.connection, AnswerReading(entry: FCMReaction.entry(of: reaction)))
    }

    /// An object that begins with the name of the message that was taken. A piece that ends before that can be seen is kept.
    package func isGood(_ body: Span<UInt8>) -> Bool {
        var place = 0
        func skipSpace() {
            while place < body.count, [0x20, 0x09, 0x0A, 0x0D].contains(body[place]) { place += 1 }
        }
        skipSpace()
        guard place < body.count, body[place] == UInt8(ascii: "{") else { return false }
        place += 1
        skipSpace()
        func take(_ text: StaticString) -> Bool {
            guard body.count - place >= text.utf8CodeUnitCount else { return false }
            for index in 0..<text.utf8CodeUnitCount {
                if unsafe body[place + index] != text.utf8Start[index] { return false }
            }
            place += text.utf8CodeUnitCount
            return true
        }
        guard take("\"name\"") else { return false }
        skipSpace()
        guard take(":") else { return false }
        skipSpace()
        return take("\"projects/")
    }
}
