// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The address that a connection comes from, without its port.
package struct PeerAddress: Hashable, Sendable, CustomStringConvertible {
    /// IPv6 form; IPv4 is mapped (RFC 4291, section 2.5.5.2). All zero: no address, as on the control socket.
    private var high: UInt64 = 0
    private var low: UInt64 = 0

    package static let none = PeerAddress()

    private init() {}

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

    private var isIPv4: Bool { high == 0 && low >> 32 == 0xFFFF }

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
