// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import UpgradeRules
import WireFormat

/// One effect of a person's act on a campaign or a version, for the question before the act and the answer after it: what is
/// sent, to how many devices, what stays, and what comes next. Pure.
package enum CampaignEffect: Hashable, Sendable {
    /// Nothing more is sent until a person resumes it; pushes on their way arrive.
    case stops
    /// The devices that are left are sent to.
    case goesOn(devices: Int64)
    /// A wave begins: its number, from 1, the number of waves, and the share of the users that it completes.
    case beginsWave(Int64, of: Int64, to: Rollout.Step)
    /// The requirement comes into force at once, whatever it waits for.
    case comesIntoForce(UpgradeTarget)
    case goesTo(Rollout.Step)
    /// The step after the one that begins.
    case thenGoesTo(Rollout.Step)
    /// The devices that were rejected, cancelled or expired are sent to again.
    case triesAgain(devices: Int64)
    /// The devices that are left are not sent to; nil: they have not been counted.
    case leavesOut(devices: Int64?)
    /// The requirement is withdrawn with the campaign.
    case takesBack(UpgradeTarget)
    /// The requirement stays in force for everybody.
    case stays(UpgradeTarget)
    /// The requirement that was in force before is in force again.
    case comesBack
    /// Pushes that were sent cannot be called back.
    case sentStays
    /// Blocked versions may be used again.
    case usableAgain

    /// An English sentence with a placeholder, "%", for each of its values. A user interface in another language, or
    /// with other names for the values, uses its own.
    package struct Sentence: Sendable {
        package enum Value: Hashable, Sendable {
            case text(String)
            case devices(Int64)
            case step(Rollout.Step)
            /// The act that ends a requirement.
            case end(of: UpgradeTarget)

            fileprivate var words: String {
                switch self {
                case .text(let text): text
                case .devices(let count): Counted.text(count, "device")
                case .step(let step): step.words
                case .end(let target): target.isBlock ? "\"version unblock\"" : "\"version withdraw\""
                }
            }
        }

        package let pattern: StaticString
        package let values: [Value]

        fileprivate init(_ pattern: StaticString, _ values: Value...) {
            (self.pattern, self.values) = (pattern, values)
        }
    }

    package var sentence: Sentence {
        switch self {
        case .stops: Sentence("Nothing more is sent until a person resumes it. Pushes on their way arrive.")
        case .goesOn(1): Sentence("The % that is left is sent to.", .devices(1))
        case .goesOn(let devices): Sentence("The % that are left are sent to.", .devices(devices))
        case .beginsWave(let number, let all, let step):
            Sentence(
                "Wave % of % begins: it goes to %.", .text(String(number)), .text(String(all)), .step(step))
        case .comesIntoForce(let target):
            target.isBlock
                ? Sentence("The block of % comes into force now, whatever it waits for.", .text(target.version.text))
                : Sentence("% is required now, whatever it waits for.", .text(target.version.text))
        case .goesTo(let step): Sentence("It goes to %.", .step(step))
        case .thenGoesTo(let step): Sentence("The step after that: %.", .step(step))
        case .triesAgain(1): Sentence("% that was rejected, cancelled or expired: sent to again.", .devices(1))
        case .triesAgain(let devices):
            Sentence("% that were rejected, cancelled or expired: sent to again.", .devices(devices))
        case .leavesOut(1): Sentence("% gets no push.", .devices(1))
        case .leavesOut(let devices?): Sentence("% get no push.", .devices(devices))
        case .leavesOut(nil): Sentence("Nothing of it is sent.")
        case .comesBack: Sentence("What was in force before it is in force again, on every channel.")
        case .sentStays: Sentence("Pushes that were sent stay sent.")
        case .usableAgain: Sentence("Its users may go on with it.")
        case .takesBack(let target):
            target.isBlock
                ? Sentence("% is no longer blocked.", .text(target.version.text))
                : Sentence(
                    "% is no longer required: what was in force before it is in force again.",
                    .text(target.version.text))
        case .stays(let target):
            target.isBlock
                ? Sentence(
                    "% stays blocked: % ends that. A retry sends what is left out.", .text(target.version.text),
                    .end(of: target))
                : Sentence(
                    "% stays required of everybody: % takes it back. A retry sends what is left out.",
                    .text(target.version.text), .end(of: target))
        }
    }

    /// The sentence in English, as the API and the commands show it.
    package var words: String {
        let sentence = sentence
        return TextPattern.filled(sentence.pattern.description, sentence.values.map(\.words))
    }
}

extension CampaignEffect {
    /// The effects of an act on an app's versions; empty for any other act.
    ///
    /// - Parameter version: the one that the act is about; nil: none is known.
    package static func of(_ act: ActKind, _ version: Version?) -> [CampaignEffect] {
        switch act {
        case .release: version.map { [.comesIntoForce(UpgradeTarget($0, isBlock: false))] } ?? []
        case .withdraw: [.comesBack, .sentStays]
        case .unblock: [.usableAgain]
        default: []
        }
    }
}

extension CampaignRecord {
    /// The acts of a person that its state allows.
    package var acts: [ActKind] {
        ActKind.ofCampaigns.filter { act in
            switch act {
            case .pause: state == .running || state == .waiting
            case .approve: hasStepToCome || isHeldBeforeWave
            case .resume: state == .paused || state == .suspended
            case .releaseCampaign: hasStepToCome
            case .retry: state.isFinal && state != .superseded
            case .cancel: !state.isFinal
            default: false
            }
        }
    }

    /// Whether a person can let its next step begin.
    private var hasStepToCome: Bool {
        !state.isFinal && (state == .waiting || isCanary || figures.waves.next != nil)
    }

    /// Whether it was stopped between two waves: approving or resuming it begins the next one.
    package var isHeldBeforeWave: Bool { state == .suspended && figures.waves.areBetween && waveToCome != nil }

    /// The effects of an act on it, in the order in which a question lists them; empty for an act on something else.
    ///
    /// - Parameter counts: those that are shown beside the effects; nil: the recorded ones.
    package func effects(of act: ActKind, counts shown: CampaignCounts? = nil) -> [CampaignEffect] {
        let (counts, target) = (shown ?? figures.counts, requirement.target)
        let left = counts.pending + counts.retrying + counts.inFlight
        let rollout = Rollout(self)
        let next = rollout.next ?? .everybody
        let after = rollout.steps.dropFirst(rollout.begun + 1).first.map { [CampaignEffect.thenGoesTo($0)] } ?? []
        switch act {
        case .pause: return [.stops]
        case .approve: return effects(of: isHeldBeforeWave ? .resume : .releaseCampaign, counts: shown)
        case .resume:
            guard figures.waves.areBetween, let wave = waveToCome else { return [.goesOn(devices: left)] }
            return [.beginsWave(wave, of: Int64(figures.waves.list.count), to: next)] + after
        case .releaseCampaign:
            return (state == .waiting ? [.comesIntoForce(target)] : []) + [.goesTo(next)] + after
        case .retry: return [.triesAgain(devices: counts.rejected + counts.cancelled + counts.expired)]
        case .cancel:
            let isCounted = facts.startedAt != nil && counts.audience > 0
            return [
                .leavesOut(devices: isCounted ? left : nil),
                requirement.isForEverybody ? .stays(target) : .takesBack(target),
            ]
        default: return []
        }
    }
}
