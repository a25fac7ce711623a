// SPDX-License-Identifier: Apache-2.0

/// A country by its two letters (ISO 3166-1 alpha-2), in upper case, as it is stored. Whether they are given to any is not asked: stores have
/// some of their own.
package enum CountryCode {
    /// - Parameter bytes: UTF-8.
    @inlinable
    package static func isOne(_ bytes: some Collection<UInt8>) -> Bool {
        bytes.count == 2 && bytes.allSatisfy { $0 &- UInt8(ascii: "A") < 26 }
    }
}
