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
            return Exception(number: number, by: cells[1])
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
