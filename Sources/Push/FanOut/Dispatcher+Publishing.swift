// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import Telemetry
import WireFormat

/// Publishes the fan-out's figures for other threads, once a turn.
extension Dispatcher {
    func publish() {
        let now = now
        let tick = now.tick
        var waits: [PushService.Key: [SendingWait]] = [:]
        for (key, service) in services { waits[key] = self.waits(of: service, at: now) }
        let storeFault = faults.text("store")
        let figures = runs.mapValues { run in
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
        for run in runs.values { work.requestsOut[run.record.app, default: 0] += run.pushesOut }
        var texts = faults.texts
        for (key, service) in services {
            let known = waits[key] ?? []
            work.services[key.app, default: []].append(
                FanOutFigures.ServiceState(channel: key.channel, waits: known.map(\.cause)))
            for wait in known where isUsed(service) {
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

    /// The reasons why nothing is sent to the service, the gravest first; empty while pushes are sent.
    func waits(of service: PushService, at now: Moment) -> [SendingWait] {
        func wait(_ cause: SendingWait.Cause, _ text: String?) -> SendingWait? {
            text.map { SendingWait(cause: cause, text: $0) }
        }
        // Nearly always there is no trouble, and then no fault is looked up by name.
        guard service.machine.isInTrouble || service.quota != nil || !faults.texts.isEmpty else { return [] }
        return [
            wait(.keyPause, service.machine.pause.map(service.pauseText)),
            wait(.stopped, service.machine.stopReason),
            wait(.unreachable, faults.text(service.connectionPart)),
            wait(.outage, faults.text(service.outagePart)),
            wait(.credential, credentialText(service)),
            quotaWait(service, at: now),
        ].compactMap(\.self)
    }
}
