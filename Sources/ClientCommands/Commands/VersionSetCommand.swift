// SPDX-License-Identifier: Apache-2.0
import Configuration
import Terminal
import UpgradeRules

struct VersionSetCommand: Command {
    static let spec = CommandSpec(
        path: ["version", "set"],
        purpose: "Raises the required or the latest version of an app",
        discussion: """
            When the required version rises, a campaign starts that tells every device below it. Versions only rise: a \
            lower one is refused. Here --url is where users get the new version; the daemon's own address goes before \
            the command, or into --api.
            """,
        positionals: AppArguments.positionals,
        options: BumpArguments.options + ConnectionOptions.specsBesideDownloadURL,
        examples: ["upgrade-relay version set com.example.app ios --required 2.0.0 --latest 2.1.0"],
        exitCodes: ConnectionOptions.exitCodes)

    private let connection: ConnectionOptions
    private let app: String
    private let platform: Platform
    private let body: JSONTree

    init(_ arguments: ParsedArguments) throws {
        connection = try ConnectionOptions(arguments, urlIsDownload: true)
        app = try arguments.require("APP")
        platform = try AppArguments.platform(arguments.require("PLATFORM"))
        body = try BumpArguments.body(arguments, downloadURL: connection.downloadURL)
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let path = APIPath.make(["v1", "apps", app, platform.rawValue, "version"])
        let reply = try await connection.client(context).request("PUT", path, json: body)
        if connection.isJSON {
            context.console.writeLine(reply.text)
            return .done
        }
        let version = reply.tree["version"] ?? .null
        context.console.writeLine(
            "\(app) \(platform.rawValue): required \(version.shownOrDash("required")), latest \(version.shownOrDash("latest"))"
        )
        if let campaign = reply.tree["campaign"], !campaign.isNull {
            let id = campaign.string.map { DisplayWidth.sanitised($0) } ?? campaign.shown("id")
            context.console.writeLine(
                "campaign \(id) started; \"upgrade-relay campaigns watch \(id)\" shows how it goes")
        } else {
            context.console.writeLine("the required version did not rise: nothing is pushed")
        }
        for warning in WarningText.lines(reply.tree) { context.console.writeLine(warning) }
        return .done
    }
}
