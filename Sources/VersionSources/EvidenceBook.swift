// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore

/// What the relay's store holds of what the app stores said last, and what it is to be given. Pure.
struct EvidenceBook: Sendable {
    /// Where a store says the same again, only when it was asked is news. That is shown to people, and a day of difference between two
    /// sources is counted by it (`StoreCrossCheck`): to the hour it is exact enough, and a thousand apps that are asked every few minutes
    /// cost some hundred small writes an hour in place of tens of thousands.
    static let refreshing = Duration.seconds(3600)

    /// What the store holds; nil: it could not be read yet, and nothing is written, for it may know what this process does not.
    private(set) var rows: [SourceEvidence.Key: SourceEvidence]?
    /// What may differ from it.
    private var changed: Set<SourceEvidence.Key> = []

    /// What is to be done now.
    enum Errand: Sendable {
        case keep(SourceEvidence)
        case forget(SourceEvidence.Key)

        var key: SourceEvidence.Key {
            switch self {
            case .keep(let evidence): evidence.key
            case .forget(let key): key
            }
        }
    }

    var isRead: Bool { rows != nil }

    mutating func read(_ rows: [SourceEvidence]) {
        self.rows = Dictionary(rows.map { ($0.key, $0) }) { first, _ in first }
        changed.formUnion(rows.map(\.key))
    }

    /// It was said anew, or nobody asks for it any more.
    mutating func touch(_ key: SourceEvidence.Key) { changed.insert(key) }

    mutating func touchAll() {
        if let rows { changed.formUnion(rows.keys) }
    }

    /// What is to be done, in a fixed order. It is not handed out again, but where it `failed`.
    ///
    /// - Parameters:
    ///   - asked: the app's store and what it is asked, as the configuration has it now; nil: it is not asked.
    ///   - evidence: what it said last to that; nil: it has not answered, and what the store holds stands as it is.
    mutating func errands(
        asked: (SourceEvidence.Key) -> String?, evidence: (SourceEvidence.Key) -> SourceEvidence?
    ) -> [Errand] {
        guard let rows, !changed.isEmpty else { return [] }
        var errands: [Errand] = []
        for key in changed.sorted(by: { ($0.app, $0.kind.rawValue) < ($1.app, $1.kind.rawValue) }) {
            let row = rows[key]
            if let new = evidence(key), row.map({ Self.isNews(new, after: $0) }) ?? true {
                errands.append(.keep(new))
            } else if let row, asked(key) != row.query {
                errands.append(.forget(key))
            }
        }
        changed = []
        return errands
    }

    private static func isNews(_ new: SourceEvidence, after old: SourceEvidence) -> Bool {
        if (new.query, new.said) != (old.query, old.said) { return true }
        // Or the wall clock was set back.
        return new.askedAt >= old.askedAt + refreshing || new.askedAt < old.askedAt
    }

    mutating func done(_ errand: Errand) {
        switch errand {
        case .keep(let evidence): rows?[evidence.key] = evidence
        case .forget(let key): rows?[key] = nil
        }
    }

    mutating func failed(_ errand: Errand) { changed.insert(errand.key) }
}
