// SPDX-License-Identifier: Apache-2.0
import PushProviders
import RelayEngine
import RelayStore
import Requirements
import Telemetry
import WireFormat

/// Credentials: the wait for one that is missing, and the pauses that a push service wants of one.
extension PushServices {
    /// Checks the credential before anything is read for the service.
    ///
    /// - Returns: how long until a missing credential is asked for again; nil where there is one.
    /// - Throws: a fault that an operator has to put right.
    mutating func waitForCredential(of service: PushService, _ run: CampaignRun) throws -> Duration? {
        let part = service.credentialPart
        do {
            _ = try service.template(for: run)
            if faults.clear(part) {
                log(.notice, "the credential is there again", [("app", service.key.app.app)])
            }
            return nil
        } catch let pending as CredentialPending {
            if let fault = pending.fault,
                faults.set(part, "no credential for the push service: \(fault); sending waits and goes on by itself")
            {
                log(
                    .error, "no credential for the push service: sending waits and goes on by itself",
                    [("app", service.key.app.app), ("error", fault)])
            }
            return pending.until.map { max($0 - service.clock(), .milliseconds(1)) } ?? .seconds(3600)
        } catch {
            _ = faults.clear(part)
            throw error
        }
    }

    /// Clears the fault: nothing is sent to the service now, so the credential's state is unknown.
    mutating func forgetCredentialFault(of service: PushService) {
        _ = faults.clear(service.credentialPart)
    }

    /// Replaces the credential of the batch's requests, which the service called expired.
    ///
    /// - Returns: the reason to stop sending to the service; nil: it goes on.
    func renewCredential(of service: PushService, _ run: CampaignRun, after template: PushTemplate) -> String? {
        let sharers = inOrder.filter { $0.sharesCredential(of: service.provider) }
        for other in sharers { other.forgetTemplate() }
        let now = service.clock()
        do {
            switch try service.provider.renewCredential(after: template, at: now) {
            case .kept:
                break
            case .paused(let end):
                pauseCredential(of: service, until: end, at: now)
            case .renewed:
                // Pushes that have not left yet leave with the new token.
                for other in sharers { other.withdraw() }
                log(
                    .notice, "the push service does not take the token any more: another one is used",
                    [("campaign", run.record.id), ("app", run.record.app.app)])
            case .futile(let fault, let reason):
                return service.provider.explain(fault, reason: reason, refused: nil, service.place(of: run))
            }
            return nil
        } catch {
            return "\(error)"
        }
    }

    // MARK: Pauses

    /// Sends nothing to this server with its credential before `time`, for any campaign (PROTOCOLS 1.6,
    /// TooManyProviderTokenUpdates): another token would only make it worse. If a second server asks for a pause before
    /// the first one's ends, no server gets a push.
    func pauseCredential(of service: PushService, until time: Timestamp, at now: Timestamp) {
        service.provider.pauseCredential(until: time, by: service.server, at: now)
        for run in runs.inOrder {
            for other in run.services where other.provider.credential == service.provider.credential {
                takeUpPause(other, run, at: now)
            }
        }
    }

    /// Takes up the pauses that other relays have learned of.
    func takeUpPauses(at now: Timestamp) {
        for run in runs.inOrder where run.lifecycle.isSending {
            for service in run.services { takeUpPause(service, run, at: now) }
        }
    }

    /// Takes up a pause that is in force when a campaign begins or goes on: from before a restart, from another campaign or from
    /// another relay.
    func takeUpPause(_ service: PushService, _ run: CampaignRun, at now: Timestamp) {
        guard let pause = service.provider.credentialPause(at: service.server, now: now),
            service.machine.pauseCredential(until: pause.until, reason: pause.reason)
        else { return }
        log(
            .warning, "the push service wants a pause",
            [
                ("campaign", run.record.id), ("server", service.server), ("reason", pause.reason),
                ("until", pause.until.internetTime),
            ])
    }
}
