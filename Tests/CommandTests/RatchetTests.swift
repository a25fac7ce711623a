// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// Numbers that measure how wide the house is: how many files name one noun, how often a driver decides, how many comments read badly.
/// Each may fall and never rises. A change that lowers one lowers it in the table, too.
@Suite struct RatchetTests {
    struct Ratchet: Sendable, CustomTestStringConvertible {
        let name: String
        /// Today's figure.
        let most: Int
        let measure: Measure

        var testDescription: String { name }

        init(_ name: String, _ most: Int, _ measure: Measure) {
            (self.name, self.most, self.measure) = (name, most, measure)
        }
    }

    /// The finds of a regular expression that are counted.
    enum Measure: Sendable {
        /// Files of Sources in which it is found, and whose path, too, matches an expression.
        case files(String, at: String = "^")
        /// Its finds in the Swift files whose path begins so.
        case places(String, in: String)
        /// Comments of Swift in which it is found.
        case comments(String)
    }

    // MARK: Width: files of Sources that a change of one noun opens

    private static let width = [
        Ratchet("files that name a device's field: country", 23, .files(#"\b[Cc]ountry\b|[a-z]Country"#)),
        Ratchet(
            "files that name a reason to wait: the gate's", 28,
            .files(#"GateVerdict|GateQuestion|\bisGated\b|\bgate\b"#)),
        Ratchet("files that name a stored flag: requiredFrom", 16, .files("requiredFrom|required_from|required-from")),
        // One of them has its reasons in Chinese.
        Ratchet("files that name a push service: FCM, its stand-in with it", 38, .files("(?i)fcm")),
        Ratchet(
            "files outside a push service's own folders that name it: FCM", 11, .files("(?i)fcm", at: "^(?!.*FCM)")),
        Ratchet(
            "files that know that there are two environments", 14, .files(#"\bChannel\.Environment\b|\.sandbox\b"#)),
    ]

    // MARK: Depth: deciding in the wrong place

    private static let depth = [
        Ratchet(
            "reads and writes of the store in the Dispatcher", 28,
            .places(#"\bstore\.[a-zA-Z]+\("#, in: "Push/FanOut/Dispatcher")),
        Ratchet(
            "columns that are read by their number", 0,
            .places(#"\.(?:integer|text|bytes|blob|optional\w*|timestamp|bool|real|isNull)\(\d{1,2}[,)]"#, in: "")),
        // Another module calls an inlinable member, and does not inline it, where the member's type is package and no more.
        Ratchet(
            "files whose types hide what is inlinable in them", 4,
            .files(#"(?ms)^package (?:struct|enum|protocol|final class) .*?@inlinable"#)),
    ]

    // MARK: English: comments that must be read twice

    private static let english = [
        Ratchet("comments that begin with What", 0, .comments("^What")),
        Ratchet("comments that begin with Who, Whose or Whoever", 0, .comments("^Who")),
        Ratchet("comments that begin with Of", 0, .comments(#"^Of\b"#)),
        Ratchet("comments in which somebody is told, or tells", 0, .comments(#"\b(?:told|tells)\b"#)),
        Ratchet(
            "comments in which a program is nobody, somebody or whoever", 0,
            .comments(#"(?i)\b(?:nobody|somebody|whoever)\b"#)),
        Ratchet(
            "comments with \"is to be\", meanwhile or by now", 0, .comments(#"\b(?:is to be|meanwhile|by now)\b"#)),
    ]

    @Test("a figure of the house falls, or stays", arguments: width + depth + english)
    func holds(_ ratchet: Ratchet) throws {
        let count = try Self.sources.get().count(ratchet.measure)
        #expect(
            count > 0 || ratchet.most == 0,
            "\(ratchet.name): nothing is found any more: the count is wrong, or the ratchet has done its work")
        #expect(
            count <= ratchet.most,
            "\(ratchet.name): \(count), and it was \(ratchet.most): find the noun's home (HOUSE), or say it in plain words"
        )
        #expect(
            count >= ratchet.most,
            "\(ratchet.name): only \(count) now, from \(ratchet.most): write \(count) into the table")
    }

    /// The same patterns in the comments of the tests, where they are at none.
    @Test("a comment of the tests is read once", arguments: english)
    func holdsInTests(_ ratchet: Ratchet) throws {
        #expect(try Self.tests.get().count(ratchet.measure) == 0, "\(ratchet.name), below Tests")
    }

    private static let sources = Result { try Sources(below: "Sources") }
    private static let tests = Result { try Sources(below: "Tests") }
}

extension RatchetTests {
    /// The text of every file below a folder, by its path there.
    struct Sources: Sendable {
        private var texts: [(path: String, text: String)] = []
        /// Each comment of a Swift file as one line, without its slashes.
        private var blocks: [String] = []

        init(below name: String) throws {
            let folder = ManualTests.root.appending(path: name)
            for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted() {
                guard let text = try? String(contentsOf: folder.appending(path: path), encoding: .utf8) else {
                    continue
                }
                texts.append((path, text))
                if path.hasSuffix(".swift") { blocks += Self.comments(of: text) }
            }
        }

        private static func comments(of text: String) -> [String] {
            var (blocks, block): ([String], [Substring]) = ([], [])
            for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
                let line = line.drop { $0 == " " }
                if line.hasPrefix("//") {
                    let words = line.drop { $0 == "/" }.drop { $0 == " " }
                    if !words.hasPrefix("SPDX") { block.append(words) }
                } else if !block.isEmpty {
                    blocks.append(block.joined(separator: " "))
                    block = []
                }
            }
            return blocks
        }

        func count(_ measure: Measure) throws -> Int {
            switch measure {
            case .files(let pattern, let place):
                let expression = try NSRegularExpression(pattern: pattern)
                let path = try NSRegularExpression(pattern: place)
                return texts.count { path.hits($0.path) > 0 && expression.hits($0.text) > 0 }
            case .places(let pattern, let prefix):
                let expression = try NSRegularExpression(pattern: pattern)
                return texts.filter { $0.path.hasPrefix(prefix) && $0.path.hasSuffix(".swift") }
                    .reduce(0) { $0 + expression.hits($1.text) }
            case .comments(let pattern):
                let expression = try NSRegularExpression(pattern: pattern)
                return blocks.count { expression.hits($0) > 0 }
            }
        }
    }
}

extension NSRegularExpression {
    fileprivate func hits(_ text: String) -> Int {
        numberOfMatches(in: text, range: NSRange(text.startIndex..., in: text))
    }
}
