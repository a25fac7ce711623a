// SPDX-License-Identifier: Apache-2.0
package import Glibc
package import Terminal
import Threading

/// The directories of the daemon's files. systemd makes them for the service (`StateDirectory=`, `RuntimeDirectory=`); a daemon
/// that is started by hand makes them itself.
package enum OwnDirectory {
    /// Makes the directory of `file`, unless it exists. It does not make those above it: a path without them is probably
    /// mistyped.
    package static func make(for file: String, mode: mode_t) throws(CommandFailure) {
        let directory = FileProbe.directory(of: file)
        // Checked first: on a read-only file system mkdir(2) fails with EROFS for an existing directory too.
        guard unsafe access(directory, F_OK) != 0, unsafe mkdir(directory, mode) != 0 else { return }
        let code = errno
        throw CommandFailure(
            .failed, "the directory \(directory) cannot be made: \(SystemError.text(code))",
            hint: code == ENOENT
                ? "make the directories above it first, or choose another place for \(file)"
                : "make it for the user that the relay runs as, or choose another place for \(file)")
    }
}
