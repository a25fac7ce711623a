// SPDX-License-Identifier: Apache-2.0
import Terminal
import WireFormat

/// The report to the user on an import's lines: the number refused for each reason, a few examples, and doubts about lines
/// that were not refused.
struct ImportReport: Sendable {
    static let mostExamples = 20
    /// The most reasons that are counted separately: texts that quote the file could be as many as its lines.
    private static let mostReasons = 20

    private struct Reason {
        var text: String
        var count: Int64
    }

    private(set) var examples: [RefusedLine] = []
    private var reasons: [Reason] = []
    private var otherReasons: Int64 = 0

    mutating func add(_ lines: [RefusedLine]) {
        for line in lines {
            if examples.count < Self.mostExamples {
                examples.append(RefusedLine(line: line.line, reason: line.reason, raw: nil))
            }
            let kind = Self.kind(line.reason)
            if let index = reasons.firstIndex(where: { $0.text == kind }) {
                reasons[index].count += 1
            } else if reasons.count < Self.mostReasons {
                reasons.append(Reason(text: kind, count: 1))
            } else {
                otherReasons += 1
            }
        }
    }

    /// A reason without its details: the text from the first ";" on is left out, numbers and quoted words are replaced.
    private static func kind(_ reason: String) -> String {
        var kind = ""
        var isQuoted = false
        var wasDigit = false
        for character in reason.prefix(while: { $0 != ";" }) {
            if character == "\"" {
                isQuoted.toggle()
                if isQuoted { kind += "…" }
            } else if !isQuoted {
                let isDigit = character.isASCII && character.isNumber
                if isDigit { if !wasDigit { kind += "N" } } else { kind.append(character) }
                wasDigit = isDigit
            }
        }
        return kind
    }

    private var sorted: [Reason] {
        reasons.sorted { ($1.count, $0.text) < ($0.count, $1.text) }
            + (otherReasons > 0 ? [Reason(text: "other reasons", count: otherReasons)] : [])
    }

    /// The lines for standard error, in the order in which they come.
    static func text(_ lines: [RefusedLine]) -> String {
        lines.map { "line \($0.line): \(DisplayWidth.sanitised($0.reason))\n" }.joined()
    }

    /// Reason by reason, the most frequent first; nothing where the examples show every refused line.
    func reasonsText(refused: Int64) -> String {
        guard refused > Int64(examples.count) else { return "" }
        let shown = sorted
        let width = shown.map { Quantity.count($0.count).count }.max() ?? 0
        return shown.map { reason in
            let count = Quantity.count(reason.count)
            return "  \(String(repeating: " ", count: width - count.count))\(count)  "
                + DisplayWidth.sanitised(reason.text) + "\n"
        }.joined()
    }

    static func warning(_ doubts: DoubtTally, isStrict: Bool) -> [String] {
        doubts.doubts.compactMap { doubt in
            guard let entry = doubts.entries[doubt] else { return nil }
            let lines = entry.count == 1 ? "1 line" : "\(Quantity.count(entry.count)) lines"
            let example = DisplayWidth.truncated(DisplayWidth.sanitised(entry.example), to: 40)
            return "\(lines): \(doubt.text), such as \"\(example)\" in line \(entry.line)"
                + (isStrict ? "" : "; stored as it is (--strict refuses it)")
        }
    }

    /// The members of `--json`.
    func json(_ tally: DeviceUpload.Tally, warnings: [String], isDryRun: Bool) -> JSONValue {
        [
            "stored": .integer(tally.stored), "new": .integer(tally.new), "updated": .integer(tally.updated),
            "unchanged": .integer(tally.unchanged), "versionsKept": .integer(tally.versionsKept),
            "refusedCount": .integer(tally.refusedCount),
            "refusedBy": .object(sorted.map { JSONMember(name: $0.text, value: .integer($0.count)) }),
            "refused": .array(examples.map { ["line": .integer($0.line), "reason": .string($0.reason)] }),
            "warnings": .array(warnings.map { .string($0) }), "dryRun": .bool(isDryRun),
        ]
    }

    static func summary(_ tally: DeviceUpload.Tally, isDryRun: Bool) -> String {
        var counts = [
            "\(Quantity.count(tally.new)) new", "\(Quantity.count(tally.updated)) updated",
            "\(Quantity.count(tally.unchanged)) unchanged", "\(Quantity.count(tally.refusedCount)) refused",
        ].joined(separator: ", ")
        if tally.versionsKept > 0 {
            counts +=
                "; \(Quantity.count(tally.versionsKept)) older versions left out: the devices have reported newer ones since"
        }
        return isDryRun ? "dry run, nothing was stored: \(counts)\n" : counts + "\n"
    }
}
