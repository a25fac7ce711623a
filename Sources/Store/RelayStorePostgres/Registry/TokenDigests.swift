// SPDX-License-Identifier: Apache-2.0
import Signing

/// The digests of many tokens, by which devices are found. They equal the schema's token_digest, for which the server
/// needs several times as long.
struct TokenDigests {
    private static let size = 16
    private static let appBytes = 8

    private let sha256 = RepeatedSHA256()
    private var bytes: [UInt8] = []
    /// The app and the packed token that came last.
    private var message: [UInt8] = []

    /// - Parameter token: packed.
    mutating func append(_ app: Int64, _ token: some Collection<UInt8>) {
        begin(app)
        message.append(contentsOf: token)
        sha256.append16(of: message, to: &bytes)
    }

    private mutating func begin(_ app: Int64) {
        message.removeAll(keepingCapacity: true)
        for byte in 0..<Self.appBytes { message.append(UInt8(truncatingIfNeeded: app >> (56 - 8 * byte))) }
    }

    /// The same for a single token that is not packed: earlier tokens are forgotten.
    mutating func replace(_ app: Int64, unpacked token: [UInt8]) {
        begin(app)
        PackedToken.append(token, to: &message)
        bytes.removeAll(keepingCapacity: true)
        sha256.append16(of: message, to: &bytes)
    }

    /// The tokens' numbers, ascending by digest, as the server compares them.
    var order: [Int] {
        unsafe bytes.withUnsafeBytes { bytes in
            (0..<bytes.count / Self.size).map { number in
                unsafe (
                    number,
                    UInt128(bigEndian: bytes.loadUnaligned(fromByteOffset: number * Self.size, as: UInt128.self))
                )
            }
        }.sorted { $0.1 < $1.1 }.map(\.0)
    }

    /// The packed token that came last.
    var token: ArraySlice<UInt8> { message[Self.appBytes...] }

    /// The digest of the token with this number.
    subscript(number: Int) -> ArraySlice<UInt8> { bytes[number * Self.size..<(number + 1) * Self.size] }
}
