// SPDX-License-Identifier: Apache-2.0
import HTTP2
import PushProviders
import RelayEngine
import RelayStore
import Requirements
import Telemetry

/// Second tries: tokens that one environment of a push service called bad, in the app's other environment.
extension PushServices {
    /// Sends second tries for the bad tokens of a batch, unless a server that is only asked as a check would keep them waiting.
    ///
    /// - Parameter mayBegin: whether the app's hours, and the claim of the campaign, allow that pushes begin.
    /// - Returns: the service that they went to, and their number; nil: the first answers stand.
    mutating func sendSecondTries(
        of batch: Batch, for run: CampaignRun, after service: PushService, mayBegin: Bool, at now: Moment
    ) -> (other: PushService, pushes: Int)? {
        var secondTries = batch.secondTries
        defer { batch.note(secondTries) }
        guard mayBegin else {
            secondTries.isDenied = true
            return nil
        }
        let other = other(of: service, for: run)
        // The pause belongs to the credential, in whichever environment it is used; a campaign that sends nothing to the other
        // environment has not taken its pause up.
        let isOneCredential = service.provider.credential == other.provider.credential
        if pauseEnd(at: other, now.wall) != nil
            || isOneCredential && (pauseEnd(at: service, now.wall) != nil || batch.wantsPause)
        {
            secondTries.isDenied = true
            return nil
        }
        // A service in an outage gets none of these either: no push waits for them, so they are no probe.
        if other.machine.isInOutage || (other.secondTriesRestUntil.map { $0 > now.tick } ?? false) { return nil }
        // No credential: the first answers stand, and the next batch reports why.
        guard let template = try? other.template(for: run), let requests = secondTries.make(of: batch, with: template)
        else {
            return nil
        }
        submit(requests, to: other, pin: batch.pin, asSecondTries: true)
        return (other, requests.count)
    }

    /// The services whose answers count for tokens that are sent to `service` first: itself, and the other one where that is
    /// asked second.
    mutating func judging(_ service: PushService, for run: CampaignRun) -> [PushService] {
        run.route.triesOtherEnvironment(of: service.key.channel) ? [service, other(of: service, for: run)] : [service]
    }

    /// The app's service in its other environment.
    private mutating func other(of service: PushService, for run: CampaignRun) -> PushService {
        self.service(run.record.app, service.key.channel.other, run.route, run.track)
    }

    /// The end of the pause that a service asks for with its credential; nil: none now.
    func pauseEnd(at service: PushService, _ now: Timestamp) -> Timestamp? {
        service.provider.credentialPause(at: service.server, now: now)?.until
    }

    /// Notes whether the devices that the other environment took are moved there. They are not if nearly all were taken there,
    /// which is no single device's mistake.
    mutating func noteMoves(_ trip: CredentialBreaker.Trip?, of service: PushService) {
        guard let trip else {
            if !service.tokens.moved.isSuspect { _ = faults.clear(service.environmentPart) }
            return
        }
        guard faults.set(service.environmentPart, service.misplacedText(trip)) else { return }
        log(
            .warning, "devices are not moved to the other environment, for nearly all would be",
            [
                ("app", service.key.app.app), ("environment", service.key.channel.environment.name),
                ("taken", String(trip.pushes)),
                ("answers", String(trip.answers)),
            ])
    }

    /// Makes no second tries at the service for a while, and the first answers stand: no push waits for a server that
    /// is only asked as a check.
    func restSecondTries(at service: PushService, for time: Duration, _ reason: String, _ now: Moment) {
        if service.secondTriesRestUntil == nil {
            log(
                .warning, "bad tokens are not tried in the other environment for now",
                [
                    ("app", service.key.app.app), ("environment", service.key.channel.environment.name),
                    ("reason", reason),
                ])
        }
        service.secondTriesRestUntil = now.tick + time
        service.secondTryConnections.withdraw()
    }
}
