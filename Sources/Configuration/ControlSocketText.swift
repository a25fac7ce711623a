// SPDX-License-Identifier: Apache-2.0

/// Finds the control socket in the text of a configuration that may be broken: who wants to pause a campaign must not
/// have to mend a bracket first. Pure.
///
/// It reads words, strings and colons, passes over comments, and knows nothing of objects. Where the name stands more than
/// once the last one counts, as in JSON5.
enum ControlSocketText {
    private enum Piece: Equatable {
        /// A name, or a string.
        case word(String)
        case colon
        case other
    }

    static func path(in bytes: [UInt8]) -> String? {
        var rest = Array(String(decoding: bytes, as: UTF8.self).unicodeScalars)[...]
        var last: [Piece] = []
        var found: String?
        while let piece = next(&rest) {
            last = last.suffix(2) + [piece]
            guard last.count == 3, last[0] == .word("controlSocket"), last[1] == .colon else { continue }
            if case .word(let path) = last[2], path.hasPrefix("/") { found = path }
        }
        return found
    }

    /// nil at the end of the text.
    private static func next(_ rest: inout ArraySlice<Unicode.Scalar>) -> Piece? {
        while let first = rest.popFirst() {
            switch first {
            case "/" where rest.first == "/": rest = rest.drop { $0 != "\n" }
            case "/" where rest.first == "*": skipComment(&rest)
            case "\"", "'": return .word(string(&rest, closedBy: first))
            case ":": return .colon
            case _ where first.properties.isWhitespace: break
            case _ where isOfName(first):
                let more = rest.prefix(while: isOfName)
                rest = rest.dropFirst(more.count)
                return .word(String(String.UnicodeScalarView([first] + more)))
            default: return .other
            }
        }
        return nil
    }

    private static func isOfName(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isAlphabetic || scalar.properties.numericType != nil || scalar == "_" || scalar == "$"
    }

    private static func skipComment(_ rest: inout ArraySlice<Unicode.Scalar>) {
        var before: Unicode.Scalar?
        rest = rest.dropFirst()
        while let scalar = rest.popFirst() {
            if before == "*", scalar == "/" { return }
            before = scalar
        }
    }

    /// To the quote or the line's end: a string whose quote is missing takes nothing of the next line with it.
    private static func string(_ rest: inout ArraySlice<Unicode.Scalar>, closedBy quote: Unicode.Scalar) -> String {
        var text = String.UnicodeScalarView()
        while let scalar = rest.popFirst(), scalar != quote, scalar != "\n" {
            if scalar == "\\", let escaped = rest.popFirst() {
                text.append(escaped)
            } else {
                text.append(scalar)
            }
        }
        return String(text)
    }
}
