// SPDX-License-Identifier: Apache-2.0

/// Made-up devices: reproducible, each token different.
struct Fleet {
    struct Device {
        var token: String
        var telephone: String?
        var version: String

        var json: String {
            let telephone = telephone.map { "\"\($0)\"" } ?? "null"
            return #"{"token":"\#(token)","telephone":\#(telephone),"version":"\#(version)"}"#
        }
    }

    var devices: [Device]

    /// - Parameters:
    ///   - withoutTelephone: every n-th device has no user.
    ///   - current: every n-th device is at version 2.0.0 already.
    init(count: Int, withoutTelephone: Int = .max, current: Int = .max) {
        devices = (1...count).map { number in
            // A multiplicative hash spreads the digits; odd, so that it is a bijection.
            let hash = String(UInt64(number) &* 0x9e37_79b9_7f4a_7c15, radix: 16)
            return Device(
                token: String(repeating: "0", count: 64 - hash.count) + hash,
                telephone: number % withoutTelephone == 0 ? nil : String(13_800_000_000 + number),
                version: number % current == 0 ? "2.0.0" : "1.9.0")
        }
    }

    /// The devices that a requirement of 2.0.0 is pushed to.
    var behind: [Device] { devices.filter { $0.telephone != nil && $0.version != "2.0.0" } }
}
