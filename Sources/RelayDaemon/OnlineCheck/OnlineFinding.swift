// SPDX-License-Identifier: Apache-2.0
import WireFormat

/// What one service said to `check-config --online`.
struct OnlineFinding: Sendable, Equatable {
    enum Result: String, Sendable {
        /// As it should be.
        case good
        /// Something that not every owner needs is not there: the check is passed.
        case limited
        case failed
    }

    /// Which part of the configuration: `apps["com.example.app"].ios.apns`.
    var field: String
    /// Of which there may be several for one field: "production".
    var detail: String?
    var result: Result
    /// In the service's own word where it has one.
    var answer: String
    /// nil where nothing is to be done.
    var remedy: String?
    /// By which way it was asked: "directly", "by the proxy proxy.example:3128". nil where nothing was dialled.
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
