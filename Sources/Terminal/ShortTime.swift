// SPDX-License-Identifier: Apache-2.0

/// Forms of a moment for tables that are short of room, the longest first. All are UTC, as what they are made of.
enum ShortTime: CaseIterable {
    /// "2026-11-22 07:18:55Z"
    case seconds
    /// "11-22 07:18Z"
    case minutes

    /// - Parameter text: RFC 3339 in UTC, as the API writes it; anything else stays as it is.
    func text(_ text: String) -> String {
        guard let match = text.wholeMatch(of: /(\d{4})-(\d\d-\d\d)T(\d\d:\d\d)(:\d\d)(?:\.\d+)?Z/) else { return text }
        let (year, day, minutes, seconds) = (match.output.1, match.output.2, match.output.3, match.output.4)
        return switch self {
        case .seconds: "\(year)-\(day) \(minutes)\(seconds)Z"
        case .minutes: "\(day) \(minutes)Z"
        }
    }
}
