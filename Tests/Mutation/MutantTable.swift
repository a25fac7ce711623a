// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The table of mutants that the simulation's guide has. The tool writes it, and no hand.
package struct MutantTable {
    package static let begin = "<!-- mutants: made by make mutants WRITE=1 -->"
    package static let end = "<!-- mutants: end -->"

    /// A mutant that the simulation need not find, with the test that finds it instead.
    package struct Exception: Sendable {
        package let number: Int
        package let by: String
        /// Empty where it is not known.
        package var name = ""
    }

    /// - Returns: the guide with these exceptions in place of those that it had; nil where it has no place for them.
    package static func written(_ exceptions: [Exception], into guide: String) -> String? {
        let before = Self.exceptions(in: guide)
        if before.map(\.number) == exceptions.map(\.number) { return guide }
        guard let start = guide.range(of: "<!-- mutants: excepted -->") else { return nil }
        let rest = guide[start.upperBound...].drop { $0 == "\n" }
        var lines = rest.split(separator: "\n", omittingEmptySubsequences: false)
        lines.removeFirst(lines.prefix { $0.hasPrefix("|") }.count)
        let rows = exceptions.map { one in
            "| \(String(format: "%02d", one.number)) \(one.name) | \(one.by.replacing("|", with: "\\|")) |"
        }
        let table = (["| mutant | test that finds it |", "|---|---|"] + rows).joined(separator: "\n")
        return guide[..<start.upperBound] + "\n" + table + "\n" + lines.joined(separator: "\n")
    }

    /// Rows of the guide's list of exceptions: a number and the test that finds it, in the columns of a table.
    package static func exceptions(in guide: String) -> [Exception] {
        guard let start = guide.range(of: "<!-- mutants: excepted -->") else { return [] }
        return guide[start.upperBound...].split(separator: "\n").drop { !$0.hasPrefix("|") }.prefix {
            $0.hasPrefix("|")
        }
        .compactMap { row in
            let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count >= 2, let number = Int(cells[0].prefix { $0.isNumber }) else { return nil }
            let name = cells[0].drop { $0.isNumber }.drop { $0 == " " }
            return Exception(number: number, by: cells[1], name: String(name))
        }
    }

    private let rows: [String]

    /// - Parameter found: all that the table is to have; without a finding: those that were not tried.
    package init(_ found: [(mutant: Mutant, finding: Finding?)], exceptions: [Exception]) {
        let excepted = Set(exceptions.map(\.number))
        rows = found.sorted { $0.mutant.number < $1.mutant.number }.map { mutant, finding in
            let (seeds, by) =
                switch finding {
                case .found(let seeds, let by): ("\(seeds)", by.contains(".") ? "`\(by)`" : by)
                case .lives(let seeds):
                    ("not in \(seeds)", excepted.contains(mutant.number) ? "excepted, see below" : "**lives**")
                case nil: ("not tried", "")
                }
            let seen = mutant.note("Seen") ?? mutant.note("Undone") ?? ""
            return
                "| \(String(format: "%02d", mutant.number)) \(mutant.name) | \(mutant.place) | \(seen) | \(seeds) | \(by) |"
        }
    }

    package var text: String {
        (["| mutant | place | what people see | seeds | found by |", "|---|---|---|---|---|"] + rows).joined(
            separator: "\n")
    }

    /// The guide with this table in place of the one before; nil where it has no place for it.
    package func written(into guide: String, heading: String) -> String? {
        guard let begin = guide.range(of: Self.begin),
            let end = guide.range(of: Self.end, range: begin.upperBound..<guide.endIndex)
        else { return nil }
        return guide[..<begin.upperBound] + "\n\(heading)\n\n\(text)\n" + guide[end.lowerBound...]
    }
}
