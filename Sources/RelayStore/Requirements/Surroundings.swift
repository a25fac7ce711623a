// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

extension RequirementMachine {
    /// What the configuration and the stores say at this moment.
    package struct Surroundings {
        package var now: Timestamp
        /// What the app's store says of a requirement; nil where no store is asked.
        package var verdict: (GateQuestion) -> GateVerdict?
        /// The store that new requirements wait for; nil: none.
        package var gate: String?
        /// Of a campaign; nil: the app has no push service.
        package var draft: CampaignDraft?
        /// What speaks for a version; nil: what another program wrote is left to who knows that.
        package var known: KnownVersions?
        /// What a bump may hold, and another program's row. Default: what holds for every app.
        package var rules = BumpRules()
        /// The configuration's part of a bump. Default: a bump counts as it is.
        package var policy = BumpPolicy()
        /// The person who lets a campaign go on, or its requirement through, wants it sent whatever the hour. Default no.
        package var isUrgent = false

        package init(
            now: Timestamp, gate: String? = nil, draft: CampaignDraft? = nil, known: KnownVersions? = .everything,
            verdict: @escaping (GateQuestion) -> GateVerdict? = { _ in nil }
        ) {
            self.now = now
            self.gate = gate
            self.draft = draft
            self.known = known
            self.verdict = verdict
        }
    }
}

extension RequirementMachine.Surroundings {
    /// Of an app whose versions wait for a store that has nothing to say but why; nil: for none.
    package static func waiting(
        for reason: String?, draft: CampaignDraft?, at now: Timestamp
    ) -> RequirementMachine.Surroundings {
        RequirementMachine.Surroundings(now: now, gate: reason.map { _ in "store" }, draft: draft) { _ in
            reason.map { GateVerdict(.closed, $0) }
        }
    }
}
