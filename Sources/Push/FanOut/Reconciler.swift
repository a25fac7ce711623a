// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import Telemetry
import UpgradeRules
import WireFormat

/// Makes campaigns of requirements (DESIGN, rule 2): announces what has risen, reminds, and logs what a newer requirement superseded.
/// Where the store refuses for one app, the others go on.
///
/// Belongs to the dispatcher's thread. A decision about requirements is the store's (`RelayStore.reconcile`).
struct Reconciler {
    /// The interval at which due reminders are looked for; they come hours apart.
    private static let reminderInterval = Duration.seconds(10)

    private let store: any RelayStore
    private let log: Log
    private let surroundings: FanOut.Surroundings
    private let onVersions: @Sendable ([VersionRecord]) -> Void

    /// The campaigns that were open at the last look; nil before the first.
    private var knownOpen: Set<CampaignKey>?
    /// Apps with a stored version and without a route: each is reported once.
    private var unrouted: Set<AppKey> = []
    /// Apps for which the store refuses: at this look so far, and at the previous one.
    private var refused: (now: Set<AppKey>, before: Set<AppKey>) = ([], [])
    /// When due reminders are looked for next, if nothing changes.
    private var nextReminderLook: MonotonicTime

    init(
        _ store: any RelayStore, _ log: Log, _ surroundings: @escaping FanOut.Surroundings, at now: MonotonicTime,
        onVersions: @escaping @Sendable ([VersionRecord]) -> Void
    ) {
        (self.store, self.log, self.surroundings, self.onVersions) = (store, log, surroundings, onVersions)
        nextReminderLook = now
    }

    // MARK: Rises

    /// Announces each requirement that has risen and has no campaign yet.
    mutating func announce(_ routes: [AppKey: AppRoute], _ faults: inout FaultLog, at now: Timestamp) throws {
        // Campaigns that are superseded below were open before.
        if knownOpen == nil { knownOpen = Set(try store.openCampaigns().map(\.key)) }
        let records = try store.versions()
        onVersions(records)
        var hasChanged = false
        // Only the leading relay does this: two would log it twice, and two configurations would begin a campaign each.
        for record in records where store.membership.leads {
            guard let required = record.required ?? record.requirements.blocked.first else { continue }
            let part = record.app.faultPart
            guard let route = routes[record.app] else {
                _ = faults.clear(part)
                // Fine for an app that only asks at login; worth a line if pushes were expected.
                if unrouted.insert(record.app).inserted {
                    log(
                        .notice, "a required version is stored for an app without a push service",
                        [("app", record.app.app), ("platform", record.app.platform.rawValue)])
                }
                continue
            }
            do {
                let decision = try store.reconcile(record.app, in: surroundings(record.app, route.draft, now))
                hasChanged = hasChanged || decision.hasChanged
                if let campaign = decision.campaign {
                    // The version was stored earlier without a campaign, because the app could not be pushed to then.
                    log(
                        .notice, "a campaign begins",
                        [
                            ("campaign", campaign.id), ("app", record.app.app), ("required", required.text),
                            ("state", campaign.state.rawValue),
                        ])
                }
                _ = faults.clear(part)
            } catch let error as StoreError where error.code == .noDownloadURL {
                if faults.set(part, error.description) {
                    log(
                        .error, "a requirement cannot be announced without a download URL",
                        [("app", record.app.app), ("required", required.text)])
                }
            } catch {
                noteRefusal(for: record.app, error, &faults)
            }
        }
        // Requirements that wait for no store, or have reached their moment, are in force since this look: the other
        // channels, such as the check at login, need them now.
        if hasChanged { onVersions(try store.versions()) }
    }

    /// A route leads to the app from now on, or none any more.
    mutating func rerouted(_ app: AppKey) { unrouted.remove(app) }

    /// Logs the campaigns that were superseded since the last look. The store supersedes them in the transaction that announces
    /// the newer requirement, wherever that came from: a webhook, a command, or another program's row.
    mutating func reportSuperseded(_ open: [CampaignRecord]) throws {
        let now = Set(open.map(\.key))
        for key in (knownOpen ?? []).subtracting(now).sorted() {
            guard store.membership.leads, let record = try store.campaign(key), record.state == .superseded else {
                continue
            }
            log(
                .notice, "a newer requirement superseded the campaign",
                [
                    ("campaign", record.id), ("app", record.app.app), ("platform", record.app.platform.rawValue),
                    ("required", record.requirement.version.text), ("reason", record.facts.reason ?? ""),
                    ("accepted", String(record.figures.counts.accepted)),
                    ("notSent", String(record.figures.counts.cancelled)),
                ])
        }
        knownOpen = now
    }

    // MARK: Reminders

    /// Whether reminders may be due that no change of the store shows.
    func looksForReminders(at now: MonotonicTime) -> Bool { now >= nextReminderLook }

    /// Reopens the campaigns whose reminder is due.
    ///
    /// - Parameter routes: those of apps that are sent to as they are.
    /// - Returns: whether there was one.
    mutating func remind(_ routes: [AppKey: AppRoute], _ faults: inout FaultLog, at now: Moment) -> Bool {
        var hasBegun = false
        nextReminderLook = now.tick + Self.reminderInterval
        let reminding = routes.filter { !$0.value.reminders.times.isEmpty }
        for (app, route) in reminding.sorted(by: { $0.key < $1.key }) {
            // No reminder begins outside the app's hours: it is due when they begin.
            if let opening = route.hours?.opening(after: now.wall) {
                nextReminderLook = min(nextReminderLook, now.tick + (opening - now.wall))
                continue
            }
            do {
                if try remind(app, route, at: now.wall) { hasBegun = true }
            } catch {
                noteRefusal(for: app, error, &faults)
            }
        }
        return hasBegun
    }

    private func remind(_ app: AppKey, _ route: AppRoute, at now: Timestamp) throws -> Bool {
        guard let record = try store.campaignInForce(of: app),
            case .begin(let dueAt) = record.reminder(route.reminders, at: now)
        else { return false }
        let draft = RoundDraft(.reminder(dueAt: dueAt), timeToLive: route.timeToLive)
        guard try store.reopen(record.key, for: draft, by: Signature(by: .relay, at: now)) == .opened else {
            return false
        }
        log(
            .notice, "devices that are still behind are reminded",
            [
                ("campaign", record.id), ("app", app.app), ("required", record.requirement.version.text),
                ("due", dueAt.internetTime),
            ])
        return true
    }

    // MARK: Refusals

    /// Notes that one app's part of the store cannot be read or written: the look goes on with the other apps, and the
    /// next one tries this app again.
    mutating func noteRefusal(for app: AppKey, _ error: any Error, _ faults: inout FaultLog) {
        refused.now.insert(app)
        _ = faults.set(app.faultPart, "\(error)")
        guard !refused.before.contains(app) else { return }
        log(
            .error, "the store refuses for one app: the others go on",
            [("app", app.app), ("platform", app.platform.rawValue), ("error", "\(error)")])
    }

    /// Ends the look, and logs the apps for which the store no longer refuses.
    ///
    /// - Returns: whether the store refused for an app.
    mutating func endLook() -> Bool {
        for app in refused.before.subtracting(refused.now).sorted() {
            log(
                .notice, "the store does not refuse for the app any more",
                [("app", app.app), ("platform", app.platform.rawValue)])
        }
        refused = ([], refused.now)
        return !refused.before.isEmpty
    }
}
