// SPDX-License-Identifier: Apache-2.0

/// The faults that a script's `shares` can give to a request, whatever its device token. In JSON each is its case's name, or
/// for a refusal the service's own word.
package enum RequestFault: Sendable, Hashable {
    /// The answer is this refusal.
    case rejection(RejectionReason)
    /// RST_STREAM REFUSED_STREAM: the request was not looked at.
    case refusedStream
    /// Accepted, but RST_STREAM INTERNAL_ERROR comes instead of the answer.
    case reset
    /// Accepted; the answer comes `delayMs` later.
    case delay
    /// Accepted; no answer ever comes, while the connection goes on.
    case noAnswer
    /// The connection is cut: requests that were taken but not answered stay unanswered.
    case cut
    /// GOAWAY with the script's reason; requests that were taken are still answered.
    case goAway
    /// The connection stays open but sends nothing more, not even to a PING.
    case silence
    /// A new SETTINGS_MAX_CONCURRENT_STREAMS: the script's `sharedStreams`, and the usual number the next time.
    case settings

    private static let connectionFaults: [RequestFault] = [
        .refusedStream, .reset, .delay, .noAnswer, .cut, .goAway, .silence, .settings,
    ]

    package static func all(of service: ServiceKind) -> [RequestFault] {
        service.reasons.map(RequestFault.rejection) + connectionFaults
    }
}

extension RequestFault: RawRepresentable, Codable, CodingKeyRepresentable {
    package init?(rawValue: String) {
        if let reason = RejectionReason(rawValue: rawValue) {
            self = .rejection(reason)
        } else if let known = Self.connectionFaults.first(where: { $0.rawValue == rawValue }) {
            self = known
        } else {
            return nil
        }
    }

    package var rawValue: String {
        if case .rejection(let reason) = self { reason.rawValue } else { "\(self)" }
    }
}

/// Deals out the faults of a script's shares: each comes about every 1/share requests, up to half a period sooner or later by
/// random numbers with a seed. So even a rare fault comes as often as it should, and the faults follow each other in every
/// order. Pure.
struct FaultMix {
    private struct Entry {
        var fault: RequestFault
        /// The average number of requests from one occurrence to the next.
        var period: Double
        /// The request at which the present period began, and the one at which the fault is due in it.
        var start: Double
        var due: Double
    }

    private var entries: [Entry]
    private var soonest = Double.infinity
    private var requests = 0.0
    private var dice: UInt64

    init(_ shares: [RequestFault: Double], seed: UInt64) {
        dice = seed
        entries = []
        for (fault, share) in shares.sorted(by: { $0.key.rawValue < $1.key.rawValue }) where share > 0 {
            let period = 1 / share
            entries.append(Entry(fault: fault, period: period, start: 0, due: period * random()))
        }
        soonest = entries.lazy.map(\.due).min() ?? .infinity
    }

    /// The next request's fault. Where several are due, the others come with the requests after it.
    mutating func next() -> RequestFault? {
        requests += 1
        guard requests >= soonest, let index = entries.indices.min(by: { entries[$0].due < entries[$1].due }) else {
            return nil
        }
        entries[index].start += entries[index].period
        entries[index].due = entries[index].start + entries[index].period * random()
        soonest = entries.lazy.map(\.due).min() ?? .infinity
        return entries[index].fault
    }

    /// From 0 up to, not including, 1. xorshift64* (Vigna: An experimental exploration of Marsaglia's xorshift
    /// generators, 2014).
    private mutating func random() -> Double {
        dice ^= dice >> 12
        dice ^= dice << 25
        dice ^= dice >> 27
        return Double((dice &* 0x2545_f491_4f6c_dd1d) >> 11) / Double(1 << 53 as UInt64)
    }
}
