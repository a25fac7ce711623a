// SPDX-License-Identifier: Apache-2.0
import Configuration
import Foundation
import RelayEngine
import Synchronization
import Terminal

struct StorePruneCommand: Command {
    static let spec = CommandSpec(
        path: ["store", "prune"],
        purpose: "Takes old deliveries, dead devices and the like out of the store",
        discussion:
            "Of campaigns that ended before that time the deliveries go; the campaigns stay, with their counts, and no version is announced twice. Webhook ids, ended alerts, devices that were removed or dead and notifications go too. Campaigns that run go on meanwhile. The configuration's store.keep does the same every hour.",
        options: [
            .value("older-than", "DURATION", "what ended longer ago than this, such as 90d; at least 1h")
        ] + ConnectionOptions.specs,
        examples: ["upgrade-relay store prune --older-than 90d"],
        exitCodes: ConnectionOptions.exitCodes)

    private let connection: ConnectionOptions
    private let age: Duration

    init(_ arguments: ParsedArguments) throws {
        connection = try ConnectionOptions(arguments)
        guard let text = arguments.value("older-than") else {
            throw UsageError("--older-than is needed, such as --older-than 90d")
        }
        guard let age = DurationText.parse(text), age >= .seconds(3600) else {
            throw UsageError("--older-than: \"\(text)\" is not a duration of at least 1h; write it like \"90d\"")
        }
        self.age = age
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        var request = APIRequest("POST", "/v1/store/prune")
        let now = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        let before = Date(timeIntervalSince1970: Double((now - age).seconds)).ISO8601Format()
        request.body = try RelayClient.encode(.object(["before": .string(before)]))
        request.contentType = "application/json"
        request.accept = "application/x-ndjson"
        let last = Mutex<JSONTree?>(nil)
        let display = ProgressDisplay(
            context.console, label: "pruning", total: nil, isQuiet: connection.isQuiet || connection.isJSON)
        try await connection.client(context).lines(request) { line in
            guard !line.isEmpty else { return true }
            let tree = try JSONDecoder().decode(JSONTree.self, from: Data(line))
            if let error = tree["error"]?.string {
                throw CommandFailure(.failed, "the store could not be pruned: \(DisplayWidth.sanitised(error))")
            }
            last.withLock { $0 = tree }
            display.update(done: tree.count("deliveries") + tree.count("devices"))
            return true
        }
        display.finish()
        guard let report = last.withLock({ $0 }), report["isDone"] == .bool(true) else {
            throw CommandFailure(
                .failed, "the pruning was interrupted", hint: "nothing is lost; the next one goes on where it stood")
        }
        if connection.isJSON {
            context.console.writeLine(try RelayClient.text(report))
        } else {
            context.console.write(Self.text(report))
        }
        return .done
    }

    private static func text(_ report: JSONTree) -> String {
        TextTable.fields([
            ("campaigns", "\(Quantity.count(report.count("campaigns"))), their counts are kept"),
            ("deliveries", Quantity.count(report.count("deliveries"))),
            ("devices", Quantity.count(report.count("devices"))),
            ("former telephones", Quantity.count(report.count("formerTelephones"))),
            ("webhook ids", Quantity.count(report.count("webhooks"))),
            ("alerts", Quantity.count(report.count("alerts"))),
            ("notifications", Quantity.count(report.count("notifications"))),
            ("given back", Quantity.bytes(report.count("freed"))),
            ("longest pause", "\(report.shown("longestPause")) ms"),
        ])
    }
}
