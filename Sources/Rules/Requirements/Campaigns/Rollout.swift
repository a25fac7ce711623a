// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import UpgradeRules

/// The steps by which a campaign reaches its users: a canary, waves, and then everybody. All user interfaces take their
/// words from here. Pure.
package struct Rollout: Hashable, Sendable {
    package enum Step: Hashable, Sendable {
        /// Users whom the bump names.
        case canary(numbers: Int)
        /// A share of all users, those of the earlier steps included.
        ///
        /// - Parameter parts: of `WavePlan.parts`.
        case share(parts: Int)
        case everybody

        /// In a sentence: "5 % of the users".
        package var words: String {
            switch self {
            case .canary(let numbers): "the canary of \(Counted.text(numbers, "phone number"))"
            case .share(let parts): "\(WavePlan.percentText(parts)) % of the users"
            case .everybody: "everybody"
            }
        }
    }

    /// The steps in their order; the last one is everybody.
    package let steps: [Step]
    /// The number of steps that have begun.
    package let begun: Int

    package init(_ campaign: CampaignRecord) {
        let (requirement, waves, hasStarted) = (
            campaign.requirement, campaign.figures.waves, campaign.facts.startedAt != nil
        )
        let ends = waves.isEmpty ? requirement.stages.map { Array($0.ends) } ?? [] : waves.list.map(\.end)
        let canary = requirement.canary.map { Step.canary(numbers: $0.count) }
        steps = [canary].compactMap(\.self) + ends.dropLast().map { Step.share(parts: $0) } + [.everybody]
        let begunWaves = waves.list.count { $0.begunAt != nil }
        begun = !hasStarted ? 0 : (canary != nil ? 1 : 0) + (campaign.isCanary ? 0 : max(begunWaves, 1))
    }

    /// The next step; nil: all steps have begun.
    package var next: Step? { begun < steps.count ? steps[begun] : nil }

    /// The effect of a release, as it follows a command's name: "sends to 5 % of the users".
    package var release: String { "sends to \((next ?? .everybody).words)" }

    /// All steps: "the canary of 2 phone numbers, then 5 % of the users, then everybody".
    package var words: String { steps.map(\.words).joined(separator: ", then ") }
}
