// SPDX-License-Identifier: Apache-2.0

/// What the relay and the phones call the versions of this world, which are numbers.
extension World {
    /// Of as many digits each: LaunchGate compares digit by digit, and is told another version where that matters.
    static func text(version: Int) -> String { "1.\(100 + version).0" }

    static func number(of version: String) -> Int {
        let parts = version.split(separator: ".")
        return parts.count > 1 ? (Int(parts[1]) ?? 100) - 100 : 0
    }
}
