// SPDX-License-Identifier: Apache-2.0
import Requirements
import Terminal
import WireFormat

extension CommandEntry {
    static let sessionsList = request(
        "sessions list",
        request: { _ in APIRequest("GET", ["v1", "sessions"]) },
        text: { table($1) })

    /// - Parameter id: the session to show; nil: all.
    private static func table(_ answer: JSONValue, of id: String? = nil) -> String {
        var table = TextTable([.whole("ID"), "NAME", "SCOPES", .time("SIGNED IN"), .time("LAST USE"), .time("ENDS")])
        for session in answer.list(.items) where id == nil || session[.id]?.string == id {
            let scopes = session[.scopes]?.array?.compactMap(\.string).joined(separator: " ") ?? "all"
            table.add([
                session.shown(.id), session.shown(.name), scopes, session.shown(.createdAt, or: "-"),
                session.shown(.usedAt, or: "-"), session.shown(.expiresAt, or: "-"),
            ])
        }
        return table.rows.isEmpty ? id.map { "there is no session \($0)\n" } ?? "no sessions\n" : table.text
    }

    static let sessionsEnd = request(
        "sessions end",
        asks: { run in
            let id = try run.arguments.require("ID")
            try await Confirmation.obtain(run, ActWords(.endSession, "the session \(id)")) {
                let sessions = try await run.client().reply(to: APIRequest("GET", ["v1", "sessions"])).json
                return table(sessions, of: id)
            }
            // A session's id is never used again, so the request needs no condition.
            return []
        },
        request: { try APIRequest("DELETE", ["v1", "sessions", $0.require("ID")]) },
        done: { ["id": .string(try $0.require("ID")), "ended": .bool(true)] },
        text: { arguments, _ in ActWords(.endSession, "the session \(try arguments.require("ID"))").lines })
}
