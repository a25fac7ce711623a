// SPDX-License-Identifier: Apache-2.0
import RelayEngine

/// What the relay's store keeps of the last answer of an app's store, as far as anybody outside can tell.
struct KeptAnswer {
    /// When it came last; before the first: never.
    var at: Int64 = -1
    /// What it was told before that moment.
    var before = StoreTruth()
    /// Whether it could be written.
    var isSure = true
    /// What the App Store's lookup shows to everybody, and since when the relay knows so at the latest.
    var shown: (version: Int, since: Int64)?
}

/// A kill takes nothing of what the stores have said, but for what could not be written.
extension World {
    /// A store answers now; what it had told is in `toldStores` still.
    func keepsAnswer(_ app: Int, _ told: StoreTruth) {
        // What it could not write it writes within half a minute after the disk works again (`EvidenceKeeper`).
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
                // It may know of the last answer or of the one before.
                kept[app].before.verdict(on: version, minimum: minimum) == .open
                    && toldStores[app].verdict(on: version, minimum: minimum) != .open
            }
            isToldSure[app] = false
        }
    }

    /// The wait after the lookup has shown a version, which nobody dates but the relay, ends when it must: whatever was killed meanwhile.
    func judgeHolds() {
        guard !wasClockSet, !isDiskFailing, !isDoomed, tick - quietSince > .seconds(2 * 3600) else { return }
        for app in settings.apps {
            guard settings.hasApp[app], settings.isGated(app), !settings.isAndroid(app),
                settings.setup["gate", app] == 1, settings.setup["hold", app] > 0, settings.setup["dated", app] == 0,
                let shown = kept[app].shown, let one = model.required(app), one.version <= shown.version, one.isGated,
                !one.isReleased, !one.lostItsGate, !one.isUnclear, !one.isUnnoticed, !one.isHeld
            else { continue }
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
}
