// SPDX-License-Identifier: Apache-2.0

/// The one reader of text that is given to the relay: files, credentials, variables of the environment, foreign documents.
/// Editors and shells write a byte-order mark, or UTF-16 (PowerShell's `>`), where a person meant the text alone. Pure.
package enum TextFile {
    /// Why bytes are no text.
    package struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        /// Completes "file X …".
        package var description: String
    }

    /// The same text in UTF-8, without a mark. Bytes without a mark are returned as they are, text or not, unless they look
    /// like UTF-16: their reader reports what is wrong with them.
    ///
    /// - Throws: `Fault` for a mark of UTF-32, or a mark of UTF-16 without UTF-16 behind it.
    package static func utf8(_ bytes: [UInt8]) throws(Fault) -> [UInt8] {
        guard let (mark, length) = TextMark.found(in: bytes) else {
            for isLittleEndian in [true, false] where isUnmarkedUTF16(bytes, isLittleEndian) {
                if let text = fromUTF16(bytes[...], isLittleEndian) { return text }
            }
            return bytes
        }
        switch mark {
        case .utf8: return Array(bytes.dropFirst(length))
        case .utf32: throw Fault(description: "is written in UTF-32; save it as UTF-8")
        case .utf16(let isLittleEndian):
            guard let text = fromUTF16(bytes.dropFirst(length), isLittleEndian) else {
                throw Fault(description: "begins as UTF-16 does and is none; save it as UTF-8")
            }
            return text
        }
    }

    /// Whether the bytes begin with two ASCII characters that have a zero byte each, as no text in UTF-8 does.
    private static func isUnmarkedUTF16(_ bytes: [UInt8], _ isLittleEndian: Bool) -> Bool {
        guard bytes.count >= 4, bytes.count.isMultiple(of: 2) else { return false }
        let (text, nothing) = isLittleEndian ? (0, 1) : (1, 0)
        return [0, 2].allSatisfy { (0x09..<0x7F).contains(bytes[$0 + text]) && bytes[$0 + nothing] == 0 }
    }

    private static func fromUTF16(_ bytes: ArraySlice<UInt8>, _ isLittleEndian: Bool) -> [UInt8]? {
        guard bytes.count.isMultiple(of: 2) else { return nil }
        var units: [UInt16] = []
        units.reserveCapacity(bytes.count / 2)
        var place = bytes.startIndex
        while place < bytes.endIndex {
            let (first, second) = (UInt16(bytes[place]), UInt16(bytes[place + 1]))
            units.append(isLittleEndian ? second << 8 | first : first << 8 | second)
            place += 2
        }
        // Bytes that are no text are likely to have a unit of zero.
        guard !units.contains(0) else { return nil }
        return String(validating: units, as: UTF16.self).map { Array($0.utf8) }
    }
}
