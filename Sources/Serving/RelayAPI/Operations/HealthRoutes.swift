// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayStore
import Synchronization
import Telemetry
import Threading
import WireFormat

extension API {
    /// The process is alive and answers.
    func health() -> Response {
        .json { $0.object { $0.member("status", "ok") } }
    }

    /// Whether requests can be answered and recorded: 503 with the faults that prevent it; the other faults are listed beside them.
    /// Up to a second old.
    func readiness(at door: Door) -> Response {
        let known = readinessCheck.faults(known: control.faults) { [self] in storeFault() }
        let faults = known.filter(\.stopsRequests)
        return .json(faults.isEmpty ? 200 : 503) { writer in
            writer.object { writer in
                writer.member("status", faults.isEmpty ? "ready" : "notReady")
                guard showsOperations(at: door) else { return }
                let lists = [
                    ("faults", faults), ("degraded", known.filter { !$0.stopsRequests }),
                    ("warnings", control.warnings()),
                ]
                for (name, list) in lists {
                    writer.name(name)
                    writer.array(list) { $0.readiness($1) }
                }
            }
        }
    }

    /// Prometheus' text format. Up to a second old.
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

    /// Whether the store takes writes. Waits for its lock.
    func storeFault() -> ReadinessFault? {
        do {
            try store.checkWritable()
            return nil
        } catch {
            let problem = problem(error, at: "GET /readyz")
            // Names the table and the process that holds it, which the operator has to look at.
            let reason: String? =
                switch error as? StoreError {
                case let error? where error.code == .failed || error.code == .busy: error.description
                default: nil
                }
            return ReadinessFault(part: ReadinessFault.store, reason: reason ?? problem.detail)
        }
    }
}

extension JSONWriter {
    fileprivate mutating func readiness(_ fault: ReadinessFault) {
        object { writer in
            writer.member("part", fault.part)
            writer.member("reason", fault.reason)
            writer.member("remedy", fault.remedy)
        }
    }
}
