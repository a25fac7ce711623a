// SPDX-License-Identifier: Apache-2.0

// An app that reads the document by these rules does as its author meant: versions are compared as numbers, and a required
// update does not hide an optional one. The behaviour of LaunchGate and Gandalf themselves is in `LaunchGateClient`.
extension LaunchGateDocument {
    /// Judges an installed version.
    ///
    /// | | verdict |
    /// |---|---|
    /// | the app has no download URL | `none`: a prompt that leads nowhere is never shown |
    /// | no section for the platform, or an installed version that cannot be read | `none` |
    /// | below `minimumVersion` | `force` |
    /// | below `optionalVersion` | `remind` |
    /// | anything else | `none` |
    ///
    /// An object with an empty message, or with an invalid version, counts as missing: it must not lock a user out.
    ///
    /// - Parameters:
    ///   - platform: the platform whose section counts.
    ///   - installed: on iOS CFBundleShortVersionString, on Android the version code.
    ///   - hasDownloadURL: whether the app can lead the user to the new version; the document holds no URL.
    public func verdict(platform: Platform, installed: Version?, hasDownloadURL: Bool) -> UpgradeVerdict {
        let section = self[platform]
        let required = section?.required.flatMap { Self.version($0.minimumVersion, $0.message) }
        let optional = section?.optional.flatMap { Self.version($0.optionalVersion, $0.message) }
        return UpgradeVerdict.judge(
            installed: installed, latest: optional, required: required, hasDownloadURL: hasDownloadURL)
    }

    private static func version(_ text: String, _ message: String) -> Version? {
        message.isEmpty ? nil : try? Version(text)
    }
}
