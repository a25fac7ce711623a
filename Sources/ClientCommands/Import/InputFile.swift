// SPDX-License-Identifier: Apache-2.0
import Foundation
import Terminal
import Threading

/// A file or standard input, read piece by piece.
final class InputFile {
    private static let piece = 256 * 1024

    /// In bytes; nil where it is not a regular file.
    let size: Int64?
    private(set) var consumed: Int64 = 0
    let descriptor: CInt
    private let name: String

    /// - Parameter path: a path, or "-" for standard input.
    /// - Throws: `CommandFailure` where it cannot be opened.
    init(_ path: String) throws {
        name = path == "-" ? "standard input" : path
        descriptor = path == "-" ? STDIN_FILENO : unsafe open(path, O_RDONLY | O_CLOEXEC)
        var status = stat()
        guard descriptor >= 0, unsafe fstat(descriptor, &status) == 0 else {
            throw CommandFailure(.failed, "\(path) cannot be read: \(SystemError.text(errno))")
        }
        if status.st_mode & S_IFMT == S_IFDIR { throw CommandFailure(.failed, "\(path) is a directory") }
        size = status.st_mode & S_IFMT == S_IFREG ? Int64(status.st_size) : nil
    }

    deinit {
        if descriptor > STDERR_FILENO { close(descriptor) }
    }

    /// The next piece; empty at the end. Waits for a pipe no longer than until `isInterrupted`, and is empty then.
    func read(unless isInterrupted: () -> Bool = { false }) throws -> [UInt8] {
        while true {
            if size == nil {
                var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                while unsafe poll(&wanted, 1, 200) == 0 { if isInterrupted() { return [] } }
            }
            var failure: CInt = 0
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Self.piece) { buffer, count in
                let result = unsafe Foundation.read(descriptor, buffer.baseAddress, buffer.count)
                failure = result < 0 ? errno : 0
                count = max(0, result)
            }
            if failure == EINTR { continue }
            guard failure == 0 else {
                throw CommandFailure(.failed, "\(name) cannot be read: \(SystemError.text(failure))")
            }
            consumed += Int64(bytes.count)
            return bytes
        }
    }
}
