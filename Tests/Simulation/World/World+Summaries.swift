// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

/// The one line about a user must agree with the model's verdict on the user's devices, and with the push service.
extension World {
    /// The verdict of the model on one device.
    private struct Judged {
        let device: UserExplanation.Device
        let hearing: Hearing

        /// The version that locks the device out, and whether it is a block; nil: none does.
        var lock: (version: Int, isBlock: Bool)? {
            switch hearing {
            case .must(let version, let isBlock), .ends(let version, let isBlock): (version, isBlock)
            case .nothing, .may, .unknown: nil
            }
        }
    }

    func judgeSummary(_ one: UserExplanation.App, _ app: Int) {
        // The stored rows that the model judges by are those of the same moment.
        guard settings.hasApp[app], let ruled = watched.ruled[app], ruled.change == change else { return }
        let summary = one.summary
        let all = one.devices.map { device in
            let registration = device.record.registration
            let listener = Listener(
                user: registration.telephone.flatMap(Phone.user),
                system: registration.osVersion.map(Self.tenths))
            let version = registration.version.map { Self.number(of: $0.text) }
            return Judged(device: device, hearing: ruled.told.hearing(version, listener))
        }
        // One that gets pushes is shown before the others, and one that is locked out before the rest of these.
        let living = all.filter { $0.device.record.retiredAt == nil }
        let locked = (living.isEmpty ? all : living).filter { $0.lock != nil }
        judge(summary, app, all.count, "devices", summary.devices == all.count)
        judge(
            summary, app, locked.count, "devices that are locked out", (summary.state == .lockedOut) == !locked.isEmpty)
        let says = summary.sentence(at: clock.now.wall)
        judge(summary, app, locked.count, "the line \"\(says)\"", says.hasPrefix("Locked out on ") == !locked.isEmpty)
        if !locked.isEmpty {
            let alike = all.count { $0.lock != nil }
            judge(summary, app, alike, "devices in that state", summary.devicesAlike == alike)
            let isSame = locked.contains { judged in
                let (registration, target) = (judged.device.record.registration, summary.target)
                return summary.has == registration.version && judged.lock?.isBlock == target?.isBlock
                    && judged.lock?.version == target.map { Self.number(of: $0.version.text) }
            }
            let locks = locked.map { "\($0.lock?.version ?? -1)" }.joined(separator: ", ")
            judge(summary, app, locked.count, "a version of \(locks)", isSame)
        }
        judgePush(summary, app)
    }

    /// A push that the line calls accepted was taken by its service.
    private func judgePush(_ summary: UserSummary, _ app: Int) {
        // A device may have got the id of a row that another program has deleted, and with it the deliveries.
        guard let push = summary.push, push.delivery.state == .accepted, let target = push.target, !rowsWereDeleted
        else { return }
        let (version, token) = (Self.number(of: target.version.text), push.delivery.token)
        // The pushes of blocks are recorded with their block.
        let isTaken =
            target.isBlock
            ? model.blocks.contains { $0.app == app && $0.version == version && $0.taken.contains(token) }
            : pushes.has(app, token, version)
        judge(summary, app, 1, "an accepted push of \(target.version)", isTaken)
    }

    private func judge(_ summary: UserSummary, _ app: Int, _ count: Int, _ what: String, _ isSo: Bool) {
        guard !isSo else { return }
        model.broke(
            "channels.summary",
            "a user of app \(app) is summed up as \(summary.state.rawValue) "
                + "(\(summary.target?.version.text ?? "no version") with \(summary.has?.text ?? "none"), "
                + "\(summary.devicesAlike) of \(summary.devices) devices); the model has \(count): \(what)")
    }
}
