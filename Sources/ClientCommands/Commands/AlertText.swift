// SPDX-License-Identifier: Apache-2.0
import Configuration
import Terminal

/// An alert in one line.
enum AlertText {
    static func line(_ alert: JSONTree) -> String {
        let kind = alert["blocking"] == .bool(true) ? "blocking alert" : "alert"
        let end = alert["endsAt"]?.string.map { "until \(DisplayWidth.sanitised($0))" } ?? "until it is cleared"
        return "\(alert.shown("app")) \(alert.shown("platform")): \(kind) \(end): \(alert.shown("message"))"
    }
}
