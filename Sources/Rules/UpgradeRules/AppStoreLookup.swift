// SPDX-License-Identifier: Apache-2.0

/// The App Store's answer to a lookup (SEEDS S4): `try JSONDecoder().decode(AppStoreLookup.self, from: data)`.
///
/// It shows the store's listing: evidence that a build is *available*, never a reason to require it. The answer may be a day
/// old, it names a version 6 to 24 hours before every user can load it, and without `country` it is for the United States. So it
/// never forces.
public struct AppStoreLookup: Hashable, Sendable {
    /// The version that the store shows; nil when the app is unknown in that storefront, or the answer has no version.
    public let version: Version?
    /// The app's address in the store.
    public let trackViewUrl: String?
    /// The release notes, in several lines.
    public let releaseNotes: String?
    /// The time at which the version came out, as an RFC 3339 text. Siren waits a day from then.
    public let currentVersionReleaseDate: String?
    /// The oldest OS version that the version runs on.
    public let minimumOsVersion: Version?

    /// Makes an answer from the fields of its first result.
    public init(
        version: Version?, trackViewUrl: String? = nil, releaseNotes: String? = nil,
        currentVersionReleaseDate: String? = nil, minimumOsVersion: Version? = nil
    ) {
        self.version = version
        self.trackViewUrl = trackViewUrl
        self.releaseNotes = releaseNotes
        self.currentVersionReleaseDate = currentVersionReleaseDate
        self.minimumOsVersion = minimumOsVersion
    }

    /// Whether the store offers this version or a later one, so that a user who is forced to it can obey.
    public func offers(_ wanted: Version) -> Bool {
        version.map { $0 >= wanted } ?? false
    }

    /// Judges an installed version: `remind` where the store has a newer one that this device can run, else `none`.
    ///
    /// Versions are compared as numbers: nothing is shown to a user who is ahead of the store, and "1.01" is "1.1".
    ///
    /// - Parameters:
    ///   - installed: the version of the bundle; nil when it is not a version.
    ///   - system: the device's OS version; nil: not checked.
    public func verdict(installed: Version?, system: Version? = nil) -> UpgradeVerdict {
        if let system, let minimumOsVersion, system < minimumOsVersion { return .none }
        return UpgradeVerdict.judge(
            installed: installed, latest: version, required: nil, hasDownloadURL: trackViewUrl?.isEmpty == false)
    }
}

extension AppStoreLookup: Decodable {
    private enum Root: String, CodingKey { case results }
    private enum Field: String, CodingKey {
        case version, trackViewUrl, releaseNotes, currentVersionReleaseDate, minimumOsVersion
    }

    /// Reads an answer; fields that are not used may be of any kind.
    ///
    /// - Throws: the decoder's error where there is no array `results`, as in a page of HTML.
    public init(from decoder: any Decoder) throws {
        var results = try decoder.container(keyedBy: Root.self).nestedUnkeyedContainer(forKey: .results)
        guard !results.isAtEnd else {
            self.init(version: nil)
            return
        }
        let first = try results.nestedContainer(keyedBy: Field.self)
        func text(_ field: Field) -> String? { (try? first.decodeIfPresent(WireText.self, forKey: field))?.text }
        func version(_ field: Field) -> Version? { text(field).flatMap { try? Version($0) } }
        self.init(
            version: version(.version), trackViewUrl: text(.trackViewUrl), releaseNotes: text(.releaseNotes),
            currentVersionReleaseDate: text(.currentVersionReleaseDate), minimumOsVersion: version(.minimumOsVersion))
    }
}
