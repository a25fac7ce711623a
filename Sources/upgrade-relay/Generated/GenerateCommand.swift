// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Telemetry

/// What a package needs beside the binary, made of the command tree, so that nothing is written twice. Not in the overview:
/// packagers call it, `make install` does.
struct GenerateCommand: Command {
    static let spec = CommandSpec(
        path: ["generate"],
        purpose: "Prints a shell's completions, a manual page or the table of metrics",
        positionals: [PositionalSpec("KIND", "bash, zsh, fish, man, configuration (its manual page) or metrics")],
        examples: ["upgrade-relay generate bash > /usr/share/bash-completion/completions/upgrade-relay"],
        exitCodes: [.done, .usage])

    enum Kind: String, CaseIterable {
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

    init(_ arguments: ParsedArguments) throws {
        let name = arguments.positional("KIND") ?? ""
        guard let kind = Kind(rawValue: name) else {
            throw UsageError("KIND: \"\(name)\" is none of \(Kind.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        self.kind = kind
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        context.console.write(Self.text(kind, of: .all))
        return .done
    }

    static func text(_ kind: Kind, of tree: CommandTree) -> String {
        let specs = tree.commands.map { $0.spec }
        return switch kind {
        case .bash: BashCompletion(specs).text
        case .zsh: ZshCompletion(specs).text
        case .fish: FishCompletion(specs).text
        case .man: ManualPage(specs).text
        case .configuration: ConfigurationManual.text
        case .metrics: MetricCatalogue.page
        }
    }
}
