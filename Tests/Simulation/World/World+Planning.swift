// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayDaemon
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

/// The promises of `plan` about a bump.
extension World {
    /// Asks for the plan of a bump that comes next, in one history of four.
    ///
    /// - Returns: whether the version rises by the plan; nil: there was no plan, or it was refused.
    @discardableResult
    func judgePlan(_ bump: VersionBump, _ app: Int, _ version: Int) -> Bool? {
        guard let relay, settings.setup["chance"] % 4 == 1, !isDiskFailing, !isDoomed, turnDepth == 0, !rowsWereDeleted,
            unstoredLogins.isEmpty, model.announcements.allSatisfy({ $0.app != app || !$0.isUnnoticed })
        else { return nil }
        return undisturbed {
            guard let report = try? relay.control.plan(bump) else { return nil }
            let isBlock = !bump.blocked.isEmpty
            let rows = (try? relay.store.version(of: settings.key(app))?.requirements.rows) ?? []
            let above = rows.filter { $0.kind == .required && Self.number(of: $0.version.text) > version }
            let isBelowFloor = above.contains(where: \.isForEverybody)
            // A version that another program wrote is taken up with the bump, and may be in force at once.
            let mayBeBelowFloor = above.contains { $0.state == .asked }
            var (least, most) = (0, 0)
            if report.rises, !(isBlock && isBelowFloor) {
                (least, most) = model.audience(
                    app, hasMinimum: bump.minimumOS != .keep, mayHaveMinimum: settings.setup["system", app] == 1,
                    dead: pushes.calledDead
                ) {
                    isBlock ? $0 == version : $0.map { $0 < version } ?? true
                }
                if isBlock, mayBeBelowFloor { least = 0 }
            } else if !report.rises, bump.telephones != nil {
                most = .max
            }
            if report.toPush < Int64(least) || report.toPush > Int64(most) {
                model.broke(
                    "plan.counts",
                    "plan of \(isBlock ? "the block of " : "")\(Self.text(version: version)) of app \(app) counts \(report.toPush) devices to push to; it must be \(least)\(most == least ? "" : " to \(most)")"
                )
            }
            return report.rises
        }
    }
}

extension Model {
    /// The least and the highest number of devices of an app that a requirement is for.
    ///
    /// - Parameters:
    ///   - hasMinimum: whether the requirement excludes old systems.
    ///   - mayHaveMinimum: whether it may be known to exclude them.
    ///   - dead: the devices that a service has called dead, by app and token.
    ///   - isMeant: whether the requirement is for a version; nil: an unknown one.
    func audience(
        _ app: Int, hasMinimum: Bool, mayHaveMinimum: Bool, dead: Set<String>, isMeant: (Int?) -> Bool
    ) -> (least: Int, most: Int) {
        var (least, most) = (0, 0)
        for (name, states) in devices where name.hasPrefix("\(app)/") {
            guard let state = states.last, state.isRegistered, state.user != nil,
                isMeant(state.version) || disputed.contains(name),
                !(hasMinimum && state.isTooOld)
            else { continue }
            most += 1
            // A device that a service has called dead, or of which a file has an older state, may be left out.
            let isSure = !dead.contains(name) && !calledDead.contains(name) && !disputed.contains(name)
            if isSure, !(mayHaveMinimum && state.isTooOld) { least += 1 }
        }
        return (least, most)
    }
}
