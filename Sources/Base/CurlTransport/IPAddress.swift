// SPDX-License-Identifier: Apache-2.0
import Glibc

/// An IP address in bytes: four or sixteen. IPv4 within IPv6 ("::ffff:10.0.0.1") becomes the IPv4 address.
struct IPAddress: Sendable, Hashable {
    let bytes: [UInt8]

    /// - Parameter text: without brackets, and without a zone.
    init?(_ text: some StringProtocol) {
        let text = String(text)
        var bytes = [UInt8](repeating: 0, count: text.contains(":") ? 16 : 4)
        let family = text.contains(":") ? AF_INET6 : AF_INET
        guard unsafe bytes.withUnsafeMutableBytes({ unsafe inet_pton(family, text, $0.baseAddress) }) == 1 else {
            return nil
        }
        let isMapped =
            bytes.count == 16 && bytes[..<10].allSatisfy { $0 == 0 } && bytes[10...11].allSatisfy { $0 == 255 }
        self.bytes = isMapped ? Array(bytes[12...]) : bytes
    }

    /// Whether the first `bits` of both are the same.
    func shares(_ bits: Int, with other: IPAddress) -> Bool {
        guard bytes.count == other.bytes.count else { return false }
        return bytes.indices.allSatisfy { index in
            let count = min(8, max(0, bits - index * 8))
            let mask = count == 0 ? 0 : UInt8.max << (8 - UInt8(count))
            return bytes[index] & mask == other.bytes[index] & mask
        }
    }
}

enum HostName {
    /// Letters, digits, "-", "_" and dots between them (RFC 1123, 2.1, and what people call their machines).
    static func isName(_ text: some StringProtocol) -> Bool {
        let labels = (text.hasSuffix(".") ? text.dropLast() : text[...])
            .split(separator: ".", omittingEmptySubsequences: false)
        return (1...253).contains(text.utf8.count)
            && labels.allSatisfy { label in
                (1...63).contains(label.utf8.count)
                    && label.utf8.allSatisfy { byte in
                        switch byte {
                        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
                        default: false
                        }
                    }
            }
    }
}
