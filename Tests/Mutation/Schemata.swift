// SPDX-License-Identifier: Apache-2.0

/// A source that holds many mutants at once, each behind a switch of its own (mutant schemata: Untch, Offutt, Harrold, ISSTA 1993). Each
/// body that some change stands in it once for each of them, and as it is; so neighbours do not meet, and any statement may change.
package struct Schemata: Sendable {
    /// The module that has the switch: only a scratch copy does.
    static let module = "CMutant"

    package private(set) var text: String
    /// Which mutants stand on which lines, from 1: the narrowest last.
    private var lines: [(range: ClosedRange<Int>, mutants: [Int])] = []

    /// - Throws: where a mutant changes something that cannot stand twice.
    package init(_ source: String, _ mutants: [(number: Int, edits: [Edit])], file: String) throws {
        let original = SwiftText(source)
        let units = original.units
        var changes: [SourceUnit: [(number: Int, edits: [Edit])]] = [:]
        for (number, edits) in mutants {
            var own: [SourceUnit: [Edit]] = [:]
            for edit in edits {
                let around = units.first {
                    $0.range.lowerBound <= edit.range.lowerBound && edit.range.upperBound <= $0.range.upperBound
                }
                guard let around else {
                    throw MutationError(
                        "mutant \(number) changes line \(original.line(of: edit.range.lowerBound)) of \(file), which is in no body: "
                            + "change what a body or a property's value does, in as many lines as it needs")
                }
                own[around, default: []].append(edit)
            }
            for (unit, edits) in own { changes[unit, default: []].append((number, edits)) }
        }
        text = "public import \(Self.module)\n"
        var index = 0
        for (unit, mutants) in changes.sorted(by: { $0.key.range.lowerBound < $1.key.range.lowerBound }) {
            text += original.string(index..<unit.range.lowerBound)
            write(original, unit, mutants.sorted { $0.number < $1.number })
            index = unit.range.upperBound
        }
        text += original.string(index..<original.bytes.count)
    }

    private mutating func write(_ source: SwiftText, _ unit: SourceUnit, _ mutants: [(number: Int, edits: [Edit])]) {
        let start = lineCount
        let place = lines.count
        for (number, edits) in mutants {
            text += unit.kind == .body ? " if mutantIsOn(\(number)) {" : " mutantIsOn(\(number)) ? ("
            let first = lineCount
            text += Self.changed(source, unit.range, edits)
            lines.append((first...lineCount, [number]))
            text += unit.kind == .body ? "} else" : ") :"
        }
        text += unit.kind == .body ? " {" : " ("
        text += source.string(unit.range)
        text += unit.kind == .body ? "}" : ")"
        lines.insert((start...lineCount, mutants.map(\.number)), at: place)
    }

    private static func changed(_ source: SwiftText, _ range: Range<Int>, _ edits: [Edit]) -> String {
        var (text, index) = ("", range.lowerBound)
        for edit in edits.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
            text += source.string(index..<edit.range.lowerBound) + edit.text
            index = edit.range.upperBound
        }
        return text + source.string(index..<range.upperBound)
    }

    private var lineCount: Int { text.utf8.count { $0 == UInt8(ascii: "\n") } + 1 }

    /// The mutants that may be the reason why a line does not compile: that of its body; of a body that stands as it was, all that have changed
    /// copies of it.
    package func mutants(onLine line: Int) -> [Int] { lines.last { $0.range.contains(line) }?.mutants ?? [] }
}
