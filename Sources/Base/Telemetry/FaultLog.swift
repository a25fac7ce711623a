// SPDX-License-Identifier: Apache-2.0

/// The present faults, by part: each is logged when it begins and when it ends, not each time it is met.
package struct FaultLog: Sendable {
    package private(set) var texts: [String: String] = [:]

    package init() {}

    package func text(_ part: String) -> String? { texts[part] }

    /// Returns whether the part had no fault before.
    package mutating func set(_ part: String, _ text: String) -> Bool {
        texts.updateValue(text, forKey: part) == nil
    }

    /// Returns whether the part had a fault.
    package mutating func clear(_ part: String) -> Bool {
        texts.removeValue(forKey: part) != nil
    }
}
