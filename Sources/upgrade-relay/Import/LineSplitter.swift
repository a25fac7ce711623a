// SPDX-License-Identifier: Apache-2.0

/// Cuts a stream of bytes into lines; ends are LF or CR LF. Pure.
struct LineSplitter: Sendable {
    private var rest: [UInt8] = []

    /// The lines that `bytes` completes, without their ends.
    mutating func feed(_ bytes: [UInt8]) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        var start = bytes.startIndex
        while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
            lines.append(Self.line(rest + bytes[start..<end]))
            rest.removeAll(keepingCapacity: true)
            start = end + 1
        }
        rest += bytes[start...]
        return lines
    }

    /// What follows the last line end; nil where nothing does.
    mutating func finish() -> [UInt8]? {
        defer { rest = [] }
        return rest.isEmpty ? nil : Self.line(rest)
    }

    private static func line(_ bytes: [UInt8]) -> [UInt8] {
        bytes.last == UInt8(ascii: "\r") ? Array(bytes.dropLast()) : bytes
    }
}
