// SPDX-License-Identifier: Apache-2.0

/// The relay's and the phones' names for the versions of this world, which are numbers.
extension World {
    /// All have the same number of digits: LaunchGate compares digit by digit, and the relay gives it another version where that matters.
    static func text(version: Int) -> String { "1.\(100 + version).0" }

    static func number(of version: String) -> Int {
        let parts = version.split(separator: ".")
        return parts.count > 1 ? (Int(parts[1]) ?? 100) - 100 : 0
    }
}
