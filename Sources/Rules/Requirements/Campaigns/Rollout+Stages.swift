// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

extension Rollout {
    /// One step of a campaign's way to its users, as far as it has come.
    package struct Stage: Hashable, Sendable {
        package enum State: String, Hashable, Sendable, CaseIterable {
            /// All of its devices have an outcome.
            case done
            case current
            /// It has not begun, and is the first such step.
            case next
            case later
            /// The campaign ended before it began.
            case leftOut
        }

        /// The condition under which a step begins.
        package enum Start: Hashable, Sendable {
            /// With the requirement: it is the first one.
            case requirement
            /// A person begins it.
            case person
            /// By itself, when the step before is done.
            ///
            /// - Parameters:
            ///   - pause: from the end of that step.
            ///   - failedShare: the share of its pushes that may have failed, from 0 to 1; nil: any.
            case itself(pause: Duration, failedShare: Double?)
            /// Not known: it is over, or the configuration has no rules for it any more.
            case unknown
        }

        package struct Figures: Hashable, Sendable {
            package var devices: Int64
            package var pending: Int64
            package var accepted: Int64
            package var failed: Int64
            package var retrying: Int64
        }

        package let step: Step
        package let state: State
        package let start: Start
        /// nil: its devices are not counted apart.
        package var figures: Figures?
        package var begunAt: Timestamp?
        package var endedAt: Timestamp?
    }

    /// The steps of a campaign with their figures, in their order.
    ///
    /// - Parameter rules: the rules between its waves; nil: it has none, or it is over.
    package static func stages(of campaign: CampaignRecord, _ rules: WaveRules?) -> [Stage] {
        let rollout = Rollout(campaign)
        let hasCanary = campaign.requirement.canary != nil
        let waves = campaign.figures.waves.list
        return rollout.steps.enumerated().map { place, step in
            let isCanary = hasCanary && place == 0
            let wave = isCanary || waves.isEmpty ? nil : waves[place - (hasCanary ? 1 : 0)]
            let endedAt =
                isCanary
                ? campaign.figures.canaryEndedAt : wave?.endedAt ?? (waves.isEmpty ? campaign.facts.finishedAt : nil)
            var stage = Stage(
                step: step,
                state: state(place, begun: rollout.begun, hasEnded: endedAt != nil, of: campaign),
                start: place == 0
                    ? .requirement
                    : start(isAfterCanary: hasCanary && place == 1, rules, isOver: campaign.state.isFinal),
                endedAt: endedAt)
            guard place < rollout.begun else { return stage }
            if let wave {
                stage.figures = Stage.Figures(wave)
                stage.begunAt = wave.begunAt
            } else if isCanary == campaign.isCanary {
                // Until a canary is released, all others are pending.
                stage.figures = Stage.Figures(campaign)
                stage.begunAt = isCanary || !hasCanary ? campaign.facts.startedAt : campaign.figures.canaryReleasedAt
            } else if isCanary {
                stage.begunAt = campaign.facts.startedAt
            }
            return stage
        }
    }

    private static func state(
        _ place: Int, begun: Int, hasEnded: Bool, of campaign: CampaignRecord
    ) -> Stage.State {
        if place >= begun {
            return campaign.state.isFinal ? .leftOut : place == begun ? .next : .later
        }
        // A step is over when a later one has begun, although some of its pushes may still be tried again.
        return place < begun - 1 || hasEnded || campaign.state.isFinal ? .done : .current
    }

    private static func start(isAfterCanary: Bool, _ rules: WaveRules?, isOver: Bool) -> Stage.Start {
        if isOver { return .unknown }
        if isAfterCanary { return .person }
        guard let rules else { return .unknown }
        return rules.needsApproval ? .person : .itself(pause: rules.pause, failedShare: rules.failedShare)
    }
}

extension Rollout.Stage.Figures {
    fileprivate init(_ wave: CampaignWave) {
        self.init(
            devices: wave.devices, pending: wave.pending, accepted: wave.accepted, failed: wave.failed,
            retrying: wave.retrying)
    }

    fileprivate init(_ campaign: CampaignRecord) {
        let counts = campaign.figures.counts
        let pending = counts.pending + counts.inFlight
        self.init(
            devices: counts.audience - (campaign.isCanary ? pending : 0), pending: campaign.isCanary ? 0 : pending,
            accepted: counts.accepted,
            failed: campaign.canaryFailures, retrying: counts.retrying)
    }
}
