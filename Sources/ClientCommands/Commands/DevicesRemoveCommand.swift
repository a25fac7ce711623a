// SPDX-License-Identifier: Apache-2.0
import Configuration
import Terminal

struct DevicesRemoveCommand: Command {
    static let spec = CommandSpec(
        path: ["devices", "remove"],
        purpose: "Forgets a device: nothing is ever sent to it again",
        discussion: "Without --app and --platform, every app is searched for the token; it must be in one only.",
        positionals: [PositionalSpec("TOKEN", "the device's push token")],
        options: AppArguments.options + ConnectionOptions.specs,
        examples: ["upgrade-relay devices remove TOKEN --app com.example.app --platform ios"],
        exitCodes: ConnectionOptions.exitCodes)

    private let connection: ConnectionOptions
    private let search: DeviceSearch

    init(_ arguments: ParsedArguments) throws {
        connection = try ConnectionOptions(arguments)
        search = try DeviceSearch(arguments)
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let client = try connection.client(context)
        let found = try await search.run(client)
        _ = try await client.request("DELETE", found.path)
        if connection.isJSON {
            let said: [String: JSONTree] = [
                "app": .string(found.app), "platform": .string(found.platform), "token": .string(search.token),
                "removed": .bool(true),
            ]
            context.console.writeLine(try RelayClient.text(.object(said)))
        } else {
            context.console.writeLine(DisplayWidth.sanitised("removed from \(found.app) \(found.platform)"))
        }
        return .done
    }
}
