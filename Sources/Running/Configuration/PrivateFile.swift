// SPDX-License-Identifier: Apache-2.0
import Glibc
package import Terminal
import Threading

/// Writes files that only their owner may read, unless another mode is given.
package enum PrivateFile {
    /// Replaces the file's contents. The file has `mode`, by default 0600, before anything is written to it, whatever mode it had.
    package static func write(_ bytes: [UInt8], to path: String, mode: UInt32 = 0o600) throws(CommandFailure) {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        // Only a regular file gets the mode: a device such as /dev/stdout keeps its own.
        var status = stat()
        if unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o777 != mode {
            guard fchmod(descriptor, mode) == 0 else { throw failure(path) }
        }
        try append(bytes, to: descriptor, of: path)
    }

    /// Writes all bytes to an open file.
    package static func append(_ bytes: [UInt8], to descriptor: CInt, of path: String) throws(CommandFailure) {
        guard WholeFile.append(bytes, to: descriptor) else { throw failure(path) }
    }

    /// The failure to write the file, with the `errno` of the preceding call.
    package static func failure(_ path: String) -> CommandFailure {
        CommandFailure(.failed, "\(path) cannot be written: \(unsafe String(cString: strerror(errno)))")
    }
}
