// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore

/// The app stores' latest answers as the relay's store holds them, and the changes that must be written to it. Pure.
struct EvidenceBook: Sendable {
    /// How old a kept `askedAt` becomes before it is written again for an unchanged answer. Users see that time, and a
    /// day of difference between two sources is counted by it (`StoreCrossCheck`), so an hour is exact enough: a
    /// thousand apps asked every few minutes cost about a thousand small writes an hour instead of tens of thousands.
    static let refreshing = Duration.seconds(3600)

    /// The rows in the store; nil: not read yet. Nothing is written until then, as the store may know more than this process.
    private(set) var rows: [SourceEvidence.Key: SourceEvidence]?
    /// The keys whose row may differ from the evidence.
    private var changed: Set<SourceEvidence.Key> = []

    /// A change that must be written.
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

    /// Marks a key whose row may differ now.
    mutating func touch(_ key: SourceEvidence.Key) { changed.insert(key) }

    mutating func touchAll() {
        if let rows { changed.formUnion(rows.keys) }
    }

    /// The changes that must be written, in a fixed order. A change is not returned again unless it `failed`.
    ///
    /// - Parameters:
    ///   - asked: the current query to the app's store by the configuration; nil: the store is not asked.
    ///   - evidence: the latest answer to that query; nil: none yet, and the row stays if its query is the same.
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
        // The second condition holds where the wall clock was set back.
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
