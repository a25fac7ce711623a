// SPDX-License-Identifier: Apache-2.0
package import HTTP2

/// What an answer of APNs means for its connection, by the same table that decides about the push.
package struct APNsJudge: AnswerJudge {
    package init() {}

    package func judge(status: UInt16, body: [UInt8]) -> (verdict: AnswerVerdict, reading: AnswerReading) {
        let body = APNsErrorBody(body)
        guard let entry = APNsReaction.entry(status: status, reason: body.reason) else {
            return (APNsReaction.to(status: status, reason: body.reason).connection, AnswerReading())
        }
        return (
            APNsReaction.entries[entry].value.connection,
            AnswerReading(entry: UInt16(entry + 1), number: body.milliseconds)
        )
    }
}
