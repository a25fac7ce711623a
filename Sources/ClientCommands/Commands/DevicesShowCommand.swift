// SPDX-License-Identifier: Apache-2.0
import Configuration
import Terminal
import UpgradeRules

struct DevicesShowCommand: Command {
    static let spec = CommandSpec(
        path: ["devices", "show"],
        purpose: "Shows one device of the registry",
        discussion: "Without --app and --platform, every app is searched for the token.",
        positionals: [PositionalSpec("TOKEN", "the device's push token")],
        options: AppArguments.options + ConnectionOptions.specs,
        examples: ["upgrade-relay devices show 740f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad"],
        exitCodes: ConnectionOptions.exitCodes)

    private let connection: ConnectionOptions
    private let search: DeviceSearch

    init(_ arguments: ParsedArguments) throws {
        connection = try ConnectionOptions(arguments)
        search = try DeviceSearch(arguments)
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let found = try await search.run(connection.client(context))
        if connection.isJSON {
            context.console.writeLine(found.reply.text)
            return .done
        }
        let device = found.reply.tree
        var fields = [
            ("token", device["token"] == nil ? search.token : device.shown("token")),
            ("app", "\(found.app) \(found.platform)"), ("telephone", device.shownOrDash("telephone")),
            ("version", device.shownOrDash("version")), ("environment", device.shownOrDash("environment")),
            ("registered", device.shownOrDash("registeredAt")),
        ]
        if !device.shown("retiredAt").isEmpty { fields.append(("dead since", device.shown("retiredAt"))) }
        context.console.write(TextTable.fields(fields))
        return .done
    }
}
