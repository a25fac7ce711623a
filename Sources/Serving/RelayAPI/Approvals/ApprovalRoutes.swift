// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayEngine
package import RelayStore
package import Requirements
import WireFormat

/// Requests for a second person (`approval` of an app).
extension API {
    func approvals(_ query: inout Query, _ caller: Caller) throws -> Response {
        let limit = query.limit(default: 50)
        let cursor = query.cursor(.approvals)
        let app = query.filledText("app")
        let state = query.choice("state", of: Approval.State.allCases, \.rawValue)
        try query.finish()
        let page = try approvals(of: app, state, after: cursor, limit: limit, caller)
        return .json { $0.page(page.items, next: page.next) { $0.object($1, ShownApproval.shape) } }
    }

    /// The requests that the caller may see, newest first.
    package func approvals(
        of app: String? = nil, _ state: Approval.State? = nil, after cursor: Int64? = nil, limit: Int, _ caller: Caller
    ) throws -> Page<ShownApproval> {
        let now = now()
        return try Page(
            limit: limit, after: cursor, position: \.approval.id, cursor: { Cursor.text(.approvals, $0) },
            isVisible: { shown in
                caller.maySee(shown.approval.app) && (app ?? shown.approval.app.app) == shown.approval.app.app
                    && (state ?? shown.state) == shown.state
            }
        ) { before, limit in
            try store.approvals(before: before, limit: limit).map { ShownApproval($0, at: now) }
        }
    }

    /// The requests that wait: of an app one of each act may; nil: of all apps.
    package func openApprovals(of app: AppKey?) throws -> [ShownApproval] {
        let now = now()
        return try store.openApprovals(of: app).map { ShownApproval($0, at: now) }.filter { $0.state == .open }
    }

    func approve(_ id: String, _ caller: Caller) throws -> Response {
        let approval = try approval(id, caller)
        try need(approval, caller)
        return try answer(.approveRequest, control.requirements.approve(approval.id, by: caller.actor))
    }

    package func approve(_ approval: Approval, by caller: Caller) throws {
        try need(approval, caller)
        _ = try control.requirements.approve(approval.id, by: caller.actor)
    }

    func refuse(_ id: String, body: [UInt8], _ caller: Caller) throws -> Response {
        let approval = try approval(id, caller)
        var fields = try BodyFields(body)
        let reason = fields.text("reason", example: "not before Monday", limit: Self.longestReason)
        if reason == nil, !fields.faults.contains(where: { $0.field == "reason" }) {
            fields.refuse("reason", "is missing; a text is needed, such as \"not before Monday\"")
        }
        try fields.finish()
        return try answer(.refuseRequest, refuse(approval, reason ?? "", by: caller))
    }

    package func refuse(_ approval: Approval, _ reason: String, by caller: Caller) throws -> Approval {
        try need(approval, caller)
        return try control.requirements.refuse(approval: approval.id, by: caller.actor, reason: reason)
    }

    /// The most characters of a reason.
    package static let longestReason = 200

    /// - Throws: a 404, also for a request about an app that the caller may not see.
    package func approval(_ id: String, _ caller: Caller) throws -> Approval {
        guard let number = Int64(id), let approval = try store.approval(number), caller.maySee(approval.app) else {
            throw ProblemDetails(404, "there is no request \"\(JSONValue.shortened(id))\"")
        }
        return approval
    }

    /// Whether the caller may do the act itself: only such a person approves or refuses it.
    private func need(_ approval: Approval, _ caller: Caller) throws {
        try caller.need(approval.scope, "a request to \(approval.deed) is decided by those who may do so")
    }

    private func answer(_ act: ActWords.Act, _ approval: Approval) -> Response {
        var shown = ShownApproval(approval, at: now())
        shown.act = act
        return .json { $0.object(shown, ShownApproval.shape) }
    }

    /// Answers an act that waits for a second person: 202, with the request.
    func asked(_ body: () throws -> Response) throws -> Response {
        do {
            return try body()
        } catch let asked as ApprovalAsked {
            return .json(202) { $0.object(ShownApproval(asked.approval, at: now()), ShownApproval.askedShape) }
        }
    }

    /// The caller who acts alone, for a reason.
    ///
    /// - Throws: a 403 where it is not at the control socket.
    static func alone(_ caller: Caller, _ reason: String?) throws -> Caller {
        guard let reason else { return caller }
        guard caller.actor.kind == .operator, caller.actor.address == Principal.controlSocket else {
            throw ProblemDetails(
                403, "the control socket alone takes \"alone\": elsewhere a second person has to approve the act")
        }
        var caller = caller
        caller.actor.alone = reason
        return caller
    }

    /// Reads why a person acts alone; nil: it does not.
    static func alone(_ fields: inout BodyFields) -> String? {
        fields.text("alone", example: "users are locked out, and no second person answers", limit: longestReason)
    }
}

extension Approval {
    /// The right that the act itself needs. Beside it, an approval and a refusal need `versions`.
    package var scope: Scope { wish.act == .cancel ? .campaigns : .versions }
}
