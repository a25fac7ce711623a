// SPDX-License-Identifier: Apache-2.0
import RelayEngine
package import Requirements
import UpgradeRules
import WireFormat

extension StoreError {
    package init(_ refusal: RequirementRefusal, of app: AppKey) {
        let name = "\(app.app) (\(app.platform.rawValue))"
        switch refusal {
        case .versionWouldFall(let field, let current, let proposed):
            self.init(
                .versionWouldFall(field: field, current: current, proposed: proposed),
                context: "\(field) of \(name) is \(current); \(proposed) is older",
                hint: "Versions only rise: send \(current) or a newer one")
        case .noDownloadURL(let version):
            self.init(
                .noDownloadURL, context: "\(name) requires \(version) but has no download URL",
                hint: "Send downloadUrl with the version, or set it in the app's configuration")
        case .isBlocked(let version):
            self.init(
                .refused, context: "\(version) of \(name) is blocked: no user may be sent to it",
                hint: "Require a version above it, or unblock it first (\"upgrade-relay version unblock\")")
        case .notBlocked(let version):
            self.init(
                .refused, context: "\(version) of \(name) is not blocked",
                hint: "\"upgrade-relay version show\" shows what is")
        case .deadEnd(let version):
            self.init(
                .refused,
                context:
                    "\(version) of \(name) would be required and blocked at once: no user could use the app any more",
                hint:
                    "Require or announce a version above it that is not blocked, or withdraw it; nothing confirms this")
        case .nothingAbove(let version):
            self.init(
                .doubtful(Doubt(.nothingAbove, version)),
                context:
                    "no version of \(name) above \(version) is known that is not blocked: its users would find no other version",
                hint: "Announce the version to come first (`latest`), or confirm the block if the store offers one")
        case .notACanary(let version):
            self.init(
                .refused, context: "\(version) of \(name) is not for named users (any more)",
                hint: "Leave the telephones out, or raise a newer version for them")
        case .inForceAlready(let version):
            self.init(
                .refused, context: "\(version) of \(name) is in force already: it cannot come into force later",
                hint: "Withdraw it first, and ask for it again with its moment")
        case .momentPassed(let moment, let now):
            self.init(
                .refused,
                context: "requiredFrom of \(name) is \(moment.internetTime), which is over: it is \(now.internetTime)",
                hint: "Send a moment to come, or leave it out to require the version at once")
        case .momentTooFar(let moment, let latest):
            self.init(
                .refused,
                context:
                    "requiredFrom of \(name) is \(moment.internetTime); the latest moment is \(latest.internetTime)",
                hint: "Ask for the version when its moment is less than 366 days ahead")
        case .nothingWaits:
            self.init(.refused, context: "nothing of \(name) waits to come into force")
        case .notRequired(let version, let now):
            self.init(
                .refused, context: "\(version) is not what \(name) requires: that is \(now?.text ?? "nothing")")
        case .wasWithdrawn(let version, let kind):
            let isBlock = kind == .blocked
            self.init(
                .refused, context: "\(version) of \(name) was \(isBlock ? "unblocked" : "withdrawn") by a person",
                hint: "Only a person \(isBlock ? "blocks it" : "asks for it") again")
        case .unsendable(let why): self.init(.refused, context: "\(name): \(why)")
        case .wrongState(let state):
            self.init(.refused, context: "the campaign is \(state.rawValue)")
        case .breaksRules(let faults):
            self.init(
                .breaksRules(faults),
                context: "\(name): \(faults.map(\.description).joined(separator: "; "))")
        case .implausible(_, let proposed, let known):
            self.init(.refused, context: KnownVersions.doubt(proposed, of: name, known: known))
        }
    }
}
