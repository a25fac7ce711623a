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
            purpose: "Prints a manual page or the table of metrics",
            positionals: [
                PositionalSpec(
                    "KIND",
                    "man, pages (the names of man's), configuration (its manual page) or metrics"),
                PositionalSpec(
                    "PAGE", "for man: the page of one command, such as upgrade-relay-version-set", isRequired: false),
            ],
            examples: ["upgrade-relay generate man > /usr/share/man/man1/upgrade-relay.1"],
            exitCodes: [.done, .usage])
    ) { arguments, context in
        let name = try arguments.require("KIND")
        guard let kind = Generated(rawValue: name) else {
            let kinds = Generated.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError("KIND: \"\(name)\" is none of \(kinds)")
        }
        if let page = arguments.positional("PAGE") {
            let specs = context.tree.commands.map { $0.spec }
            guard kind == .man, let spec = specs.first(where: { ManualPage.name(of: $0) == page }) else {
                throw UsageError("PAGE: \"\(page)\" is no page of man; \"upgrade-relay generate pages\" lists them")
            }
            context.console.write(ManualPage.text(of: spec))
            return .done
        }
        context.console.write(kind.text(of: context.tree))
        return .done
    }
}

/// What `generate` prints.
enum Generated: String, CaseIterable {
    /// upgrade-relay(1)
    case man
    /// The names of the other pages of `man`, a line each.
    case pages
    /// upgrade-relay.json5(5)
    case configuration
    case metrics

    func text(of tree: CommandTree) -> String {
        switch self {
        case .man: ManualPage(tree.commands.map { $0.spec }).text
        case .pages: tree.commands.map { "\(ManualPage.name(of: $0.spec))\n" }.joined()
        case .configuration: ConfigurationManual.text
        case .metrics: MetricCatalogue.page
        }
    }
}
