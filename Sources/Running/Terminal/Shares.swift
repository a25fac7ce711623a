// SPDX-License-Identifier: Apache-2.0

/// Shares of one whole, in percent, that add up as the counts do (the method of the largest remainder). Pure.
///
/// All have the same number of decimals: the fewest with which no count above 0 is shown as 0%, two at most.
package struct Shares: Sendable {
    private let whole: Int64
    private let decimals: Int
    /// Units in the whole: 100, 1,000 or 10,000.
    package let units: Int64

    /// - Parameter counts: every count that will be shown, parts and their parts.
    package init(of whole: Int64, fitting counts: [Int64]) {
        self.whole = whole
        let smallest = counts.filter { $0 > 0 }.min() ?? whole
        let sizes: [Int64] = [100, 1_000, 10_000]
        let fit = sizes.firstIndex { Self.floor(smallest, $0, of: whole).units > 0 } ?? sizes.count - 1
        decimals = fit
        units = sizes[fit]
    }

    /// The parts of `total` in units; where they make up all of it, their units add up to `sum`.
    ///
    /// - Parameters:
    ///   - total: the count that the parts belong to.
    ///   - sum: the units that `total` is shown with.
    package func parts(_ counts: [Int64], of total: Int64, shownAs sum: Int64) -> [Int64] {
        let floors = counts.map { Self.floor($0, units, of: whole) }
        var parts = floors.map(\.units)
        guard counts.reduce(0, +) == total else { return parts }
        let rest = Int(sum - parts.reduce(0, +))
        // 100% means all of it.
        let byRemainder = floors.indices.filter { counts[$0] > 0 && (parts[$0] + 1 < units || counts[$0] == whole) }
            .sorted { floors[$0].remainder > floors[$1].remainder }
        for index in byRemainder.prefix(max(0, rest)) { parts[index] += 1 }
        return parts
    }

    /// - Parameter count: the number that the units stand for.
    package func text(_ units: Int64, count: Int64) -> String {
        guard whole > 0 else { return "-" }
        if units == 0 { return count > 0 ? "<0.01%" : "0%" }
        guard decimals > 0 else { return "\(units)%" }
        let size = self.units / 100
        let digits = String(units % size)
        return "\(units / size).\(String(repeating: "0", count: decimals - digits.count))\(digits)%"
    }

    private static func floor(_ count: Int64, _ units: Int64, of whole: Int64) -> (units: Int64, remainder: UInt64) {
        guard whole > 0, count > 0 else { return (0, 0) }
        guard count < whole else { return (units, 0) }
        // In whole numbers: as a Double, a share that is nearly 1 would be 1.
        let product = UInt64(count).multipliedFullWidth(by: UInt64(units))
        let (quotient, remainder) = UInt64(whole).dividingFullWidth(product)
        return (Int64(quotient), remainder)
    }
}
