// SPDX-License-Identifier: Apache-2.0

/// The marks at the beginning of a text that show its encoding: Unicode's byte-order marks. Pure.
package enum TextMark: Sendable, Equatable {
    case utf8
    case utf16(isLittleEndian: Bool)
    case utf32

    /// The marks of UTF-32 come first, because one of them begins with a mark of UTF-16.
    private static let all: [(bytes: [UInt8], mark: TextMark)] = [
        ([0xFF, 0xFE, 0, 0], .utf32), ([0, 0, 0xFE, 0xFF], .utf32), ([0xEF, 0xBB, 0xBF], .utf8),
        ([0xFF, 0xFE], .utf16(isLittleEndian: true)), ([0xFE, 0xFF], .utf16(isLittleEndian: false)),
    ]

    /// - Returns: the mark, and how many bytes it has; nil: there is none.
    package static func found(in bytes: some Sequence<UInt8>) -> (mark: TextMark, length: Int)? {
        let beginning = Array(bytes.prefix(4))
        return all.first { beginning.starts(with: $0.bytes) }.map { ($0.mark, $0.bytes.count) }
    }
}
