// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What the seed app does with a push (SEEDS S2), step by step as its code does.
struct SeedPhone {
    var telephone: String?
    var pageType: String

    /// The stored download URL when the push is taken; nil when it is dropped.
    func receive(_ payload: [String: Any]) -> String? {
        guard let page = payload["page"] as? [String: Any], let userTel = Self.text(page["userTel"]),
            let telephone, Array(userTel.utf16) == Array(telephone.utf16),
            let type = Self.text(page["type"]), Array(type.utf16) == Array(pageType.utf16)
        else { return nil }
        return Self.text(page["downloadUrl"])
    }

    /// The client's to-string conversion: text as it is, numbers as they read.
    private static func text(_ value: Any?) -> String? {
        switch value {
        case let text as String: text
        case let number as NSNumber: number.stringValue
        default: nil
        }
    }
}
