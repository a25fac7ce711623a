// SPDX-License-Identifier: Apache-2.0

/// An app's settings for a release that a release tool announces.
package struct ReleaseRules: Hashable, Sendable {
    /// The version that a release raises. The raw values are in the configuration.
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
    /// The app's repository, as GitHub and GitLab name it, such as "owner/name"; nil: any.
    package var repository: String?
    /// Default latest.
    package var sets = Target.latest
    /// The telephones for which a release is required first, until a person releases it for everybody; nil: it is
    /// required of everybody at once.
    package var canary: [String]?

    /// The tools whose events cannot list telephones themselves, by their names in the history.
    package static let tools: Set = ["github", "gitlab", "app-store-connect"]

    package init() {}
}
