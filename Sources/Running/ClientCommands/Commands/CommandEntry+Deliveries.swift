// SPDX-License-Identifier: Apache-2.0
import Terminal
import WireFormat

extension CommandEntry {
    static let deliveries = client("deliveries") { run in
        let (path, query) = try deliveriesRequest(run.arguments)
        return try await PageOptions.show(run, path, query: query, text: table)
    }

    private static func table(_ answer: JSONValue) -> String {
        let columns: [TextTable.Column] = [
            .whole("CAMPAIGN"), .spare("APP", 3), .spare("PLATFORM", 2), "TOKEN",
            .whole("PHONE NUMBER"), .state, "REASON", .right("TRIES").spare(1), .time("UPDATED"),
        ]
        let similar = UserText.similar(answer).map { "; \(UserText.known(as: $0))" }
        return answer.table(columns, none: "no deliveries" + (similar ?? "")) { item in
            [
                item.shown(.campaign), item.shown(.app), item.shown(.platform), item.shown(.token),
                item.shown(.telephone, or: "-"), item.shown(.state), item.shown(.reason, or: "-"),
                item.shown(.attempts), item.shown(.updatedAt, or: "-"),
            ]
        }
    }

    private static func deliveriesRequest(
        _ arguments: ParsedArguments
    ) throws -> (path: [String], query: [(String, String?)]) {
        let (telephone, device) = (arguments.value("telephone"), arguments.value("device"))
        let query = [
            ("state", arguments.value("state")), ("reason", arguments.value("reason")),
            ("telephone", telephone), ("token", device),
        ]
        let places = [
            ("app", arguments.value("app")),
            ("platform", try arguments.value("platform").map(AppArguments.platform)),
        ]
        if let campaign = arguments.value("campaign") {
            for (name, value) in places where value != nil {
                throw UsageError(
                    "--campaign and --\(name) exclude each other, but for \"latest\": a campaign is of one app")
            }
            return (["v1", "campaigns", campaign, "deliveries"], query)
        }
        guard (telephone == nil) != (device == nil) else {
            throw UsageError(
                telephone == nil
                    ? "one of --campaign, --telephone and --device is needed"
                    : "--telephone and --device exclude each other without --campaign")
        }
        return (["v1", "deliveries"], query + places)
    }
}
