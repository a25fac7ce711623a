// SPDX-License-Identifier: Apache-2.0

/// Numbers as people read them. Not localised: scripts and issues are shared across countries.
package enum Quantity {
    /// "12,345".
    package static func count(_ number: Int64) -> String {
        let digits = String(number.magnitude)
        var result = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { result.append(",") }
            result.append(digit)
        }
        return number < 0 ? "-\(result)" : result
    }

    package static func count(_ number: Int) -> String { count(Int64(number)) }

    /// "12,345/s"; one decimal below ten.
    package static func rate(_ perSecond: Double) -> String {
        guard perSecond.isFinite, perSecond >= 0 else { return "-/s" }
        return perSecond < 9.95 && perSecond > 0
            ? "\(decimal(perSecond, places: 1))/s" : "\(count(Int64(min(perSecond.rounded(), 1e15))))/s"
    }

    /// "1 app", "2 apps", "12,345 devices": the plural for all but one.
    package static func count(_ number: Int64, _ noun: String) -> String {
        "\(count(number)) \(noun)\(number == 1 ? "" : "s")"
    }

    /// "42%", rounded down so that 100% means all of it, and 0% none; "-" where the whole is nothing. Near both ends, where one
    /// percent may be many thousands, up to two decimals: "99.99%", "0.05%", "<0.01%".
    package static func percent(_ part: Int64, of whole: Int64) -> String {
        guard whole > 0 else { return "-" }
        guard part > 0 else { return "0%" }
        guard part < whole else { return "100%" }
        // In whole numbers: as a Double, a share that is nearly 1 would be 1.
        let product = UInt64(part).multipliedFullWidth(by: 10_000)
        let hundredths = Int64(UInt64(whole).dividingFullWidth(product).quotient)
        guard hundredths > 0 else { return "<0.01%" }
        guard hundredths < 100 || hundredths >= 9_900 else { return "\(hundredths / 100)%" }
        var text = decimal(Double(hundredths) / 100, places: 2)
        while text.hasSuffix("0") { text.removeLast() }
        if text.hasSuffix(".") { text.removeLast() }
        return "\(text)%"
    }

    /// "512 B", "1.5 KiB", "20 MiB".
    package static func bytes(_ number: Int64) -> String {
        guard number >= 1024 else { return "\(number) B" }
        var value = Double(number) / 1024
        var units = ["KiB", "MiB", "GiB", "TiB"][...]
        while value >= 1024, units.count > 1 {
            value /= 1024
            units.removeFirst()
        }
        return "\(value < 10 ? decimal(value, places: 1) : count(Int64(value.rounded()))) \(units.first ?? "")"
    }

    /// With a decimal point in every locale; rounded half away from zero.
    package static func decimal(_ value: Double, places: Int) -> String {
        var scale = 1.0
        for _ in 0..<places { scale *= 10 }
        let scaled = Int64((abs(value) * scale).rounded())
        let whole = scaled / Int64(scale)
        let fraction = String(scaled % Int64(scale))
        let sign = value < 0 && scaled > 0 ? "-" : ""
        guard places > 0 else { return "\(sign)\(whole)" }
        return "\(sign)\(whole).\(String(repeating: "0", count: places - fraction.count))\(fraction)"
    }
}
