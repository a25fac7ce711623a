// SPDX-License-Identifier: Apache-2.0
import WireFormat

/// The result of one question of `check-config --online`.
struct OnlineFinding: Sendable, Equatable {
    enum Result: String, Sendable {
        /// All is right.
        case good
        /// Something is missing that not every owner needs: the check passes.
        case limited
        case failed
    }

    /// The part of the configuration: `apps["com.example.app"].ios.apns`.
    var field: String
    /// Distinguishes several findings of one field: "production".
    var detail: String?
    var result: Result
    /// In the service's own word where it has one.
    var answer: String
    /// nil where no action is needed.
    var remedy: String?
    /// The way to the service: "directly", "by the proxy proxy.example:3128". nil where nothing was dialled.
    var way: String?

    var place: String { field + (detail.map { ", \($0)" } ?? "") }

    var json: JSONValue {
        [
            "field": .string(field), "detail": detail.map(JSONValue.string) ?? .null,
            "result": .string(result.rawValue), "answer": .string(answer),
            "remedy": remedy.map(JSONValue.string) ?? .null, "way": way.map(JSONValue.string) ?? .null,
        ]
    }
}
