// SPDX-License-Identifier: Apache-2.0
import Requirements
import Terminal
import WireFormat

/// The commands of the second person.
extension CommandEntry {
    static let approvalsList = request(
        "approvals list",
        request: { arguments in
            let filters = [("app", arguments.value("app")), ("state", arguments.value("state"))]
            return APIRequest("GET", ["v1", "approvals"], query: try PageOptions.query(arguments) + filters)
        },
        note: PageOptions.next,
        text: { ApprovalText.table($1) })

    static let approvalsApprove = request(
        "approvals approve",
        asks: { run in
            let id = try run.arguments.require("REQUEST")
            if run.arguments.flag("yes") { return [] }
            let list = try await run.look(APIRequest("GET", ["v1", "approvals"]))
            let request = list.list(.items).first { $0.shown(.id) == id }
            let words = ActWords(
                .approveRequest, "request \(id)" + (request.map { ", \($0.shown(.deed)) of \($0.place)" } ?? ""),
                devices: request?[.devices]?.integer)
            try await Confirmation.obtain(run, words) { request.map { "\(ApprovalText.details($0))\n" } ?? "" }
            // A request does not change: its number is all that was shown.
            return []
        },
        request: { APIRequest("POST", ["v1", "approvals", try $0.require("REQUEST"), "approve"]) },
        text: { $1.sentence })

    static let approvalsRefuse = request(
        "approvals refuse",
        request: { arguments in
            guard let reason = arguments.value("reason") else { throw UsageError("--reason TEXT is missing") }
            return APIRequest(
                "POST", ["v1", "approvals", try arguments.require("REQUEST"), "refuse"],
                json: ["reason": .string(reason)])
        },
        text: { $1.sentence })
}

/// Requests for a second person as people read them.
enum ApprovalText {
    static func table(_ answer: JSONValue) -> String {
        let columns: [TextTable.Column] = [
            .whole("REQUEST"), "APP", "PLATFORM", "ACT", .state, .right("DEVICES"), "ASKED BY", .time("ASKED"),
            .time("UNTIL"), "CLOSED BY", .spare("REASON", 1),
        ]
        return answer.table(columns, none: "no requests") { item in
            [
                item.shown(.id), item.shown(.app), item.shown(.platform), item.shown(.deed), item.shown(.state),
                reach(item), item.shown(.askedBy), item.shown(.askedAt), item.shown(.until),
                item.shown(.closedBy, or: "-"), item.shown(.reason, or: "-"),
            ]
        }
    }

    /// The lines below an act that waits; nil: the answer is about no such act.
    static func asked(_ answer: JSONValue) -> String? {
        guard let approval = answer[.approval], approval.object != nil else { return nil }
        let id = approval.shown(.id)
        return
            "\(details(approval))\nnothing has changed: it waits for a second person until \(approval.shown(.until))\n"
            + "\"upgrade-relay approvals approve \(id)\" does it; \"upgrade-relay approvals refuse \(id) --reason TEXT\" ends it\n"
    }

    static func details(_ approval: JSONValue) -> String {
        "request \(approval.shown(.id)) of \(approval.shown(.askedBy)): \(approval.place): \(approval.shown(.deed)), "
            + "which reaches \(reach(approval)) devices"
    }

    private static func reach(_ approval: JSONValue) -> String {
        "\(Quantity.count(approval.count(.devices))) of \(Quantity.count(approval.count(.of)))"
    }
}

extension ParsedArguments {
    /// `--alone`, as a body has it.
    var alone: [JSONMember] { value("alone").map { [JSONMember(name: "alone", value: .string($0))] } ?? [] }
}
