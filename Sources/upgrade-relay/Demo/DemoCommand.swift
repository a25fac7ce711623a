// SPDX-License-Identifier: Apache-2.0

struct DemoCommand: Command {
    static let spec = CommandSpec(path: ["demo"], purpose: "Shows the whole job on this machine")

    init(_ arguments: ParsedArguments) throws {}

    func run(_ context: CommandContext) async throws -> ExitCode {
        throw CommandFailure(.failed, "not yet")
    }
}
