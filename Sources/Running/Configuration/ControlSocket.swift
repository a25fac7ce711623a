// SPDX-License-Identifier: Apache-2.0
import Terminal
import WireFormat

/// The place of the daemon's control socket, as far as the configuration can be used.
package struct ControlSocket: Sendable, Equatable {
    package var path: String
    /// One line: why the configuration cannot be used, and which socket is used instead. nil: it can be used, or there is no
    /// file at the default place.
    package var remark: String?

    package init(path: String, remark: String? = nil) {
        self.path = path
        self.remark = remark
    }
}

extension ConfigurationFile {
    /// The place of the socket, even where the configuration has faults, so that commands still reach the daemon: the socket
    /// that the file names, else the default.
    ///
    /// - Parameter isNamed: whether the user named the file; then a missing one is worth a remark.
    package func controlSocket(isNamed: Bool) -> ControlSocket {
        do throws(ConfigurationError) {
            return ControlSocket(path: try load().listen.controlSocket)
        } catch {
            let files = [path] + ((try? ConfigurationParts.files(beside: path)) ?? [])
            let named = files.compactMap { file in
                (try? FileProbe.read(file, limit: Self.largest)).flatMap(ControlSocketText.path)
            }.last
            let socket = named ?? ListenConfiguration.defaultControlSocket
            if !isNamed, !exists { return ControlSocket(path: socket) }
            let which = named == nil ? "the default control socket" : "the control socket that it names"
            return ControlSocket(
                path: socket,
                remark: "the configuration \(path) cannot be used (\(Self.brief(error))); using \(which), \(socket)")
        }
    }

    /// Whether the file exists.
    package var exists: Bool { FileProbe.exists(path) }

    /// The first fault in one line, and the number of the others.
    private static func brief(_ error: ConfigurationError) -> String {
        let first = error.faults.first.map { "\($0)" } ?? "it is invalid"
        let more = error.faults.count - 1
        return DisplayWidth.sanitised(first.split(separator: "\n").joined(separator: " "))
            + (more > 0 ? ", and \(more) more" : "")
    }
}

/// Finds the control socket in the text of a configuration that may be broken: a user who must pause a campaign need not repair
/// a bracket first. Pure.
///
/// It reads words, texts and colons, skips comments, and ignores the nesting of objects. Where the name occurs more than once
/// the last one counts, as in JSON5.
enum ControlSocketText {
    static func path(in file: [UInt8]) -> String? {
        let bytes = (try? TextFile.utf8(file)) ?? file
        // A comment; a quoted text, which ends with its line at the latest, so that a missing quote does not swallow the next
        // line; a name; any other sign.
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
