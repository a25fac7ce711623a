// SPDX-License-Identifier: Apache-2.0
import HTTP2
import RelayEngine

extension PushOutcome {
    /// The reasons of a push without an answer.
    static let transportReasons: Set<String> = ["StreamRefused", "NotSent", "NoConnection", "ConnectionLost"]

    /// The outcome of a push without an answer; nil where there is an answer.
    static func withoutAnswer(_ answer: Answer) -> PushOutcome? {
        switch answer.kind {
        case .unsent where answer.sends >= PoolMachine.sendLimit: .retry(.transport, reason: "StreamRefused")
        case .open, .unsent: .retry(.notSent, reason: "NotSent")
        case .unreachable:
            .retry(.unreachable(rest: .seconds(Int64(max(1, answer.retryAfter)))), reason: "NoConnection")
        case .lost: .retry(.transport, reason: "ConnectionLost")
        case .answered: nil
        }
    }
}
