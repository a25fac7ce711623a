// SPDX-License-Identifier: Apache-2.0

extension Array {
    /// Takes out what is not needed for `isStill`: half of the elements at a time, then quarters, down to one.
    ///
    /// - Parameter isStill: whether the rest does what all of them did. It is asked once for each rest.
    mutating func shrink(while isStill: ([Element]) throws -> Bool) rethrows {
        var size = Swift.max(count / 2, 1)
        while size >= 1 {
            var start = 0
            while start < count {
                var rest = self
                rest.removeSubrange(start..<Swift.min(start + size, count))
                if try isStill(rest) { self = rest } else { start += size }
            }
            size /= 2
        }
    }
}
