// SPDX-License-Identifier: Apache-2.0

struct SimulateAPNsCommand: Command {
    static let spec = CommandSpec(path: ["simulate-apns"], purpose: "Stands in for APNs on this machine")

    init(_ arguments: ParsedArguments) throws {}

    func run(_ context: CommandContext) async throws -> ExitCode {
        throw CommandFailure(.failed, "not yet")
    }
}
