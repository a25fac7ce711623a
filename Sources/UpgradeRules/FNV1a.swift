// SPDX-License-Identifier: Apache-2.0

/// FNV-1a of 64 bits (draft-eastlake-fnv): short and quick, and no protection against collisions that are made on purpose.
package enum FNV1a {
    @inlinable
    package static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return hash
    }
}
