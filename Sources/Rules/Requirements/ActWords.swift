// SPDX-License-Identifier: Apache-2.0
import UpgradeRules
import WireFormat

/// The words around a person's act: the question before it, and the answer after it. Both say what is done, to what, how many
/// devices it concerns, what stays, and what comes next. Every command and form takes them from here. Pure.
package struct ActWords: Hashable, Sendable {
    package let act: ActKind
    /// "2.0.0 of com.example.app ios", "campaign 1f0c2ab93d44".
    package let object: String
    /// nil: they have not been counted.
    package let devices: Int64?
    /// The effects, a sentence each, in the order in which they happen.
    package let effects: [String]

    package init(_ act: ActKind, _ object: String, devices: Int64? = nil, effects: [String] = []) {
        (self.act, self.object, self.devices, self.effects) = (act, object, devices, effects)
    }

    /// "Withdraw 2.0.0 of com.example.app ios, 11000 devices?"
    package var question: String { "\(TextPattern.filled(pattern, [object]))\(count)?" }

    /// "2.0.0 of com.example.app ios, 11000 devices: withdrawn. What was in force before it is in force again, on every channel."
    ///
    /// - Parameter done: the result, in a word: "withdrawn", "running"; nil: the act's own.
    package func answer(_ done: String? = nil) -> String { sentences(done).joined(separator: " ") }

    /// The answer, sentence by sentence.
    package func sentences(_ done: String? = nil) -> [String] {
        ["\(object)\(count): \(done ?? participle)."] + effects
    }

    private var count: String { devices.map { ", \(Counted.text($0, "device"))" } ?? "" }

    /// The question's sentence, with a place for the object.
    private var pattern: String {
        switch act {
        case .raise: "Require % and push it"
        case .release: "Release %"
        case .withdraw: "Withdraw %"
        case .unblock: "Let % be used again"
        case .pause: "Pause %"
        case .approve, .releaseCampaign: "Approve %"
        case .resume: "Resume %"
        case .cancel: "Cancel %"
        case .retry: "Send what is left out of % again"
        case .setAlert: "Lock % for all its users"
        case .clearAlert: "Clear the notice of %"
        case .removeDevice, .eraseUser: "Forget %"
        case .revokeToken: "Revoke %"
        }
    }

    private var participle: String {
        switch act {
        case .raise: "required"
        case .release: "released"
        case .withdraw: "withdrawn"
        case .unblock: "may be used again"
        case .pause: "paused"
        case .approve, .releaseCampaign: "approved"
        case .resume: "resumed"
        case .cancel: "cancelled"
        case .retry: "sent again"
        case .setAlert: "the notice is set"
        case .clearAlert: "the notice is cleared"
        case .removeDevice, .eraseUser: "forgotten"
        case .revokeToken: "revoked"
        }
    }
}
