// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

extension Bench {
    /// Lets ada ask for a version that reaches four of ten devices, and so waits for a second person for an hour.
    ///
    /// - Parameter body: the bump as it was sent; nil: none.
    func ask(forSecondPerson version: String, body: String? = nil) throws -> Approval? {
        let version = try Version(version)
        var wish = Approval.Wish(.raise, version)
        wish.body = body
        var surroundings = RequirementMachine.Surroundings(now: Bench.now)
        surroundings.approval = ApprovalCheck(
            .asks(wish, within: .seconds(3600)), ApprovalReach(devices: 4, of: 10), measured: Requirements())
        let decision = try store.decide(
            Bench.app, .asked(VersionBump(app: Bench.app, required: version)),
            by: Signature(by: Principal("ada", .token, via: "api"), at: Bench.now), in: surroundings)
        return decision.waiting
    }
}
