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
        var evidence: [AppKey: [StoreKind: StoreEvidence]] = [:]
        /// Why asking an app's store fails just now.
        var failing: [AppKey: [StoreKind: String]] = [:]
        /// Counts what was noted: where it stands still, no gate has anything new to say but by time.
        var notes = 0
        /// What the configuration has, with sources or without.
        var apps: Set<AppKey> = []
        /// The apps whose versions wait for a store.
        var gates: [AppKey: Gate] = [:]
        var lookups: [AppKey: AppStoreSource] = [:]
        var connects: [AppKey: AppStoreConnectSource] = [:]
        /// The tracks of Google Play that are asked, by their addresses.
        var tracks: [AppKey: String] = [:]
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
    func note(_ listing: StoreListing?, of app: AppKey, at now: Timestamp) {
        let before = lookup(of: app)
        let isSame = before?.version != nil && before?.version == listing?.version
        note(
            .appStore(
                LookupEvidence(
                    askedAt: now, version: listing?.version, releasedAt: listing?.releasedAt,
                    firstShownAt: isSame ? before?.firstShownAt ?? now : now)), of: app)
    }

    /// Keeps what a store said.
    func note(_ evidence: StoreEvidence, of app: AppKey) {
        write { state in
            state.evidence[app, default: [:]][evidence.kind] = evidence
            state.notes += 1
        }
    }

    /// Keeps why a store cannot be asked; nil: it can. What waits for that store says so.
    func note(failure: String?, of kind: StoreKind, _ app: AppKey) {
        write { state in
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
