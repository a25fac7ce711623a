// SPDX-License-Identifier: Apache-2.0

/// One command of the tool: what it is called, and what it does.
package protocol Command: Sendable {
    static var spec: CommandSpec { get }

    /// - Throws: `UsageError` where a value is not what the option wants.
    init(_ arguments: ParsedArguments) throws

    /// Does the work. Cancelled on SIGINT only where a command says so; otherwise the signal ends the process.
    ///
    /// - Throws: `CommandFailure`, or anything else, which ends as "error: …" and exit code 1.
    func run(_ context: CommandContext) async throws -> ExitCode
}

/// A command as the tree knows it: a type of its own, or an entry of a table.
package struct CommandEntry: Sendable {
    package let spec: CommandSpec
    /// Reads what was given and does the work; throws what `Command` throws.
    package let run: @Sendable (ParsedArguments, CommandContext) async throws -> ExitCode

    package init(
        _ spec: CommandSpec, run: @escaping @Sendable (ParsedArguments, CommandContext) async throws -> ExitCode
    ) {
        self.spec = spec
        self.run = run
    }

    package init<Kind: Command>(_ type: Kind.Type) {
        self.init(Kind.spec) { try await Kind($0).run($1) }
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
