// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayEngine
import WireFormat

/// The record of accepted pushes: one JSON object a line. Lines gather in memory and are written before the answers to
/// their pushes are, so that whatever a client was told is on record even if the client dies.
struct PushRecord: ~Copyable {
    private let file: Descriptor
    private var lines = JSONWriter()

    /// Appends to `path`; device tokens are in it, so only the owner may read it.
    init(path: String) throws {
        let flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC
        file = try unsafe Descriptor(open(path, flags, 0o600), or: "the record \(path) cannot be written")
    }

    /// - Parameters:
    ///   - now: milliseconds since 1970.
    ///   - own: the service's own members.
    mutating func add(payload: [UInt8], connection: UInt64, now: Int64, _ own: (inout JSONWriter) -> Void) {
        lines.object { line in
            line.member("at", Timestamp(milliseconds: now))
            line.name("connection")
            line.integer(Int64(connection))
            own(&line)
            line.name("payload")
            // Line breaks in valid JSON stand only between tokens, where a space does as well.
            line.raw(payload.map { $0 == 0x0a || $0 == 0x0d ? 0x20 : $0 })
        }
        lines.newLine()
    }

    /// Writes what has gathered. Nil, or why it could not be: the lines are dropped then.
    mutating func flush() -> String? {
        guard !lines.bytes.isEmpty else { return nil }
        let worked = WholeFile.append(lines.bytes, to: file.number)
        let text = worked ? nil : SimulatorError.system("the record cannot be written").description
        lines.reset()
        return text
    }
}
