// SPDX-License-Identifier: Apache-2.0

/// upgrade-relay(1), laid out as man-pages(7) wants it. Pure.
struct ManualPage {
    private let specs: [CommandSpec]

    init(_ specs: [CommandSpec]) {
        self.specs = specs
    }

    var text: String {
        var lines = [
            ".\\\" made by \"upgrade-relay generate man\"",
            ".TH UPGRADE\\-RELAY 1 \"\" \"upgrade\\-relay \(CommandLineTool.version)\" \"User Commands\"",
            ".SH NAME", "upgrade\\-relay \\- tells every device that runs a version older than required to upgrade",
            ".SH SYNOPSIS", ".B upgrade\\-relay", "COMMAND [options]", ".br", ".B upgrade\\-relay", "\\-\\-version",
            ".SH DESCRIPTION",
            Self.plain(
                "Keeps, for each app and platform, which version is required; when that rises, pushes to every registered "
                    + "device whose user still runs an older one, and can say afterwards what became of each push."),
            ".PP",
            Self.plain(
                "serve is the daemon. demo, check-config and simulate-apns stand alone. All other commands talk to the "
                    + "running daemon: over its control socket, or with --url and --token."),
            ".SH COMMANDS",
        ]
        for spec in specs { lines += Self.section(spec) }
        lines.append(".SH EXIT STATUS")
        for code in [ExitCode.done, .failed, .usage, .unreachable, .configuration] {
            lines += [".TP", ".B \(code.rawValue)", Self.plain(code.meaning)]
        }
        lines += [
            ".SH ENVIRONMENT", ".TP", ".B UPGRADE_RELAY_CONFIG", "the configuration, where \\-\\-config names none",
            ".SH FILES", ".TP", ".I /etc/upgrade\\-relay/config.json5", "the configuration", ".TP",
            ".I /var/lib/upgrade\\-relay/relay.db", "the store", ".TP", ".I /run/upgrade\\-relay/control.sock",
            "the control socket",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    private static func section(_ spec: CommandSpec) -> [String] {
        let usage = HelpPage(spec).usage.dropFirst("upgrade-relay ".count)
        var lines = [".SS \(plain(String(usage)))", plain("\(spec.purpose).")]
        for paragraph in spec.discussion.split(separator: "\n\n") { lines += [".PP", plain(String(paragraph))] }
        for positional in spec.positionals {
            lines += [".TP", ".I \(plain(positional.name))", plain(positional.summary)]
        }
        for option in spec.options {
            let value = option.value.map { " \\fI\(plain($0))\\fR" } ?? ""
            let text = option.summary + (option.defaultText.map { " (default: \($0))" } ?? "")
            lines += [".TP", "\\fB\\-\\-\(plain(option.name))\\fR\(value)", plain(text)]
        }
        if !spec.examples.isEmpty {
            lines += [".PP", spec.examples.count == 1 ? "Example:" : "Examples:", ".PP", ".RS 4", ".nf"]
            lines += spec.examples.map(plain) + [".fi", ".RE"]
        }
        return lines
    }

    /// groff(7): a hyphen that is a minus, backslashes, and a dot or an apostrophe that must not begin a request.
    private static func plain(_ text: String) -> String {
        let text = text.replacing("\\", with: "\\e").replacing("-", with: "\\-").replacing("\n", with: " ")
        return text.hasPrefix(".") || text.hasPrefix("'") ? "\\&\(text)" : text
    }
}
