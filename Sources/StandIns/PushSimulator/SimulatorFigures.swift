// SPDX-License-Identifier: Apache-2.0

/// The counts of a simulator since it started. An accepted push counts even if its answer never reached the client.
package struct SimulatorFigures: Sendable, Equatable {
    package var requests = 0
    package var accepted = 0
    /// By the service's own word, such as "BadDeviceToken": `RejectionReason`.
    package var rejectedBy: [String: Int] = [:]
    /// Among accepted pushes; 0 unless `keepsAccepted`.
    package var distinctTokens = 0
    /// Among accepted pushes; 0 unless `keepsAccepted`.
    package var distinctIDs = 0
    /// Accepted pushes whose id had been accepted before; 0 unless `keepsAccepted`.
    package var duplicates = 0
    package var connectionsOpened = 0
    package var connectionsOpen = 0
    /// The most streams open at once on one connection.
    package var peakStreams = 0
    /// Requests refused by script with REFUSED_STREAM; not among `requests`.
    package var refused = 0
    /// Provider tokens whose signature was good, each counted once; or access tokens that were given.
    package var providerTokens = 0
    /// Valid dry runs (`validate_only`). Counted in `requests`, not in `accepted`.
    package var validated = 0
    /// Requests for an access token, not counted in `requests`; `tokenRefusals` counts those that got no token.
    package var tokenRequests = 0
    package var tokenRefusals = 0
    package var goAways = 0
    package var cuts = 0

    package init() {}

    package var rejected: Int { rejectedBy.values.reduce(0, +) }
}

/// The pushes that were accepted, by 8-byte hash: the chance that any two of a million tokens share a hash is about 1 in 37
/// million.
package struct AcceptedPushes: Sendable {
    private var tokens: [UInt64: UInt32] = [:]
    private var ids: Set<UInt64> = []
    package private(set) var duplicates = 0

    package init() {}

    package var distinctTokens: Int { tokens.count }
    package var distinctIDs: Int { ids.count }

    /// The number of accepted pushes to `token` (hex).
    package func count(ofToken token: String) -> Int {
        Int(tokens[ShortHash.ofToken(Array(token.utf8))] ?? 0)
    }

    /// The number of device tokens by how often a push to them was accepted: `[1: 9990, 2: 10]`.
    package var tokensByCount: [Int: Int] {
        tokens.values.reduce(into: [:]) { $0[Int($1), default: 0] += 1 }
    }

    /// Whether a push with this id (`apns-id`, `data.pushId`) was accepted.
    package func contains(id: String) -> Bool {
        ids.contains(ShortHash.ofToken(Array(id.utf8)))
    }

    mutating func add(_ batch: [(token: UInt64, id: UInt64)]) {
        for (token, id) in batch {
            tokens[token, default: 0] += 1
            if !ids.insert(id).inserted { duplicates += 1 }
        }
    }
}
