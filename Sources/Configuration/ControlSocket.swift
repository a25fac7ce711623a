// SPDX-License-Identifier: Apache-2.0
import Terminal

/// Where the daemon's control socket is, as far as the configuration can be used.
package struct ControlSocket: Sendable, Equatable {
    package var path: String
    /// One line: that the configuration cannot be used, why, and which socket is used instead. nil: it can, or there is
    /// none at the usual place.
    package var remark: String?

    package init(path: String, remark: String? = nil) {
        self.path = path
        self.remark = remark
    }
}

extension ConfigurationFile {
    /// What stops the daemon must not need a file without faults: where it has some, the socket that it names is used all
    /// the same, else the default.
    ///
    /// - Parameter isNamed: whether somebody named the file; then one that is not there is worth a remark.
    package func controlSocket(isNamed: Bool) -> ControlSocket {
        do throws(ConfigurationError) {
            return ControlSocket(path: try load().listen.controlSocket)
        } catch {
            let bytes = try? FileProbe.read(path, limit: Self.largest)
            let named = bytes.flatMap(ControlSocketText.path)
            let socket = named ?? ListenConfiguration.defaultControlSocket
            if !isNamed, !exists { return ControlSocket(path: socket) }
            let which = named == nil ? "the default control socket" : "the control socket that it names"
            return ControlSocket(
                path: socket,
                remark: "the configuration \(path) cannot be used (\(Self.brief(error))); using \(which), \(socket)")
        }
    }

    /// Whether something is there.
    package var exists: Bool { FileProbe.exists(path) }

    /// The first fault in one line, and how many there are beside it.
    private static func brief(_ error: ConfigurationError) -> String {
        let first = error.faults.first.map { "\($0)" } ?? "it is invalid"
        let more = error.faults.count - 1
        return DisplayWidth.sanitised(first.split(separator: "\n").joined(separator: " "))
            + (more > 0 ? ", and \(more) more" : "")
    }
}

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
