// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Files as a whole, by the system's own calls.
package enum WholeFile {
    package enum Problem: Error, CustomStringConvertible {
        /// With its `errno`.
        case system(Int32)
        case notRegular
        /// The size in bytes, or the number that was read.
        case tooLarge(Int)

        package var description: String {
            switch self {
            case .system(let number): SystemError.text(number)
            case .notRegular: "not a regular file"
            case .tooLarge(let size): "it has \(size) bytes, more than are read"
            }
        }
    }

    /// All bytes of a regular file.
    package static func read(_ path: String, limit: Int) throws(Problem) -> [UInt8] {
        // O_NONBLOCK: opening a FIFO without a writer would wait for ever otherwise (open(2)).
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw .system(errno) }
        defer { close(file) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0 else { throw .system(errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegular }
        guard status.st_size <= limit else { throw .tooLarge(status.st_size) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        // Another program may be writing to it.
        while bytes.count <= limit {
            let count = unsafe Glibc.read(file, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .system(errno) }
            if count == 0 { return bytes }
            bytes += piece[..<count]
        }
        throw .tooLarge(bytes.count)
    }

    /// Writes all of it; false, with `errno` set, where that fails.
    package static func append(_ bytes: [UInt8], to file: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
