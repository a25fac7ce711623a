// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Threading
import WireFormat

/// Runs the command that the words of the command line select, and returns the exit code.
package struct CommandLineTool: Sendable {
    package static let version = "0.1.0"
    /// The date of that release, as in the changelogs.
    package static let released = "2026-11-21"

    private let context: CommandContext

    package init(context: CommandContext) {
        self.context = context
    }

    package func run(_ words: [String]) async -> ExitCode {
        let note = context.tree.note(on: words)
        do {
            switch try context.tree.select(words) {
            case .version:
                context.console.write("upgrade-relay \(Self.version)\n")
                return .done
            case .overview(let group, let wasAsked):
                let text = context.tree.overview(of: group)
                if wasAsked { context.console.write(text) } else { context.console.writeError(text) }
                return wasAsked ? .done : .usage
            case .completion(let words):
                let completion = Completion(context.tree)
                var found: [Completion.Proposal] = []
                if let placeholder = completion.wanted(words) {
                    found = await context.tree.lookup(placeholder, context)
                }
                context.console.write(completion.text(words, lookup: found))
                return .done
            case .command(let command, let words):
                if let note, !Self.wantsJSON(words) { context.console.writeError("note: \(note)\n") }
                return await run(command, words)
            }
        } catch {
            report(error, asJSON: Self.wantsJSON(words), tryHelpOf: nil)
            return .usage
        }
    }

    /// Whether `--json` is among the words, even if they cannot be parsed.
    private static func wantsJSON(_ words: [String]) -> Bool { words.prefix { $0 != "--" }.contains("--json") }

    private func report(_ error: UsageError, asJSON: Bool, tryHelpOf name: String?) {
        let help = "Try \"upgrade-relay \(name.map { "\($0) " } ?? "")--help\".\n"
        context.console.writeError(
            asJSON ? FailureDocument(error).text : "error: \(Self.shown(error))\n\(help)")
    }

    private func run(_ command: CommandEntry, _ words: [String]) async -> ExitCode {
        let spec = command.spec
        let isJSON = spec.option(named: "json") != nil && Self.wantsJSON(words)
        do {
            let arguments = try ArgumentParser(spec).parse(words)
            if arguments.flag("help") {
                context.console.write(HelpPage(spec).text)
                return .done
            }
            for option in spec.allOptions {
                guard let advice = option.deprecation, !arguments.values(option.name).isEmpty else { continue }
                context.console.writeError(
                    "note: --\(option.name) is deprecated, and a later release refuses it: \(advice)\n")
            }
            let screen = Screen(context.console, environment: context.environment)
            return await ShownZone.$current.withValue(zone(for: arguments)) {
                do {
                    return try await Screen.$current.withValue(screen) { try await command.run(arguments, context) }
                } catch {
                    return report(error, asJSON: isJSON, of: spec)
                }
            }
        } catch {
            return report(error, asJSON: isJSON, of: spec)
        }
    }

    private func report(_ error: any Error, asJSON isJSON: Bool, of spec: CommandSpec) -> ExitCode {
        if let error = error as? UsageError {
            report(error, asJSON: isJSON, tryHelpOf: spec.name)
            return .usage
        }
        let failure = error as? any Failure ?? CommandFailure(.failed, "\(error)")
        context.console.writeError(
            isJSON ? FailureDocument(failure).text : ShownZone.text("\(Self.shown(failure.report))\n"))
        return failure.code
    }

    /// The terminal's zone for a person who reads there; nil: UTC, for scripts, for `--utc`, and where data is written.
    private func zone(for arguments: ParsedArguments) -> LocalZone? {
        let isTerminal = context.console.isOutputTerminal && context.environment["TERM"]?.isEmpty == false
        let isForPeople = isTerminal && !["utc", "json", "csv", "ndjson"].contains { arguments.flag($0) }
        return isForPeople ? LocalZone.ofTerminal(context.environment) : nil
    }

    /// Errors may quote arguments, files and peers, so control characters are replaced.
    private static func shown(_ error: Any) -> String {
        DisplayWidth.sanitised("\(error)", keepsLines: true)
    }
}

/// A failure under `--json`: a problem object (RFC 9457) on one line. It goes to standard error, because standard output is
/// for results alone. Pure.
///
/// The API's own problem keeps its members; a failure of the tool itself has `title` and `detail`. `exitCode` and `hint`
/// are extension members (RFC 9457, 3.2).
struct FailureDocument {
    private let code: ExitCode
    private let members: [String]
    private let hint: String?

    init(_ failure: any Failure) {
        code = failure.code
        hint = failure.hint
        if let problem = failure.problem, problem.hasPrefix("{"), problem.hasSuffix("}") {
            let inside = problem.dropFirst().dropLast()
            members = inside.allSatisfy(\.isWhitespace) ? [] : [String(inside)]
        } else {
            members = [Self.member("title", code.meaning), Self.member("detail", failure.detail)]
        }
    }

    private static func member(_ name: String, _ text: String) -> String {
        "\"\(name)\":" + String(decoding: JSONValue.string(text).bytes(), as: UTF8.self)
    }

    var text: String {
        var all = members
        if let hint { all.append(Self.member("hint", hint)) }
        all.append("\"exitCode\":\(code.rawValue)")
        return JSONText.shown(Array("{\(all.joined(separator: ","))}".utf8)) + "\n"
    }
}
