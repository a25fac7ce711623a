// SPDX-License-Identifier: Apache-2.0
import UpgradeRules

/// Compares the App Store's public lookup with App Store Connect where both are asked. Pure.
///
/// The lookup may be a day stale (PROTOCOLS 4), so a difference is reported only after a day. Then one of the two is asked for
/// another app, or in a country where the app is not sold, or is wrong. App Store Connect decides all the same.
package struct StoreCrossCheck: Hashable, Sendable {
    package static let patience = Duration.seconds(86_400)

    /// The source that shows less, since when, and what it showed then.
    private struct Difference: Hashable, Sendable {
        var isLookupBehind: Bool
        var since: Timestamp
        var shown: Version?
    }

    private var difference: Difference?

    package init() {}

    /// - Returns: the problem; nil where they agree, or have not differed for long. Both must have answered after a day of
    ///   difference: a source that fails is reported as failing, not as lagging.
    package mutating func update(lookup: LookupEvidence?, exact: AppStoreConnectEvidence?) -> String? {
        guard let lookup, let exact else {
            difference = nil
            return nil
        }
        let live = exact.offered?.version
        guard lookup.version != live else {
            difference = nil
            return nil
        }
        let isLookupBehind = lookup.version.map { shown in live.map { shown < $0 } ?? false } ?? true
        let shown = isLookupBehind ? lookup.version : live
        let since: Timestamp
        if let difference, difference.isLookupBehind == isLookupBehind, difference.shown == shown {
            since = difference.since
        } else {
            // A source that shows a new version is alive: with a release each day it may always be behind, but never by a day.
            since = max(lookup.askedAt, exact.askedAt)
            difference = Difference(isLookupBehind: isLookupBehind, since: since, shown: shown)
        }
        guard min(lookup.askedAt, exact.askedAt) - since >= Self.patience else { return nil }
        let (here, there) = (live?.text ?? "no version", lookup.version?.text ?? "no version")
        return isLookupBehind
            ? "App Store Connect says that \(here) is live, and for more than a day the App Store's lookup has shown "
                + "\(there); App Store Connect decides. Are `id`, `bundleId` and `country` of `appStore` right?"
            : "for more than a day the App Store's lookup has shown \(there), and App Store Connect \(here) as the newest "
                + "that is live; App Store Connect decides. Are `appId` and the lookup's `id` the same app?"
    }
}
