// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayStore
import Requirements

/// Decides which troubles receivers are notified of: those found in two looks in a row, a minute apart, so that no person is
/// called for a trouble that ends by itself. A store that went back in time is left to `RollbackWatch`, which reports it at once. Pure.
struct TroubleNotices {
    /// The parts that were in trouble at the last look; true: receivers were notified.
    private var seen: [String: Bool] = [:]

    /// - Parameter troubles: the present faults and warnings of `/readyz`.
    /// - Returns: the events to send now.
    mutating func look(_ troubles: [ReadinessFault]) -> [(type: EventType, part: String, reason: String)] {
        var news: [(type: EventType, part: String, reason: String)] = []
        var now: [String: Bool] = [:]
        for trouble in troubles where now[trouble.part] == nil && trouble.part != ReadinessFault.past {
            let wasNotified = seen[trouble.part]
            now[trouble.part] = wasNotified != nil
            guard wasNotified == false else { continue }
            let isCertificate = trouble.part.hasPrefix(CertificateWatch.part)
            news.append((isCertificate ? .certificateEnds : .degraded, trouble.part, trouble.reason))
        }
        for (part, wasNotified) in seen.sorted(by: { $0.key < $1.key }) where wasNotified && now[part] == nil {
            news.append((.recovered, part, ""))
        }
        seen = now
        return news
    }
}
