// SPDX-License-Identifier: Apache-2.0

/// FNV-1a of 64 bits (draft-eastlake-fnv): short and quick, and no protection against collisions that are made on purpose.
package enum FNV1a {
    package static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
        // One run of bytes is compiled here: other rooms call the generic form as it is, with a call for each byte.
        if let hash = bytes.withContiguousStorageIfAvailable({ hash(run: $0.span) }) { return hash }
        return hash(run: Array(bytes).span)
    }

    private static func hash(run bytes: Span<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for index in bytes.indices { hash = (hash ^ UInt64(bytes[index])) &* 0x100_0000_01b3 }
        return hash
    }
}
