// SPDX-License-Identifier: Apache-2.0
import Configuration
import Terminal

/// upgrade-relay(1), and a page for each command: upgrade-relay-version-set(1). Laid out by man-pages(7). Pure.
enum ManualPage {
    /// Each with the name of its file.
    static let pages = [("upgrade-relay.1", text)] + CommandSpec.all.map { ("\(name(of: $0)).1", text(of: $0)) }

    private static var text: String {
        var lines = Roff.head("upgrade-relay", section: 1, "User Commands")
        lines += [
            ".SH NAME", "upgrade\\-relay \\-", "asks every device that runs a version older than required to upgrade",
        ]
        lines += [
            ".SH SYNOPSIS", ".B upgrade\\-relay", "COMMAND [options]", ".br", ".B upgrade\\-relay", "\\-\\-version",
        ]
        lines.append(".SH DESCRIPTION")
        lines += Roff.paragraph(
            "Keeps the required version of each app and platform; when it rises, pushes to every registered device whose "
                + "user still runs an older one, and reports the outcome of each push.")
        lines.append(".PP")
        lines += Roff.paragraph(
            "*serve* is the daemon. *demo*, *check-config*, *simulate-apns* and *simulate-fcm* stand alone. All other "
                + "commands talk to the running daemon: over its control socket, or with --url and --token.")
        lines.append(".SH COMMANDS")
        lines += Roff.paragraph("*upgrade-relay help* COMMAND shows the page of a command.")
        for spec in CommandSpec.all {
            lines += [".TP", ".BR \(Roff.escaped(name(of: spec))) (1)"] + Roff.paragraph("\(spec.purpose).")
        }
        lines.append(".SH EXIT STATUS")
        lines += exitStatus(ExitCode.allCases)
        lines += Roff.paragraph(
            "With --json a failure is one line on standard error: a problem object (RFC 9457), the API's own if it refused, "
                + "with the members exitCode and hint.")
        lines.append(".SH ENVIRONMENT")
        for (name, meaning) in environment { lines += [".TP", ".B \(name)"] + Roff.paragraph(meaning) }
        lines += [
            ".SH FILES", ".TP", ".I /etc/upgrade\\-relay/config.json5", "the configuration", ".TP",
            ".I /var/lib/upgrade\\-relay/relay.db", "the store", ".TP", ".I /run/upgrade\\-relay/control.sock",
            "the control socket", ".SH SEE ALSO", ".BR upgrade\\-relay.json5 (5),", ".BR upgrade\\-relay.service (8)",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    /// The environment variables that the program reads, besides those in the configuration.
    private static let environment = [
        (RelayConfiguration.pathVariable, "the configuration, if --config names none"),
        ("UPGRADE_RELAY_TOKEN", "the API token, if --url is given and --token is not"),
        ("NO_COLOR", "if it is not empty, there are no colours"),
        ("TERM", "the terminal; if it is dumb, there are no colours and no progress bars"),
        ("COLUMNS", "the terminal's width, if it does not report one; 80 by default"),
        ("LC_ALL, LC_CTYPE, LANG", "the first of them that is set decides whether the terminal shows more than ASCII"),
        (
            "CREDENTIALS_DIRECTORY",
            "the directory of the configuration's credentials, which *serve* reads; set by systemd"
        ),
        (
            "NOTIFY_SOCKET, LISTEN_FDS, LISTEN_PID, LISTEN_FDNAMES, WATCHDOG_USEC, WATCHDOG_PID, JOURNAL_STREAM",
            "the means of *serve* and systemd to notify each other; set by systemd"
        ),
        ("TMPDIR", "the directory of *demo*; a server of PostgreSQL has its data in /tmp"),
    ]

    private static func exitStatus(_ codes: [ExitCode]) -> [String] {
        codes.flatMap { code in [".TP", ".B \(code.rawValue)"] + Roff.paragraph(code.meaning) } + [".PP"]
    }

    /// "upgrade-relay-version-set", as in git(1).
    static func name(of spec: CommandSpec) -> String { "upgrade-relay-\(spec.path.joined(separator: "-"))" }

    /// The page of one command.
    static func text(of spec: CommandSpec) -> String {
        let name = Roff.escaped(name(of: spec))
        var lines = Roff.head(Self.name(of: spec), section: 1, "User Commands")
        let first = spec.purpose.prefix(1).lowercased() + spec.purpose.dropFirst()
        lines += [".SH NAME", "\(name) \\-"] + Roff.paragraph(first)
        lines += [".SH SYNOPSIS"] + Roff.paragraph(HelpPage(spec).usage)
        lines += [".SH DESCRIPTION"] + Roff.paragraph("\(spec.purpose).")
        for text in spec.discussion.split(separator: "\n\n") { lines += [".PP"] + Roff.paragraph(String(text)) }
        if !spec.positionals.isEmpty { lines.append(".SH ARGUMENTS") }
        for positional in spec.positionals {
            lines += [".TP", ".I \(Roff.escaped(positional.name))"] + Roff.paragraph(positional.summary)
        }
        lines.append(".SH OPTIONS")
        for option in spec.allOptions {
            let value = option.value.map { " \\fI\(Roff.escaped($0))\\fR" } ?? ""
            lines += [".TP", "\\fB\\-\\-\(Roff.escaped(option.name))\\fR\(value)"] + Roff.paragraph(option.help)
        }
        if !spec.examples.isEmpty {
            lines += [".SH EXAMPLES", ".RS 4", ".nf"] + spec.examples.map(Roff.line) + [".fi", ".RE"]
        }
        lines += [".SH EXIT STATUS"] + exitStatus(spec.exitCodes).dropLast()
        lines += [".SH SEE ALSO", ".BR upgrade\\-relay (1)"]
        return lines.joined(separator: "\n") + "\n"
    }
}
