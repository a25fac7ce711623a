// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import WireFormat

/// The Chinese of the relay's reasons, which are English in the log, the API and the store.
///
/// A reason is stored as a sentence, so it is translated by its pattern: the table has the English sentence with a place, "%", for
/// each value, and the Chinese one with the same places in order, or with "%2" for the second value. A value may be a reason itself,
/// and is translated as well. A text of another program stays as it is. Pure; any thread.
enum ReasonText {
    /// The English patterns with their Chinese. Tests hold the table to every reason in the sources.
    static let patterns: [String: String] = [
        waits, stores, services, appleService, googleService, faults, refusals, users,
    ].reduce(
        into: [:]) {
            all, some in all.merge(some) { first, _ in first }
        }

    /// An English pattern, cut at its places.
    private struct Pattern: Sendable {
        let pieces: [String]
        let chinese: String
        /// The bytes that are not places: a pattern with more of them says more, and is tried first.
        let weight: Int

        init(_ english: String, _ chinese: String) {
            pieces = english.split(separator: "%", maxSplits: 31, omittingEmptySubsequences: false).map(String.init)
            self.chinese = chinese
            weight = pieces.reduce(0) { $0 + $1.utf8.count }
        }

        /// The values in the places; nil: the text is not of this pattern. Each value is as short as it can be.
        func values(in text: String) -> [Substring]? {
            guard text.utf8.count >= weight, let first = pieces.first, let last = pieces.last, text.hasPrefix(first)
            else { return nil }
            guard pieces.count > 1 else { return text == first ? [] : nil }
            guard text.hasSuffix(last) else { return nil }
            var rest = text[text.index(text.startIndex, offsetBy: first.count)...]
            rest = rest.dropLast(last.count)
            var values: [Substring] = []
            for piece in pieces.dropFirst().dropLast() {
                // Two places side by side: the first one takes nothing.
                guard !piece.isEmpty else {
                    values.append(rest.prefix(0))
                    continue
                }
                guard let found = rest.firstRange(of: piece) else { return nil }
                values.append(rest[..<found.lowerBound])
                rest = rest[found.upperBound...]
            }
            return values + [rest]
        }
    }

    private static let sorted = patterns.map { Pattern($0.key, $0.value) }.sorted {
        ($0.weight, $1.chinese) > ($1.weight, $0.chinese)
    }

    /// No reason of the relay is longer; a longer text is not looked at.
    private static let longest = 4096
    /// A reason of more parts has a stranger's text in it: what follows stays one part.
    private static let mostParts = 15
    /// Reasons lie in each other no deeper.
    private static let deepest = 5

    /// The text in Chinese; nil: it is of no known pattern.
    static func chinese(_ english: String) -> String? {
        english.utf8.count <= longest ? chinese(english, depth: 0) : nil
    }

    private static func chinese(_ english: String, depth: Int) -> String? {
        guard depth < deepest, english.utf8.contains(where: { ($0 | 0x20) &- 0x61 < 26 }) else { return nil }
        for pattern in sorted {
            guard let values = pattern.values(in: english) else { continue }
            return filled(pattern.chinese, values.map { chinese(String($0), depth: depth + 1) ?? String($0) })
        }
        return listed(english, depth)
    }

    /// Reasons that stand one after the other.
    private static func listed(_ english: String, _ depth: Int) -> String? {
        for (mark, chineseMark) in [("; ", "；"), (". ", "。")] {
            let parts = english.split(separator: mark, maxSplits: mostParts, omittingEmptySubsequences: false)
                .map(String.init)
            guard parts.count > 1 else { continue }
            let known = parts.map { chinese($0, depth: depth + 1) }
            guard known.contains(where: { $0 != nil }) else { continue }
            return zip(parts, known).map { $1 ?? $0 }.joined(separator: chineseMark)
        }
        // A fault behind the name of its field.
        if let colon = english.firstRange(of: ": "), !english[..<colon.lowerBound].contains(" "),
            let rest = chinese(String(english[colon.upperBound...]), depth: depth + 1)
        {
            return "\(english[..<colon.lowerBound])：\(rest)"
        }
        // Words that stand in a choice, where all of them are known.
        let choices = english.split(separator: " or ", maxSplits: mostParts)
        let words = choices.compactMap { chinese(String($0), depth: depth + 1) }
        return choices.count > 1 && words.count == choices.count ? words.joined(separator: " 或 ") : nil
    }

    /// Puts the values into "%", in order, and into "%1", "%2", ….
    private static func filled(_ pattern: String, _ values: [String]) -> String {
        var (text, next) = ("", 0)
        var rest = pattern[...]
        while let place = rest.firstIndex(of: "%") {
            text += rest[..<place]
            rest = rest[rest.index(after: place)...]
            if let digit = rest.first?.wholeNumberValue, rest.first?.isASCII == true, digit > 0 {
                rest = rest.dropFirst()
                text += digit <= values.count ? values[digit - 1] : ""
            } else {
                text += next < values.count ? values[next] : "%"
                next += 1
            }
        }
        return text + rest
    }
}

extension PageLanguage {
    /// A reason of the relay in this language.
    ///
    /// - Returns: the text, and whether it is still English although the page is not.
    func reason(_ english: String) -> (text: String, isForeign: Bool) {
        guard self == .chinese else { return (Self.withoutCode(english), false) }
        // A single word is a version, a name or a code.
        return ReasonText.chinese(english).map { ($0, false) } ?? (english, english.contains(" "))
    }

    /// A reason without the word by which programs know it. A push service's own word stays: people look for it.
    private static func withoutCode(_ reason: String) -> String {
        guard reason.hasPrefix("WaveDone: ") || reason.hasPrefix("WaveFailed: ") else { return reason }
        return String(reason.drop { $0 != " " }.dropFirst())
    }
}

extension View {
    /// A reason of the relay, with its moments in the reader's zone and its commands as such.
    func reason(_ html: inout HTML, _ english: String) {
        let (text, isForeign) = language.reason(english)
        html.tag("bdi", isForeign ? [.named("lang", "en")] : []) { $0.sentence(text) }
    }
}

extension HTML {
    /// A text with moments as RFC 3339 writes them, which become moments of the page, and with code between backticks.
    mutating func sentence(_ sentence: String) {
        var rest = sentence[...]
        for found in sentence.matches(of: /`([^`]+)`|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/) {
            text(String(rest[..<found.range.lowerBound]))
            rest = sentence[found.range.upperBound...]
            if let code = found.output.1 {
                tag("code", text: String(code))
            } else if let moment = Timestamp(internetTime: String(found.output.0)) {
                time(moment)
            } else {
                text(String(found.output.0))
            }
        }
        text(String(rest))
    }
}
