// SPDX-License-Identifier: Apache-2.0
import RelayStore
import Requirements
import Synchronization
import Telemetry
import UpgradeRules

/// The verdicts for proxies, counted by app: all apps that are not configured share one count, as anybody may ask about anything.
final class EnforceFigures: Sendable {
    private struct Counts {
        var passed = 0
        var denied = 0
        var unknown = 0
    }

    private let counts = Mutex<[AppKey?: Counts]>([:])

    /// - Parameter app: nil where it is not configured.
    func count(_ app: AppKey?, _ verdict: EnforceVerdict) {
        counts.withLock { counts in
            switch verdict {
            case .passes: counts[app, default: Counts()].passed += 1
            case .denied: counts[app, default: Counts()].denied += 1
            case .unknown: counts[app, default: Counts()].unknown += 1
            }
        }
    }

    func write(to text: inout MetricsText) {
        let rows = counts.withLock { $0 }.map { app, counts in
            (labels: app.map { [$0.app, $0.platform.rawValue] } ?? ["none", "none"], counts)
        }.sorted { $0.labels.lexicographicallyPrecedes($1.labels) }
        text.write(
            .enforced,
            rows.flatMap { labels, counts in
                [("passed", counts.passed), ("denied", counts.denied), ("unknown", counts.unknown)].map {
                    (labels + [$0.0], Double($0.1))
                }
            })
    }
}
