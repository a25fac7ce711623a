// SPDX-License-Identifier: Apache-2.0

/// Second tries: the other environment's answers to tokens that this one called bad.
extension Settlement {
    /// The other environment's answers to tokens that this one calls bad.
    package struct SecondTries: Sendable {
        /// The pause that the other environment asks for.
        package internal(set) var pause: (until: Timestamp, reason: String)?
        /// The other environment's objection to the credential; it stops nothing.
        package internal(set) var fault: String?
        /// Answers that show whether tokens live, and the dead ones: judged with that environment's answers to its own pushes.
        var answers = 0
        var unregistered = 0
        var retirements: [TokenRetirement] = []
        /// Pushes that the other environment took: their devices are moved there, after `judgeMoves`.
        package internal(set) var taken: [Push] = []
    }

    /// Settles the other environment's answer to a token that this one called bad with `first`.
    ///
    /// It can only improve the result: if the other environment objects to our credential or to the token, or cannot be
    /// reached, the token stays as bad as it was. A push that waited for its turn there in vain is tried again.
    ///
    /// - Returns: the result that replaces the first; nil: the first stays.
    package mutating func settleSecondTry(_ outcome: PushOutcome, of push: Push, first: String?) -> Result? {
        switch outcome {
        case .badToken, .invalidToken, .rejected, .retry(.unreachable, _):
            return nil
        case .fault(let reason, _), .reconnect(let reason):
            secondTries.fault = reason
            return nil
        case .accepted:
            secondTries.taken.append(push)
            secondTries.answers += 1
        case .unregistered:
            secondTries.answers += 1
            secondTries.unregistered += 1
        case .retry, .renewCredential, .pauseCredential:
            break
        }
        if let first {
            refusals.remove(first, .refused)
            report.answers.refused -= 1
        }
        return result(of: outcome, push, isSecondTry: true)
    }

    /// Judges the tokens that the other environment calls dead as `judgeTokens` does this one's, by that environment's own last answers. It
    /// stops nothing: if that environment is wrong, its own batches do.
    package mutating func judgeOtherTokens(
        by window: inout UnregisteredWindow<TokenRetirement>, limit: Double?, takenNow: (Set<Int64>) -> Set<Int64>
    ) {
        window.drop(\.device, of: takenNow)
        let verdict = window.take(
            answers: secondTries.answers, unregistered: secondTries.unregistered, retirements: secondTries.retirements,
            limit: limit)
        if case .released(let released) = verdict { retirements += released }
    }

    /// Judges the devices whose pushes the other environment accepted: if half or more of the devices belong there, it is no single
    /// device's mistake, and they stay as they are registered.
    ///
    /// - Parameter takenNow: returns which of these devices the batch's pushes were taken for, by either environment.
    /// - Returns: the evidence against moving them.
    package mutating func judgeMoves(
        by window: inout UnregisteredWindow<Push>, takenNow: (Set<Int64>) -> Set<Int64>
    ) -> CredentialBreaker.Trip? {
        let takenThere = secondTries.taken.map(\.device)
        window.drop(\.device) { takenNow($0).subtracting(takenThere) }
        let answers = report.answers
        let verdict = window.take(
            answers: answers.proven + answers.refused, unregistered: secondTries.taken.count,
            retirements: secondTries.taken,
            limit: Self.shareThatMoves)
        switch verdict {
        case .released(let released): secondTries.taken = released
        case .tripped(let trip):
            secondTries.taken = []
            return trip
        }
        return nil
    }

    /// From this share of the answers on, no device is moved: the builds of an app's developers are few.
    private static let shareThatMoves = 0.5
}
