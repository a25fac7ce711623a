// SPDX-License-Identifier: Apache-2.0
import Foundation

/// From the words of the command line to an exit code.
package struct CommandLineTool: Sendable {
    package static let version = "0.1.0"
    /// The day of that release, as the changelogs have it.
    package static let released = "2026-11-21"

    private let context: CommandContext

    package init(context: CommandContext) {
        self.context = context
    }

    package func run(_ words: [String]) async -> ExitCode {
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
                context.console.write(Completion(context.tree).text(words))
                return .done
            case .command(let command, let words):
                return await run(command, words)
            }
        } catch {
            context.console.writeError("error: \(Self.shown(error))\nTry \"upgrade-relay --help\".\n")
            return .usage
        }
    }

    private func run(_ command: CommandEntry, _ words: [String]) async -> ExitCode {
        let spec = command.spec
        do {
            let arguments = try ArgumentParser(spec).parse(words)
            if arguments.flag("help") {
                context.console.write(HelpPage(spec).text)
                return .done
            }
            return try await command.run(arguments, context)
        } catch let error as UsageError {
            context.console.writeError("error: \(Self.shown(error))\nTry \"upgrade-relay \(spec.name) --help\".\n")
            return .usage
        } catch let failure as any Failure {
            context.console.writeError("\(Self.shown(failure.report))\n")
            return failure.code
        } catch {
            context.console.writeError("error: \(Self.shown(error))\n")
            return .failed
        }
    }

    /// Arguments, files and peers have a say in errors; the terminal obeys none of them.
    private static func shown(_ error: Any) -> String {
        DisplayWidth.sanitised("\(error)", keepsLines: true)
    }
}
