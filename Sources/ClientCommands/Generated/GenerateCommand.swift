// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Telemetry
package import Terminal

/// What a package needs beside the binary, made of the command tree, so that nothing is written twice. Not in the overview:
/// packagers call it, `make install` does.
package struct GenerateCommand: Command {
    package static let spec = CommandSpec(
        path: ["generate"],
        purpose: "Prints a shell's completions, a manual page or the table of metrics",
        positionals: [PositionalSpec("KIND", "bash, zsh, fish, man, configuration (its manual page) or metrics")],
        examples: ["upgrade-relay generate bash > /usr/share/bash-completion/completions/upgrade-relay"],
        exitCodes: [.done, .usage])

    package enum Kind: String, CaseIterable {
        case bash
        case zsh
        case fish
        /// upgrade-relay(1)
        case man
        /// upgrade-relay.json5(5)
        case configuration
        case metrics
    }

    private let kind: Kind

    package init(_ arguments: ParsedArguments) throws {
        let name = arguments.positional("KIND") ?? ""
        guard let kind = Kind(rawValue: name) else {
            throw UsageError("KIND: \"\(name)\" is none of \(Kind.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        self.kind = kind
    }

    package func run(_ context: CommandContext) async throws -> ExitCode {
        context.console.write(Self.text(kind, of: context.tree))
        return .done
    }

    package static func text(_ kind: Kind, of tree: CommandTree) -> String {
        switch kind {
        case .bash: CompletionScript.bash
        case .zsh: CompletionScript.zsh
        case .fish: CompletionScript.fish
        case .man: ManualPage(tree.commands.map { $0.spec }).text
        case .configuration: ConfigurationManual.text
        case .metrics: MetricCatalogue.page
        }
    }
}
