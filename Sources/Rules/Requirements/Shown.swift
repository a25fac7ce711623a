// SPDX-License-Identifier: Apache-2.0
package import UpgradeRules
package import WireFormat

/// The facts that a person was shown about an act, or those that hold now. An act carries the shown ones to the
/// transaction that decides. If they no longer hold, the act is refused there, with the changes (DESIGN, rule 13).
package struct Shown: Hashable, Sendable {
    /// One thing that may be shown. The raw values are the API's members, in bodies and in queries.
    package enum Fact: String, Hashable, Sendable, CaseIterable {
        /// The version that the act is about.
        case version = "ifVersion"
        /// The state of that version, or of the campaign.
        case state = "ifState"
        /// The wave that begins next, from 1, unless it was already allowed to begin.
        case wave = "ifWave"
        /// The round that a retry would begin, from 1.
        case round = "ifRound"
        /// How many devices the act is about; a difference of up to a tenth is accepted.
        case devices = "ifDevices"
        /// A text, byte for byte.
        case text = "ifText"

        /// The words for it in a sentence.
        package var words: String {
            switch self {
            case .version: "the version"
            case .state: "the state"
            case .wave: "the next wave"
            case .round: "the next round"
            case .devices: "the number of devices"
            case .text: "the text"
            }
        }

        package var isNumber: Bool { self == .wave || self == .round || self == .devices }
    }

    package enum Value: Hashable, Sendable {
        /// There is no such value.
        case nothing
        case text(String)
        case number(Int64)
    }

    /// One fact that differs.
    package struct Change: Hashable, Sendable {
        package var fact: Fact
        package var shown: Value
        package var now: Value

        package init(fact: Fact, shown: Value, now: Value) {
            (self.fact, self.shown, self.now) = (fact, shown, now)
        }
    }

    /// A fact that is left out agrees with any value.
    package var facts: [Fact: Value]

    package init(_ facts: [Fact: Value] = [:]) {
        self.facts = facts
    }

    /// The facts that differ, in the order of `Fact`; empty: all is as it was shown.
    ///
    /// - Parameter now: the facts at this moment. One that is missing is `.nothing`.
    package func changes(to now: Shown) -> [Change] {
        Fact.allCases.compactMap { fact in
            guard let shown = facts[fact] else { return nil }
            let current = now.facts[fact] ?? .nothing
            return Self.agree(fact, shown, current) ? nil : Change(fact: fact, shown: shown, now: current)
        }
    }

    private static func agree(_ fact: Fact, _ shown: Value, _ now: Value) -> Bool {
        switch (shown, now) {
        case (.nothing, .nothing): return true
        case (.number(let shown), .number(let now)):
            guard fact == .devices else { return shown == now }
            let (apart, isHuge) = shown.subtractingReportingOverflow(now)
            return !isHuge && apart.magnitude <= shown.magnitude / 10
        case (.text(let shown), .text(let now)):
            if fact == .version, let shown = try? Version(shown), let now = try? Version(now) { return shown == now }
            // Canonically equivalent spellings are equal to `String`, but differ here.
            return shown.utf8.elementsEqual(now.utf8)
        default: return false
        }
    }
}

extension Shown.Value {
    package init(_ text: String?) { self = text.map { .text($0) } ?? .nothing }

    package init(_ number: Int64?) { self = number.map { .number($0) } ?? .nothing }

    package init(_ version: Version?) { self.init(version?.text) }

    /// The words for it in a sentence.
    package var words: String {
        switch self {
        case .nothing: "nothing"
        case .text(let text): text
        case .number(let number): String(number)
        }
    }
}

extension Shown.Value: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        switch self {
        case .nothing: writer.null()
        case .text(let text): writer.string(text)
        case .number(let number): writer.integer(number)
        }
    }
}

/// A person's confirmation, on its way to the transaction that decides.
package struct Confirmed: Hashable, Sendable {
    package var shown: Shown
    /// The campaign that was shown; nil: the act's own subject.
    package var campaign: CampaignKey?

    package init(_ shown: Shown, of campaign: CampaignKey? = nil) {
        self.shown = shown
        self.campaign = campaign
    }
}

/// An act was confirmed on facts that do not hold any more. Nothing has changed.
package struct StaleConfirmation: Error, Hashable, CustomStringConvertible {
    package var changes: [Shown.Change]

    package init(_ changes: [Shown.Change]) {
        self.changes = changes
    }

    package var description: String {
        let what = changes.map { change in
            change.fact == .text
                ? "the text that was shown is another now"
                : "\(change.fact.words) was \(change.shown.words) and is \(change.now.words)"
        }
        return "this is not what was confirmed: \(what.joined(separator: "; ")). Nothing was changed"
    }
}

/// The subject of an act, whose facts a person is shown.
package enum ActSubject: Sendable {
    /// An app's required version, in force or not.
    case required(AppKey)
    /// The requirement that a release would let through: of this version and kind, or whichever waits.
    case release(AppKey, Version?, Requirement.Kind?)
    case blocks(AppKey, [Version])
    case campaign(CampaignKey)
    case alert(AppKey)
    case device(AppKey, token: String)
    /// The devices of a user, in these apps.
    case user(String, apps: [AppKey])
    /// An API token, by its name.
    case accessToken(String)
}
