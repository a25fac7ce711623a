// SPDX-License-Identifier: Apache-2.0
package import HTTP2

/// What an answer of FCM means for its connection, by the same table that decides about the push.
package struct FCMJudge: AnswerJudge {
    package init() {}

    package func judge(status: UInt16, body: [UInt8]) -> (verdict: AnswerVerdict, reading: AnswerReading) {
        let reaction = FCMReaction.to(status: status, body.isEmpty ? nil : FCMErrorBody(body))
        return (reaction.connection, AnswerReading(entry: FCMReaction.entry(of: reaction)))
    }
}
