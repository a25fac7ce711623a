// SPDX-License-Identifier: Apache-2.0

/// The progress of a long operation, at one moment.
package struct Progress: Sendable, Equatable {
    /// Whether items or bytes are counted.
    package enum Unit: Sendable { case items, bytes }

    package var done: Int64
    /// nil: unknown.
    package var total: Int64?
    package var ratePerSecond: Double
    /// nil: not known yet.
    package var secondsLeft: Int64?
    /// The text after the bar, for example the counts.
    package var note: String
    package var unit: Unit

    package init(
        done: Int64, total: Int64?, ratePerSecond: Double, secondsLeft: Int64?, note: String = "", unit: Unit = .items
    ) {
        self.done = done
        self.total = total
        self.ratePerSecond = ratePerSecond
        self.secondsLeft = secondsLeft
        self.note = note
        self.unit = unit
    }

    /// The share done from 0 to 1; nil without a total, 1 where there is nothing to do.
    package var share: Double? {
        total.map { $0 > 0 ? min(1, max(0, Double(done) / Double($0))) : 1 }
    }

    fileprivate func text(_ amount: Int64) -> String {
        unit == .bytes ? Quantity.bytes(amount) : Quantity.count(amount)
    }

    fileprivate var rateText: String {
        unit == .bytes ? "\(Quantity.bytes(Int64(min(ratePerSecond.rounded(), 1e15))))/s" : Quantity.rate(ratePerSecond)
    }
}

/// Draws progress as one line. Pure: progress and width in, a line out.
package enum ProgressBar {
    /// A line of at most `width` columns: label, bar, share, rate, time left, note. Where the line is too short, the note is
    /// left out first, then the bar.
    package static func line(_ label: String, _ progress: Progress, width: Int) -> String {
        let figures = figures(progress)
        let fixed = DisplayWidth.columns(label) + 1 + DisplayWidth.columns(figures)
        guard let share = progress.share else {
            return DisplayWidth.truncated("\(label) \(figures)\(suffix(progress.note))", to: width)
        }
        let note = suffix(progress.note)
        let withNote = width - fixed - 3 - DisplayWidth.columns(note)
        if withNote >= 10 {
            return "\(label) \(bar(share, cells: min(40, withNote))) \(figures)\(note)"
        }
        let withoutNote = width - fixed - 3
        if withoutNote >= 5 {
            return "\(label) \(bar(share, cells: min(40, withoutNote))) \(figures)"
        }
        return DisplayWidth.truncated("\(label) \(figures)", to: width)
    }

    /// A line for a log: without a bar, and never cut.
    package static func plain(_ label: String, _ progress: Progress) -> String {
        "\(label): \(figures(progress))\(suffix(progress.note))"
    }

    /// "[#####-----]": full only when all is done.
    package static func bar(_ share: Double, cells: Int) -> String {
        let full = Int(share * Double(cells))
        return "[\(String(repeating: "#", count: full))\(String(repeating: "-", count: cells - full))]"
    }

    private static func figures(_ progress: Progress) -> String {
        var parts: [String] = []
        if let total = progress.total {
            let percent = total > 0 ? Quantity.percent(progress.done, of: total) : "100%"
            parts.append("\(String(repeating: " ", count: max(0, 4 - percent.count)))\(percent)")
            parts.append("\(progress.text(progress.done))/\(progress.text(total))")
        } else {
            parts.append(progress.text(progress.done))
        }
        // After the end, 0/s would mean nothing.
        if progress.ratePerSecond > 0 || progress.share != 1 { parts.append(progress.rateText) }
        if let seconds = progress.secondsLeft, progress.share.map({ $0 < 1 }) ?? true {
            parts.append("\(DurationText.rough(seconds: seconds)) left")
        }
        return parts.joined(separator: "  ")
    }

    private static func suffix(_ note: String) -> String {
        note.isEmpty ? "" : "  \(note)"
    }
}
