// SPDX-License-Identifier: Apache-2.0
import PushProviders
import RelayEngine
import RelayStore
import Telemetry
import WireFormat

/// What other threads may know of the fan-out: once a turn.
extension Dispatcher {
    func publish() {
        let now = now
        let tick = now.tick
        let figures = runs.mapValues { run in
            var figures = run.figures
            // The pace of the service that most of it goes to is the campaign's.
            figures.pacer = run.services.first?.machine.pacer
            figures.tick = tick
            figures.trouble = trouble(of: run, at: now)
            return figures
        }
        var work = FanOutFigures()
        work.tallies = tallies
        work.lastLook = lastLook
        work.apps = Array(routes.keys)
        for run in runs.values { work.requestsOut[run.record.app, default: 0] += run.pushesOut }
        for (key, service) in services {
            let state = FanOutFigures.ServiceState(
                environment: key.environment, isReachable: service.machine.connectionFault == nil,
                isInOutage: service.machine.isInOutage)
            work.services[key.app, default: []].append(state)
            guard let rate = service.machine.pacer?.rate(at: tick), key.environment == .production else { continue }
            // Of two campaigns beside each other, that of the one for everybody.
            if !key.isStaged || work.rateLimits[key.app] == nil { work.rateLimits[key.app] = rate }
        }
        for (app, route) in routes where work.rateLimits[app] == nil {
            // Nothing was sent yet: the ramp begins with the first campaign.
            work.rateLimits[app] = route.pace.map { Pacer($0, at: tick).rate(at: tick) }
        }
        let texts = faults.texts
        board.write { [work] in
            $0.figures = figures
            $0.faults = texts
            $0.work = work
        }
    }

    /// Why nothing moves although the campaign runs.
    private func trouble(of run: CampaignRun, at now: Moment) -> String? {
        for service in run.services {
            if let pause = service.machine.pause { return pauseText(pause, service) }
        }
        for service in run.services {
            if let text = service.machine.stopReason ?? faults.text(connectionPart(service)) { return text }
        }
        for service in run.services {
            if let text = faults.text(outagePart(service)) { return text }
        }
        for service in run.services {
            if let text = credentialText(service) ?? quotaText(service, at: now) { return text }
        }
        return faults.text("store")
    }

    func pauseText(_ pause: (until: Timestamp, reason: String), _ service: PushService) -> String {
        "\(pause.reason): \(service.providerName) wants a pause from this key; sending goes on by itself at "
            + pause.until.internetTime
    }
}
