// SPDX-License-Identifier: Apache-2.0
import Terminal
import WireFormat

extension CommandEntry {
    static let audit = client("audit") { run in
        let arguments = run.arguments
        let query = [
            ("campaign", arguments.value("campaign")), ("app", arguments.value("app")),
            ("platform", try arguments.value("platform").map(AppArguments.platform)),
            ("actor", arguments.value("actor")), ("action", arguments.value("action")),
            ("since", arguments.value("since")),
        ]
        return try await PageOptions.show(run, ["v1", "audit"], query: query, text: table)
    }

    private static func table(_ answer: JSONValue) -> String {
        let columns: [TextTable.Column] = [
            .time("WHEN"), .whole("WHO"), .spare("FROM", 2), "ACTION", .spare("APP", 3), .spare("PLATFORM", 3),
            .whole("CAMPAIGN"), "OBJECT", "CHANGE",
        ]
        return answer.table(columns, none: "no acts") { item in
            [
                item.shown(.at), item.shown(.actor), item.shown(.address, or: item.shown(.source)),
                item.shown(.action), item.shown(.app, or: "-"), item.shown(.platform, or: "-"),
                item.shown(.campaign, or: "-"), item.shown(.object, or: "-"), change(item),
            ]
        }
    }

    /// "required 1.9.0 > 2.0.0, latest 2.0.0 > 2.1.0"
    private static func change(_ item: JSONValue) -> String {
        func word(_ value: JSONValue?) -> String {
            switch value {
            case nil, .null: "none"
            case .string(let text): DisplayWidth.sanitised(text)
            case .array(let elements): elements.map { word($0) }.joined(separator: "+")
            case .some(let value): value.text()
            }
        }
        let (before, after) = (item[.before], item[.after])
        let names = (before?.object ?? []).map(\.name)
        let more = (after?.object ?? []).map(\.name).filter { !names.contains($0) }
        let changes = (names + more).map { name in
            let (old, new) = (before?[name], after?[name])
            if old == nil || old == .null { return "\(name) \(word(new))" }
            return "\(name) \(word(old)) > \(word(new))"
        }
        return changes.isEmpty ? "-" : changes.joined(separator: ", ")
    }
}
