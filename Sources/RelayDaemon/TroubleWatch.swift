// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayStore

/// Which parts of the relay receivers of events are told of: those that were in trouble at two looks in a row, a minute apart, so
/// that nobody is called for what ends by itself. A store that went back in time is `PastWatch`'s, which tells of it at once. Pure.
struct TroubleWatch {
    /// By part, whether it was told.
    private var seen: [String: Bool] = [:]

    /// - Parameter troubles: what `/readyz` says at this moment.
    /// - Returns: what is to be told now.
    mutating func look(_ troubles: [ReadinessFault]) -> [(type: EventType, part: String, reason: String)] {
        var news: [(type: EventType, part: String, reason: String)] = []
        var now: [String: Bool] = [:]
        for trouble in troubles where now[trouble.part] == nil && trouble.part != ReadinessFault.past {
            let wasTold = seen[trouble.part]
            now[trouble.part] = wasTold != nil
            guard wasTold == false else { continue }
            let isCertificate = trouble.part.hasPrefix(CertificateWatch.part)
            news.append((isCertificate ? .certificateEnds : .degraded, trouble.part, trouble.reason))
        }
        for (part, wasTold) in seen.sorted(by: { $0.key < $1.key }) where wasTold && now[part] == nil {
            news.append((.recovered, part, ""))
        }
        seen = now
        return news
    }
}
