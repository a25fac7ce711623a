// SPDX-License-Identifier: Apache-2.0
package import Glibc
package import Terminal
import Threading

/// The directories that the daemon keeps its files in. systemd makes them for the service (`StateDirectory=`,
/// `RuntimeDirectory=`); started by hand, the daemon makes them itself.
package enum OwnDirectory {
    /// Makes the directory that `file` lies in, unless it is there. Not those above it: a path without them is more likely
    /// mistyped than meant.
    package static func make(for file: String, mode: mode_t) throws(CommandFailure) {
        let directory = FileProbe.directory(of: file)
        // Asked first: mkdir(2) of what is there fails with EROFS too, where the file system is read-only.
        guard unsafe access(directory, F_OK) != 0, unsafe mkdir(directory, mode) != 0 else { return }
        let code = errno
        throw CommandFailure(
            .failed, "the directory \(directory) cannot be made: \(SystemError.text(code))",
            hint: code == ENOENT
                ? "make the directories above it first, or choose another place for \(file)"
                : "make it for the user that the relay runs as, or choose another place for \(file)")
    }
}
