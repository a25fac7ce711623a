// SPDX-License-Identifier: Apache-2.0

/// A range of an arena; absent when the value was NULL.
package struct ByteSlice: Hashable, Sendable {
    package var offset: UInt32
    package var length: UInt32

    package init(offset: UInt32, length: UInt32) {
        self.offset = offset
        self.length = length
    }

    /// The value was NULL: not the same as an empty text.
    package static let absent = ByteSlice(offset: .max, length: 0)

    package var isAbsent: Bool { offset == .max }
    package var range: Range<Int> { Int(offset)..<Int(offset) + Int(length) }
}
