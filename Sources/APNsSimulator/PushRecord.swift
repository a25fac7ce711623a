// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The record of accepted pushes: one JSON object a line. Lines gather in memory and are written before the answers to
/// their pushes are, so that whatever a client was told is on record even if the client dies.
struct PushRecord: ~Copyable {
    private let file: Descriptor
    private var lines: [UInt8] = []
    private var clock = InstantText()

    /// Appends to `path`; device tokens are in it, so only the owner may read it.
    init(path: String) throws {
        let flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC
        file = try unsafe Descriptor(open(path, flags, 0o600), or: "the record \(path) cannot be written")
    }

    /// `now` in milliseconds since 1970.
    mutating func add(
        _ headers: borrowing RequestHeaders, id: String, payload: [UInt8], connection: UInt64, now: Int64
    ) {
        lines += #"{"at":""#.utf8
        clock.append(now, to: &lines)
        lines += #"","connection":"#.utf8
        lines += String(connection).utf8
        lines += #","apnsId":"#.utf8
        appendText(Array(id.utf8)[...])
        lines += #","token":"#.utf8
        appendText(headers.deviceToken ?? [])
        lines += #","topic":"#.utf8
        appendText(headers[.topic] ?? [])
        lines += #","headers":{"#.utf8
        var isFirst = true
        for header in [KnownHeader.pushType, .priority, .expiration, .collapseID] {
            guard let value = headers[header] else { continue }
            if !isFirst { lines.append(UInt8(ascii: ",")) }
            isFirst = false
            appendText(Array(header.name.description.utf8)[...])
            lines.append(UInt8(ascii: ":"))
            appendText(value)
        }
        lines += #"},"payload":"#.utf8
        // Line breaks in valid JSON stand only between tokens, where a space does as well.
        for byte in payload { lines.append(byte == 0x0a || byte == 0x0d ? 0x20 : byte) }
        lines += "}\n".utf8
    }

    private mutating func appendText(_ text: ArraySlice<UInt8>) {
        lines.append(UInt8(ascii: "\""))
        // A header value may hold any byte above 0x7f (RFC 9110 section 5.5); JSON has to be UTF-8.
        let isASCII = text.allSatisfy { $0 < 0x80 }
        for byte in isASCII ? text : Array(String(decoding: text, as: UTF8.self).utf8)[...] {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                lines.append(UInt8(ascii: "\\"))
                lines.append(byte)
            case 0..<0x20: lines += "\\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8
            default: lines.append(byte)
            }
        }
        lines.append(UInt8(ascii: "\""))
    }

    /// Writes what has gathered. Nil, or why it could not be: the lines are dropped then.
    mutating func flush() -> String? {
        guard !lines.isEmpty else { return nil }
        let worked = WholeFile.append(lines, to: file.number)
        let text = worked ? nil : SimulatorError.system("the record cannot be written").description
        lines.removeAll(keepingCapacity: true)
        return text
    }
}

/// RFC 3339 in UTC with milliseconds; the seconds are formatted once a second.
struct InstantText {
    private var second: Int64 = .min
    private var text: [UInt8] = []

    mutating func append(_ milliseconds: Int64, to bytes: inout [UInt8]) {
        if milliseconds / 1000 != second {
            second = milliseconds / 1000
            var time = time_t(second)
            var parts = unsafe tm()
            unsafe gmtime_r(&time, &parts)
            text = unsafe Array("\(parts.tm_year + 1900)".utf8)
            for (mark, value) in unsafe [
                ("-", parts.tm_mon + 1), ("-", parts.tm_mday), ("T", parts.tm_hour), (":", parts.tm_min),
                (":", parts.tm_sec),
            ] {
                text += "\(mark)\(value < 10 ? "0" : "")\(value)".utf8
            }
            text.append(UInt8(ascii: "."))
        }
        bytes += text
        let rest = Int(milliseconds % 1000)
        for digit in [rest / 100, rest / 10 % 10, rest % 10] { bytes.append(UInt8(ascii: "0") + UInt8(digit)) }
        bytes.append(UInt8(ascii: "Z"))
    }
}
