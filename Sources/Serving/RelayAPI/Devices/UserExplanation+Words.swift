// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules
import WireFormat

/// The sentences of `users explain`, which support reads out.
extension Verdict {
    /// The floor or the block that forces.
    var floor: UpgradeRule? {
        switch self {
        case .unknown(let rule), .forced(let rule): rule
        case .announced, .ended, .none: nil
        }
    }

    func words(_ version: Version?, _ user: UpgradeRule.User, among rules: [UpgradeRule]) -> String {
        let installed = version.map(\.text) ?? "an unknown version"
        switch self {
        case .forced(let rule) where rule.isBlock: return "\(installed) is blocked"
        case .forced(let rule): return "\(installed) is below \(rule.version), which is required of \(rule.whom(user))"
        case .unknown(let rule):
            return "no version of this device is known, and \(rule.version) is required of \(rule.whom(user))"
        case .announced(let rule): return "\(installed) may go on, and \(rule.version) is announced"
        case .none(.nothing): return "nothing is required or announced"
        case .none(.current): return "\(installed) meets all that is required and announced"
        case .none(.versionUnknown): return "no version of this device is known, and nothing is required"
        case .ended(let rule): return "\(tooOld(installed, rule, user)); the service ends for such phones"
        case .none(.osTooOld):
            guard
                let rule = rules.first(where: {
                    $0.target.concerns(version) && $0.reaches(user) && !$0.runs(on: user.system)
                })
            else {
                return "the system of this phone is too old for what is required"
            }
            return tooOld(installed, rule, user)
        case .none(.notReached):
            guard let rule = rules.first(where: { $0.forces && !$0.reaches(user) }) else {
                return "\(installed) is not reached yet"
            }
            return "\(installed) is below \(rule.version), which is required of "
                + (rule.reach == 0
                    ? "those alone whom its canary names, and this user is not known to be one of them"
                    : "\(WavePlan.percentText(rule.reach)) % of the users, and this one is not among them")
        }
    }

    private func tooOld(_ installed: String, _ rule: UpgradeRule, _ user: UpgradeRule.User) -> String {
        (rule.isBlock
            ? "\(installed) is blocked, and what is above it" : "\(installed) is below \(rule.version), which")
            + " needs system version \(rule.minimumOS?.text ?? "-") and this phone has \(user.system?.text ?? "an unknown one")"
    }
}

extension UpgradeRule {
    fileprivate func whom(_ user: User) -> String {
        if isForEverybody { return "everybody" }
        return reach == 0
            ? "those whom its canary names, this user among them"
            : "\(WavePlan.percentText(reach)) % of the users, this one among them"
    }
}

extension UserExplanation.Word {
    static let notConfigured = Self(.nothing, "the app is not configured on this server")
}

extension LaunchGateDocument.Section {
    /// The content of the section, which is the same for every reader.
    var words: String {
        if let required { return "the document requires \(required.minimumVersion)" }
        if let optional { return "the document announces \(optional.optionalVersion)" }
        return "the document requires and announces nothing"
    }
}

extension Delivery? {
    /// The answer for a device that the campaign is or was meant for, and whose push the service has not accepted.
    func words(_ campaign: CampaignRecord) -> UserExplanation.Word {
        let name = "campaign \(campaign.id)"
        let stands =
            campaign.state == .running
            ? "" : "; it is \(campaign.state.rawValue)" + (campaign.facts.reason.map { ": \($0)" } ?? "")
        switch self?.state {
        case .retrying:
            let next = self?.nextAttemptAt.map { ", and is tried again at \($0.internetTime)" } ?? ""
            return .init(.due, "\(name) tried it (\(self?.reason ?? "no answer"))\(next)\(stands)")
        case .rejected, .unregistered, .expired, .filtered, .cancelled:
            let reason = self?.reason.map { " (\($0))" } ?? ""
            return .init(
                .notPushed,
                "\(name) has \(self?.state.name ?? "") it\(reason) at \(self?.updatedAt.internetTime ?? "")\(stands)")
        case .pending, .inFlight: return .init(.due, "it is in line in \(name)\(stands)")
        case .accepted, nil:
            return campaign.state.isFinal
                ? .init(.notPushed, "\(name) is \(campaign.state.rawValue), and this device came to its app later")
                : .init(.due, "\(name) has not come to this device\(stands)")
        }
    }
}
