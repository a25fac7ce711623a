// SPDX-License-Identifier: Apache-2.0
import APIModel
import Terminal
import WireFormat

/// Takes the daemon's backup apart: lines of JSON that tell how far the copy is, one with its size, then the copy. Pure:
/// bytes in, what they mean out.
struct BackupReader {
    enum Event: Equatable {
        case progress(done: Int64, total: Int64)
        case size(Int64)
        case data([UInt8])
    }

    private var line: [UInt8] = []
    /// Bytes of the copy that are still to come; nil while there are lines.
    private(set) var left: Int64?

    /// Whether the whole copy has come.
    var isWhole: Bool { left == 0 }

    /// - Throws: `CommandFailure`: what the daemon said went wrong, or that this is no backup.
    mutating func feed(_ bytes: [UInt8]) throws -> [Event] {
        var events: [Event] = []
        var rest = bytes[...]
        while left == nil, let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            line += rest[..<end]
            rest = rest[(end + 1)...]
            defer { line.removeAll() }
            if let event = try event() { events.append(event) }
        }
        guard let left else {
            line += rest
            if line.count > 4096 { throw Self.notABackup }
            return events
        }
        guard Int64(rest.count) <= left else { throw Self.notABackup }
        self.left = left - Int64(rest.count)
        if !rest.isEmpty { events.append(.data(Array(rest))) }
        return events
    }

    private mutating func event() throws -> Event? {
        if line.isEmpty { return nil }
        guard let json = try? JSONReader.read(line) else { throw Self.notABackup }
        if let error = json[.error]?.string {
            throw CommandFailure(.failed, "the daemon could not make the backup: \(DisplayWidth.sanitised(error))")
        }
        if let done = json[.done]?.integer, let total = json[.total]?.integer {
            return .progress(done: done, total: total)
        }
        guard let size = json[.size]?.integer, size >= 0 else { throw Self.notABackup }
        left = size
        return .size(size)
    }

    private static let notABackup = CommandFailure(
        .failed, "the daemon's answer is not a backup", hint: "is it of the same release as this command?")
}
