// SPDX-License-Identifier: Apache-2.0
import Glibc
import WireFormat

/// The address that a connection comes from, without its port.
package struct PeerAddress: Hashable, Sendable, CustomStringConvertible {
    /// IPv6 form; IPv4 is mapped (RFC 4291, section 2.5.5.2). All zero: no address, as on the control socket.
    private var high: UInt64 = 0
    private var low: UInt64 = 0

    package static let none = PeerAddress()

    private init() {}

    /// - Parameter text: an IPv4 or IPv6 address without brackets, port or zone; nil for all else, and for "::", which is
    ///   no host's address (RFC 4291, section 2.5.2).
    package init?(_ text: some StringProtocol) {
        let text = String(text)
        // A NUL would end the text for C.
        guard text.utf8.allSatisfy({ Hex.value(of: $0) != nil || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: ":") })
        else { return nil }
        let isShort = !text.contains(":")
        var bytes = [UInt8](repeating: 0, count: isShort ? 4 : 16)
        guard
            unsafe bytes.withUnsafeMutableBytes({
                unsafe inet_pton(isShort ? AF_INET : AF_INET6, text, $0.baseAddress)
            }) == 1
        else { return nil }
        func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        low = isShort ? 0xFFFF_0000_0000 | number(bytes[...]) : number(bytes[8...])
        high = isShort ? 0 : number(bytes[..<8])
        if self == .none { return nil }
    }

    @unsafe init(_ address: UnsafePointer<sockaddr>?) {
        guard let address = unsafe address else { return }
        // Read by offset, not by field name: which module's names the compiler finds depends on the order of imports. The
        // family comes first in each, in the host's order (sockaddr(3type)); the rest is in network order.
        let raw = unsafe UnsafeRawPointer(address)
        switch Int32(unsafe raw.loadUnaligned(as: UInt16.self)) {
        case AF_INET:
            low =
                0xFFFF_0000_0000
                | UInt64(UInt32(bigEndian: unsafe raw.loadUnaligned(fromByteOffset: 4, as: UInt32.self)))
        case AF_INET6:
            high = UInt64(bigEndian: unsafe raw.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            low = UInt64(bigEndian: unsafe raw.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
        default: break
        }
    }

    /// Whether it is an IPv4 address, mapped or not.
    var isIPv4: Bool { high == 0 && low >> 32 == 0xFFFF }

    /// Whether the first bits of both are the same: 0 to 128, in the IPv6 form.
    func shares(_ bits: Int, with other: PeerAddress) -> Bool {
        func mask(_ count: Int) -> UInt64 { count <= 0 ? 0 : count >= 64 ? .max : .max << (64 - UInt64(count)) }
        return (high ^ other.high) & mask(bits) == 0 && (low ^ other.low) & mask(bits - 64) == 0
    }

    /// The same address with all bits behind the first ones zero.
    func prefix(_ bits: Int) -> PeerAddress {
        var prefix = self
        if bits < 128 { prefix.low = bits <= 64 ? 0 : low & (.max << (128 - UInt64(bits))) }
        if bits < 64 { prefix.high = bits <= 0 ? 0 : high & (.max << (64 - UInt64(bits))) }
        return prefix
    }

    /// The address that counts as one client: an IPv4 address, or the /64 that one subscriber is given (RFC 6177; BCP 157).
    var subscriber: PeerAddress {
        var subscriber = self
        if !isIPv4 { subscriber.low = 0 }
        return subscriber
    }

    /// The address as log lines show it; "local" for the control socket.
    package var description: String {
        if self == .none { return "local" }
        if isIPv4 {
            return stride(from: 24, through: 0, by: -8).map { String(low >> $0 & 0xFF) }.joined(separator: ".")
        }
        let words = [high, low].flatMap { half in stride(from: 48, through: 0, by: -16).map { half >> $0 & 0xFFFF } }
        return words.map { String($0, radix: 16) }.joined(separator: ":")
    }
}
