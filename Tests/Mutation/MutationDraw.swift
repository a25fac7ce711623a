// SPDX-License-Identifier: Apache-2.0
package import Foundation

/// Draws mutants of the rooms that decide, the same for the same number.
package struct MutationDraw {
    private var state: UInt64
    /// The changes of each room that are not drawn yet, by rule.
    private var left: [[(rule: MutationRule, candidates: [MutationCandidate])]] = []
    private var turn = 0
    private var number: Int

    /// - Parameters:
    ///   - rooms: names; empty: all. One that is unknown is an error.
    ///   - first: the number of the first mutant.
    package init(_ draw: UInt64, rooms: [String], root: URL, first: Int = 1001) throws {
        (state, number) = (draw, first)
        let unknown = rooms.filter { name in !MutationRoom.all.contains { $0.name == name } }
        guard unknown.isEmpty else { throw MutationError("no room that decides is named \(unknown)") }
        let files = try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: "Sources").path)
            .filter { $0.hasSuffix(".swift") }.sorted().map { "Sources/\($0)" }
        var texts: [String: String] = [:]
        for file in files { texts[file] = try ScratchCopy.text(file, in: root) }
        let neighbours = Self.neighbours(in: texts.sorted { $0.key < $1.key }.map(\.value))
        for room in MutationRoom.all where rooms.isEmpty || rooms.contains(room.name) {
            let own = files.filter { file in room.places.contains { file.hasPrefix($0) } }
            let found = own.flatMap { CandidateFinder(texts[$0] ?? "", file: $0, neighbours: neighbours).found }
            let rules = MutationRule.allCases.compactMap { rule in
                let candidates = found.filter { $0.rule == rule }
                return candidates.isEmpty ? nil : (rule, candidates)
            }
            if !rules.isEmpty { left.append(rules) }
        }
        guard !left.isEmpty else { throw MutationError("no room of \(rooms) has a line to change") }
    }

    /// How many changes the rules know.
    package var count: Int { left.reduce(0) { $0 + $1.reduce(0) { $0 + $1.candidates.count } } }

    /// Rooms take turns; a rule is drawn, and then a line.
    package mutating func next() -> (mutant: Mutant, candidate: MutationCandidate)? {
        guard !left.isEmpty else { return nil }
        turn = (turn + 1) % left.count
        let place = turn
        let rule = Int(random() % UInt64(left[place].count))
        let index = Int(random() % UInt64(left[place][rule].candidates.count))
        let candidate = left[place][rule].candidates.remove(at: index)
        if left[place][rule].candidates.isEmpty { left[place].remove(at: rule) }
        if left[place].isEmpty { left.remove(at: place) }
        defer { number += 1 }
        return (Mutant(number, candidate.rule.rawValue, [candidate.file: [candidate.edit]]), candidate)
    }

    /// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
    private mutating func random() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    /// By the name of a case: the one that stands beside it. Only names that one enumeration has, and cases without values.
    static func neighbours(in texts: [String]) -> [String: String] {
        var lists: [[String]] = []
        var counts: [String: Int] = [:]
        for text in texts {
            for match in text.matches(of: /(?m)^( *)(?:[a-z]+ )*enum [A-Z][^\n]*\{\n((?:.*\n)*?)\1\}/) {
                var plain: [String] = []
                for line in match.output.2.split(separator: "\n") {
                    let words = line.trimmingCharacters(in: .whitespaces)
                    guard words.hasPrefix("case ") else { continue }
                    let names = words.dropFirst(5).split(separator: ",").map { part in
                        String(part.drop { $0 == " " || $0 == "`" }.prefix { $0.isLetter || $0.isNumber })
                    }
                    for name in names { counts[name, default: 0] += 1 }
                    if !words.contains("("), !words.contains(":") { plain += names }
                }
                if plain.count > 1 { lists.append(plain) }
            }
        }
        var neighbours: [String: String] = [:]
        for list in lists {
            for (index, name) in list.enumerated() where counts[name] == 1 {
                neighbours[name] = list[(index + 1) % list.count]
            }
        }
        return neighbours
    }
}
