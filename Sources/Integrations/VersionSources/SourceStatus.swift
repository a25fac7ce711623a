// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import Synchronization
import Telemetry

/// The state of the sources, for any thread.
final class SourceStatus: Sendable {
    struct State: Sendable {
        /// The present faults, by part.
        var faults = FaultLog()
        /// The stores' latest answers to their present queries.
        var evidence: [AppKey: [StoreKind: StoreEvidence]] = [:]
        /// Evidence from before the start whose store has neither answered nor failed since.
        var remembered: Set<SourceEvidence.Key> = []
        /// The copy of the evidence in the relay's store.
        var book = EvidenceBook()
        /// Why an app's store cannot be asked at present.
        var failing: [AppKey: [StoreKind: String]] = [:]
        /// The countries of an app's devices, where its release leaves countries out, as of the store's last answer.
        var audiences: [AppKey: AudienceCountries] = [:]
        /// Counts changes of evidence and of failures: while it stays the same, a gate's verdict changes by time alone.
        var notes = 0
        /// The configured apps, with or without sources.
        var apps: Set<AppKey> = []
        /// The apps whose versions wait for a store.
        var gates: [AppKey: Gate] = [:]
        var lookups: [AppKey: AppStoreSource] = [:]
        var connects: [AppKey: AppStoreConnectSource] = [:]
        /// Each store's query (`VersionSource.query`).
        var queries: [AppKey: [StoreKind: String]] = [:]
        /// By the name that a store counts questions by (`PacedSource.paceName`).
        var paces: [String: LookupPace] = [:]
        /// By part, for the watched sources.
        var figures: [String: SourceFigures] = [:]
    }

    /// An app's stores that are asked, and the rules for them.
    struct Gate: Sendable {
        var kinds: Set<StoreKind>
        var rules: AvailabilityGate.Rules

        /// App Store Connect is exact where the public lookup may be a day stale (PROTOCOLS 4.1): where both are asked,
        /// it alone decides.
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

    /// Takes the right to ask the store now, or returns when to try again.
    func pace(_ source: some PacedSource, at now: Timestamp) -> Timestamp? {
        write { $0.paces[source.paceName, default: LookupPace(spacing: source.spacing)].take(at: now) }
    }

    func block(_ source: some PacedSource, until time: Timestamp) {
        write { $0.paces[source.paceName, default: LookupPace(spacing: source.spacing)].block(until: time) }
    }

    /// Keeps the lookup's listing.
    func note(_ listing: StoreListing?, of app: AppKey, asked query: String, at now: Timestamp) {
        let before = lookup(of: app)
        let isSame = before?.version != nil && before?.version == listing?.version
        // The earlier time may have been noted by a clock that was ahead, even before a restart: no wait begins in the future.
        let firstShownAt = isSame ? min(before?.firstShownAt ?? now, now) : now
        note(
            .appStore(
                LookupEvidence(
                    askedAt: now, version: listing?.version, releasedAt: listing?.releasedAt,
                    firstShownAt: firstShownAt)), of: app, asked: query)
    }

    /// Keeps a store's answer.
    ///
    /// - Parameter query: the query that was answered: the answer is dropped if the configuration has another query
    ///   since. nil: the present query.
    /// - Parameter audience: the countries of the app's devices; nil: unknown, or they do not matter.
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

    /// Takes up the evidence from before the start that the relay's store holds.
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
                        // The store has answered while the relay's store could not be read.
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

    /// Forgets the evidence, so that it is read anew from the relay's store.
    func forgetEvidence() {
        write { ($0.evidence, $0.remembered, $0.book) = ([:], [], EvidenceBook()) }
    }

    /// The changes that must be written to the relay's store.
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

    /// Keeps the reason why a store cannot be asked; nil: it can. Versions that wait for the store show the reason.
    func note(failure: String?, of kind: StoreKind, _ app: AppKey) {
        write { state in
            if failure != nil, state.remembered.remove(.init(app: app, kind: kind)) != nil { state.notes += 1 }
            guard state.failing[app]?[kind] != failure else { return }
            state.failing[app, default: [:]][kind] = failure
            state.notes += 1
        }
    }

    /// The lookup's latest evidence.
    func lookup(of app: AppKey) -> LookupEvidence? {
        read { state in
            if case .appStore(let evidence) = state.evidence[app]?[.appStore] { evidence } else { nil }
        }
    }

    /// App Store Connect's latest evidence.
    func releases(of app: AppKey) -> AppStoreConnectEvidence? {
        read { state in
            if case .appStoreConnect(let evidence) = state.evidence[app]?[.appStoreConnect] { evidence } else { nil }
        }
    }
}
