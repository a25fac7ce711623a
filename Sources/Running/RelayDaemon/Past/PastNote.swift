// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayStore
import Threading

/// A file beside the store, or in the service's own directory, that keeps the store's last known position. A copy of the
/// store that is put in its place later does not bring this file along.
struct PastNote: Sendable {
    let path: String

    /// - Returns: nil where the file is missing or cannot be read: the position is then unknown.
    func read() -> StoreMark? {
        guard let file = unsafe fopen(path, "re") else { return nil }
        defer { unsafe fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = unsafe fread(&bytes, 1, bytes.count, file)
        return Self.mark(String(decoding: bytes.prefix(count), as: UTF8.self))
    }

    static func mark(_ text: String) -> StoreMark? {
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count == 4, let decision = Int64(words[1]), let recorded = Int64(words[3]) else { return nil }
        return StoreMark(identity: String(words[0]), decision: decision, sign: String(words[2]), recorded: recorded)
    }

    static func text(_ mark: StoreMark) -> String {
        "\(mark.identity) \(mark.decision) \(mark.sign) \(mark.recorded)\n"
    }

    /// Writes all of it or nothing, even if the power fails (rename(2), fsync(2)).
    ///
    /// - Throws: `SystemError`.
    func write(_ mark: StoreMark) throws {
        let partial = path + ".new"
        let descriptor = unsafe open(partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SystemError("open", errno: errno) }
        var isWritten = WholeFile.append(Array(Self.text(mark).utf8), to: descriptor) && fsync(descriptor) == 0
        let code = errno
        close(descriptor)
        guard isWritten else { throw SystemError("write", errno: code) }
        isWritten = unsafe rename(partial, path) == 0
        guard isWritten else { throw SystemError("rename", errno: errno) }
        let slash = path.lastIndex(of: "/") ?? path.startIndex
        let folder = unsafe open(slash == path.startIndex ? "." : String(path[..<slash]), O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }
}
