// SPDX-License-Identifier: Apache-2.0
package import Foundation

/// A unified diff with some lines of words above it.
package struct Patch: Sendable {
    struct Hunk: Sendable {
        /// Where the lines stood when it was written, from 0.
        var line: Int
        var lines: [(mark: Character, text: String)] = []

        var before: [String] { lines.filter { $0.mark != "+" }.map(\.text) }
    }

    package let name: String
    package private(set) var notes: [String] = []
    private(set) var hunks: [String: [Hunk]] = [:]

    package init(name: String, text: String) throws {
        self.name = name
        var file: String?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            if line.hasPrefix("--- a/") {
                file = String(line.dropFirst(6))
            } else if line.hasPrefix("diff ") || line.hasPrefix("index ") || line.hasPrefix("+++ ") {
                if line.hasPrefix("diff ") { file = nil }
            } else if line.hasPrefix("@@ -"), let file {
                guard let number = Int(line.dropFirst(4).prefix { $0.isNumber }) else {
                    throw MutationError("\(name): \(line)")
                }
                hunks[file, default: []].append(Hunk(line: number - 1))
            } else if let file, let last = hunks[file]?.indices.last, let mark = line.first, " +-".contains(mark) {
                hunks[file]?[last].lines.append((mark, String(line.dropFirst())))
            } else if line.hasPrefix("#"), hunks.isEmpty {
                notes.append(line.dropFirst().trimmingCharacters(in: .whitespaces))
            }
        }
        guard !hunks.isEmpty else { throw MutationError("\(name) changes nothing") }
    }

    /// All of a folder, in the order of their numbers.
    package static func all(in folder: URL) throws -> [Patch] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".patch") }.sorted {
            $0.compare($1, options: .numeric) == .orderedAscending
        }.map {
            try Patch(
                name: String($0.dropLast(".patch".count)),
                text: String(contentsOf: folder.appending(path: $0), encoding: .utf8))
        }
    }

    /// - Parameter read: the text of a file of the checkout.
    package func mutant(_ read: (String) throws -> String) throws -> Mutant {
        guard let number = Int(name.prefix { $0.isNumber }) else { throw MutationError("\(name) has no number") }
        var edits: [String: [Edit]] = [:]
        for (file, hunks) in hunks {
            let text = try read(file)
            edits[file] = try hunks.flatMap { try Self.edits($0, of: text, "\(name): \(file)") }
        }
        let title = String(name.drop { $0.isNumber || $0 == "-" }).replacing("-", with: " ")
        return Mutant(number, title, edits, notes: notes)
    }

    /// One for each group of lines that stand together, without what both sides begin and end with.
    private static func edits(_ hunk: Hunk, of text: String, _ name: String) throws -> [Edit] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let before = hunk.before
        let places = lines.indices.filter { lines[$0...].starts(with: before) }
        guard let place = places.min(by: { abs($0 - hunk.line) < abs($1 - hunk.line) }) else {
            throw MutationError("\(name) does not have the lines of the patch any more: write it anew")
        }
        var offset = lines[..<place].reduce(0) { $0 + $1.utf8.count + 1 }
        var edits: [Edit] = []
        var (old, new): ([String], [String]) = ([], [])
        func close() {
            defer { (old, new) = ([], []) }
            guard old != new else { return }
            let (before, after) = (old.map { $0 + "\n" }.joined(), new.map { $0 + "\n" }.joined())
            edits.append(Edit(from: before, to: after, at: offset - before.utf8.count))
        }
        for (mark, text) in hunk.lines {
            if mark == " " { close() }
            if mark != "+" { offset += text.utf8.count + 1 }
            if mark == "-" { old.append(text) }
            if mark == "+" { new.append(text) }
        }
        close()
        return edits
    }
}

extension Edit {
    /// Letters that are the same at both ends are left out.
    init(from old: String, to new: String, at offset: Int) {
        let (old, new) = (Array(old.utf8), Array(new.utf8))
        // The bytes of UTF-8 that begin no letter.
        func goesOn(_ bytes: [UInt8], _ index: Int) -> Bool { index < bytes.count && bytes[index] & 0xC0 == 0x80 }
        var start = zip(old, new).prefix { $0 == $1 }.count
        while goesOn(old, start) || goesOn(new, start) { start -= 1 }
        let most = min(old.count, new.count) - start
        var end = zip(old.reversed(), new.reversed()).prefix(most).prefix { $0 == $1 }.count
        while goesOn(old, old.count - end) || goesOn(new, new.count - end) { end -= 1 }
        self.init(
            (offset + start)..<(offset + old.count - end),
            String(decoding: new[start..<(new.count - end)], as: UTF8.self))
    }
}
