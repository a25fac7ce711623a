// SPDX-License-Identifier: Apache-2.0
import UpgradeRules
import WireFormat

/// The words around a person's act: the question before it, and the answer after it. Both say what is done, to what, how many
/// devices it concerns, what stays, and what comes next. Every command, and every answer of the API, takes them from here. Pure.
package struct ActWords: Hashable, Sendable {
    /// An act of a person, also one that carries no facts of its own.
    package enum Act: Hashable, Sendable, CaseIterable {
        case confirmed(ActKind)
        case block
        // Requests for a second person.
        case approveRequest, refuseRequest
        case endSession
        // The store.
        case pruneStore, acceptStore

        package static var allCases: [Act] {
            ActKind.allCases.map(Act.confirmed)
                + [.block, .approveRequest, .refuseRequest, .endSession, .pruneStore, .acceptStore]
        }
    }

    package let act: Act
    /// "2.0.0 of com.example.app ios", "campaign 1f0c2ab93d44".
    package let object: String
    /// nil: they have not been counted.
    package let devices: Int64?
    /// The effects, a sentence each, in the order in which they happen.
    package let effects: [String]

    /// - Parameter effects: nil: those that the act always has.
    package init(_ act: Act, _ object: String, devices: Int64? = nil, effects: [String]? = nil) {
        (self.act, self.object, self.devices, self.effects) = (act, object, devices, effects ?? act.effects)
    }

    /// - Parameter effects: nil: those that the act always has.
    package init(_ act: ActKind, _ object: String, devices: Int64? = nil, effects: [String]? = nil) {
        self.init(.confirmed(act), object, devices: devices, effects: effects)
    }

    /// "Withdraw 2.0.0 of com.example.app ios, 11000 devices?"
    package var question: String { "\(TextPattern.filled(act.pattern, [object]))\(count)?" }

    /// "2.0.0 of com.example.app ios, 11000 devices: withdrawn. What was in force before it is in force again, on every channel."
    ///
    /// - Parameter done: the result, in a word: "withdrawn", "running"; nil: the act's own.
    package func answer(_ done: String? = nil) -> String { sentences(done).joined(separator: " ") }

    /// The answer, sentence by sentence.
    package func sentences(_ done: String? = nil) -> [String] {
        ["\(object)\(count): \(done ?? act.done)."] + effects
    }

    private var count: String { devices.map { ", \(Counted.text($0, "device"))" } ?? "" }
}

extension ActWords.Act {
    /// The question's sentence, with a place for the object.
    fileprivate var pattern: String {
        switch self {
        case .confirmed(.raise): "Require % and push it"
        case .confirmed(.release): "Release %"
        case .confirmed(.withdraw): "Withdraw %"
        case .confirmed(.unblock): "Let % be used again"
        case .confirmed(.pause): "Pause %"
        case .confirmed(.approve), .confirmed(.releaseCampaign), .approveRequest: "Approve %"
        case .confirmed(.resume): "Resume %"
        case .confirmed(.cancel): "Cancel %"
        case .confirmed(.retry): "Send what is left out of % again"
        case .confirmed(.setAlert): "Lock % for all its users"
        case .confirmed(.clearAlert): "Clear the notice of %"
        case .confirmed(.removeDevice), .confirmed(.eraseUser): "Forget %"
        case .confirmed(.revokeToken): "Revoke %"
        case .block: "Make everybody leave %"
        case .refuseRequest: "Refuse %"
        case .endSession: "End %"
        case .pruneStore: "Delete % for good"
        case .acceptStore: "Go on with % as it is"
        }
    }

    /// The result in a word.
    package var done: String {
        switch self {
        case .confirmed(.raise): "required"
        case .confirmed(.release): "released"
        case .confirmed(.withdraw): "withdrawn"
        case .confirmed(.unblock): "may be used again"
        case .confirmed(.pause): "paused"
        case .confirmed(.approve), .confirmed(.releaseCampaign), .approveRequest: "approved"
        case .confirmed(.resume): "resumed"
        case .confirmed(.cancel): "cancelled"
        case .confirmed(.retry): "sent again"
        case .confirmed(.setAlert): "the notice is set"
        case .confirmed(.clearAlert): "the notice is cleared"
        case .confirmed(.removeDevice), .confirmed(.eraseUser): "forgotten"
        case .confirmed(.revokeToken): "revoked"
        case .block: "blocked"
        case .refuseRequest: "refused"
        case .endSession: "ended"
        case .pruneStore: "deleted"
        case .acceptStore: "in use again"
        }
    }

    /// The effects of an act whose object does not change them.
    fileprivate var effects: [String] {
        switch self {
        case .confirmed(.setAlert): ["Versions and campaigns stay as they are. \"notice clear\" takes it back."]
        case .confirmed(.clearAlert): ["Versions and campaigns stay as they are."]
        case .confirmed(.removeDevice):
            ["Its pushes stay in the records. Its app registers it again at the next login."]
        case .confirmed(.eraseUser):
            [
                "Pushes stay in the records, without the phone number. The app registers the user again at the next login."
            ]
        case .confirmed(.revokeToken):
            ["Requests with it are refused from now on, and its sessions end. Its acts stay in the history."]
        case .block: ["All versions beside it stay as they are. \"version unblock\" takes it back."]
        case .approveRequest: ["Its store and its moment are waited for all the same."]
        case .refuseRequest: ["Nothing changes. A machine that asks for the same again is refused."]
        case .endSession: ["The rights of its person stay: signing in begins a new one."]
        case .pruneStore: ["Campaigns stay, with their counts; their deliveries can no longer be listed."]
        case .acceptStore:
            [
                "Later decisions and records are lost: withdrawals, erasures and revoked tokens must be repeated. "
                    + "Pushes go on."
            ]
        case .confirmed: []
        }
    }
}
