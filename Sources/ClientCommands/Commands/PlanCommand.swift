// SPDX-License-Identifier: Apache-2.0
package import APIModel
package import Configuration
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
        context.console.write(connection.isJSON ? reply.text + "\n" : try Self.text(reply.read()))
        return .done
    }

    package static func text(_ plan: PlanBody<JSONTree>) throws -> String {
        let audience = plan.audience
        var table = TextTable([.init("DEVICES"), .init("COUNT", .right), .init("SHARE", .right)])
        table.add(["audience", Quantity.count(audience), Quantity.percent(audience, of: audience)])
        table.add(["would be pushed", Quantity.count(plan.toPush), Quantity.percent(plan.toPush, of: audience)])
        table.add(["filtered", Quantity.count(plan.filtered), Quantity.percent(plan.filtered, of: audience)])
        for (reason, count) in plan.filteredBy.sorted(by: { $0.key < $1.key }) where count > 0 {
            table.add(["  \(reason)", Quantity.count(count), Quantity.percent(count, of: audience)])
        }
        var text = table.text
        let warnings = WarningText.lines(plan.warnings)
        if !warnings.isEmpty { text += "\n" + warnings.map { $0 + "\n" }.joined() }
        text += "\none push, \(plan.samplePayloadSize) of \(UpgradePayload.maximumSize) bytes\n"
        return try text + RelayClient.text(plan.samplePayload, pretty: true) + "\n"
    }
}
