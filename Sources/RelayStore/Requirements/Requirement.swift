// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import UpgradeRules
import WireFormat

/// One version that was asked for, and what was decided of it. What follows from looking at all of an app's requirements
/// (which one is in force, which campaign is superseded) is derived, never stored: `Requirements`.
package struct Requirement: Hashable, Sendable {
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A floor: whoever is below it must upgrade.
        case required
        /// Users are told of it, and nobody is forced.
        case latest
        /// Exactly this version must be left.
        case blocked
    }

    /// Where it stands. The raw values are in the store's CHECKs.
    package enum State: String, Sendable, Hashable, CaseIterable {
        /// Another program wrote it, and it is not taken up. Leaves by a look, by a person, by a newer one of the relay's own.
        case asked
        /// Accepted; its store does not offer it, or does not any more. Leaves by its gate, or by a person.
        case waiting
        /// Its store offers it, and nobody is forced yet. Where a `latest` ends. Leaves by its gate, or by a person.
        case announced
        /// Users within its reach must have it. Leaves where its store halts it, or by a withdrawal.
        case inForce = "in_force"
        /// Taken back. Final: asked for again, the version is another requirement.
        case withdrawn
    }

    /// The reach of a requirement that is for everybody, in ten-thousandths of the users.
    package static let everybody = UpgradeRule.everybody

    /// Below 0 where it is not stored yet.
    package var id: Int64
    package var kind: Kind
    package var version: Version
    /// Android's version code of it; nil: not known.
    package var build: Int64?
    package var state: State
    /// For whom: 0 those whom it names, `everybody`.
    package var reach: Int
    /// Whether it waits for the app's store, whichever that is.
    package var isGated: Bool
    /// Whether a person has overruled the store, and the moment.
    package var isReleased = false
    /// Nobody is forced before this moment, whatever the store says; nil: as soon as the store offers it.
    package var requiredFrom: Timestamp?
    /// The oldest system that the version runs on, of a block what there is to leave it for; nil: any, or not known.
    package var minimumOS: Version?
    /// nil: the configuration's.
    package var downloadURL: String?
    package var message: LocalizedText?
    /// The reaches that it has one after the other, after its canary's; nil: everybody at once.
    package var stages: WavePlan?
    /// The telephones that it is for first; nil where it names nobody. Erased users are missing.
    package var canary: [String]?
    package var askedAt: Timestamp
    /// Since when, the last time; also of one that was in force and waits again.
    package var inForceAt: Timestamp?
    /// Who let it through: a store's name, `InForce.ungated`, a person.
    package var inForceBy: String?
    /// Why it stands where it does.
    package var reason: String?
    /// Who changed it last.
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
    struct Terms: Hashable {
        let version: String, build: Int64?, canary: [String]?, minimumOS: Version?, requiredFrom: Timestamp?
    }

    var terms: Terms {
        Terms(
            version: version.text, build: build, canary: canary, minimumOS: minimumOS, requiredFrom: requiredFrom)
    }

    package var isLive: Bool { state != .withdrawn }
    /// Live, and not only asked for by another program.
    package var isAccepted: Bool { isLive && state != .asked }
    /// Whether everybody below it must upgrade.
    package var isForEverybody: Bool { state == .inForce && reach == Self.everybody }
    /// Whether it is in force for some users alone: those whom it names, or those of its waves that have begun.
    package var isStaged: Bool { state == .inForce && reach < Self.everybody }
    /// The reach after the canary's.
    package var firstReach: Int { stages?.ends.first ?? Self.everybody }
    /// Whether users within its reach are told of it.
    package var isAnnounced: Bool { state == .announced || state == .inForce }

    /// Whether its moment is reached; who is only told of a version has none to wait for.
    package func isDue(at now: Timestamp) -> Bool {
        kind == .latest || isReleased || requiredFrom.map { $0 <= now } ?? true
    }

    /// Whether all are told of it whom it will reach in the end, whatever its waves: with a moment to come it is announced to them before, and
    /// what was announced stays so.
    package var isToldToAll: Bool { isAnnounced && requiredFrom != nil && canary == nil }

    /// For whom what it says is.
    package var saidReach: Int { state == .announced && isToldToAll ? Self.everybody : reach }

    /// What is wanted of a phone.
    package var target: UpgradeTarget { UpgradeTarget(version, isBlock: kind == .blocked) }

    /// What it says to its users.
    package var rule: UpgradeRule {
        UpgradeRule(
            id: id, version, forces: kind != .latest && state == .inForce, isBlock: kind == .blocked, reach: saidReach,
            canary: canary ?? [], minimumOS: minimumOS)
    }

    /// What it says, the strongest first: whom it does not force yet, it may be announced to.
    package var rules: [UpgradeRule] {
        guard isStaged, isToldToAll else { return [rule] }
        return [rule, UpgradeRule(id: id, version, forces: false, minimumOS: minimumOS)]
    }

    /// Byte for byte: to `String`, canonically equivalent spellings are equal, but to an app they are not.
    package func isWritten(as other: Requirement) -> Bool {
        self == other && Self.same(downloadURL, other.downloadURL) && isWorded(as: other)
            && Self.same(reason, other.reason) && version.text == other.version.text
            && minimumOS?.text == other.minimumOS?.text
            && hasCanary(of: other)
    }

    private func isWorded(as other: Requirement) -> Bool {
        guard let message, let theirs = other.message else { return message == nil && other.message == nil }
        return message.isWritten(as: theirs)
    }

    /// Its message, with the moment where that names it.
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

/// Who made a change, by which way, and when.
package struct Signature: Hashable, Sendable {
    /// A token's name, a user of the control socket ("alice (uid 1000)"), a webhook's secret, a store; "unknown" where another program wrote to the
    /// database.
    package var by: String
    /// A person's "api", "cli"; a machine's "webhook", a source's name, "database"; the relay's own "gate", "configuration", "migration".
    package var via: String
    package var at: Timestamp
    /// Who that is, for the audit trail. A row that is changed keeps the name alone; nil: it was read from there, or it is the relay.
    package var principal: Principal?

    package init(by: String, via: String, at: Timestamp) {
        self.by = by
        self.via = via
        self.at = at
    }

    /// - Parameter via: what the history calls the way; nil: as the principal does.
    package init(by principal: Principal, via: String? = nil, at: Timestamp) {
        self.init(by: principal.name, via: via ?? principal.via, at: at)
        self.principal = principal
    }

    package var author: Principal { principal ?? Principal(by, .relay, via: via) }

    /// As a row that is changed keeps it.
    package var plain: Signature { Signature(by: by, via: via, at: at) }

    /// What the relay itself decides of a campaign.
    package static func relay(at now: Timestamp) -> Signature { Signature(by: "relay", via: "relay", at: now) }
}

extension Version {
    /// A text that sorts as versions do, and is equal for equal ones: of each number its count of digits in two and the digits,
    /// trailing zeros left out. 2.10 is "0120210", 2.9 "012019", 2 and 2.0.0 "012". The schema makes the same of a text.
    package var sortKey: String {
        guard segments != [0] else { return "" }
        return segments.map { number in
            let digits = number == 0 ? "" : String(number)
            return (digits.utf8.count < 10 ? "0" : "") + String(digits.utf8.count) + digits
        }
        .joined()
    }
}
