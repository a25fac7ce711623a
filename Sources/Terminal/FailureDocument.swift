// SPDX-License-Identifier: Apache-2.0

/// A failure for who asked for `--json`: a problem object (RFC 9457) on one line. Standard output is for results alone, so it
/// goes to standard error. Pure.
///
/// The API's own problem is passed on as it came; what went wrong on this side has the same members. `exitCode` and `hint`
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
            members = Self.members(failure.code, failure.detail)
        }
    }

    init(_ error: UsageError) {
        code = .usage
        members = Self.members(.usage, error.message)
        hint = error.suggestion.map { "did you mean \"\($0)\"?" }
    }

    /// Of an error that nobody foresaw.
    init(unforeseen error: any Error) {
        code = .failed
        members = Self.members(.failed, "\(error)")
        hint = nil
    }

    private static func members(_ code: ExitCode, _ detail: String) -> [String] {
        ["\"title\":\(JSONText.quoted(code.meaning))", "\"detail\":\(JSONText.quoted(detail))"]
    }

    var text: String {
        var all = members
        if let hint { all.append("\"hint\":\(JSONText.quoted(hint))") }
        all.append("\"exitCode\":\(code.rawValue)")
        return JSONText.shown(Array("{\(all.joined(separator: ","))}".utf8)) + "\n"
    }
}
