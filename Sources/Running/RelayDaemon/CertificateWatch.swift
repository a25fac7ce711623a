// SPDX-License-Identifier: Apache-2.0
import Configuration
import FanOut
import PushProviders
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import Signing
import Synchronization
import Telemetry
import Terminal
import UpgradeRules
import WireFormat

/// The certificates that apps push with. Reports their end to the log, `/readyz` and the metrics. May be used from any
/// thread.
final class CertificateWatch: Sendable {
    private struct Watched {
        let certificate: PushCertificate
        var reminder: CertificateReminder
    }

    /// The prefix of the certificates' names in `/readyz`, before the app's name.
    static let part = "certificate:"

    private let log: Log
    private let watched = Mutex<[AppKey: Watched]>([:])

    init(log: Log) {
        self.log = log
    }

    /// Called at the start and at each reload: faults are reported again.
    func take(_ routes: [AppKey: AppRoute], at now: Timestamp) {
        let certificates = routes.compactMapValues { route in
            route.inOrder.lazy.compactMap { ($0.service.provider as? APNsProvider)?.certificate }.first
        }
        let changed = watched.withLock { watched in
            let changed = certificates.filter { app, new in watched[app].map { $0.certificate != new } ?? false }
            watched = certificates.mapValues {
                Watched(certificate: $0, reminder: CertificateReminder($0.term))
            }
            return changed
        }
        for (app, certificate) in changed {
            log(.notice, "another certificate is pushed with from now on", fields(app, certificate, at: now))
        }
        look(at: now)
    }

    /// Called about once a minute.
    func look(at now: Timestamp) {
        let due = watched.withLock { watched in
            watched.keys.sorted().compactMap { app in
                watched[app]?.reminder.look(at: now).flatMap { standing in
                    watched[app].map { (app, $0.certificate, standing) }
                }
            }
        }
        for (app, certificate, standing) in due {
            let fields = fields(app, certificate, at: now)
            switch standing {
            case .good: log(.notice, "the certificate for pushes holds", fields)
            case .ending: log(.warning, "the certificate for pushes ends soon: make a new one", fields)
            case .ended: log(.error, "the certificate for pushes has ended: nothing is pushed with it", fields)
            case .notYet: log(.error, "the certificate for pushes is not valid yet: is the clock right?", fields)
            }
        }
    }

    private func fields(_ app: AppKey, _ certificate: PushCertificate, at now: Timestamp) -> Log.Fields {
        [
            ("app", app.app), ("platform", app.platform.rawValue), ("certificate", certificate.name),
            ("endsAt", certificate.term.notAfter.internetTime), ("days", String(Self.days(certificate.term, now))),
        ]
    }

    /// Full days until the certificate ends.
    private static func days(_ term: CertificateTerm, _ now: Timestamp) -> Int64 {
        term.left(at: now).milliseconds / 86_400_000
    }

    // MARK: Readiness and metrics

    private var all: [(app: AppKey, certificate: PushCertificate)] {
        watched.withLock { watched in
            watched.keys.sorted().compactMap { app in watched[app].map { (app, $0.certificate) } }
        }
    }

    private func notes(_ now: Timestamp, _ text: (PushCertificate, String) -> String?) -> [ReadinessFault] {
        all.compactMap { app, certificate in
            text(certificate, "\(AppConfiguration.apnsField(app)).certificate").map {
                ReadinessFault(part: Self.part + app.app, reason: $0)
            }
        }
    }

    /// The certificates that keep apps from being pushed to.
    func faults(at now: Timestamp) -> [ReadinessFault] {
        notes(now) { certificate, field in
            let term = certificate.term
            switch term.standing(at: now) {
            case .good, .ending: return nil
            case .ended:
                return "\(field): \(certificate) ended at \(term.notAfter.internetTime): put a new one there and reload"
            case .notYet:
                return "\(field): \(certificate) begins at \(term.notBefore.internetTime) only: is the clock right?"
            }
        }
    }

    /// The certificates that will soon keep apps from being pushed to, unless an operator acts.
    func warnings(at now: Timestamp) -> [ReadinessFault] {
        notes(now) { certificate, field in
            let term = certificate.term
            guard term.standing(at: now) == .ending else { return nil }
            return "\(field): \(certificate) ends at \(term.notAfter.internetTime), in "
                + "\(Quantity.count(Self.days(term, now), "day")): put a new one there and reload"
        }
    }

    /// Seconds until the end of each app's certificate.
    func secondsLeft(at now: Timestamp) -> [(app: AppKey, seconds: Double)] {
        all.map { ($0.app, Double($0.certificate.term.left(at: now).milliseconds) / 1000) }
    }
}
