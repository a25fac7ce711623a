// SPDX-License-Identifier: Apache-2.0

/// The source of chance: passed in like the clock, so that a simulation can repeat it.
package struct RandomSource: RandomNumberGenerator, Sendable {
    private let bits: @Sendable () -> UInt64

    /// The kernel's random numbers.
    package static let system = RandomSource {
        var generator = SystemRandomNumberGenerator()
        return generator.next()
    }

    /// - Parameter bits: returns 64 random bits at each call, on any thread.
    package init(_ bits: @escaping @Sendable () -> UInt64) {
        self.bits = bits
    }

    package func next() -> UInt64 { bits() }

    /// A number from 0 up to, not including, 1: for jitter.
    package func unit() -> Double { Double(bits() >> 11) * 0x1p-53 }
}
