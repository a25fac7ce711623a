// SPDX-License-Identifier: Apache-2.0
import Glibc
package import Terminal
import Threading

/// Writes files that nobody else may read.
package enum PrivateFile {
    /// Replaces the file's contents; a new file gets the mode 0600 before anything is in it.
    package static func write(_ bytes: [UInt8], to path: String, mode: UInt32 = 0o600) throws(CommandFailure) {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        try append(bytes, to: descriptor, of: path)
    }

    /// Writes all of it to a file that is open.
    package static func append(_ bytes: [UInt8], to descriptor: CInt, of path: String) throws(CommandFailure) {
        guard WholeFile.append(bytes, to: descriptor) else { throw failure(path) }
    }

    /// That the call before could not write it, by `errno`.
    package static func failure(_ path: String) -> CommandFailure {
        CommandFailure(.failed, "\(path) cannot be written: \(unsafe String(cString: strerror(errno)))")
    }
}
