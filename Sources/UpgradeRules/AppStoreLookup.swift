// SPDX-License-Identifier: Apache-2.0

/// The App Store's answer to a lookup (SEEDS S4): `try JSONDecoder().decode(AppStoreLookup.self, from: data)`.
///
/// It says what the store shows, and that is evidence that a build is *available*, never that anyone must have it: the
/// answer may be a day old, it names a version 6 to 24 hours before every user can load it, and without `country` it
/// speaks of the United States. So it never forces.
public struct AppStoreLookup: Hashable, Sendable {
    /// The version that the store shows; nil when the app is unknown in that storefront, or the store says no version.
    public let version: Version?
    /// Where the app is in the store.
    public let trackViewUrl: String?
    /// What is new, in several lines.
    public let releaseNotes: String?
    /// When the version came out, as an RFC 3339 text. Siren waits a day from here.
    public let currentVersionReleaseDate: String?
    /// What the device must run to take the version.
    public let minimumOsVersion: Version?

    /// Takes the fields of the first result.
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

    /// Whether the store offers this version or a later one: whether forcing anyone to it can be obeyed at all.
    public func offers(_ wanted: Version) -> Bool {
        version.map { $0 >= wanted } ?? false
    }

    /// Judges an installed version: `remind` where the store has a newer one that this device can run, else `none`.
    ///
    /// Compared as numbers: a user who is ahead of the store is left alone, and "1.01" is "1.1".
    ///
    /// - Parameters:
    ///   - installed: the version of the bundle; nil when it is not a version.
    ///   - system: the version that the device runs; nil: not looked at.
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

    /// Reads an answer; everything that is not used may be of any kind.
    ///
    /// - Throws: what the decoder throws where there is no array `results`, as in a page of HTML.
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
