// SPDX-License-Identifier: Apache-2.0
package import UpgradeRules

/// What speaks against a bump that may be meant all the same: whoever means it names it.
package struct Doubt: Hashable, Sendable {
    /// The raw values are the API's words.
    package enum Reason: String, Hashable, Sendable, CaseIterable {
        /// A rise to a version that nothing speaks for.
        case implausibleRise = "implausible-rise"
        /// A block above which no version is known that is not blocked itself.
        case nothingAbove = "nothing-above"
    }

    package var reason: Reason
    /// That would rise, or be blocked.
    package var version: Version

    package init(_ reason: Reason, _ version: Version) {
        self.reason = reason
        self.version = version
    }
}

/// What of the doubts about a bump somebody has confirmed.
package enum ConfirmedDoubts: Hashable, Sendable {
    case nothing
    /// `true`: of a bump that raises a version that its rise is meant, of one that only blocks that there is a way out. Never both, and
    /// nothing else that turns up.
    case usual
    /// These, as they were shown.
    case named(Set<Doubt>)
    /// A dry run: it says what the bump itself would say, once it is confirmed.
    case dryRun
}

extension VersionBump {
    /// Whether somebody means it although there is this doubt.
    package func confirms(_ doubt: Doubt) -> Bool {
        switch confirmation {
        case .nothing: false
        case .usual: doubt.reason == (required == nil && latest == nil ? .nothingAbove : .implausibleRise)
        case .named(let doubts): doubts.contains(doubt)
        case .dryRun: true
        }
    }

    /// Whether it says `true` of the doubts about it.
    package var isConfirmed: Bool {
        get { confirmation == .usual }
        set { confirmation = newValue ? .usual : .nothing }
    }
}
