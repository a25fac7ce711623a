// SPDX-License-Identifier: Apache-2.0

/// One command of the tool: what it is called, and what it does.
package struct CommandEntry: Sendable {
    package let spec: CommandSpec
    /// Reads what was given and does the work. Cancelled on SIGINT only where a command says so; otherwise the signal ends
    /// the process.
    ///
    /// Throws: `UsageError` where a value is not what the option wants; `CommandFailure`, or anything else, which ends as
    /// "error: …" and exit code 1.
    package let run: @Sendable (ParsedArguments, CommandContext) async throws -> ExitCode

    /// - Parameter name: as `CommandSpec` has it.
    package init(
        _ name: String, run: @escaping @Sendable (ParsedArguments, CommandContext) async throws -> ExitCode
    ) {
        spec = .named(name)
        self.run = run
    }
}

/// What the process gives every command.
package struct CommandContext: Sendable {
    package let console: Console
    package let environment: [String: String]
    /// All commands, for those that write about them.
    package let tree: CommandTree

    package init(console: Console, environment: [String: String], tree: CommandTree) {
        self.console = console
        self.environment = environment
        self.tree = tree
    }
}
