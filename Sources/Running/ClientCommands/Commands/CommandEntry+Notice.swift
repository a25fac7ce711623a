// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import Terminal
import Threading
import WireFormat

extension CommandEntry {
    static let noticeSet = request(
        "notice set",
        asks: { run in
            let shown = try await shown(run)
            guard run.arguments.flag("blocking") else { return shown }
            let name = try AppArguments.name(run.arguments)
            try await Confirmation.obtain(run, ActWords(.setAlert, name)) {
                let end = try end(run.arguments)?.internetTime ?? ""
                return "locked until \(end): \(run.arguments.value("message") ?? "")\n"
            }
            return shown
        },
        request: { try APIRequest("PUT", AppArguments.path($0, "notice"), json: notice($0)) },
        text: { line($1) + $1.sentence + $1.warnings })

    static let noticeShow = request(
        "notice show",
        request: { try APIRequest("GET", AppArguments.path($0, "notice")) },
        text: { line($1) })

    private static func line(_ notice: JSONValue) -> String {
        let kind = notice[.blocking]?.bool == true ? "blocking notice" : "notice"
        let end = notice[.endsAt]?.string.map { "until \(DisplayWidth.sanitised($0))" } ?? "until it is cleared"
        return "\(notice.place): \(kind) \(end): \(notice.shown(.message))\n"
    }

    /// The text of the present notice, which the request would replace or clear.
    private static func shown(_ run: ClientRun) async throws -> [JSONMember] {
        let answer = try await run.client().transport.send(
            APIRequest("GET", AppArguments.path(run.arguments, "notice")))
        // A token without the right to read sends its request without this condition.
        if answer.status == 403 { return [] }
        guard answer.isSuccess else { return [JSONValue.member(.text, nil)] }
        return [JSONValue.member(.text, try RelayClient.Reply(answer).json[.message])]
    }

    static let noticeClear = request(
        "notice clear",
        asks: { try await shown($0) },
        request: { try APIRequest("DELETE", AppArguments.path($0, "notice")) },
        done: {
            try [
                "app": .string($0.require("APP")), "platform": .string($0.require("PLATFORM")), "cleared": .bool(true),
            ]
        },
        text: { arguments, _ in ActWords(.clearAlert, try AppArguments.name(arguments)).lines })

    private static func notice(_ arguments: ParsedArguments) throws(UsageError) -> JSONValue {
        guard let message = arguments.value("message") else { throw UsageError("--message TEXT is missing") }
        let isBlocking = arguments.flag("blocking")
        let end = try end(arguments)
        if isBlocking, end == nil {
            throw UsageError("--blocking locks the app and needs an end: --for DURATION or --until TIME")
        }
        return [
            "message": .string(message), "blocking": .bool(isBlocking),
            "endsAt": end.map { .string($0.internetTime) } ?? .null,
        ]
    }

    private static func end(_ arguments: ParsedArguments) throws(UsageError) -> Timestamp? {
        if arguments.value("until") != nil, arguments.value("for") != nil {
            throw UsageError("--until and --for say the same thing; give one of them")
        }
        let end = try arguments.parsed("until", else: "is not a time such as 2026-01-31T18:00:00Z") {
            Timestamp(internetTime: $0)
        }
        let duration = try arguments.duration(
            "for", in: .milliseconds(1)..., else: "is not a duration such as 2h or 1h30m")
        return end ?? duration.map { WallClock.now() + $0 }
    }
}
