// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayStore
import Synchronization
import Telemetry
import Threading
import WireFormat

extension API {
    /// The answer that the process is alive.
    func health() -> Response {
        .json { $0.object((), ReadinessReport.health) }
    }

    /// Whether requests can be answered and recorded: 503 with the faults that prevent it; the other faults are listed
    /// beside them. The answer is up to a second old.
    func readiness(at door: Door) -> Response {
        let known = readinessCheck.faults(known: control.faults) { [self] in storeFault() }
        let faults = known.filter(\.stopsRequests)
        let report = ReadinessReport(
            faults: faults, degraded: known.filter { !$0.stopsRequests }, warnings: control.warnings(),
            isShort: !showsOperations(at: door))
        return .json(faults.isEmpty ? 200 : 503) { $0.object(report, ReadinessReport.shape) }
    }

    /// The metrics in Prometheus' text format, up to a second old.
    func metrics() -> Response {
        let page = metricsPage.withLock { last in
            if let last, MonotonicClock.milliseconds() - last.at < 1000 { return last.page }
            var text = MetricsText()
            control.writeMetrics(to: &text)
            figures.write(to: &text)
            enforceFigures.write(to: &text)
            let page = Array(text.text.utf8)
            last = (page, MonotonicClock.milliseconds())
            return page
        }
        return Response(status: 200, headers: [("Content-Type", MetricsText.contentType)], body: .bytes(page))
    }

    /// The fault of a store that takes no writes; nil: it takes them. Waits for the store's lock.
    func storeFault() -> ReadinessFault? {
        do {
            try store.checkWritable()
            return nil
        } catch {
            let problem = problem(error, at: "GET /readyz")
            // The error names the table and the process that holds it, which the operator must look at.
            let reason: String? =
                switch error as? StoreError {
                case let error? where error.code == .failed || error.code == .busy: error.description
                default: nil
                }
            return ReadinessFault(part: ReadinessFault.store, reason: reason ?? problem.detail)
        }
    }
}

/// The answer to `/readyz`.
struct ReadinessReport {
    let faults: [ReadinessFault]
    let degraded: [ReadinessFault]
    let warnings: [ReadinessFault]
    /// Whether the answer leaves its lists out.
    let isShort: Bool

    static let health = Shape<Void>(
        "Health", "The process is alive.",
        [
            .member(.status, .words(["ok"])) { _ in "ok" }
        ])

    static let shape = Shape<ReadinessReport>(
        "Readiness", "Whether requests can be answered and recorded, and the other faults.",
        [
            .member(.status, .words(["ready", "notReady"])) { $0.faults.isEmpty ? "ready" : "notReady" },
            .optionalList(
                .faults, of: ReadinessFault.shape,
                "The store's faults that keep requests from being answered or recorded. Empty with 200."
            ) { $0.isShort ? nil : $0.faults },
            .optionalList(
                .degraded, of: ReadinessFault.shape,
                "Faults that stop a part of the daemon's work, while requests are answered and recorded: of a push service, a source, a reload. The status stays 200."
            ) { $0.isShort ? nil : $0.degraded },
            .optionalList(
                .warnings, of: ReadinessFault.shape,
                "Coming faults that a person must prevent: certificates for pushes that end within 30 days. They change nothing about the status."
            ) { $0.isShort ? nil : $0.warnings },
        ])
}
