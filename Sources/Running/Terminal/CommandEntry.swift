// SPDX-License-Identifier: Apache-2.0

/// One command of the tool: its specification and its work.
package struct CommandEntry: Sendable {
    package let spec: CommandSpec
    /// Reads the arguments and does the work. Cancelled on SIGINT only where the command itself watches for it; otherwise the
    /// signal ends the process.
    ///
    /// Throws: `UsageError` where a value does not fit its option; `CommandFailure`, or any other error, which ends as
    /// "error: …" and exit code 1.
    package let run: @Sendable (ParsedArguments, CommandContext) async throws -> ExitCode

    /// - Parameter name: the name of its `CommandSpec`.
    package init(
        _ name: String, run: @escaping @Sendable (ParsedArguments, CommandContext) async throws -> ExitCode
    ) {
        spec = .named(name)
        self.run = run
    }
}

/// The parts of the process that every command may use.
package struct CommandContext: Sendable {
    package let console: Console
    package let environment: [String: String]
    /// All commands, for a command that describes them.
    package let tree: CommandTree

    package init(console: Console, environment: [String: String], tree: CommandTree) {
        self.console = console
        self.environment = environment
        self.tree = tree
    }
}
