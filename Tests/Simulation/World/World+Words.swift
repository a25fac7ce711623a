// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayDaemon
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

/// A person's decisions about one requirement.
struct SpokenWord {
    /// The minimum system, in tenths; nil: none was set.
    var minimum: Int?
    /// The moment, in milliseconds since 1970; nil: none was set.
    var moment: Int64?
}

/// The decisions of a person and of a store.
extension World {
    private static func newest(_ rows: [Requirement]) -> Version? {
        let takenUp = rows.filter(\.isAccepted)
        return takenUp.filter { $0.kind == .required }.map(\.version).max()
            ?? takenUp.filter { $0.kind == .latest }.map(\.version).max()
    }

    private func rows(_ app: Int) throws -> [Requirement] {
        try undisturbed { try relay?.store.version(of: settings.key(app))?.requirements.rows ?? [] }
    }

    /// Notes the systems and moments that a bump has set, by requirement, and judges whether the promise of `plan` came true.
    func remember(_ bump: VersionBump, _ app: Int, _ version: Int, promised: Bool?, _ rose: Bool) {
        if let promised, promised != rose {
            model.broke(
                "plan.counts",
                "plan says that \(Self.text(version: version)) of app \(app) \(promised ? "rises" : "does not rise"), and it \(rose ? "does" : "does not")"
            )
        }
        guard let rows = try? rows(app) else { return }
        for row in rows where row.isAccepted && row.kind != .blocked && Self.number(of: row.version.text) == version {
            if case .set(let minimum?) = bump.minimumOS {
                watched.spoken[row.id, default: .init()].minimum = Self.tenths(minimum)
            }
            guard rose, row.kind == .required, case .set(let moment?) = bump.requiredFrom else { continue }
            watched.spoken[row.id, default: .init()].moment = moment.milliseconds
        }
    }

    /// A person sets the systems that the required version runs on, and nothing else.
    func saySystem(_ app: Int, _ number: Int) throws -> String? {
        guard settings.setup["system", app] == 1, let version = Self.newest(try rows(app)) else { return nil }
        let minimum = try Version(number % 3 == 0 ? "13.0" : Phone.minimumSystem)
        var bump = VersionBump(app: settings.key(app))
        bump.minimumOS = .set(minimum)
        bump.isConfirmed = true
        try apply(bump, app, canary: nil, source: "api")
        // A version that another program wrote is taken up first: the person's decision is about that one, too, although the person did not
        // see it.
        let place = Self.number(of: (Self.newest(try rows(app)) ?? version).text)
        remember(bump, app, place, promised: nil, false)
        if let place = model.newest(app, place), model.announcements[place].isLive {
            if minimum.text != Phone.minimumSystem {
                model.announcements[place].minimumAt = nil
            } else if !model.announcements[place].isUnclear {
                model.announcements[place].minimumAt = model.announcements[place].minimumAt ?? milliseconds
            }
        }
        return "api says that \(Self.text(version: place)) of app \(app) runs from \(minimum) on"
    }

    /// A store reports the systems by itself.
    func listSystem(_ app: Int, _ number: Int) throws -> String? {
        guard let relay, settings.setup["system", app] == 1, settings.hasApp[app] else {
            return nil
        }
        let before = try rows(app)
        guard let version = Self.newest(before) else { return nil }
        let minimum = try Version(number % 2 == 0 ? "13.0" : Phone.minimumSystem)
        var bump = VersionBump(app: settings.key(app))
        bump.minimumOS = .set(minimum)
        let store =
            settings.isAndroid(app) ? "googlePlay" : settings.setup["gate", app] == 1 ? "appStore" : "appStoreConnect"
        model.doubtAgain()
        _ = try undisturbed { try relay.control.take(bump, from: store) }
        model.looked(app)
        // A version that another program asked for is taken up first, and may be the one that the store's report is about then.
        guard before.allSatisfy(\.isAccepted) else {
            return "the store of app \(app) says that its newest version runs from \(minimum) on"
        }
        for row in try rows(app) where row.kind != .blocked {
            guard let old = before.first(where: { $0.id == row.id }), old.isAccepted, row.isAccepted else { continue }
            let isMeant = old.version == version && old.minimumOS == nil
            let expected = isMeant ? minimum.text : old.minimumOS?.text
            guard row.minimumOS?.text != expected else { continue }
            model.broke(
                isMeant ? "system.listed" : "word.kept",
                "the store says that \(version) of app \(app) runs from \(minimum) on; \(row.version), which \(old.minimumOS.map { "ran from \($0) on" } ?? "ran anywhere"), runs from \(row.minimumOS?.text ?? "any") on now"
            )
        }
        return "the store of app \(app) says that \(version) runs from \(minimum) on"
    }

    /// People's decisions about single requirements hold as long as these are asked for.
    func judgeWords(_ app: Int, _ told: ToldRequirements) {
        for row in told.rows where row.isLive {
            guard let word = watched.spoken[row.id] else { continue }
            if let minimum = word.minimum, row.minimum != minimum {
                model.broke(
                    "word.kept",
                    "a person has said that \(Self.text(version: row.version)) of app \(app) runs from system \(minimum / 10) on, and it runs from \(row.minimum.map { "\($0 / 10)" } ?? "any") on"
                )
            }
            if let moment = word.moment, row.moment != moment {
                model.broke(
                    "word.kept",
                    "a person has said that \(Self.text(version: row.version)) of app \(app) is required from \(moment) on, and it is from \(row.moment.map(String.init) ?? "now") on"
                )
            }
        }
    }

    // MARK: Stores

    /// A requirement that its store has halted is neither in force nor announced, whatever its kind, and a block that waits for a way out
    /// is in force once there is one.
    func judgeStores(_ app: Int, _ told: ToldRequirements) {
        let isSettled = tick - max(quietSince, diskFailedAt ?? quietSince) > .seconds(90)
        guard settings.isGated(app), settings.hasApp[app], isToldSure[app] else { return }
        for row in told.rows where row.isGated && !row.isReleased && row.isLive && row.state != "asked" {
            let wanted = row.kind == .block ? row.version + 1 : row.version
            let verdict = toldStores[app].verdict(on: wanted, minimum: settings.minimumPercent(app))
            guard verdict == .halted, settings.isAndroid(app), !told.isSuperseded(row) else {
                watched.haltedRows[row.id] = nil
                judgeWayOut(row, verdict, app, told, isSettled)
                continue
            }
            let since = watched.haltedRows[row.id] ?? kept[app].at
            watched.haltedRows[row.id] = since
            guard row.isAnnounced, isSettled, milliseconds - since > 65_000 else { continue }
            model.broke(
                "store.halts",
                "the store of app \(app) has halted what \(row.kind == .block ? "the block of " : "")\(Self.text(version: row.version)) waits for \((milliseconds - since) / 1000) s ago, and that is \(row.state)"
            )
        }
    }

    private func judgeWayOut(
        _ row: ToldRequirement, _ verdict: StoreTruth.Verdict, _ app: Int, _ told: ToldRequirements, _ isSettled: Bool
    ) {
        // A version that is blocked itself is no way out.
        let isAboveBlocked = told.rows.contains { $0.kind == .block && $0.isLive && $0.version > row.version }
        guard row.kind == .block, row.state == "waiting", verdict == .open, isSettled, !told.isSuperseded(row),
            !isAboveBlocked,
            kept[app].at > watched.life.since, milliseconds - kept[app].at > 65_000
        else { return }
        model.broke(
            "block.gate",
            "the store of app \(app) offers something above \(Self.text(version: row.version)), and its block waits")
    }
}
