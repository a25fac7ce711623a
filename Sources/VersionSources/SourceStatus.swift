// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Synchronization
import UpgradeRules

/// What any thread may ask while the sources are watched.
final class SourceStatus: Sendable {
    struct State: Sendable {
        /// What is wrong just now, by part.
        var faults: [String: String] = [:]
        var evidence: [AppKey: StoreEvidence] = [:]
        var stores: [AppKey: AppStoreSource] = [:]
        var holds: [AppKey: Duration] = [:]
        /// By server: the store counts questions by the address they come from.
        var paces: [String: LookupPace] = [:]
        /// By part, for those that are watched.
        var figures: [String: SourceFigures] = [:]
    }

    private let state = Mutex(State())

    func read<Result: Sendable>(_ body: (State) -> Result) -> Result {
        state.withLock { body($0) }
    }

    func write<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        state.withLock { body(&$0) }
    }

    /// Takes the right to ask the server now, or says when to come again.
    func pace(_ source: AppStoreSource, at now: Timestamp) -> Timestamp? {
        write { $0.paces[source.server, default: LookupPace(spacing: source.spacing)].take(at: now) }
    }

    func block(_ source: AppStoreSource, until time: Timestamp) {
        write { $0.paces[source.server, default: LookupPace(spacing: source.spacing)].block(until: time) }
    }

    /// Keeps what the store showed.
    func note(_ listing: StoreListing?, of app: AppKey, at now: Timestamp) {
        write { state in
            let before = state.evidence[app]
            let isSame = before?.version != nil && before?.version == listing?.version
            state.evidence[app] = StoreEvidence(
                askedAt: now, version: listing?.version, releasedAt: listing?.releasedAt,
                firstShownAt: isSame ? before?.firstShownAt ?? now : now)
        }
    }
}
