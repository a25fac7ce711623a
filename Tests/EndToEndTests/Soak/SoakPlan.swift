// SPDX-License-Identifier: Apache-2.0
import Foundation
import PushSimulator

/// The size of a soak, and its faults.
struct SoakPlan {
    /// Requests that the push service sees before the last campaign begins.
    var pushes: Int
    /// Devices; each campaign pushes to nearly all of them.
    var fleet: Int
    /// Share of pushes that meets each fault that concerns a single push.
    var share = 0.02
    /// Requests from one SIGKILL to the next; nil: the daemon is never killed.
    var killEvery: Int?
    var killsAtMost = 20
    /// Whether there are faults that take tens of seconds to be noticed: a silent peer, an answer that never comes.
    var hasSlowFaults: Bool
    /// Whether every payload is checked against the phones' own code: the record takes about 600 bytes a push.
    var keepsRecord: Bool
    /// The time from one SIGHUP to the next.
    var reloadInterval: Duration
    /// The time from one sample of the daemon to the next; the verdict needs eight, also on a fast machine.
    var sampleInterval = Duration.milliseconds(500)

    /// The refusals that stop a campaign.
    var stoppers = Self.ofTheCampaign

    /// Seconds: part of every test run.
    static let short = SoakPlan(
        pushes: 2_600, fleet: 2_000, killsAtMost: 3, hasSlowFaults: false, keepsRecord: true,
        reloadInterval: .seconds(3), sampleInterval: .milliseconds(100),
        stoppers: [
            .rejection(.invalidProviderToken), .rejection(.topicDisallowed), .rejection(.tooManyProviderTokenUpdates),
            .rejection(.expiredProviderToken),
        ])

    /// The plan of `make soak` by SOAK_PUSHES; nil without a positive number there.
    static func long(environment: [String: String] = ProcessInfo.processInfo.environment) -> SoakPlan? {
        guard let pushes = environment["SOAK_PUSHES"].flatMap({ Int($0) }), pushes > 0 else { return nil }
        return SoakPlan(
            pushes: pushes, fleet: min(max(pushes / 10, 4_000), 100_000), hasSlowFaults: true, keepsRecord: false,
            reloadInterval: .seconds(8))
    }

    /// A tenth of the pushes, with SIGKILL now and then.
    var crashing: SoakPlan {
        var plan = self
        plan.pushes = max(pushes / 10, 3_000)
        plan.fleet = max(fleet / 4, 2_000)
        plan.killEvery = max(plan.pushes / killsAtMost, 800)
        return plan
    }

    /// Faults of one push, which mean nothing for the others.
    static let ofOnePush: [RequestFault] = [
        .rejection(.tooManyRequests), .rejection(.internalServerError), .rejection(.serviceUnavailable),
        .rejection(.unregistered), .rejection(.expiredToken), .rejection(.badDeviceToken),
        .rejection(.deviceTokenNotForTopic), .refusedStream, .delay,
    ]

    /// Faults that end or narrow a connection: all requests in flight there meet them. If these were as frequent as the others, the
    /// relay would rightly slow down (`PoolMachine`): a connection that dies within ten seconds is replaced at once three times,
    /// and then after a pause.
    static let ofAConnection: [RequestFault] = [
        .reset, .cut, .goAway, .settings, .rejection(.idleTimeout), .rejection(.shutdown), .rejection(.unrelatedKeyID),
    ]

    static let slow: [RequestFault] = [.silence, .noAnswer]

    /// Every other refusal: it stops the whole campaign, or the credential for a while, until an operator resumes it.
    static let ofTheCampaign: [RequestFault] = RequestFault.all(of: .apns).filter {
        !(ofOnePush + ofAConnection + slow).contains($0)
    }

    var faults: FaultScript {
        var script = FaultScript()
        let whole = Double(pushes)
        for fault in Self.ofOnePush { script.shares[fault] = share }
        for fault in Self.ofAConnection { script.shares[fault] = max(1 / 100_000, 2 / whole) }
        for fault in stoppers { script.shares[fault] = max(1 / 500_000, 1 / whole) }
        if hasSlowFaults { for fault in Self.slow { script.shares[fault] = max(1 / 250_000, 2 / whole) } }
        // A real 5xx without Retry-After waits for a minute and more.
        script.sharedRetryAfter = 1
        script.delayMs = 500
        // Some tokens keep their fault, whenever they are pushed to.
        script.deadShare = share
        script.badShare = share
        script.busyShare = share
        script.busyTries = 1
        return script
    }
}
