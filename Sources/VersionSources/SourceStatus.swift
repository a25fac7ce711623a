// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Synchronization
import Telemetry

/// What any thread may ask while the sources are watched.
final class SourceStatus: Sendable {
    struct State: Sendable {
        /// What is wrong just now, by part.
        var faults = FaultLog()
        /// What the stores said last to what they are asked now.
        var evidence: [AppKey: [StoreKind: StoreEvidence]] = [:]
        /// What of it an earlier life of the process was told: the store has neither answered nor failed since.
        var remembered: Set<SourceEvidence.Key> = []
        /// What of it the relay's store holds.
        var book = EvidenceBook()
        /// Why asking an app's store fails just now.
        var failing: [AppKey: [StoreKind: String]] = [:]
        /// Where the devices are of apps of which a release leaves countries out, as of its last answer.
        var audiences: [AppKey: AudienceCountries] = [:]
        /// Counts what was noted: where it stands still, no gate has anything new to say but by time.
        var notes = 0
        /// What the configuration has, with sources or without.
        var apps: Set<AppKey> = []
        /// The apps whose versions wait for a store.
        var gates: [AppKey: Gate] = [:]
        var lookups: [AppKey: AppStoreSource] = [:]
        var connects: [AppKey: AppStoreConnectSource] = [:]
        /// What each store is asked (`VersionSource.query`).
        var queries: [AppKey: [StoreKind: String]] = [:]
        /// By what the stores count questions by.
        var paces: [String: LookupPace] = [:]
        /// By part, for those that are watched.
        var figures: [String: SourceFigures] = [:]
    }

    /// Which stores of an app are asked, and what is wanted of them.
    struct Gate: Sendable {
        var kinds: Set<StoreKind>
        var rules: AvailabilityGate.Rules

        /// App Store Connect is exact where the public lookup is a day stale (PROTOCOLS 4.1): where both are asked, it alone
        /// decides.
        var deciding: StoreKind {
            kinds.contains(.appStoreConnect) ? .appStoreConnect : kinds.contains(.googlePlay) ? .googlePlay : .appStore
        }
    }

    private let state = Mutex(State())

    func read<Result: Sendable>(_ body: (State) -> Result) -> Result {
        state.withLock { body($0) }
    }

    func write<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        state.withLock { body(&$0) }
    }

    /// Takes the right to ask the store now, or says when to come again.
    func pace(_ source: some PacedSource, at now: Timestamp) -> Timestamp? {
        write { $0.paces[source.paceName, default: LookupPace(spacing: source.spacing)].take(at: now) }
    }

    func block(_ source: some PacedSource, until time: Timestamp) {
        write { $0.paces[source.paceName, default: LookupPace(spacing: source.spacing)].block(until: time) }
    }

    /// Keeps what the lookup showed.
    func note(_ listing: StoreListing?, of app: AppKey, asked query: String, at now: Timestamp) {
        let before = lookup(of: app)
        let isSame = before?.version != nil && before?.version == listing?.version
        // It may have been noted while the clock was ahead, which lasts longer than the process does: no wait begins in the future.
        let firstShownAt = isSame ? min(before?.firstShownAt ?? now, now) : now
        note(
            .appStore(
                LookupEvidence(
                    askedAt: now, version: listing?.version, releasedAt: listing?.releasedAt,
                    firstShownAt: firstShownAt)), of: app, asked: query)
    }

    /// Keeps what a store said.
    ///
    /// - Parameter query: what it was asked: an answer that comes after the configuration asks another thing says nothing. nil: what it
    ///   is asked now.
    /// - Parameter audience: where the app's devices are; nil: not known, or it does not matter.
    func note(
        _ evidence: StoreEvidence, of app: AppKey, asked query: String? = nil, audience: AudienceCountries? = nil
    ) {
        write { state in
            guard query.map({ $0 == state.queries[app]?[evidence.kind] }) ?? true else { return }
            let key = SourceEvidence.Key(app: app, kind: evidence.kind)
            state.evidence[app, default: [:]][evidence.kind] = evidence
            state.audiences[app] = audience
            state.remembered.remove(key)
            state.book.touch(key)
            state.notes += 1
        }
    }

    /// Takes up what the relay's store holds of what the stores said before the start.
    ///
    /// - Returns: the rows that cannot be read, and why.
    func recall(_ rows: [SourceEvidence]) -> [(row: SourceEvidence, fault: SourceFault)] {
        write { state in
            guard !state.book.isRead else { return [] }
            state.book.read(rows)
            var damaged: [(row: SourceEvidence, fault: SourceFault)] = []
            for row in rows where state.queries[row.key.app]?[row.key.kind] == row.query {
                let (app, kind) = (row.key.app, row.key.kind)
                do throws(SourceFault) {
                    let before = try StoreEvidence(kind, said: row.said, askedAt: row.askedAt)
                    switch (state.evidence[app]?[kind], before) {
                    case (nil, _):
                        state.evidence[app, default: [:]][kind] = before
                        state.remembered.insert(row.key)
                    case (.appStore(var new)?, .appStore(let before)) where new.version == before.version:
                        // It has answered while the relay's store could not be read.
                        new.firstShownAt = min(new.firstShownAt, before.firstShownAt)
                        state.evidence[app]?[kind] = .appStore(new)
                    default: break
                    }
                } catch {
                    damaged.append((row, error))
                }
            }
            state.notes += 1
            return damaged
        }
    }

    /// What the relay's store holds is to be taken up anew.
    func forgetEvidence() {
        write { ($0.evidence, $0.remembered, $0.book) = ([:], [], EvidenceBook()) }
    }

    /// What the relay's store is to be given.
    func errands() -> [EvidenceBook.Errand] {
        write { state in
            let (queries, evidence) = (state.queries, state.evidence)
            return state.book.errands(asked: { queries[$0.app]?[$0.kind] }) { key in
                guard let query = queries[key.app]?[key.kind], let last = evidence[key.app]?[key.kind] else {
                    return nil
                }
                return SourceEvidence(key: key, query: query, askedAt: last.askedAt, said: last.said)
            }
        }
    }

    /// Keeps why a store cannot be asked; nil: it can. What waits for that store says so.
    func note(failure: String?, of kind: StoreKind, _ app: AppKey) {
        write { state in
            if failure != nil, state.remembered.remove(.init(app: app, kind: kind)) != nil { state.notes += 1 }
            guard state.failing[app]?[kind] != failure else { return }
            state.failing[app, default: [:]][kind] = failure
            state.notes += 1
        }
    }

    /// What the lookup showed last.
    func lookup(of app: AppKey) -> LookupEvidence? {
        read { state in
            if case .appStore(let evidence) = state.evidence[app]?[.appStore] { evidence } else { nil }
        }
    }

    /// What App Store Connect said last.
    func releases(of app: AppKey) -> AppStoreConnectEvidence? {
        read { state in
            if case .appStoreConnect(let evidence) = state.evidence[app]?[.appStoreConnect] { evidence } else { nil }
        }
    }
}
