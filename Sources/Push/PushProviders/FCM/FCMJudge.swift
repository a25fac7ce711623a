// SPDX-License-Identifier: Apache-2.0
package import HTTP2

/// The meaning of an FCM answer for its connection, by the same table that decides about the push.
package struct FCMJudge: AnswerJudge {
    package init() {}

    package func judge(status: UInt16, body: [UInt8]) -> (verdict: AnswerVerdict, reading: AnswerReading) {
        let reaction = FCMReaction.to(status: status, body.isEmpty ? nil : FCMErrorBody(body))
        return (reaction.connection, AnswerReading(entry: FCMReaction.entry(of: reaction)))
    }

    /// Returns true for an object whose first member is not `error` and, if it is `name`, names a message. A body that
    /// ends before that can be seen is kept.
    package func isGood(_ body: Span<UInt8>) -> Bool {
        var beginning = BodyBeginning()
        guard beginning.opensObject(body), beginning.takes("\"error\"", body) == false else { return false }
        switch beginning.takes("\"name\"", body) {
        case nil: return false
        case false?: return true
        case true?: break
        }
        guard beginning.takes(":", body) == true else { return false }
        return beginning.takes("\"projects/", body) == true
    }
}
