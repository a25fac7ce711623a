// SPDX-License-Identifier: Apache-2.0
import Glibc
import Terminal

/// The lines that an import refused, as they stood in its file and behind the same header, to be corrected and imported. Only
/// its owner may read it: it holds tokens and telephones. Where nothing is refused there is no file.
final class RejectsFile {
    private let file: BackupFile
    private var buffer: [UInt8] = []
    private var isEmpty = true

    /// Creates the file before anything is sent, so that a failure to write it shows early.
    ///
    /// - Parameter input: the input, which must not be the same file.
    init(_ path: String, input: InputFile) throws(CommandFailure) {
        file = try BackupFile(path, replaces: true)
        var (own, other) = (stat(), stat())
        if unsafe stat(path, &own) == 0, unsafe fstat(input.descriptor, &other) == 0, own.st_dev == other.st_dev,
            own.st_ino == other.st_ino
        {
            throw CommandFailure(.failed, "\(path) is the file that is imported", hint: "name another for --rejects")
        }
        try file.create()
    }

    /// - Parameter preamble: the bytes with which the file must begin.
    func append(_ lines: [RefusedLine], after preamble: [UInt8]) throws(CommandFailure) {
        for line in lines {
            guard let raw = line.raw else { continue }
            if isEmpty { buffer += preamble }
            isEmpty = false
            buffer += raw + [0x0A]
            if buffer.count >= 1 << 16 { try flush() }
        }
    }

    /// - Returns: whether there is a file now.
    func finish() throws(CommandFailure) -> Bool {
        guard !isEmpty else {
            // The file of an earlier import is obsolete: nothing is refused any more.
            _ = unsafe unlink(file.path)
            return false
        }
        try flush()
        try file.finish()
        return true
    }

    private func flush() throws(CommandFailure) {
        try file.append(buffer)
        buffer = []
    }
}
