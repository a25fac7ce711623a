// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Telemetry
package import Terminal

/// What a package needs beside the binary, made of the command tree, so that nothing is written twice. Not in the overview:
/// packagers call it, `make install` does.
extension CommandEntry {
    package static let generate = CommandEntry(
        CommandSpec(
            path: ["generate"],
            purpose: "Prints a shell's completions, a manual page or the table of metrics",
            positionals: [PositionalSpec("KIND", "bash, zsh, fish, man, configuration (its manual page) or metrics")],
            examples: ["upgrade-relay generate bash > /usr/share/bash-completion/completions/upgrade-relay"],
            exitCodes: [.done, .usage])
    ) { arguments, context in
        let name = try arguments.require("KIND")
        guard let kind = Generated(rawValue: name) else {
            let kinds = Generated.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError("KIND: \"\(name)\" is none of \(kinds)")
        }
        context.console.write(kind.text(of: context.tree))
        return .done
    }
}

/// What `generate` prints.
enum Generated: String, CaseIterable {
    case bash
    case zsh
    case fish
    /// upgrade-relay(1)
    case man
    /// upgrade-relay.json5(5)
    case configuration
    case metrics

    func text(of tree: CommandTree) -> String {
        switch self {
        case .bash: CompletionScript.bash
        case .zsh: CompletionScript.zsh
        case .fish: CompletionScript.fish
        case .man: ManualPage(tree.commands.map { $0.spec }).text
        case .configuration: ConfigurationManual.text
        case .metrics: MetricCatalogue.page
        }
    }
}
