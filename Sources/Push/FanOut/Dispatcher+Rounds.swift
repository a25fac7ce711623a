// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import Telemetry
import UpgradeRules
import WireFormat

/// Campaigns that are sent again to some of their devices: reminders begin here, and devices that are sent to again, by a
/// reminder or an operator, are put in line here.
extension Dispatcher {
    /// The most devices in line at a time: enough to keep the connections busy while the next ones are found, and few
    /// enough to be counted as cancelled quickly if the campaign is superseded.
    private static let mostInLine: Int64 = 20_000
    /// The interval at which due reminders are looked for; they come hours apart.
    private static let reminderInterval = Duration.seconds(10)

    /// Reopens the campaigns whose reminder is due.
    ///
    /// - Returns: whether there was one.
    mutating func beginReminders(at now: Moment) -> Bool {
        var hasBegun = false
        nextReminderLook = now.tick + Self.reminderInterval
        let reminding = routes.filter { !$0.value.reminders.times.isEmpty && newRoutes[$0.key] == nil }
        for (app, route) in reminding.sorted(by: { $0.key < $1.key }) {
            // No reminder begins outside the app's hours: it is due when they begin.
            if let opening = route.hours?.opening(after: now.wall) {
                nextReminderLook = min(nextReminderLook, now.tick + (opening - now.wall))
                continue
            }
            do {
                if try beginReminder(of: app, route, at: now) { hasBegun = true }
            } catch {
                noteRefusal(for: app, error)
            }
        }
        return hasBegun
    }

    private func beginReminder(of app: AppKey, _ route: AppRoute, at now: Moment) throws -> Bool {
        guard let record = try store.campaignInForce(of: app),
            case .begin(let dueAt) = record.reminder(route.reminders, at: now.wall)
        else { return false }
        let draft = RoundDraft(.reminder(dueAt: dueAt), timeToLive: route.timeToLive)
        guard try store.reopen(record.key, for: draft, by: Signature(by: .relay, at: now.wall)) == .opened else {
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

    /// Puts some more devices in line.
    mutating func gather(_ run: CampaignRun, at now: Moment) throws {
        let gathered = try store.gather(run.record.key, atMost: Self.mostInLine, at: now.wall) { row, devices in
            run.filter.reason(against: row, in: devices) == nil
        }
        run.lifecycle.gathered(gathered.progress)
        for channel in gathered.channels.sorted() {
            if let service = run.service(channel) {
                service.machine.handedOver(at: now.wall)
            } else {
                try begin(run, at: channel, keepsRamp: false, now)
                shareBudget()
            }
        }
        guard gathered.progress == .done else { return }
        let count = try store.campaign(run.record.key)?.figures.rounds.last?.devices ?? 0
        log(
            .notice, "all devices that are sent to again are in line",
            [("campaign", run.record.id), ("devices", String(count))])
        guard gathered.opensShards else { return }
        // The services know of no shards, or of too few.
        rerouted.insert(run.record.key)
        halt(run)
    }
}
