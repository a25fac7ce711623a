// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import UpgradeRules

/// One effect of a person's act on a campaign, as the question before the act says it: what is sent, to how many, and what stays. Pure.
package enum CampaignEffect: Hashable, Sendable {
    /// Nothing more is sent until a person resumes it; pushes on their way arrive.
    case stops
    /// So many devices that are left are sent to.
    case goesOn(devices: Int64)
    /// A wave begins: its number, from 1, the number of waves, and the share of the users that it completes.
    case beginsWave(Int64, of: Int64, to: Rollout.Step)
    /// The requirement comes into force without what it waits for.
    case comesIntoForce(UpgradeTarget)
    case goesTo(Rollout.Step)
    /// So many devices that were rejected, cancelled or expired are sent to again.
    case triesAgain(devices: Int64)
    /// So many devices are not sent to; nil: they have not been counted.
    case leavesOut(devices: Int64?)
    /// The requirement is withdrawn with the campaign.
    case takesBack(UpgradeTarget)
    /// The requirement stays in force for everybody.
    case stays(UpgradeTarget)

    /// A sentence in English.
    package var words: String {
        func count(_ devices: Int64) -> String { "\(devices) device\(devices == 1 ? "" : "s")" }
        return switch self {
        case .stops: "Nothing more is sent until a person resumes it. Pushes on their way arrive."
        case .goesOn(let devices): "The \(count(devices)) that are left are sent to."
        case .beginsWave(let number, let all, let step): "Wave \(number) of \(all) begins: it goes to \(step.words)."
        case .comesIntoForce(let target):
            target.isBlock
                ? "The block of \(target.version) comes into force now, whatever it waits for."
                : "\(target.version) is required now, whatever it waits for."
        case .goesTo(let step): "It goes to \(step.words)."
        case .triesAgain(let devices):
            "\(count(devices)) that \(devices == 1 ? "was" : "were") rejected, cancelled or expired: sent to again."
        case .leavesOut(let devices?): "\(count(devices)) \(devices == 1 ? "gets" : "get") no push."
        case .leavesOut(nil): "Nothing of it is sent."
        case .takesBack(let target):
            target.isBlock
                ? "\(target.version) is no longer blocked."
                : "\(target.version) is no longer required: what was in force before it is in force again."
        case .stays(let target):
            target.isBlock
                ? "\(target.version) stays blocked: \"version unblock\" ends that. A retry sends what is left out."
                : "\(target.version) stays required of everybody: \"version withdraw\" takes it back. A retry sends what is left out."
        }
    }
}

extension CampaignRecord {
    /// The acts of a person that its state allows.
    package var acts: [ActKind] {
        [ActKind.pause, .resume, .releaseCampaign, .retry, .cancel].filter { act in
            switch act {
            case .pause: state == .running || state == .waiting
            case .resume: state == .paused || state == .suspended
            case .releaseCampaign:
                !state.isFinal && (state == .waiting || isCanary || figures.waves.next != nil)
            case .retry: state.isFinal && state != .superseded
            case .cancel: !state.isFinal
            default: false
            }
        }
    }

    /// The effects of an act on it, in the order in which a question says them; empty for an act on something else.
    ///
    /// - Parameter counts: those that are shown beside the effects; nil: the recorded ones.
    package func effects(of act: ActKind, counts shown: CampaignCounts? = nil) -> [CampaignEffect] {
        let (counts, target, rollout) = (shown ?? figures.counts, requirement.target, Rollout(self))
        let left = counts.pending + counts.retrying + counts.inFlight
        let next = rollout.next ?? .everybody
        switch act {
        case .pause: return [.stops]
        case .resume:
            guard figures.waves.areBetween, let wave = waveToCome else { return [.goesOn(devices: left)] }
            return [.beginsWave(wave, of: Int64(figures.waves.list.count), to: next)]
        case .releaseCampaign:
            return (state == .waiting ? [.comesIntoForce(target)] : []) + [.goesTo(next)]
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
