// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// What a store was last seen to offer of an app, as it is kept from one life of the process to the next.
package struct SourceEvidence: Hashable, Sendable {
    /// Of which there is one.
    package struct Key: Hashable, Sendable {
        package var app: AppKey
        package var kind: StoreKind

        package init(app: AppKey, kind: StoreKind) {
            self.app = app
            self.kind = kind
        }
    }

    package var key: Key
    /// What was asked, as its source spells it: what another app, track or country offers says nothing of this one.
    package var query: String
    /// When it last said so.
    package var askedAt: Timestamp
    /// What it said, as JSON: whoever reads it has to check it, for another program may have written it.
    package var said: String

    package init(key: Key, query: String, askedAt: Timestamp, said: String) {
        self.key = key
        self.query = query
        self.askedAt = askedAt
        self.said = said
    }
}

/// What the app stores said last: for each app one row a store.
package protocol EvidenceStore: Sendable {
    /// All there is, ordered by app, platform and store.
    func evidence() throws -> [SourceEvidence]

    /// Takes the place of what the same store said before.
    func keepEvidence(_ evidence: SourceEvidence) throws

    /// Forgetting what is not there does nothing.
    func forgetEvidence(_ key: SourceEvidence.Key) throws
}
