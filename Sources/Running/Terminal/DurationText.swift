// SPDX-License-Identifier: Apache-2.0
import RelayEngine

/// Durations as people write and read them: "7d", "12h", "1h30m", "45s", "500ms".
package enum DurationText {
    private static let units: [(name: String, milliseconds: Int64)] = [
        ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000), ("w", 604_800_000),
    ]

    /// nil where the text is not whole numbers with units, largest first. "0" needs no unit.
    package static func parse(_ text: String) -> Duration? {
        if text == "0" { return .zero }
        var total: Int64 = 0
        var last = Int64.max
        var rest = text[...]
        guard !rest.isEmpty else { return nil }
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            let name = rest.dropFirst(digits.count).prefix { $0.isLetter }
            guard let number = Int64(digits), let unit = units.first(where: { $0.name == name }),
                unit.milliseconds < last
            else { return nil }
            let (product, tooLarge) = number.multipliedReportingOverflow(by: unit.milliseconds)
            let (sum, overflow) = total.addingReportingOverflow(product)
            guard !tooLarge, !overflow else { return nil }
            (total, last) = (sum, unit.milliseconds)
            rest = rest.dropFirst(digits.count + name.count)
        }
        return .milliseconds(total)
    }

    /// A text in days or smaller units that `parse` reads as the same duration: "7d", "1h30m".
    package static func exact(_ duration: Duration) -> String {
        var rest = duration.milliseconds
        guard rest > 0 else { return "0" }
        var text = ""
        for unit in units.reversed() where unit.name != "w" && rest >= unit.milliseconds {
            text += "\(rest / unit.milliseconds)\(unit.name)"
            rest %= unit.milliseconds
        }
        return text
    }

    /// Two units at most: "3d 4h", "2m 05s", "8s".
    package static func rough(seconds: Int64) -> String {
        switch seconds {
        case ..<0: "-"
        case ..<60: "\(seconds)s"
        case ..<3600: "\(seconds / 60)m \(padded(seconds % 60))s"
        case ..<86_400: "\(seconds / 3600)h \(padded(seconds / 60 % 60))m"
        default: "\(seconds / 86_400)d \(seconds / 3600 % 24)h"
        }
    }

    /// For short times: "0.42 s", "12.3 s", then as `rough`.
    package static func elapsed(_ duration: Duration) -> String {
        let seconds = Double(duration.milliseconds) / 1000
        switch seconds {
        case ..<10: return "\(Quantity.decimal(seconds, places: 2)) s"
        case ..<60: return "\(Quantity.decimal(seconds, places: 1)) s"
        default: return rough(seconds: Int64(seconds.rounded()))
        }
    }

    private static func padded(_ number: Int64) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}
