// SPDX-License-Identifier: Apache-2.0
import Configuration
import Terminal

/// The `warnings` of an answer, as people read them.
enum WarningText {
    static func lines(_ answer: JSONTree) -> [String] {
        lines((answer["warnings"]?.array ?? []).compactMap(\.string))
    }

    static func lines(_ warnings: [String]) -> [String] {
        warnings.map { "warning: \(DisplayWidth.sanitised($0))" }
    }
}
