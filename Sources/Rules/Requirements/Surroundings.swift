// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

extension RequirementMachine {
    /// The configuration and the stores' answers at this moment.
    package struct Surroundings {
        package var now: Timestamp
        /// The verdict of the app's store on a requirement; nil where no store is asked.
        package var verdict: (GateQuestion) -> GateVerdict?
        /// The store that new requirements wait for; nil: none.
        package var gate: String?
        /// For new campaigns; nil: the app has no push service.
        package var draft: CampaignDraft?
        /// The evidence for versions; nil: another program's rows are left to a caller that has the evidence.
        package var known: KnownVersions?
        /// The rules for a bump and for another program's row. Default: those that hold for every app.
        package var rules = BumpRules()
        /// The configuration's part of a bump. Default: a bump counts as it is.
        package var policy = BumpPolicy()
        /// Whether a campaign that a person resumes, or whose requirement is released, is sent at any hour. Default no.
        package var isUrgent = false
        /// The verdict on the act of the rule of two persons; nil: the app has no such rule, or the act is not under it.
        package var approval: ApprovalCheck?

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
