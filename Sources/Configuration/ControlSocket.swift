// SPDX-License-Identifier: Apache-2.0
import Terminal
import WireFormat

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
/// It reads words, texts and colons, passes over comments, and knows nothing of objects. Where the name stands more than once
/// the last one counts, as in JSON5.
enum ControlSocketText {
    static func path(in file: [UInt8]) -> String? {
        let bytes = (try? TextFile.utf8(file)) ?? file
        // A comment; a text, which ends with its line at the latest, so that a missing quote takes nothing of the next one
        // with it; a name; any other sign.
        let piece = #///[^\n]*|/\*(?s:.*?)(?:\*/|\z)|(["'])(?<text>(?:\\.|(?!\1).)*)\1?|[\w$]+|\S/#
        var last: [Substring] = []
        var found: String?
        for match in String(decoding: bytes, as: UTF8.self).matches(of: piece) {
            let (whole, text) = (match.output.0, match.output.text)
            if whole.hasPrefix("//") || whole.hasPrefix("/*") { continue }
            if last == ["controlSocket", ":"], let text, text.hasPrefix("/") { found = String(text) }
            last = last.suffix(1) + [text ?? whole]
        }
        return found
    }
}
