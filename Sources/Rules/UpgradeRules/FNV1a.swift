// SPDX-License-Identifier: Apache-2.0

/// FNV-1a of 64 bits (draft-eastlake-fnv): short and quick, without protection against deliberate collisions.
package enum FNV1a {
    package static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
        // A contiguous run is hashed here: other modules would call the generic form unspecialised, with a call for each byte.
        if let hash = bytes.withContiguousStorageIfAvailable({ hash(run: $0.span) }) { return hash }
        return hash(run: Array(bytes).span)
    }

    private static func hash(run bytes: Span<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for index in bytes.indices { hash = (hash ^ UInt64(bytes[index])) &* 0x100_0000_01b3 }
        return hash
    }
}
