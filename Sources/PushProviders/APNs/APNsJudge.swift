// SPDX-License-Identifier: Apache-2.0
package import HTTP2

/// What an answer of APNs means for its connection, by the same table that decides about the push.
package struct APNsJudge: AnswerJudge {
    package init() {}

    package func judge(status: UInt16, body: [UInt8]) -> AnswerVerdict {
        APNsReaction.to(status: status, reason: APNsErrorBody(body).reason).connection
    }
}
