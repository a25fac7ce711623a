// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import Requirements

/// A store's last known offer of an app, kept across restarts of the process.
package struct SourceEvidence: Hashable, Sendable {
    /// An app and a store: there is one piece of evidence for each pair.
    package struct Key: Hashable, Sendable {
        package var app: AppKey
        package var kind: StoreKind

        package init(app: AppKey, kind: StoreKind) {
            self.app = app
            self.kind = kind
        }
    }

    package var key: Key
    /// The query, as its source spells it: an answer about another app, track or country proves nothing about this one.
    package var query: String
    /// When it last gave this answer.
    package var askedAt: Timestamp
    /// The answer, as JSON. A reader has to check it, for another program may have written it.
    package var said: String

    package init(key: Key, query: String, askedAt: Timestamp, said: String) {
        self.key = key
        self.query = query
        self.askedAt = askedAt
        self.said = said
    }
}

/// The app stores' last answers: one row for each app and store.
package protocol EvidenceStore: Sendable {
    /// All evidence, ordered by app, platform and store.
    func evidence() throws -> [SourceEvidence]

    /// Stores an answer in place of the same store's previous one.
    func keepEvidence(_ evidence: SourceEvidence) throws

    /// Deletes an answer; does nothing where there is none.
    func forgetEvidence(_ key: SourceEvidence.Key) throws
}
