// SPDX-License-Identifier: Apache-2.0

/// The sentences in a Swift source, with "%" for each value: literals that are put together with "+" are one, and a part that is no
/// literal is a value. Texts for the log and for the API's document are left out.
struct SourceSentences {
    private let bytes: [Character]
    private var found: [String] = []

    static func of(_ source: String) -> [String] {
        var scan = SourceSentences(bytes: Array(source))
        scan.walk()
        return scan.found.filter { $0.contains(/[a-z]{2,}[,;:.'"%]* [^ ]*[a-z%]/) }
    }

    private init(bytes: [Character]) { self.bytes = bytes }

    private func at(_ place: Int) -> Character { place < bytes.count ? bytes[place] : "\n" }

    private func starts(_ text: String, _ place: Int) -> Bool {
        place + text.count <= bytes.count && bytes[place..<place + text.count].elementsEqual(text)
    }

    private func lineEnd(_ place: Int) -> Int { bytes[place...].firstIndex(of: "\n") ?? bytes.count }

    private static let leftOut = ["log(", "precondition(", "preconditionFailure(", "assert("]

    private mutating func walk() {
        var place = 0
        while place < bytes.count {
            if starts("//", place) {
                place = lineEnd(place)
            } else if at(place) == "\"" {
                place = literal(place, isKept: true)
            } else if let call = call(place) {
                place = balanced(call, isKept: false)
            } else {
                place += 1
            }
        }
    }

    /// The opening parenthesis of a call whose texts are left out.
    private func call(_ place: Int) -> Int? {
        guard place == 0 || !(at(place - 1).isLetter || "_.".contains(at(place - 1))) else { return nil }
        if let name = Self.leftOut.first(where: { starts($0, place) }) { return place + name.count - 1 }
        guard starts("Shape<", place) else { return nil }
        return bytes[place...].firstIndex(of: "(")
    }

    /// Behind the bracket that closes the one at `start`.
    private mutating func balanced(_ start: Int, isKept: Bool) -> Int {
        var (depth, place) = (0, start)
        while place < bytes.count {
            switch at(place) {
            case "/" where starts("//", place):
                place = lineEnd(place)
                continue
            case "\"":
                place = literal(place, isKept: isKept)
                continue
            case "(", "[", "{": depth += 1
            case ")", "]", "}":
                depth -= 1
                if depth == 0 { return place + 1 }
            default: break
            }
            place += 1
        }
        return place
    }

    /// One literal, from its opening quote.
    private mutating func one(_ start: Int, isKept: Bool) -> (text: String, end: Int) {
        var (text, place) = ("", start + 1)
        while place < bytes.count, at(place) != "\"" {
            guard at(place) == "\\" else {
                text.append(at(place))
                place += 1
                continue
            }
            switch at(place + 1) {
            case "(":
                text += "%"
                place = balanced(place + 1, isKept: isKept)
            case "u":
                let end = bytes[place...].firstIndex(of: "}") ?? place
                text.append(
                    UInt32(String(bytes[(place + 3)..<end]), radix: 16).flatMap(Unicode.Scalar.init).map(Character.init)
                        ?? "?")
                place = end + 1
            default:
                text.append(at(place + 1) == "n" ? "\n" : at(place + 1))
                place += 2
            }
        }
        return (text, place + 1)
    }

    private func afterSpace(_ start: Int) -> Int {
        var place = start
        while place < bytes.count {
            if at(place).isWhitespace {
                place += 1
            } else if starts("//", place) {
                place = lineEnd(place)
            } else {
                break
            }
        }
        return place
    }

    /// A literal with all that "+" puts to it; returns the place behind it.
    private mutating func literal(_ start: Int, isKept: Bool) -> Int {
        var (text, end) = one(start, isKept: isKept)
        if bytes[..<start].last(where: { !$0.isWhitespace }) == "+" { text = "%" + text }
        while true {
            var place = afterSpace(end)
            guard at(place) == "+", at(place + 1) != "=" else { break }
            place = afterSpace(place + 1)
            if at(place) == "\"" {
                let more = one(place, isKept: isKept)
                text += more.text
                end = more.end
                continue
            }
            text += "%"
            while place < bytes.count, !"+,;)]}\n?:".contains(at(place)) {
                if "([{".contains(at(place)) {
                    place = balanced(place, isKept: isKept)
                } else if at(place) == "\"" {
                    place = literal(place, isKept: isKept)
                } else {
                    place += 1
                }
            }
            end = place
        }
        if isKept { found.append(text) }
        return end
    }
}
