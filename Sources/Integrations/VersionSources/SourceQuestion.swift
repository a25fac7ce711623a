// SPDX-License-Identifier: Apache-2.0
import Signing

/// A source's next question to a server, whose answer may take any time.
enum SourceQuestion: Hashable, Sendable {
    case lookup(LookupKey, AppStoreSource)
    case connect(AppStoreConnectMachine.Question, AppStoreConnectSource)
    case document(LaunchGateURLSource, since: SourceDocument.Validators)
    case releases(GooglePlaySource)
    case rollouts(GooglePlaySource)
    case discard(edit: String, GooglePlaySource)

    /// The account that only one question at a time may use: opening an edit ends the other open edits of the same account.
    var account: GoogleAccount? {
        switch self {
        case .rollouts(let source), .discard(_, let source): source.account
        case .lookup, .connect, .document, .releases: nil
        }
    }
}

/// The answer to a question; each case answers the question of its name.
package enum SourceAnswer: Sendable {
    case lookup(Result<AppStoreEntry?, SourceFault>)
    case connect(Result<AppStoreConnectMachine.Answer, SourceFault>, rate: AppStoreConnectRate?)
    case document(Result<SourceDocument, SourceFault>)
    case releases(Result<[GooglePlaySummary], SourceFault>)
    case rollouts(Result<[GooglePlayRollout], SourceFault>, leftover: String?)
    case discarded(isGone: Bool)

    /// The answer to a question that could not be asked at all.
    init(_ fault: SourceFault, to question: SourceQuestion) {
        switch question {
        case .lookup: self = .lookup(.failure(fault))
        case .connect: self = .connect(.failure(fault), rate: nil)
        case .document: self = .document(.failure(fault))
        case .releases: self = .releases(.failure(fault))
        case .rollouts: self = .rollouts(.failure(fault), leftover: nil)
        case .discard: self = .discarded(isGone: false)
        }
    }
}

extension SourceQuestions {
    /// Blocks until the answer is there.
    func answer(_ question: SourceQuestion) -> SourceAnswer {
        switch question {
        case .lookup(let key, let source): return .lookup(lookup(key, in: source))
        case .connect(let question, let source):
            let said = connect(question, source)
            return .connect(said.answer, rate: said.rate)
        case .document(let source, let validators):
            return .document(Result { () throws(SourceFault) in try document(source, since: validators) })
        case .releases(let source): return .releases(releases(of: source))
        case .rollouts(let source):
            let read = rollouts(of: source)
            return .rollouts(read.answer, leftover: read.leftover)
        case .discard(let edit, let source): return .discarded(isGone: discard(edit, of: source))
        }
    }
}
