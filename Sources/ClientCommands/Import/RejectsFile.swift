// SPDX-License-Identifier: Apache-2.0
import Configuration
import Foundation
import Terminal
import Threading

/// The lines that an import refused, as they stood in its file and behind the same header, to be mended and imported. For its
/// owner alone: it holds tokens and telephones. Where nothing is refused there is none.
final class RejectsFile {
    private let path: String
    private var descriptor: CInt
    private var buffer: [UInt8] = []
    private var isEmpty = true

    /// Makes the file before anything is sent, so that one that cannot be written is no surprise at the end.
    ///
    /// - Parameter input: which must not be the same file.
    init(_ path: String, input: InputFile) throws(CommandFailure) {
        self.path = path
        descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CommandFailure(.failed, "\(path) cannot be written: \(SystemError.text(errno))")
        }
        var (own, other) = (stat(), stat())
        guard unsafe fstat(descriptor, &own) == 0, unsafe fstat(input.descriptor, &other) == 0 else {
            throw CommandFailure(.failed, "\(path) cannot be read: \(SystemError.text(errno))")
        }
        if own.st_dev == other.st_dev, own.st_ino == other.st_ino {
            throw CommandFailure(.failed, "\(path) is the file that is imported", hint: "name another for --rejects")
        }
        if own.st_mode & S_IFMT == S_IFREG, ftruncate(descriptor, 0) != 0 || fchmod(descriptor, 0o600) != 0 {
            throw CommandFailure(.failed, "\(path) cannot be written: \(SystemError.text(errno))")
        }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// - Parameter preamble: what the file must begin with.
    func append(_ lines: [RefusedLine], after preamble: [UInt8]) throws(CommandFailure) {
        for line in lines {
            guard let raw = line.raw else { continue }
            if isEmpty { buffer += preamble }
            isEmpty = false
            buffer += raw
            buffer.append(0x0A)
            if buffer.count >= 1 << 16 { try flush() }
        }
    }

    /// - Returns: whether there is a file now.
    func finish() throws(CommandFailure) -> Bool {
        try flush()
        var status = stat()
        if isEmpty, unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG { unsafe unlink(path) }
        let result = close(descriptor)
        descriptor = -1
        guard result == 0 else {
            throw CommandFailure(.failed, "\(path) cannot be written: \(SystemError.text(errno))")
        }
        return !isEmpty
    }

    private func flush() throws(CommandFailure) {
        defer { buffer = [] }
        if !buffer.isEmpty { try PrivateFile.append(buffer, to: descriptor, of: path) }
    }
}
