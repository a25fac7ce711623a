// SPDX-License-Identifier: Apache-2.0
import Configuration
import RelayAPI
import RelayEngine
import RelayStore
package import Requirements
import UpgradeRules
import VersionSources
import WireFormat

/// The rule of two persons (`approval` of an app): which acts wait for a second person, and what becomes of them.
///
/// | act | reaches |
/// |---|---|
/// | a rise | the devices that `plan` would push to; with a canary its devices |
/// | a block | the devices that run the version, whether a floor supersedes it or not |
/// | a release | the devices that the version is for from then on and that are below it |
/// | a cancelled campaign | the devices that are still below its version |
///
/// The next wave of a campaign, a pause, a resumption, a withdrawal and an unblocking do not wait: a wave was approved
/// with its version, and the others force no user.
extension RequirementControl {
    /// The person or machine that acts, and the request that is approved so.
    struct Acting {
        let actor: Principal
        /// nil: the act is new.
        let approval: Approval?

        init(_ actor: Principal, approving approval: Approval? = nil) {
            (self.actor, self.approval) = (actor, approval)
        }

        /// The one whose rights and limits the act has.
        var asker: Principal { approval?.asked ?? actor }

        func signature(via: String? = nil, at now: Timestamp) -> Signature {
            var signature = Signature(by: actor, via: via, at: now)
            if let approval { signature.by = approval.author(approvedBy: actor.name) }
            return signature
        }
    }

    /// The devices that an act reaches, as far as the rule needs them (`RequirementControl+Reach`).
    struct Measured {
        /// The requirements that they were counted with.
        var before: Requirements
        /// nil: the act reaches no more than one person may, or is refused.
        var act: (wish: Approval.Wish, reach: ApprovalReach)?
    }

    /// How often an act is measured anew while others change the app's versions.
    private static let mostMeasured = 5

    /// Does an act under the app's rule.
    ///
    /// - Parameter act: decides, with the rule's verdict; nil: there is no rule.
    func judged<R>(
        _ app: AppConfiguration, _ acting: Acting, measure: () throws -> Measured, act: (ApprovalCheck?) throws -> R
    ) throws -> R {
        guard app.approval != nil || acting.approval != nil else { return try act(nil) }
        for _ in 0..<Self.mostMeasured {
            let measured = try measure()
            do {
                return try act(check(measured, app.approval, acting))
            } catch ApprovalRefusal.moved {
                continue
            } catch let refusal as ApprovalRefusal {
                throw Self.error(refusal)
            }
        }
        throw Self.error(.moved)
    }

    private func check(_ measured: Measured, _ rule: ApprovalRule?, _ acting: Acting) -> ApprovalCheck {
        let none = ApprovalReach(devices: 0, of: 0)
        func check(_ way: ApprovalCheck.Way, _ reach: ApprovalReach) -> ApprovalCheck {
            ApprovalCheck(way, reach, measured: measured.before)
        }
        if let approval = acting.approval { return check(.approves(approval.id), measured.act?.reach ?? none) }
        guard let rule, case let (wish, reach)? = measured.act, rule.wantsSecondPerson(for: reach) else {
            return check(.free, none)
        }
        if let reason = acting.actor.alone { return check(.alone(wish, reason: reason), reach) }
        return check(.asks(wish, within: rule.within), reach)
    }

    // MARK: Requests

    package func approve(_ id: Int64, by actor: Principal) throws -> Approval {
        guard let approval = try store.approval(id) else { throw Self.noSuchApproval(id) }
        do {
            // Before anything is counted; the transaction that decides asks again.
            try approval.check(by: actor, at: clock())
        } catch {
            throw Self.error(error)
        }
        let wish = approval.wish
        func acting(of campaign: CampaignKey? = nil) -> Acting {
            Acting(actor.confirming(approval.shown, of: campaign), approving: approval)
        }
        switch wish.act {
        case .raise, .block:
            var bump = try BumpBody.read(
                Array((wish.body ?? "").utf8), app: approval.app,
                schemes: configured(approval.app).downloadSchemes)
            bump.telephones = wish.telephones
            bump.isListed = approval.asked.kind == .source && StoreKind(rawValue: approval.asked.name) != nil
            _ = try self.bump(bump, by: acting(), receipt: nil) { _, _ in StoredAnswer(status: 200, body: []) }
        case .release:
            let target = UpgradeTarget(wish.version, isBlock: wish.kind == .blocked)
            guard try release(target, of: approval.app, isUrgent: wish.isUrgent, by: acting()) != nil else {
                throw ControlError(
                    .wrongState, context: "\(wish.version) does not wait any more: there is nothing to release",
                    hint: "\"upgrade-relay approvals refuse \(id) --reason TEXT\" closes the request")
            }
        case .cancel:
            let campaign = try campaign(wish.campaign ?? "")
            _ = try cancel(campaign: campaign.id, by: acting(of: campaign.key))
        }
        return try store.approval(id) ?? approval
    }

    package func refuse(approval id: Int64, by actor: Principal, reason: String) throws -> Approval {
        do {
            guard let closed = try store.refuse(approval: id, by: Signature(by: actor, at: clock()), reason: reason)
            else { throw Self.noSuchApproval(id) }
            return closed
        } catch let refusal as ApprovalRefusal {
            throw Self.error(refusal)
        }
    }

    private static func noSuchApproval(_ id: Int64) -> ControlError {
        ControlError(
            .noSuchApproval, context: "there is no request \(id)", hint: "\"upgrade-relay approvals list\" lists all")
    }

    private static func error(_ refusal: ApprovalRefusal) -> ControlError {
        let again = "ask again: the act itself makes a new request"
        switch refusal {
        case .isOver(let approval, let state):
            let context =
                switch state {
                case .expired: "request \(approval.id) ended at \(approval.until.internetTime) without an approval"
                case .superseded: "a newer request took the place of request \(approval.id)"
                case .approved, .refused, .alone, .open:
                    "request \(approval.id) is \(state.rawValue) already, by \(approval.closedBy ?? "unknown")"
                }
            return ControlError(.wrongState, context: context, hint: state == .approved ? nil : again)
        case .own(let approval):
            return ControlError(
                .ownRequest, context: "\(approval.asked.name) asked for this, and a second person has to approve it",
                hint: "in an emergency, the act itself takes --alone REASON over the control socket")
        case .notAPerson(let approval):
            return ControlError(.ownRequest, context: "only a person approves request \(approval.id)")
        case .refusedBefore(let approval):
            return ControlError(
                .refusedBefore,
                context:
                    "\(approval.closedBy ?? "a person") has refused to \(approval.deed): \(approval.reason ?? "")",
                hint: "only a person asks for it again")
        case .moved:
            return ControlError(
                .wrongState, context: "the app's versions changed at the same moment, and nothing was done",
                hint: "send it again")
        }
    }
}
