// SPDX-License-Identifier: Apache-2.0

/// The verdict on an app's version: the three states of the client (SEEDS S1).
public enum UpgradeVerdict: Hashable, Sendable, CaseIterable {
    /// Nothing to do.
    case none
    /// A newer version exists; the user may decline.
    case remind
    /// The installed version must be replaced; the prompt returns until it is.
    case force

    /// Judges an installed version at login.
    ///
    /// | | verdict |
    /// |---|---|
    /// | no download URL | `none`: a prompt that leads nowhere is never shown |
    /// | installed version unknown | `none`: a user who cannot be judged is not locked out |
    /// | below `required` | `force` |
    /// | below `latest` | `remind` |
    /// | anything else, also ahead of both | `none` |
    ///
    /// An unknown version fails open here, where a wrong verdict would lock a current user out at every login. A push to
    /// a device of unknown version is another question: see `needsPush(installed:required:)`.
    ///
    /// - Parameters:
    ///   - installed: the version that the app reports; nil when it reports none that can be read.
    ///   - latest: the newest version in the store, if known.
    ///   - required: the oldest version that users may keep, if one is set.
    ///   - hasDownloadURL: whether the new version's address is known.
    public static func judge(
        installed: Version?, latest: Version?, required: Version?, hasDownloadURL: Bool
    ) -> UpgradeVerdict {
        guard hasDownloadURL else { return .none }
        let rules = [required.map { UpgradeRule($0) }, latest.map { UpgradeRule($0, forces: false) }].compactMap(\.self)
        return Verdict(rules.sorted { UpgradeTarget.isJudgedBefore($0.target, $1.target) }, version: installed).prompt
    }

    /// Whether a device is pushed when `required` rises: its version is below, or unknown.
    ///
    /// Only a forced update is ever pushed (SEEDS S2). Unknown means pushed, because the registry may have been imported
    /// without versions, and an app that was never seen is likelier old than new.
    public static func needsPush(installed: Version?, required: Version) -> Bool {
        Verdict([UpgradeRule(required)], version: installed).isPushed
    }

    /// The same for a version as a batch of devices holds it: allocates nothing.
    ///
    /// - Parameters:
    ///   - arena: UTF-8 texts, one after another.
    ///   - range: the place of the version; nil when it is unknown. Bytes that are not a version count as unknown as well.
    ///   - required: the new required version.
    @inlinable
    public static func needsPush(_ arena: [UInt8], _ range: Range<Int>?, required: Version) -> Bool {
        guard let range else { return true }
        return Version.isOlder(arena, range, than: required) ?? true
    }

    /// Whether a device runs the blocked version: allocates nothing. Bytes that are not a version do not count as blocked.
    @inlinable
    public static func isBlocked(_ arena: [UInt8], _ range: Range<Int>?, _ blocked: Version) -> Bool {
        guard let range else { return false }
        return Version.order(arena, range, blocked) == .same
    }
}
