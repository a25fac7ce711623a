// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import Requirements
package import UpgradeRules

/// Requests for a second person. `VersionStore.decide` makes and approves them, with the act.
package protocol ApprovalStore: Sendable {
    /// nil: there is no such request.
    func approval(_ id: Int64) throws -> Approval?

    /// The requests, newest first.
    ///
    /// - Parameter before: only those with a lower id; nil: from the newest.
    func approvals(before: Int64?, limit: Int) throws -> [Approval]

    /// The requests that no act has closed, newest first: some may be over by their time. An app has one of each act at most.
    ///
    /// - Parameter app: nil: those of all apps.
    func openApprovals(of app: AppKey?) throws -> [Approval]

    /// The newest request for an act of an app that waits, or that a person has closed; nil: there is none.
    func lastApproval(_ act: Approval.Act, of app: AppKey) throws -> Approval?

    /// Refuses a request: who asked may take it back so, too.
    ///
    /// - Returns: the closed request; nil: there is none.
    /// - Throws: `ApprovalRefusal.isOver`.
    func refuse(approval id: Int64, by actor: Signature, reason: String) throws -> Approval?

    /// Forgets the requests that were over before `time`, by an act or by their end, in short transactions; returns how
    /// many. One that waits stays.
    @discardableResult
    func forgetApprovals(before time: Timestamp) throws -> Int64

    /// An app's requirements, and the one that a release would let through; nil: nothing waits.
    func releasable(
        of app: AppKey, _ version: Version?, _ kind: Requirement.Kind?
    ) throws -> (Requirements, Requirement?)
}
