// SPDX-License-Identifier: Apache-2.0
package import UpgradeRules

/// A doubt about a bump that may be intended all the same: a caller that intends it confirms the doubt by name.
package struct Doubt: Hashable, Sendable {
    /// The raw values are the API's words.
    package enum Reason: String, Hashable, Sendable, CaseIterable {
        /// A rise to a version that no evidence supports.
        case implausibleRise = "implausible-rise"
        /// A block of a version above which no unblocked version is known.
        case nothingAbove = "nothing-above"
    }

    package var reason: Reason
    /// The version that would rise, or be blocked.
    package var version: Version

    package init(_ reason: Reason, _ version: Version) {
        self.reason = reason
        self.version = version
    }
}

/// The doubts about a bump that a person has confirmed.
package enum ConfirmedDoubts: Hashable, Sendable {
    case nothing
    /// `true`: confirms an implausible rise where the bump raises a version, and a missing way out where it only
    /// blocks; never both, and no other doubt.
    case usual
    /// The doubts that the person was shown.
    case named(Set<Doubt>)
    /// A dry run: its result is that of the bump itself, once confirmed.
    case dryRun
}

extension VersionBump {
    /// Whether this doubt is confirmed.
    package func confirms(_ doubt: Doubt) -> Bool {
        switch confirmation {
        case .nothing: false
        case .usual: doubt.reason == (required == nil && latest == nil ? .nothingAbove : .implausibleRise)
        case .named(let doubts): doubts.contains(doubt)
        case .dryRun: true
        }
    }

    /// Whether the bump confirms its doubts with `true`.
    package var isConfirmed: Bool {
        get { confirmation == .usual }
        set { confirmation = newValue ? .usual : .nothing }
    }
}
