// SPDX-License-Identifier: Apache-2.0
import PushProviders
import RelayEngine
import RelayStore
import Requirements
import Telemetry
import WireFormat

/// Limits that services share: the pace of an app, the quota of a project, and a credential that is on its way.
extension Dispatcher {
    // MARK: Pace and quota

    /// The pushes that the project's quota and the app's pace allow at this moment.
    mutating func allowance(of service: PushService, at now: Moment) -> SendingAllowance {
        // A store that cannot be read just now has its own fault; the next answers show the quota.
        limits.allowance(for: service.limited, at: now) { [store] project in
            store.membership.isAlone ? nil : (try? store.quotaPauses(of: project)) ?? [:]
        }
    }

    /// Begins the ramp with the app's campaign or its next wave, unless another of its campaigns is being sent.
    mutating func beginRamp(of run: CampaignRun, at now: MonotonicTime) {
        let app = run.record.app
        let others = runs.values.filter { $0 !== run && $0.record.app == app && $0.lifecycle.isSending }
        guard others.allSatisfy(\.hours.isAsleep) else { return }
        limits.beginRamp(of: app, at: now)
    }

    /// Judges the project's quota by a batch's answers.
    mutating func judgeQuota(of service: PushService, _ report: BatchReport, answers: Int, at now: Moment) {
        guard
            let (project, pause) = limits.answered(
                answers, of: service.limited, report, at: now.tick, random: { [random] in random.unit() })
        else { return }
        log(
            .warning, "the project's quota is reached: nothing of the app is sent for a while",
            [("project", project), ("app", service.key.app.app), ("until", (now.wall + pause).internetTime)])
        service.withdraw()
        // Kept in the store, so that the pauses outlive this relay.
        guard !store.membership.isAlone, let pauses = limits.pauses(of: project, at: now) else { return }
        do {
            try store.keepQuotaPauses(of: project, pauses)
        } catch {
            noteStore(error)
        }
    }

    /// The wait of a service for its quota, or for the moment at which a campaign may begin; nil: none.
    func quotaWait(_ service: PushService, at now: Moment) -> SendingWait? {
        guard service.quota != nil else { return nil }
        if let opening = service.machine.opening(at: now) {
            return SendingWait(cause: .quarterHour, text: service.quarterHourText(until: opening))
        }
        guard let (project, pause) = limits.pause(of: service.limited, at: now.tick) else { return nil }
        return SendingWait(cause: .quota, text: service.quotaText(of: project, until: now.wall + pause))
    }

    // MARK: Ending waits at once

    /// Ends the waits of apps whose operator does not want to wait: a few pushes probe their services.
    mutating func endWaits() {
        guard !impatient.isEmpty else { return }
        let now = now
        for run in runsInOrder where impatient.contains(run.record.app) && run.lifecycle.isSending {
            // A service that refused the credential is tried as at the start of the campaign.
            guard run.services.contains(where: { $0.machine.stopReason != nil }) else { continue }
            rerouted.insert(run.record.key)
            halt(run)
        }
        for service in servicesInOrder where impatient.contains(service.key.app) {
            let waits = waits(of: service, at: now)
            service.machine.probeAtOnce(at: now)
            service.provider.askAtOnce()
            limits.probeAtOnce(service.limited, at: now.tick)
            if service.machine.isInOutage { noteOutage(of: service, until: now.wall) }
            if service.machine.connectionFault != nil {
                // The next pool dials at once.
                service.connections.close()
                owners = owners.filter { $0.value.service !== service || $0.value.isForSecondTries }
            }
            guard let first = waits.first else { continue }
            log(
                .notice, "the push service is tried at once, by hand",
                names(of: service) + [("waitedFor", first.cause.rawValue)])
        }
        impatient = []
    }

    /// When a campaign may begin there; nil: at once.
    func opening(_ service: PushService, of run: CampaignRun, keepsRamp: Bool, at now: Timestamp) -> Timestamp? {
        // A campaign that has sent before is past its first minute.
        guard !keepsRamp, run.record.figures.counts.accepted == 0 else { return nil }
        return quietEnd(of: service, at: now)
    }

    /// When a campaign or wave that would begin now may begin there; nil: at once.
    func quietEnd(of service: PushService, at now: Timestamp) -> Timestamp? {
        guard let limit = service.quota, limit.avoidsQuarterHours else { return nil }
        let opening = QuarterHourAvoidance.opening(at: now)
        return opening > now ? opening : nil
    }

    // MARK: Credentials

    /// Checks the credential before anything is read for the service.
    ///
    /// - Returns: how long until a missing credential is asked for again; nil where there is one.
    /// - Throws: a fault that an operator has to put right.
    mutating func waitForCredential(
        of service: PushService, _ run: CampaignRun
    ) throws -> Duration? {
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

    func credentialText(_ service: PushService) -> String? { faults.text(service.credentialPart) }

    /// Clears the fault: nothing is sent to the service now, so the credential's state is unknown.
    mutating func forgetCredentialFault(of service: PushService) {
        _ = faults.clear(service.credentialPart)
    }
}
