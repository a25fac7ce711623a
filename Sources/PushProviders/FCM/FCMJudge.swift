// SPDX-License-Identifier: Apache-2.0
package import HTTP2

/// What an answer of FCM means for its connection, by the same table that decides about the push.
package struct FCMJudge: AnswerJudge {
    package init() {}

    package func judge(status: UInt16, body: [UInt8]) -> (verdict: AnswerVerdict, reading: AnswerReading) {
        let reaction = FCMReaction.to(status: status, body.isEmpty ? nil : FCMErrorBody(body))
        return (reaction.connection, AnswerReading(entry: FCMReaction.entry(of: reaction)))
    }

    /// An object, which does not begin with what an error's does. A piece that ends before that can be seen is kept.
    package func isGood(_ body: Span<UInt8>) -> Bool {
        var place = 0
        func skipSpace() {
            while place < body.count, [0x20, 0x09, 0x0A, 0x0D].contains(body[place]) { place += 1 }
        }
        skipSpace()
        guard place < body.count, body[place] == UInt8(ascii: "{") else { return false }
        place += 1
        skipSpace()
        let error: StaticString = "\"error\""
        for index in 0..<error.utf8CodeUnitCount {
            guard place + index < body.count else { return false }
            if unsafe body[place + index] != error.utf8Start[index] { return true }
        }
        return false
    }
}
