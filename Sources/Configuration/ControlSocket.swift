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
