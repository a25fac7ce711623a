// SPDX-License-Identifier: Apache-2.0

/// A user's place in the order in which a requirement reaches users.
///
/// It depends on the user's telephone and the requirement alone: it is the same on all devices of a user, on every channel that
/// knows the user and after a restart, and other users come first in the next requirement.
package struct UserDraw: Sendable, Hashable {
    /// The number of parts that all users are divided into.
    package static let parts = 10_000

    private let salt: UInt64

    package init(requirement: Int64) {
        salt = UInt64(bitPattern: requirement)
    }

    /// From 0 to 9,999: the requirement is in force for the user once its reach is above that.
    ///
    /// - Parameter hash: FNV-1a of the telephone's bytes.
    package func part(of hash: UInt64) -> Int {
        // SplitMix64's finalizer (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators", 2014): each bit of
        // the hash and of the salt changes half of the result's.
        var bits = hash ^ (salt &* 0x9E37_79B9_7F4A_7C15)
        bits = (bits ^ (bits &>> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits &>> 27)) &* 0x94D0_49BB_1331_11EB
        bits ^= bits &>> 31
        return Int(((bits &>> 32) &* UInt64(Self.parts)) &>> 32)
    }

    package func part(of telephone: some Sequence<UInt8>) -> Int { part(of: FNV1a.hash(telephone)) }
}
