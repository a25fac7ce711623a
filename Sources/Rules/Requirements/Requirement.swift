// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import UpgradeRules
import WireFormat

/// One version that was asked for, and the decisions about it. Facts that follow from all of an app's requirements
/// together (which one is in force, which campaign is superseded) are derived, never stored: `Requirements`.
package struct Requirement: Hashable, Sendable {
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A floor: devices below it must upgrade.
        case required
        /// Users are notified of it, and none is forced.
        case latest
        /// Exactly this version must be left.
        case blocked
    }

    /// The state of a requirement. The raw values are in the store's CHECKs.
    package enum State: String, Sendable, Hashable, CaseIterable {
        /// Another program wrote it, and it is not taken up yet. Ends with a look, a person's act, or a bump to this or
        /// a lower version.
        case asked
        /// Accepted; its store does not offer it, or no longer does. Ends with a verdict of its gate, or with a
        /// person's act.
        case waiting
        /// Its store offers it, and no user is forced yet. A `latest` goes no further. Ends with a verdict of its gate,
        /// with its moment, or with a person's act.
        case announced
        /// Users within its reach must have it. Ends when its store halts it, or with a withdrawal.
        case inForce = "in_force"
        /// Taken back. Final: if the version is asked for again, that makes another requirement.
        case withdrawn
    }

    /// The reach of a requirement that is for everybody, in ten-thousandths of the users.
    package static let everybody = UpgradeRule.everybody

    /// Below 0 where it is not stored yet.
    package var id: Int64
    package var kind: Kind
    package var version: Version
    /// Android's version code of the version; nil: not known.
    package var build: Int64?
    package var state: State
    /// The share of the users that it is for, up to `everybody`; 0: only those whom it names.
    package var reach: Int
    /// Whether it waits for the app's store, whichever that is.
    package var isGated: Bool
    /// Whether a person has overruled both the store and the moment (`requiredFrom`).
    package var isReleased = false
    package var terms = RequirementTerms()
    /// nil: the configuration's.
    package var downloadURL: String?
    package var message: LocalizedText?
    /// The reaches that follow its canary, one after the other; nil: everybody at once.
    package var stages: WavePlan?
    /// The telephones that it is for first; nil where it names none. Erased users are missing.
    package var canary: [String]?
    package var askedAt: Timestamp
    /// When it last came into force; kept when it waits again.
    package var inForceAt: Timestamp?
    /// The actor that let it through: a store's name, `InForce.ungated`, a person.
    package var inForceBy: String?
    /// The reason for its present state.
    package var reason: String?
    /// The author of its last change.
    package var changed: Signature

    package init(
        id: Int64, kind: Kind, version: Version, build: Int64? = nil, state: State, reach: Int = everybody,
        isGated: Bool, changed: Signature
    ) {
        self.id = id
        self.kind = kind
        self.version = version
        self.build = build
        self.state = state
        self.reach = reach
        self.isGated = isGated
        askedAt = changed.at
        self.changed = changed
    }

    /// The demands that it makes of phones, beside its texts.
    struct Demands: Hashable {
        let version: String, build: Int64?, canary: [String]?, terms: RequirementTerms
    }

    var demands: Demands { Demands(version: version.text, build: build, canary: canary, terms: terms) }

    package var isLive: Bool { state != .withdrawn }
    /// Live, and not only asked for by another program.
    package var isAccepted: Bool { isLive && state != .asked }
    /// Whether everybody below it must upgrade.
    package var isForEverybody: Bool { state == .inForce && reach == Self.everybody }
    /// Whether it is in force for some users alone: those whom it names, or those of its waves that have begun.
    package var isStaged: Bool { state == .inForce && reach < Self.everybody }
    /// The reach after the canary's.
    package var firstReach: Int { stages?.ends.first ?? Self.everybody }
    /// Whether users within its reach are notified of it.
    package var isAnnounced: Bool { state == .announced || state == .inForce }

    /// Whether it is announced to all the users that it will reach in the end, whatever its waves. With a moment and no
    /// canary it is announced to them before the moment, and stays announced.
    package var isAnnouncedToAll: Bool { isAnnounced && requiredFrom != nil && canary == nil }

    /// The reach that its rule for users states.
    package var announcedReach: Int { state == .announced && isAnnouncedToAll ? Self.everybody : reach }

    /// The upgrade that it demands of a phone.
    package var target: UpgradeTarget { UpgradeTarget(version, isBlock: kind == .blocked) }

    /// Its rule for users.
    package var rule: UpgradeRule {
        UpgradeRule(
            id: id, version, forces: kind != .latest && state == .inForce, isBlock: kind == .blocked,
            reach: announcedReach,
            canary: canary ?? [], minimumOS: minimumOS)
    }

    /// Its rules, the strongest first: users that it does not force yet may get its announcement.
    package var rules: [UpgradeRule] {
        guard isStaged, isAnnouncedToAll else { return [rule] }
        return [rule, UpgradeRule(id: id, version, forces: false, minimumOS: minimumOS)]
    }

    /// Whether both are equal byte for byte: to `String`, canonically equivalent spellings are equal, but to an app
    /// they are not.
    package func isWritten(as other: Requirement) -> Bool {
        self == other && Self.same(downloadURL, other.downloadURL) && isWorded(as: other)
            && Self.same(reason, other.reason) && version.text == other.version.text
            && terms.isWritten(as: other.terms) && hasCanary(of: other)
    }

    private func isWorded(as other: Requirement) -> Bool {
        guard let message, let theirs = other.message else { return message == nil && other.message == nil }
        return message.isWritten(as: theirs)
    }

    /// Its message, with the moment where the text has a place for it.
    package func words(_ moments: MomentWords) -> LocalizedText? {
        message.map { moments.worded($0, from: requiredFrom) }
    }

    package func hasCanary(of other: Requirement) -> Bool {
        guard let canary, let others = other.canary else { return canary == nil && other.canary == nil }
        return canary.count == others.count && zip(canary, others).allSatisfy { Self.same($0, $1) }
    }

    private static func same(_ left: String?, _ right: String?) -> Bool {
        switch (left, right) {
        case (nil, nil): true
        case (let left?, let right?): left.utf8.elementsEqual(right.utf8)
        default: false
        }
    }
}

/// The author of a change, the way that it came, and the time.
package struct Signature: Hashable, Sendable {
    /// A token's name, a user of the control socket ("alice (uid 1000)"), a webhook's secret, a store; "unknown" where
    /// another program wrote to the database.
    package var by: String
    /// A person's "api", "cli", "page", "release", "withdraw"; a machine's "webhook", a source's name, "database"; the
    /// relay's own "gate", "configuration", "migration".
    package var via: String
    package var at: Timestamp
    /// The author, for the audit trail. A changed row keeps the name alone; nil: it was read from such a row, or it
    /// is the relay.
    package var principal: Principal?

    package init(by: String, via: String, at: Timestamp) {
        self.by = by
        self.via = via
        self.at = at
    }

    /// - Parameter via: the way's name in the history; nil: the principal's.
    package init(by principal: Principal, via: String? = nil, at: Timestamp) {
        self.init(by: principal.name, via: via ?? principal.via, at: at)
        self.principal = principal
    }

    package var author: Principal { principal ?? Principal(by, .relay, via: via) }

    /// The signature as a changed row keeps it, without the principal.
    package var plain: Signature { Signature(by: by, via: via, at: at) }

    /// The signature of the relay's own decisions.
    package static func relay(at now: Timestamp) -> Signature { Signature(by: "relay", via: "relay", at: now) }
}

extension Version {
    /// A text that sorts as versions do, and is equal for equal ones: for each number two digits that count its
    /// digits, then these; trailing zeros left out. 2.10 is "0120210", 2.9 "012019", 2 and 2.0.0 "012". The schema
    /// computes the same.
    package var sortKey: String {
        guard segments != [0] else { return "" }
        return segments.map { number in
            let digits = number == 0 ? "" : String(number)
            return (digits.utf8.count < 10 ? "0" : "") + String(digits.utf8.count) + digits
        }
        .joined()
    }
}
