// SPDX-License-Identifier: Apache-2.0
import RelayStore
import Synchronization

/// Remembers for a moment what the store holds: `/metrics` is open to everybody, and the store has better things to do.
///
/// One thread at a time looks; those who come meanwhile take what it found.
final class CensusTaker: Sendable {
    struct Census: Sendable {
        var store = StoreCensus()
        var open: [CampaignRecord] = []
        var versions: [VersionRecord] = []
        /// The newest of each app that has started.
        var newest: [CampaignRecord] = []
    }

    static let interval = Duration.seconds(1)

    private let last = Mutex<(census: Census, time: ContinuousClock.Instant)?>(nil)

    /// What `look` found, up to a second ago; nil where the store does not say.
    func census(_ look: () throws -> Census) -> Census? {
        last.withLock { last in
            if let last, ContinuousClock.now - last.time < Self.interval { return last.census }
            guard let census = try? look() else { return nil }
            last = (census, .now)
            return census
        }
    }
}
