// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import Telemetry
import WireFormat

/// Publishes the fan-out's figures for other threads, once a turn.
extension Dispatcher {
    /// All present faults, by part.
    var faultTexts: [String: String] { faults.texts.merging(services.faults.texts) { own, _ in own } }

    func publish() {
        let now = now
        let tick = now.tick
        var waits: [PushService.Key: [SendingWait]] = [:]
        for (key, service) in services.byKey { waits[key] = services.waits(of: service, limits, at: now) }
        let storeFault = storeTrouble.text(in: faults)
        let figures = runs.figures { run in
            var figures = run.figures
            figures.pacer = limits.pacer(of: run.record.app)
            figures.tick = tick
            let known = run.services.flatMap { waits[$0.key] ?? [] }
            figures.trouble = known.min { $0.cause < $1.cause }?.text ?? storeFault
            let busy = zip(run.services, run.progress).filter { !$1.isDone }.map(\.0)
            let stands = !busy.isEmpty && busy.allSatisfy { waits[$0.key].map { !$0.isEmpty } ?? false }
            figures.standsStill = storeFault != nil || stands
            figures.nextRetryAt = busy.compactMap { $0.machine.nextRetry(of: run.record.key.row) }.min()
            return figures
        }
        var work = FanOutFigures()
        work.tallies = tallies
        work.lastLook = lastLook
        work.apps = Array(routes.keys)
        work.channels = routes.mapValues { $0.channels.keys.sorted() }
        for run in runs.all { work.requestsOut[run.record.app, default: 0] += run.pushesOut }
        var texts = faultTexts
        for (key, service) in services.byKey {
            let known = waits[key] ?? []
            work.services[key.app, default: []].append(
                FanOutFigures.ServiceState(channel: key.channel, waits: known.map(\.cause)))
            for wait in known where runs.uses(service) {
                if let kind = Self.part(of: wait.cause) { texts[key.part(kind)] = wait.text }
            }
        }
        work.rateLimits = limits.rates(at: tick)
        board.write { [work, texts] in
            $0.figures = figures
            $0.faults = texts
            $0.work = work
        }
    }

    /// The name of the fault for this cause; nil where it is no fault, or is recorded elsewhere under its own name.
    private static func part(of cause: SendingWait.Cause) -> String? {
        switch cause {
        case .keyPause: "pause"
        case .stopped: "stopped"
        case .quota: "quota"
        case .unreachable, .outage, .credential, .quarterHour: nil
        }
    }
}
