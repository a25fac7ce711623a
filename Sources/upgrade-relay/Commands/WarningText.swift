// SPDX-License-Identifier: Apache-2.0

/// The `warnings` of an answer, as people read them.
enum WarningText {
    static func lines(_ answer: JSONValue) -> [String] {
        (answer["warnings"]?.array ?? []).compactMap(\.string).map { "warning: \(DisplayWidth.sanitised($0))" }
    }
}
