// SPDX-License-Identifier: Apache-2.0

/// What the owner of an app wants done with a release that a release tool announces.
package struct ReleaseRules: Hashable, Sendable {
    /// What a release raises. The raw values are in the configuration.
    package enum Target: String, Hashable, Sendable, CaseIterable {
        /// The latest version; the required one follows by the force policy alone.
        case latest
        /// Both: every release forces.
        case required
    }

    /// How a tag holds the version.
    package var tagPattern = TagPattern.standard
    /// Whether GitHub's prereleases count. Default: they are ignored.
    package var prereleases = false
    /// Where releases of the app are made, as GitHub and GitLab name it, such as "owner/name"; nil: wherever an event comes from.
    package var repository: String?
    /// Default latest.
    package var sets = Target.latest
    /// The telephones that a release is required of first, until a person releases it; nil: of everybody at once.
    package var canary: [String]?

    /// The tools whose events cannot name telephones themselves, as the history calls them.
    package static let tools: Set = ["github", "gitlab", "app-store-connect"]

    package init() {}
}
