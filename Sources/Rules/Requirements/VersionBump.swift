// SPDX-License-Identifier: Apache-2.0
package import UpgradeRules
import WireFormat

/// A request to raise or block versions. Versions that are nil stay as they are; a bump that raises `required` replaces
/// the audience with its own (nil: everyone), and one that raises anything brings its own texts (nil: the
/// configuration's).
package struct VersionBump: Hashable, Sendable {
    package var app: AppKey
    package var latest: Version?
    package var required: Version?
    package var downloadURL: String?
    package var message: LocalizedText?
    package var telephones: [String]?
    package var builds = BuildNumbers()
    package var terms = RequirementTermChanges()
    /// Single versions that must be left, whatever is required.
    package var blocked: [Version] = []
    /// The doubts about it that a person has confirmed.
    package var confirmation = ConfirmedDoubts.nothing
    /// Whether its campaign is sent at any hour.
    package var isUrgent = false
    /// Whether a store of the app is its source: then a store's offer of the version is no evidence for it.
    package var isListed = false

    package init(
        app: AppKey, latest: Version? = nil, required: Version? = nil, downloadURL: String? = nil,
        message: LocalizedText? = nil, telephones: [String]? = nil
    ) {
        self.app = app
        self.latest = latest
        self.required = required
        self.downloadURL = downloadURL
        self.message = message
        self.telephones = telephones
    }
}
