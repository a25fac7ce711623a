// SPDX-License-Identifier: Apache-2.0
package import UpgradeRules

/// One app on one platform: what a version requirement, a registry and a campaign belong to.
package struct AppKey: Hashable, Comparable, Sendable {
    /// The app's name in the configuration, usually its bundle id.
    package let app: String
    package let platform: Platform

    /// The name of this app's fault in `readyz`, while a part of the store refuses work for it.
    package var faultPart: String { "app:\(app)/\(platform.rawValue)" }

    package init(app: String, platform: Platform) {
        self.app = app
        self.platform = platform
    }

    /// Compares names by their bytes, as the store does. To `String`, canonically equivalent spellings are equal and
    /// hash alike, so the synthesised hash stays consistent with this.
    package static func == (left: AppKey, right: AppKey) -> Bool {
        left.platform == right.platform && left.app == right.app && left.app.utf8.elementsEqual(right.app.utf8)
    }

    /// Orders by the names' bytes, then by platform.
    package static func < (left: AppKey, right: AppKey) -> Bool {
        guard left.app.utf8.elementsEqual(right.app.utf8) else {
            return left.app.utf8.lexicographicallyPrecedes(right.app.utf8)
        }
        return left.platform.rawValue < right.platform.rawValue
    }
}
