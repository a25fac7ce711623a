// SPDX-License-Identifier: Apache-2.0
package import Configuration
import Foundation
package import Terminal
import UpgradeRules

package struct PlanCommand: Command {
    package static let spec = CommandSpec(
        path: ["plan"],
        purpose: "Shows what a new required version would do, without doing it",
        discussion:
            "Counts who would be pushed and who not, with the reason, and shows one push as a phone would get it.",
        positionals: AppArguments.positionals,
        options: BumpArguments.options + ConnectionOptions.specsBesideDownloadURL,
        examples: ["upgrade-relay plan com.example.app ios --required 2.0.0"],
        exitCodes: ConnectionOptions.exitCodes)

    private let connection: ConnectionOptions
    private let app: String
    private let platform: Platform
    private let body: JSONTree

    package init(_ arguments: ParsedArguments) throws {
        connection = try ConnectionOptions(arguments, urlIsDownload: true)
        app = try arguments.require("APP")
        platform = try AppArguments.platform(arguments.require("PLATFORM"))
        body = try BumpArguments.body(arguments, downloadURL: connection.downloadURL)
    }

    package func run(_ context: CommandContext) async throws -> ExitCode {
        let path = APIPath.make(["v1", "apps", app, platform.rawValue, "plan"])
        let reply = try await connection.client(context).request("POST", path, json: body)
        context.console.write(connection.isJSON ? reply.text + "\n" : try Self.text(reply.tree))
        return .done
    }

    package static func text(_ plan: JSONTree) throws -> String {
        let audience = plan.count("audience")
        let filteredBy = (plan["filteredBy"]?.object ?? [:]).compactMapValues(\.integer)
        let filtered = plan["filtered"]?.integer ?? filteredBy.values.reduce(0, +)
        let toPush = plan["toPush"]?.integer ?? audience - filtered
        var table = TextTable([.init("DEVICES"), .init("COUNT", .right), .init("SHARE", .right)])
        table.add(["audience", Quantity.count(audience), Quantity.percent(audience, of: audience)])
        table.add(["would be pushed", Quantity.count(toPush), Quantity.percent(toPush, of: audience)])
        table.add(["filtered", Quantity.count(filtered), Quantity.percent(filtered, of: audience)])
        for (reason, count) in filteredBy.sorted(by: { $0.key < $1.key }) where count > 0 {
            table.add(["  \(reason)", Quantity.count(count), Quantity.percent(count, of: audience)])
        }
        var text = table.text
        let warnings = WarningText.lines(plan)
        if !warnings.isEmpty { text += "\n" + warnings.map { $0 + "\n" }.joined() }
        if let sample = plan["samplePayload"], !sample.isNull {
            // The payload may come as JSON or as the text that goes over the wire.
            let tree = try sample.string.map { try JSONDecoder().decode(JSONTree.self, from: Data($0.utf8)) } ?? sample
            let size =
                try plan["samplePayloadBytes"]?.integer ?? sample.string.map { Int64($0.utf8.count) }
                ?? Int64(RelayClient.encode(tree).count)
            text += "\none push, \(size) of \(UpgradePayload.maximumSize) bytes\n"
            text += try RelayClient.text(tree, pretty: true) + "\n"
        }
        return text
    }
}
