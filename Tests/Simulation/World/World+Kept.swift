// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

/// The part of an app store's last answer that the relay's store keeps, as far as it can be known from outside.
struct KeptAnswer {
    /// When the last answer came; -1: never.
    var at: Int64 = -1
    /// The store as it had answered before that moment.
    var before = StoreTruth()
    /// Whether the answer could be written.
    var isSure = true
    /// The version that the App Store's lookup shows to all users, and since when, at the latest, the relay has known it.
    var shown: (version: Int, since: Int64)?
}

/// A kill loses none of the stores' answers, except those that could not be written.
extension World {
    /// A store answers now; its earlier answer is still in `toldStores`.
    func keepsAnswer(_ app: Int, _ told: StoreTruth) {
        // An answer that could not be written is written within half a minute after the disk works again (`EvidenceKeeper`).
        let isWritable = !isDiskFailing && !isDying && (diskFailedAt.map { tick - $0 > .seconds(30) } ?? true)
        if kept[app].at != milliseconds { kept[app].before = toldStores[app] }
        (kept[app].at, kept[app].isSure) = (milliseconds, isWritable)
        let newest = told.releases.filter { $0.percent == 100 && !$0.isHalted }.map(\.version).max()
        if newest != kept[app].shown?.version { kept[app].shown = nil }
        if let newest, isWritable, kept[app].shown == nil { kept[app].shown = (newest, milliseconds) }
    }

    /// The process has died.
    func forgetUnkeptAnswers() {
        for app in kept.indices where !kept[app].isSure || kept[app].at == milliseconds {
            if kept[app].shown?.since == milliseconds { kept[app].shown = nil }
            let minimum = settings.minimumPercent(app)
            model.forgetOffers(of: app) { version in
                // The relay may know the last answer or the one before.
                kept[app].before.verdict(on: version, minimum: minimum) == .open
                    && toldStores[app].verdict(on: version, minimum: minimum) != .open
            }
            isToldSure[app] = false
        }
    }

    /// The wait after the lookup has shown a version, which only the relay dates, ends when it must, whatever was killed in between.
    func judgeHolds() {
        guard !wasClockSet, !isDiskFailing, !isDoomed, tick - quietSince > .seconds(2 * 3600) else { return }
        for app in settings.apps {
            guard settings.hasApp[app], settings.isGated(app), !settings.isAndroid(app),
                settings.setup["gate", app] == 1, settings.setup["hold", app] > 0, settings.setup["dated", app] == 0,
                let shown = kept[app].shown, let one = model.required(app), one.version <= shown.version, one.isGated,
                !one.isReleased, !one.lostItsGate, !one.isUnclear, !one.isUnnoticed, !one.isHeld
            else { continue }
            judgeAnnouncement(app, one, since: max(shown.since, one.askedAt, one.noticedAt ?? 0))
            let end = max(shown.since + one.hold, one.askedAt, one.noticedAt ?? 0, one.requiredFrom ?? 0)
            guard milliseconds > end + 2 * 3_600_000 else { continue }
            let waits = told.values.contains {
                $0.campaign.app == app && $0.campaign.version == one.version && $0.campaign.state == "waiting"
            }
            guard waits else { continue }
            model.broke(
                "inForce.hold",
                "app \(app): its store has shown \(Self.text(version: shown.version)) for "
                    + "\((milliseconds - shown.since) / 3_600_000) hours, and \(Self.text(version: one.version)) waits"
            )
        }
    }

    /// The wait after a release keeps back the force alone: the version is announced as soon as the store shows it.
    private func judgeAnnouncement(_ app: Int, _ one: Announcement, since: Int64) {
        guard milliseconds > since + 2 * 3_600_000, model.block(app, one.version) == nil,
            let version = try? Version(Self.text(version: one.version)),
            let row = (try? relay?.store.version(of: settings.key(app)))??.requirements.live(version),
            row.state == .waiting
        else { return }
        model.broke(
            "announced.hold",
            "app \(app): its store has shown \(Self.text(version: one.version)) for "
                + "\((milliseconds - since) / 3_600_000) hours, and it is not announced: \(row.reason ?? "no reason")")
    }
}
